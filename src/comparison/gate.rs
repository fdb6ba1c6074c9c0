//! Whether anything got worse: what looks so is a suspect, and only what is seen again is a regression.

use super::{Comparison, Row, Verdict};

/// What a gate says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Decision {
    /// No regression was found at the margins, with the precision that the runs have.
    Passed,
    /// A suspect could neither be confirmed nor cleared, or nothing could be compared.
    Inconclusive,
    /// Something got worse by more than its margin.
    Regressed,
}

impl Decision {
    /// The word in every form.
    pub fn name(self) -> &'static str {
        match self {
            Decision::Passed => "passed",
            Decision::Inconclusive => "inconclusive",
            Decision::Regressed => "regressed",
        }
    }
}

/// Whether a row is to be looked at again: it got worse, or it would have if it were better known.
pub fn is_suspect(row: &Row) -> bool {
    row.verdict == Verdict::Worse || row.verdict == Verdict::Inconclusive && row.leans_to_worse()
}

/// What a comparison with a baseline says on the whole.
pub fn decide(comparison: &Comparison) -> Decision {
    if comparison.rows.iter().any(|row| row.verdict == Verdict::Worse) {
        Decision::Regressed
    } else if comparison.rows.is_empty() || comparison.rows.iter().any(is_suspect) {
        Decision::Inconclusive
    } else {
        Decision::Passed
    }
}
