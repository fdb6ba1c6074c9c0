//! Results of a run: a value with its interval and dimension. Findings are computed with these, and rounded only by the report.

use crate::quantity::Unit;
use crate::statistics::{Estimate, Interval, Measured};

/// The dimension of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dimension {
    /// The unit of a point.
    Of(Unit),
    /// A ratio of two values.
    Ratio,
    /// A part of a whole that is 1.
    Share,
    /// A number of things.
    Count,
    /// Core cycles.
    Cycles,
}

/// A result of this run, of a point or computed from such results.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Found {
    /// The value: of a point, its median.
    pub value: f64,
    /// Its 95 % interval; `None` with too few trials.
    pub interval: Option<Interval>,
    /// Its dimension.
    pub dimension: Dimension,
}

impl Found {
    /// The result with this estimate.
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

    /// The value multiplied by a factor.
    #[must_use]
    pub fn scaled(self, by: f64) -> Self {
        Found::measured(self.plain().scaled(by), self.dimension)
    }

    /// The value multiplied by a factor, in another dimension.
    #[must_use]
    pub fn counted(self, by: f64, dimension: Dimension) -> Self {
        Found { dimension, ..self.scaled(by) }
    }

    /// The sum of both.
    #[must_use]
    pub fn plus(self, other: Found) -> Self {
        Found::measured(self.plain().plus(other.plain()), self.dimension)
    }

    /// The difference to the other.
    #[must_use]
    pub fn minus(self, other: Found) -> Self {
        Found::measured(self.plain().minus(other.plain()), self.dimension)
    }

    /// The ratio to the other.
    #[must_use]
    pub fn over(self, other: Found) -> Self {
        Found::measured(self.plain().over(other.plain()), Dimension::Ratio)
    }

    /// The share of the other.
    #[must_use]
    pub fn share_of(self, other: Found) -> Self {
        Found { dimension: Dimension::Share, ..self.over(other) }
    }

    /// The remainder of the whole: 1 minus this share.
    #[must_use]
    pub fn rest(self) -> Self {
        Found::measured(Measured::exact(1.0).minus(self.plain()), self.dimension)
    }

    /// `scale` divided by the value: a rate from a time, a time from a rate.
    #[must_use]
    pub fn inverse(self, scale: f64, dimension: Dimension) -> Self {
        Found::measured(Measured::exact(scale).over(self.plain()), dimension)
    }

    /// The ends of its interval.
    pub fn ends(&self) -> Option<(f64, f64)> {
        self.interval.map(|interval| (interval.low, interval.high))
    }

    /// Whether the intervals show a difference; `None` if either has none.
    pub fn differs_from(&self, other: &Found) -> Option<bool> {
        self.plain().differs_from(other.plain())
    }

    /// Whether its interval is above zero.
    pub fn is_resolved(&self) -> bool {
        self.interval.is_some_and(|interval| interval.low > 0.0)
    }
}
