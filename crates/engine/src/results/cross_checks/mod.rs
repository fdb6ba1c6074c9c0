//! Cross-checks: an operation that several experiments measure must cost the same in all of them, and some must cost no more
//! than others; otherwise the report says so and names the difference between the measurements.

mod denial;
mod equal;
mod operations;
mod order;
mod preempted;

use denial::Denial;
pub(super) use denial::mark as mark_denied;
use fathom_core::experiment::{Found, Known, Statement};
use operations::EQUAL;
use order::ORDERED;
pub(super) use preempted::tell_apart;

/// The degree of agreement between figures of several experiments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agreement {
    /// The intervals overlap, or the order holds.
    Agrees,
    /// The intervals do not overlap, but do not show that the figures are more than a factor of 1.25 apart; or an order is reversed with a
    /// possible reason, or by less than three digits show; or the kernel's counts show that the operations are not the same.
    Differs,
    /// An order that the intervals do not decide.
    Undecided,
    /// The intervals show that the figures are more than a factor of 1.25 apart, or that the order is reversed.
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
    /// The same in a few words, without an end.
    pub brief: Statement,
    /// Its figures that another of them denies.
    pub(super) denials: Vec<Denial>,
}

impl CrossCheck {
    /// The same, of figures of which one is of the core alone and another of the core shared: they decide nothing.
    pub(super) fn undecided(mut self) -> Self {
        self.agreement = Agreement::Undecided;
        self.denials.clear();
        self.statement.push(OF_BOTH_STATES);
        self
    }
}

/// What is said of figures of both states of the core.
const OF_BOTH_STATES: &str =
    " Nothing is decided by it: one of them is of the core alone, and another of the core shared.";

/// Every check for which there are at least two figures with intervals.
pub(super) fn all(known: &Known) -> Vec<CrossCheck> {
    let equal = EQUAL.iter().filter_map(|check| check.judge(known));
    let ordered = ORDERED.iter().filter_map(|check| check.judge(known));
    equal.chain(ordered).collect()
}

/// The verdict where a figure is the median over several states of the machine, which may be of none of them.
const OF_STATES: &str = "one of them is of several states of the machine, so this run does not decide it";

/// The most by which the end of an interval is rounded outwards when it is printed to three digits, as a share of it.
const ROUNDING: f64 = 0.01;

/// Whether an interval lies above another also as they are printed, so that a reader sees that they do not touch.
fn are_apart(lower: &Found, upper: &Found) -> bool {
    let (Some((_, below)), Some((above, _))) = (lower.ends(), upper.ends()) else { return false };
    below * (1.0 + ROUNDING) < above * (1.0 - ROUNDING)
}
