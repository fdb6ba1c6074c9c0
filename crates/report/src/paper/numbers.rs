//! The numbers of sections, tables, figures, works and notes: assigned here, in one walk through the document in reading
//! order, and nowhere else, so that no caption can have another table's number (R-FIX-49).

use super::document::{Document, Node, Numbering, Section};
use super::table::Table;
use super::text::Key;
use super::text::{Piece, Text};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The numbers of everything in a document.
#[derive(Debug, Default)]
pub struct Numbers<'a> {
    places: BTreeMap<&'a Key, Target>,
    works: Vec<&'a str>,
    of_works: BTreeMap<&'a str, usize>,
    /// The works that the paper itself cites: the first of all.
    on_paper: usize,
    /// The works that the appendix cites, in its order.
    of_appendix: Vec<&'a str>,
    texts_of_appendix: BTreeSet<*const Text>,
    notes: Vec<&'a Text>,
    tables: NumberCount,
    figures: NumberCount,
    in_appendix: BTreeSet<&'a Key>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Target {
    /// A section: `3.2`, `A`; empty before the contents.
    Section(String),
    Table(Number),
    Figure(Number),
}

/// `3`; `A3` in the appendix, which is numbered separately, so that the paper without it has no gaps.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Number {
    place: usize,
    in_appendix: bool,
}

impl fmt::Display for Number {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "{}{}", if self.in_appendix { "A" } else { "" }, self.place)
    }
}

/// The counts so far, in the paper and in its appendix.
#[derive(Debug, Default)]
struct NumberCount([usize; 2]);

impl NumberCount {
    fn next(&mut self, in_appendix: bool) -> Number {
        let count = &mut self.0[usize::from(in_appendix)];
        *count += 1;
        Number { place: *count, in_appendix }
    }
}

impl Target {
    /// "Section 3.2", "Table 3".
    pub(super) fn words(&self) -> String {
        match self {
            Target::Section(number) => format!("Section {number}"),
            Target::Table(number) => format!("Table {number}"),
            Target::Figure(number) => format!("Figure {number}"),
        }
    }
}

impl<'a> Numbers<'a> {
    pub fn of(document: &'a Document) -> Self {
        let mut numbers = Numbers::default();
        for section in &document.front {
            numbers.places.insert(&section.key, Target::Section(String::new()));
        }
        numbers.sections(&document.sections, "");
        document.walk(&mut |node| numbers.visit(node));
        numbers.on_paper = numbers.works.len();
        for work in std::mem::take(&mut numbers.of_appendix) {
            numbers.add_work(work);
        }
        numbers
    }

    fn sections(&mut self, sections: &'a [Section], above: &str) {
        let (mut digits, mut letters) = (0_usize, b'A');
        for section in sections {
            let own = match section.numbering {
                Numbering::Digits => {
                    digits += 1;
                    digits.to_string()
                }
                Numbering::Letters => {
                    letters = letters.saturating_add(1);
                    char::from(letters - 1).to_string()
                }
            };
            let number = if above.is_empty() { own } else { format!("{above}.{own}") };
            self.sections(&section.sections, &number);
            self.places.insert(&section.key, Target::Section(number));
        }
    }

    fn visit(&mut self, node: Node<'a>) {
        match node {
            Node::Section(_) => {}
            Node::Appendix(blocks) => {
                let mut keep = |node: Node<'a>| {
                    match node {
                        Node::Table(table) => self.in_appendix.insert(&table.key),
                        Node::Figure(figure) => self.in_appendix.insert(&figure.key),
                        Node::Text(text) | Node::Cell(text) => {
                            self.texts_of_appendix.insert(std::ptr::from_ref(text))
                        }
                        _ => false,
                    };
                };
                for block in blocks {
                    block.walk(&mut keep);
                }
            }
            Node::Table(table) => {
                let number = self.tables.next(self.in_appendix(&table.key));
                self.places.insert(&table.key, Target::Table(number));
            }
            Node::Figure(figure) => {
                let number = self.figures.next(self.in_appendix(&figure.key));
                self.places.insert(&figure.key, Target::Figure(number));
            }
            Node::Cell(text) => self.cited(text, self.texts_of_appendix.contains(&std::ptr::from_ref(text))),
            Node::Text(text) => {
                self.cited(text, self.texts_of_appendix.contains(&std::ptr::from_ref(text)));
                let notes = text.pieces().iter().filter_map(Piece::note);
                self.notes.extend(notes);
            }
        }
    }

    fn cited(&mut self, text: &'a Text, in_appendix: bool) {
        for piece in text.pieces() {
            match piece {
                Piece::Cite(work) if in_appendix => self.of_appendix.push(work),
                Piece::Cite(work) => self.add_work(work),
                Piece::Note(note) => self.cited(note, in_appendix),
                _ => {}
            }
        }
    }

    fn add_work(&mut self, work: &'a str) {
        let next = self.works.len() + 1;
        if *self.of_works.entry(work).or_insert(next) == next {
            self.works.push(work);
        }
    }

    /// The number of works that the paper itself cites; the others of [`Numbers::works`] stand in its appendix alone.
    pub(super) fn works_on_paper(&self) -> usize {
        self.on_paper
    }

    /// The works in the order in which they are first cited, those of the appendix after those of the paper.
    pub fn works(&self) -> &[&'a str] {
        &self.works
    }

    /// The notes outside of tables, in reading order.
    pub fn notes(&self) -> &[&'a Text] {
        &self.notes
    }

    /// The number of a work, from 1.
    pub(super) fn work(&self, work: &str) -> usize {
        self.of_works.get(work).copied().unwrap_or(0)
    }

    /// The number of a note outside of tables, from 1; by identity, not by its words.
    pub(super) fn note(&self, note: &Text) -> Option<usize> {
        self.notes.iter().position(|known| std::ptr::eq(*known, note)).map(|place| place + 1)
    }

    /// Whether the target of a key is a table or figure of the appendix, which is not part of a printed document.
    pub(super) fn in_appendix(&self, key: &Key) -> bool {
        self.in_appendix.contains(key)
    }

    pub(super) fn place(&self, key: &Key) -> Option<&Target> {
        self.places.get(key)
    }

    /// `3.2`; empty for an unnumbered section.
    pub(super) fn of_section(&self, section: &Section) -> &str {
        match self.places.get(&section.key) {
            Some(Target::Section(number)) => number,
            _ => "",
        }
    }

    /// The number after "Table" or "Figure".
    pub(super) fn number(&self, key: &Key) -> Number {
        match self.places.get(key) {
            Some(Target::Table(number) | Target::Figure(number)) => *number,
            _ => Number::default(),
        }
    }
}

impl Document {
    /// Keys that are referenced but lead nowhere, and those that lead to two places. Tests require it to be empty.
    pub fn dangling(&self) -> Vec<Key> {
        let numbers = Numbers::of(self);
        let (mut keys, mut wrong) = (BTreeSet::new(), vec![]);
        self.walk(&mut |node| {
            let own = match node {
                Node::Section(section) => Some(&section.key),
                Node::Table(table) => Some(&table.key),
                Node::Figure(figure) => {
                    wrong.extend(figure.data.iter().filter(|key| !numbers.places.contains_key(key)));
                    Some(&figure.key)
                }
                Node::Appendix(_) => None,
                Node::Text(text) | Node::Cell(text) => {
                    wrong.extend(text.targets().filter(|key| !numbers.places.contains_key(key)));
                    None
                }
            };
            wrong.extend(own.filter(|key| !keys.insert(*key)));
        });
        wrong.into_iter().cloned().collect()
    }
}

/// The notes of one table, with letters.
#[derive(Default)]
pub(super) struct TableNotes<'a>(Vec<&'a Text>);

impl<'a> TableNotes<'a> {
    /// The notes of a table; notes with the same words share a letter.
    pub(super) fn of(table: &'a Table) -> Self {
        let mut notes: Vec<&Text> = vec![];
        let heads = table.columns.iter().map(|column| &column.head);
        for note in heads.chain(table.cells()).flat_map(Text::pieces).filter_map(Piece::note) {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        TableNotes(notes)
    }

    /// The letter of a note: a, b, … z, then aa, ab.
    pub(super) fn letter(&self, note: &Text) -> String {
        letter(self.0.iter().position(|known| *known == note).unwrap_or(0))
    }

    pub(super) fn all(&self) -> impl Iterator<Item = (String, &'a Text)> {
        self.0.iter().enumerate().map(|(place, note)| (letter(place), *note))
    }
}

fn letter(place: usize) -> String {
    let last = char::from(b'a' + (place % 26) as u8);
    if place < 26 { last.to_string() } else { format!("{}{last}", letter(place / 26 - 1)) }
}

#[cfg(test)]
mod tests {
    use super::super::{Block, Column, Row};
    use super::*;

    fn document() -> Document {
        let (costs, more) = (Key::of("costs"), Key::of("more"));
        let table = |key: &Key, cell: Text| {
            Table::new(key.clone(), "Costs.").columns([Column::words("what")]).rows([Row::of([cell])])
        };
        let mut document = Document::new("Title");
        let first = Section::new(Key::of("one"), "One")
            .say(Text::to(&more).cite("B").cite("A").noted("below"))
            .with(table(&costs, Text::plain("x").noted("in the table").cite("B")));
        let mut second = Section::new(Key::of("two"), "Two");
        second.sections.push(Section::new(Key::of("part"), "Part").with(table(&more, Text::plain("y"))));
        document.sections = vec![first, second, Section::new(Key::of("end"), "End").lettered()];
        document
    }

    #[test]
    fn everything_is_counted_in_reading_order() {
        let document = document();
        let numbers = Numbers::of(&document);
        let words = |key: &str| numbers.place(&Key::of(key)).map(Target::words);
        assert_eq!(words("part").as_deref(), Some("Section 2.1"));
        assert_eq!(words("end").as_deref(), Some("Section A"));
        assert_eq!(words("more").as_deref(), Some("Table 2"));
        assert_eq!(numbers.works(), ["B", "A"]);
        assert_eq!((numbers.work("A"), numbers.notes().len()), (2, 1));
    }

    #[test]
    fn works_that_the_appendix_alone_cites_come_last() {
        let mut document = document();
        document.sections[0].blocks.insert(
            0,
            Block::Folded {
                summary: "more".into(),
                appendix: true,
                open: false,
                blocks: vec![Block::Paragraph(Text::plain("x").cite("C").cite("A"))],
            },
        );
        let numbers = Numbers::of(&document);
        assert_eq!((numbers.works(), numbers.works_on_paper()), (&["B", "A", "C"][..], 2));
    }

    #[test]
    fn a_reference_to_nothing_and_a_key_that_stands_twice_are_told() {
        let mut document = document();
        assert_eq!(document.dangling(), []);
        document.sections[0].blocks.push(Block::Paragraph(Text::to(&Key::of("nowhere"))));
        assert_eq!(document.dangling(), [Key::of("nowhere")]);
        let again = document.sections[0].clone();
        document.sections.push(again);
        assert!(document.dangling().contains(&Key::of("costs")));
    }

    #[test]
    fn notes_of_a_table_have_letters_as_far_as_there_are_notes() {
        assert_eq!([letter(0), letter(25), letter(26), letter(52)], ["a", "z", "aa", "ba"]);
    }
}
