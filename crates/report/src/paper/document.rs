//! The elements of a document.

use super::table::Table;
use super::text::Key;
use super::text::{Text, Tone};
use crate::figure::Svg;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Document {
    /// The kind of the document, above the title.
    pub kind: String,
    pub title: String,
    /// The date of its content, RFC 3339; may be empty.
    pub date: String,
    /// The unnumbered sections before the contents.
    pub front: Vec<Section>,
    pub sections: Vec<Section>,
    /// Below everything.
    pub foot: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    pub key: Key,
    pub title: Text,
    /// The form of its number.
    pub numbering: Numbering,
    /// Its text before the subsections.
    pub blocks: Vec<Block>,
    pub sections: Vec<Section>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbering {
    /// 1, 2, 3.
    Digits,
    /// A, B, C: for sections after the paper.
    Letters,
}

/// A piece of a section.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    Paragraph(Text),
    /// Sentences in a special tone.
    Aside(Tone, Text),
    Question(Text),
    /// A heading without a number.
    Heading(String),
    /// A list of items, one below the other.
    List(Vec<Text>),
    /// Lines of a program.
    Listing(String),
    Table(Table),
    Figure(Box<Figure>),
    /// Content that only some readers want.
    Folded {
        /// The line that remains visible.
        summary: Text,
        /// Whether it belongs to the appendix: every row, derivation and piece of evidence, which few read and for which a
        /// paper has no room. Its tables and figures are numbered separately.
        appendix: bool,
        /// Whether it is open initially.
        open: bool,
        blocks: Vec<Block>,
    },
    /// The list of the works cited.
    Works,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    pub key: Key,
    /// The content of the figure, without its number.
    pub caption: Text,
    pub drawing: Svg,
    /// The drawing with the other scale.
    pub otherwise: Option<Svg>,
    /// The scale of the first drawing: `linear` or `logarithmic`.
    pub spread: &'static str,
    /// The table with its numbers.
    pub data: Option<Key>,
}

impl Document {
    pub fn new(title: impl Into<String>) -> Self {
        Document { title: title.into(), ..Document::default() }
    }
}

/// A node of a document, in reading order.
#[derive(Clone, Copy)]
pub(super) enum Node<'a> {
    /// A section, before its contents.
    Section(&'a Section),
    /// A table, before its contents.
    Table(&'a Table),
    /// A figure, before its caption.
    Figure(&'a Figure),
    /// Blocks of the appendix, before their contents.
    Appendix(&'a [Block]),
    Text(&'a Text),
    /// A column head or a cell.
    Cell(&'a Text),
}

type Visit<'a, 'visit> = dyn FnMut(Node<'a>) + 'visit;

impl Document {
    /// Visits all nodes in reading order.
    pub(super) fn walk<'a>(&'a self, visit: &mut Visit<'a, '_>) {
        for section in self.front.iter().chain(&self.sections) {
            section.walk(visit);
        }
    }
}

impl Section {
    fn walk<'a>(&'a self, visit: &mut Visit<'a, '_>) {
        visit(Node::Section(self));
        visit(Node::Text(&self.title));
        for block in &self.blocks {
            block.walk(visit);
        }
        for part in &self.sections {
            part.walk(visit);
        }
    }
}

impl Block {
    pub(super) fn walk<'a>(&'a self, visit: &mut Visit<'a, '_>) {
        match self {
            Block::Paragraph(text) | Block::Aside(_, text) | Block::Question(text) => visit(Node::Text(text)),
            Block::List(items) => items.iter().for_each(|item| visit(Node::Text(item))),
            Block::Table(table) => {
                visit(Node::Table(table));
                visit(Node::Text(&table.caption));
                table.columns.iter().for_each(|column| visit(Node::Cell(&column.head)));
                table.cells().for_each(|cell| visit(Node::Cell(cell)));
            }
            Block::Figure(figure) => {
                visit(Node::Figure(figure));
                visit(Node::Text(&figure.caption));
            }
            Block::Folded { summary, appendix, blocks, .. } => {
                visit(Node::Text(summary));
                if *appendix {
                    visit(Node::Appendix(blocks));
                }
                for block in blocks {
                    block.walk(visit);
                }
            }
            Block::Heading(_) | Block::Listing(_) | Block::Works => {}
        }
    }
}

impl Section {
    pub fn new(key: Key, title: impl Into<Text>) -> Self {
        Section { key, title: title.into(), numbering: Numbering::Digits, blocks: vec![], sections: vec![] }
    }

    /// The section with a letter as its number.
    #[must_use]
    pub fn lettered(mut self) -> Self {
        self.numbering = Numbering::Letters;
        self
    }

    /// The section with another paragraph.
    #[must_use]
    pub fn say(self, text: impl Into<Text>) -> Self {
        self.with(Block::Paragraph(text.into()))
    }

    #[must_use]
    pub fn with(mut self, block: impl Into<Block>) -> Self {
        self.blocks.push(block.into());
        self
    }

    #[must_use]
    pub fn with_all(mut self, blocks: impl IntoIterator<Item = Block>) -> Self {
        self.blocks.extend(blocks);
        self
    }

    /// The section with a heading and the blocks below it; unchanged if there are none.
    #[must_use]
    pub fn under(self, heading: &str, blocks: Vec<Block>) -> Self {
        if blocks.is_empty() { self } else { self.with(Block::Heading(heading.to_owned())).with_all(blocks) }
    }
}

impl From<Table> for Block {
    fn from(table: Table) -> Self {
        Block::Table(table.with_units_in_heads())
    }
}

impl From<Figure> for Block {
    fn from(figure: Figure) -> Self {
        Block::Figure(Box::new(figure))
    }
}
