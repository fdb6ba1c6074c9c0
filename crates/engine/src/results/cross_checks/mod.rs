//! Cross-checks: an operation that several experiments measure must cost the same in all of them, and some must cost no more
//! than others; otherwise the report says so and names the difference between the measurements.

mod agreement;
mod equal;
mod order;

pub use agreement::Agreement;
use equal::EQUAL;
use fathom_core::experiment::{Known, Statement};
use order::ORDERED;

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
pub(super) fn made(known: &Known) -> Vec<CrossCheck> {
    let equal = EQUAL.iter().filter_map(|check| check.judge(known));
    let ordered = ORDERED.iter().filter_map(|check| check.judge(known));
    let check = |(what, agreement, statement)| CrossCheck { what, agreement, statement };
    equal.chain(ordered).map(check).collect()
}
