//! What a document is made of.

use super::key::Key;
use super::table::Table;
use super::text::{Text, Tone};
use crate::report::figure::Svg;

/// A document.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Document {
    /// What kind of document it is, above the title.
    pub kind: String,
    /// The title.
    pub title: String,
    /// When what it tells of was; as RFC 3339 has it, or empty.
    pub date: String,
    /// What stands before the contents, without numbers.
    pub front: Vec<Section>,
    /// The numbered sections.
    pub sections: Vec<Section>,
    /// Below everything.
    pub foot: String,
}

/// A section.
#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    /// What references call it.
    pub key: Key,
    /// Its heading.
    pub title: Text,
    /// How it is counted.
    pub numbering: Numbering,
    /// What it says before its parts.
    pub blocks: Vec<Block>,
    /// Its parts.
    pub sections: Vec<Section>,
}

/// How a section is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbering {
    /// 1, 2, 3.
    Digits,
    /// A, B, C: what stands behind the paper.
    Letters,
}

/// A piece of a section.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// Sentences.
    Paragraph(Text),
    /// Sentences in a tone of their own.
    Aside(Tone, Text),
    /// What the section asks.
    Question(Text),
    /// A heading without a number.
    Heading(String),
    /// One below the other.
    List(Vec<Text>),
    /// Lines of a program.
    Listing(String),
    /// A table.
    Table(Table),
    /// A figure.
    Figure(Box<Figure>),
    /// What only some readers want.
    Folded {
        /// What is inside.
        summary: Text,
        /// Whether it is of the appendix: every row, derivation and piece of evidence, which few read and no paper has room for. Its
        /// tables and figures are counted by themselves.
        long: bool,
        /// Whether it is open at first.
        open: bool,
        /// The inside.
        blocks: Vec<Block>,
    },
    /// The list of the works cited.
    Works,
}

/// A numbered figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// What references call it.
    pub key: Key,
    /// What is seen, without its number.
    pub caption: Text,
    /// The drawing.
    pub drawing: Svg,
    /// The same on an axis that is spread the other way.
    pub otherwise: Option<Svg>,
    /// How the values of the first are spread: `linear` or `logarithmic`.
    pub spread: &'static str,
    /// The table that has its numbers.
    pub data: Option<Key>,
}

impl Document {
    /// An empty one.
    pub fn new(title: impl Into<String>) -> Self {
        Document { title: title.into(), ..Document::default() }
    }
}

/// A node of a document, in the order in which it is read.
#[derive(Clone, Copy)]
pub(super) enum Node<'a> {
    /// A section, before what is in it.
    Section(&'a Section),
    /// A table, before what is in it.
    Table(&'a Table),
    /// A figure, before its caption.
    Figure(&'a Figure),
    /// Blocks of the appendix, before what is in them.
    KeptBack(&'a [Block]),
    /// Running text.
    Text(&'a Text),
    /// The head of a column, or a cell.
    Cell(&'a Text),
}

/// What is done with each node.
type Visit<'a, 'visit> = dyn FnMut(Node<'a>) + 'visit;

impl Document {
    /// Everything in reading order.
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
            Block::Folded { summary, long, blocks, .. } => {
                visit(Node::Text(summary));
                if *long {
                    visit(Node::KeptBack(blocks));
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
    /// An empty one.
    pub fn new(key: Key, title: impl Into<Text>) -> Self {
        Section { key, title: title.into(), numbering: Numbering::Digits, blocks: vec![], sections: vec![] }
    }

    /// Counted by letters.
    #[must_use]
    pub fn lettered(mut self) -> Self {
        self.numbering = Numbering::Letters;
        self
    }

    /// With a paragraph more.
    #[must_use]
    pub fn say(self, text: impl Into<Text>) -> Self {
        self.with(Block::Paragraph(text.into()))
    }

    /// With one more block.
    #[must_use]
    pub fn with(mut self, block: impl Into<Block>) -> Self {
        self.blocks.push(block.into());
        self
    }

    /// With more blocks.
    #[must_use]
    pub fn with_all(mut self, blocks: impl IntoIterator<Item = Block>) -> Self {
        self.blocks.extend(blocks);
        self
    }

    /// With a heading and what stands below it; without either where that is nothing.
    #[must_use]
    pub fn under(self, heading: &str, blocks: Vec<Block>) -> Self {
        if blocks.is_empty() { self } else { self.with(Block::Heading(heading.to_owned())).with_all(blocks) }
    }
}

impl From<Table> for Block {
    fn from(table: Table) -> Self {
        Block::Table(table)
    }
}

impl From<Figure> for Block {
    fn from(figure: Figure) -> Self {
        Block::Figure(Box::new(figure))
    }
}
