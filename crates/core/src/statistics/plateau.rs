//! A plateau of a curve: a stretch over which a quantity hardly changes.

use super::distribution::student_quantile;
use super::measured::Interval;
use super::quantile::quantile;
use crate::sorting;

/// The share by which a plateau may vary besides the noise of its points: the ways of a cache are not filled evenly.
pub(super) const PLATEAU_VARIATION: f64 = 0.02;

/// The least extent of a plateau in units of x, and its fewest points.
pub(super) const EXTENT: f64 = 0.55;
pub(super) const POINTS: usize = 3;

/// The factor above a plateau from which a point is not of its level: levels are at least a factor of 2 apart, and this is half way to
/// one twice as high. Of a level that a much higher one follows, few of the accesses go there until it is reached.
pub const OF_LEVEL: f64 = 1.5;

/// The steepest slope of a plateau, in ln y per unit of x: with x in octaves, a fifth per doubling.
pub(super) const NEARLY_FLAT: f64 = 0.2;

/// The standard errors of a 95 % interval.
const ERRORS: f64 = 1.96;

/// Whether points over this extent, whose slope in ln y per unit of x has this standard error, show that it is flat: where a rise by
/// [`OF_LEVEL`] over it, or over a unit of x if it is longer, fits them as well, they may be of the slope from one level to the next.
pub(super) fn shows_flatness(extent: f64, error: f64) -> bool {
    ERRORS * error * extent.min(1.0) < OF_LEVEL.ln()
}

/// A point of the curve: x, a y above zero, and y's 95 % interval where there is one.
pub type CurvePoint = (f64, f64, Option<Interval>);

/// Between what a point's y is: its interval, or y itself where it has none.
pub(super) fn reach_of(point: &CurvePoint) -> Interval {
    point.2.unwrap_or(Interval { low: point.1, high: point.1 })
}

/// A stretch over which y hardly changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Plateau {
    /// The first x of it.
    pub from: f64,
    /// The last x of it.
    pub to: f64,
    /// The geometric mean of its y.
    pub value: f64,
    /// The 95 % interval of the level: of that mean, from the scatter of its points, with the reach of the middle half of them, as those at its
    /// ends are mixed with its neighbours, which moves the mean.
    pub interval: Interval,
    /// The 95 % interval of its end, in units of x: not before the lower, and before the upper end; `None` for a plateau that
    /// continues to the end of the curve.
    pub ends: Option<Interval>,
    /// The place at which the curve leaves the level: where it is first half way to the next, higher plateau, or [`OF_LEVEL`] times as high
    /// as this one if that is less. `None` if it never is.
    pub rise: Option<Crossing>,
    /// The number of its points.
    pub points: usize,
}

/// A crossing of a height.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    /// The place, between two points of the curve by interpolation in ln y.
    pub at: f64,
    /// The points of the curve between which it lies for every height within the height's interval, and wherever within their own intervals the
    /// points next to it are.
    pub interval: Interval,
}

impl Plateau {
    /// Between what the level may take at one x: its interval with the variation that a plateau may have besides, as its ends are mixed with
    /// its neighbours.
    pub fn varied(&self) -> Interval {
        let Interval { low, high } = self.interval;
        let reach = |end: f64| (end / self.value).ln().hypot(PLATEAU_VARIATION).exp();
        Interval { low: self.value / reach(low), high: self.value * reach(high) }
    }

    /// The plateau of these points, as if the curve ended with them; `None` of too few.
    pub fn of(points: &[CurvePoint]) -> Option<Self> {
        if points.len() < POINTS {
            return None;
        }
        let mut logarithms: Vec<f64> = points.iter().map(|point| point.1.ln()).collect();
        sorting::numbers(&mut logarithms);
        let n = logarithms.len() as f64;
        let mean = logarithms.iter().sum::<f64>() / n;
        let squares: f64 = logarithms.iter().map(|y| (y - mean).powi(2)).sum();
        let of_mean = student_quantile(0.975, n - 1.0) * (squares / (n - 1.0) / n).sqrt();
        let quarter = |level| quantile(&logarithms, level).map_or(0.0, |end| (end - mean).abs());
        let reach = of_mean.hypot(quarter(0.25).max(quarter(0.75)));
        Some(Plateau {
            from: points.first()?.0,
            to: points.last()?.0,
            value: mean.exp(),
            interval: Interval { low: (mean - reach).exp(), high: (mean + reach).exp() },
            ends: None,
            rise: None,
            points: points.len(),
        })
    }
}
