//! A document in files: the paper, and its appendix, which has what few read: every row, derivation and piece of evidence.

use super::document::{Block, Document, Section};
use super::key::Key;
use super::numbers::{Numbers, Place};

/// What of a document a file has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// All of it.
    Whole,
    /// What is not of the appendix.
    Paper,
    /// The appendix.
    Appendix,
}

/// How the appendix of a paper that was printed is had.
pub(super) const HINT: &str = "Tables and figures numbered A1, A2, … are in the appendix, a file of its own: a report that is \
    written to `NAME.md` or `NAME.tex` with `--output` has it in `NAME-appendix` beside it.";

impl Part {
    /// Whether the file has what stays folded on a page, or what does not.
    pub(super) fn has(self, kept_back: bool) -> bool {
        match self {
            Part::Whole => true,
            Part::Paper => !kept_back,
            Part::Appendix => kept_back,
        }
    }

    /// Where something is that a text refers to: nothing is said of what is in the same file.
    pub(super) fn elsewhere(self, numbers: &Numbers, key: &Key) -> &'static str {
        match (self, numbers.place(key)) {
            (Part::Appendix, Some(Place::Section(_))) => " of the paper",
            (_, Some(Place::Section(_)) | None) => "",
            (part, _) if part.has(numbers.is_kept_back(key)) => "",
            (Part::Appendix, _) => " of the paper",
            _ => " of the appendix",
        }
    }
}

impl Block {
    /// What stays folded on a page and is of the appendix elsewhere.
    pub(super) fn is_kept_back(&self) -> bool {
        matches!(self, Block::Folded { long: true, .. })
    }
}

impl Section {
    /// Whether anything in it is of the appendix.
    pub(super) fn has_appendix(&self) -> bool {
        self.blocks.iter().any(Block::is_kept_back) || self.sections.iter().any(Section::has_appendix)
    }
}

impl Document {
    /// Whether anything in it is of the appendix.
    pub(super) fn has_appendix(&self) -> bool {
        self.front.iter().chain(&self.sections).any(Section::has_appendix)
    }
}
