//! Cross-checks: an operation that several experiments measure must cost the same in all of them, and some must cost no more
//! than others; otherwise the report says so and names the difference between the measurements.

mod equal;
mod order;

use equal::EQUAL;
use fathom_core::experiment::{Known, Statement};
use order::ORDERED;

/// The degree of agreement between figures of several experiments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agreement {
    /// The intervals overlap, or the order holds.
    Agrees,
    /// The intervals do not overlap; the figures are within a factor of 1.25.
    Differs,
    /// An order that the intervals do not decide.
    Undecided,
    /// The figures are further apart, or the order is reversed.
    Contradicts,
}

impl Agreement {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Agreement::Agrees => "agrees",
            Agreement::Differs => "differs",
            Agreement::Undecided => "undecided",
            Agreement::Contradicts => "contradicts",
        }
    }
}

/// A comparison of figures of several experiments.
#[derive(Debug, Clone, PartialEq)]
pub struct CrossCheck {
    /// The name of the check in JSON.
    pub what: &'static str,
    /// The degree of agreement.
    pub agreement: Agreement,
    /// The figures and the conclusion.
    pub statement: Statement,
}

/// Every check for which there are at least two figures with intervals.
pub(super) fn all(known: &Known) -> Vec<CrossCheck> {
    let equal = EQUAL.iter().filter_map(|check| check.judge(known));
    let ordered = ORDERED.iter().filter_map(|check| check.judge(known));
    let check = |(what, agreement, statement)| CrossCheck { what, agreement, statement };
    equal.chain(ordered).map(check).collect()
}
