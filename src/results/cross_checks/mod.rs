//! Cross-checks: an operation that several experiments measure costs the same in all of them, and some cost no more than
//! others, or the report says so and what is different about them.

mod agreement;
mod equal;
mod order;
mod wording;

use crate::experiment::{Known, Statement};
pub use agreement::Agreement;
use equal::EQUAL;
use order::ORDERED;

/// Figures of several experiments held against each other.
#[derive(Debug, Clone, PartialEq)]
pub struct CrossCheck {
    /// What is measured more than once, for programs.
    pub what: &'static str,
    /// How far they agree.
    pub agreement: Agreement,
    /// The figures, and what follows.
    pub statement: Statement,
}

/// Every check for which there are at least two figures with intervals.
pub(super) fn made(known: &Known) -> Vec<CrossCheck> {
    let equal = EQUAL.iter().filter_map(|check| check.judge(known));
    let ordered = ORDERED.iter().filter_map(|check| check.judge(known));
    let check = |(what, agreement, statement)| CrossCheck { what, agreement, statement };
    equal.chain(ordered).map(check).collect()
}
