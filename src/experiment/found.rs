//! What a run has found: a value with its interval, and what it counts. Findings are computed with these, and rounded by
//! nobody but the report.

use crate::quantity::Unit;
use crate::statistics::{Estimate, Interval, Measured};

/// What a figure counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dimension {
    /// What points count.
    Of(Unit),
    /// How many times one is the other.
    Ratio,
    /// A part of a whole that is 1.
    Share,
    /// How many.
    Count,
    /// Core cycles.
    Cycles,
}

/// A value that this run has found, at a point or by computing with such values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Found {
    /// The value: of a point, its median.
    pub value: f64,
    /// Its 95 % interval; `None` with too few trials.
    pub interval: Option<Interval>,
    /// What it counts.
    pub dimension: Dimension,
}

impl Found {
    /// An estimate, as experiments know it.
    pub fn of(estimate: &Estimate, unit: Unit) -> Self {
        Found { value: estimate.value, interval: estimate.interval, dimension: Dimension::Of(unit) }
    }

    /// A value without an interval.
    pub fn bare(value: f64, dimension: Dimension) -> Self {
        Found { value, interval: None, dimension }
    }

    /// A number that is certain: declared, or counted.
    pub fn exact(value: f64, dimension: Dimension) -> Self {
        Found::measured(Measured::exact(value), dimension)
    }

    /// A value with an interval that was computed elsewhere.
    pub fn measured(measured: Measured, dimension: Dimension) -> Self {
        Found { value: measured.value, interval: measured.interval, dimension }
    }

    fn plain(self) -> Measured {
        Measured { value: self.value, interval: self.interval }
    }

    /// So many times as much of the same.
    #[must_use]
    pub fn scaled(self, by: f64) -> Self {
        Found::measured(self.plain().scaled(by), self.dimension)
    }

    /// The same value, scaled, as a count of something else.
    #[must_use]
    pub fn counted(self, by: f64, dimension: Dimension) -> Self {
        Found { dimension, ..self.scaled(by) }
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Found) -> Self {
        Found::measured(self.plain().plus(other.plain()), self.dimension)
    }

    /// By how much it is more than the other.
    #[must_use]
    pub fn minus(self, other: Found) -> Self {
        Found::measured(self.plain().minus(other.plain()), self.dimension)
    }

    /// How many times it is the other.
    #[must_use]
    pub fn over(self, other: Found) -> Self {
        Found::measured(self.plain().over(other.plain()), Dimension::Ratio)
    }

    /// Which part of the other it is.
    #[must_use]
    pub fn share_of(self, other: Found) -> Self {
        Found { dimension: Dimension::Share, ..self.over(other) }
    }

    /// What a share leaves of its whole.
    #[must_use]
    pub fn rest(self) -> Self {
        Found::measured(Measured::exact(1.0).minus(self.plain()), self.dimension)
    }

    /// One over it, scaled: a rate from the time of one, a time from a rate.
    #[must_use]
    pub fn inverse(self, scale: f64, dimension: Dimension) -> Self {
        Found::measured(Measured::exact(scale).over(self.plain()), dimension)
    }

    /// The ends of its interval.
    pub fn ends(&self) -> Option<(f64, f64)> {
        self.interval.map(|interval| (interval.low, interval.high))
    }

    /// Whether two are told apart by their intervals; `None` where one has none.
    pub fn differs_from(&self, other: &Found) -> Option<bool> {
        self.plain().differs_from(other.plain())
    }

    /// Whether it is known to be above zero.
    pub fn is_resolved(&self) -> bool {
        self.interval.is_some_and(|interval| interval.low > 0.0)
    }
}
