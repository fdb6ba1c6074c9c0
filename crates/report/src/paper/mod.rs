//! A document as a paper is one: numbered sections, tables and figures with captions, references from one to another,
//! notes, and the list of works that are cited. What is said stands here once; every form is written from it.
//!
//! # How to make a document
//!
//! ```
//! use fathom_report::paper::{Block, Column, Document, Group, Key, Row, Section, Table, Text, html, latex, markdown, plain};
//!
//! let costs = Key::of("costs");
//! let table = Table::new(costs.clone(), "What a call costs.")
//!     .columns([Column::words("call"), Column::number("median time", "ns"), Column::ratio("measured / predicted")])
//!     .group(Group::named("without work of its own").row(Row::of([
//!         Text::code("getppid"),
//!         Text::plain("38").noted("Once around the loop is subtracted."),
//!         Text::plain("1.2×"),
//!     ])));
//! let mut document = Document::new("What a kernel costs");
//! document.sections.push(
//!     Section::new(Key::of("calls"), "System calls")
//!         .say(Text::to(&costs).and(" has the figures; how they are made stands in a book").cite("A Book (1996), p. 3"))
//!         .with(table),
//! );
//! document.sections.push(Section::new(Key::of("works"), "References").with(Block::Works));
//! assert_eq!(document.dangling(), []);
//! assert!(markdown::render(&document).contains("Table 1 has the figures; how they are made stands in a book \\[1\\]"));
//! assert!(html::render(&document, None).contains("<a href=\"#table-1\">Table 1</a>"));
//! assert!(latex::render(&document).contains("\\label{tab:costs}"));
//! assert!(plain::render(&document, 80).contains("38 (a)"));
//! ```
//!
//! - Numbers are never written by hand. A [`Key`] names a section, a table or a figure; [`Text::to`] refers to it, and the
//!   form writes "Table 3". A key that leads nowhere is listed by [`Document::dangling`], which tests hold empty; a form
//!   shows its bare name and no link.
//! - A work is cited by its words, wherever it is needed: the list and its numbers follow from the order of the citations.
//! - A column of numbers says its unit, or that each cell has its own ([`Column::number`], [`Column::mixed`]): there is no
//!   other way to make one.
//! - What is folded as `long` is of the appendix: on a page folded, in Markdown and LaTeX a second file (`appendix` of either).
//! - Any string may come from a run file and be hostile. A [`Text`] is never markup: each form escapes all of it.

mod document;
mod heads;
pub mod html;
pub mod latex;
pub mod markdown;
mod numbers;
mod part;
pub(crate) mod picture;
pub mod plain;
mod table;
mod text;

pub use document::{Block, Document, Figure, Numbering, Section};
pub use numbers::Numbers;
pub use table::{Align, Column, Group, Row, Table, Weight};
pub use text::{Key, Piece, Sign, Text, Tone};
