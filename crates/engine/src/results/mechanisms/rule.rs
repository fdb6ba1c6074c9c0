//! The form of a rule, which combines figures of several experiments into a cause.

use crate::results::PointResult;
#[cfg(test)]
use fathom_core::experiment::Selector;
use fathom_core::experiment::{Known, Statement};

/// The input of a rule: points whose evidence holds.
pub(super) struct Seen<'run> {
    /// The figures, by point.
    pub known: &'run Known<'run>,
    /// All results of the run, for their observations.
    pub points: &'run [PointResult],
}

/// The conclusion of a rule.
pub(super) struct Told {
    /// The cause and its figure, in a sentence.
    pub headline: Statement,
    /// The figures that support it.
    pub because: Statement,
}

/// A rule: it concludes nothing if its condition does not hold or a figure that it needs is missing.
pub(super) struct Rule {
    /// The rule's name in JSON.
    pub name: &'static str,
    /// The condition of the conclusion.
    pub condition: &'static str,
    /// Judges the run.
    pub judge: fn(&Seen) -> Option<Told>,
    /// The points whose figures it uses.
    #[cfg(test)]
    pub points: &'static [Selector],
}
