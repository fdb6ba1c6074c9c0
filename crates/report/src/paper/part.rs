//! A document in files: the paper, and its appendix with the content that few read: every row, derivation and piece of
//! evidence.

use super::document::{Block, Document, Section};
use super::numbers::{Numbers, Target};
use super::text::Key;

/// The part of a document that a file contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DocumentPart {
    Whole,
    Paper,
    Appendix,
}

/// How to get the appendix of a printed paper.
pub(super) const HINT: &str = "Tables and figures numbered A1, A2, … are in the appendix, a file of its own: a report that is \
    written to `NAME.md` or `NAME.tex` with `--output` has it in `NAME-appendix` beside it.";

impl DocumentPart {
    /// Whether the file contains the appendix if `in_appendix`, otherwise the rest.
    pub(super) fn has(self, in_appendix: bool) -> bool {
        match self {
            DocumentPart::Whole => true,
            DocumentPart::Paper => !in_appendix,
            DocumentPart::Appendix => in_appendix,
        }
    }

    /// The words that say that a place is in the other file; empty if it is in the same file.
    pub(super) fn elsewhere(self, numbers: &Numbers, key: &Key) -> &'static str {
        match (self, numbers.place(key)) {
            (DocumentPart::Appendix, Some(Target::Section(_))) => " of the paper",
            (_, Some(Target::Section(_)) | None) => "",
            (part, _) if part.has(numbers.in_appendix(key)) => "",
            (DocumentPart::Appendix, _) => " of the paper",
            _ => " of the appendix",
        }
    }
}

impl Block {
    /// Whether the block belongs to the appendix; a page shows it folded.
    pub(super) fn is_appendix(&self) -> bool {
        matches!(self, Block::Folded { appendix: true, .. })
    }
}

impl Section {
    /// Whether it contains blocks of the appendix.
    pub(super) fn has_appendix(&self) -> bool {
        self.blocks.iter().any(Block::is_appendix) || self.sections.iter().any(Section::has_appendix)
    }
}

impl Document {
    /// Whether it contains blocks of the appendix.
    pub(super) fn has_appendix(&self) -> bool {
        self.front.iter().chain(&self.sections).any(Section::has_appendix)
    }
}
