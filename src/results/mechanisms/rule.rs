//! What a rule is: figures of several experiments joined into a cause.

use crate::experiment::{Known, Statement};
use crate::results::PointResult;
#[cfg(test)]
use crate::results::place::Place;

/// What a rule looks at: points whose evidence holds.
pub(super) struct Seen<'run> {
    /// What was found, by point.
    pub known: &'run Known<'run>,
    /// All results of the run, for their observations.
    pub points: &'run [PointResult],
}

/// What a rule concludes.
pub(super) struct Told {
    /// The cause and its figure, in a sentence.
    pub headline: Statement,
    /// The figures that it follows from.
    pub because: Statement,
}

/// A rule: nothing is told where its condition does not hold or a figure that it stands on is missing.
pub(super) struct Rule {
    /// For programs.
    pub name: &'static str,
    /// What must hold for it to be concluded.
    pub condition: &'static str,
    /// Judges the run.
    pub judge: fn(&Seen) -> Option<Told>,
    /// The points that it asks for.
    #[cfg(test)]
    pub places: &'static [Place],
}
