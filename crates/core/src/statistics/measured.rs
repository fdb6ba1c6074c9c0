//! Sums, differences, products and quotients of measured values, with the intervals that follow from those of their parts.
//!
//! The interval of a sum of independent estimates extends on each side by the root of the sum of squares of the distances of its
//! parts on that side: "variance estimates recovery", Zou & Donner 2008, "Construction of confidence limits about effect
//! measures" (Stat. Med. 27). It needs only the two intervals and keeps their asymmetry. The same holds on logarithms for
//! products and quotients of positive quantities (Donner & Zou 2012, "Closed-form confidence intervals for functions of the
//! normal mean and standard deviation", Stat. Methods Med. Res. 21, do so for lognormal ratios). Trials of different points are
//! different processes, so their estimates are independent; a drift that affects all of them makes quotients steadier than their
//! intervals say.
//!
//! Where a part has no interval, or on logarithms one that reaches zero, the result has none.

use super::quantile::LEVEL;
use serde::{Deserialize, Serialize};

/// The ends of an interval, in the unit of the value they belong to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// Whether a value lies in the interval, ends included.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// A value that may have a 95 % interval: the one type to compute with. An [`Estimate`](super::Estimate) is such a value as it is
/// recorded, with the trials and observations that it rests on; a [`Found`](crate::experiment::Found) has a dimension.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// The value.
    pub value: f64,
    /// The 95 % interval; none if too little is known.
    pub interval: Option<Interval>,
}

/// The factor between the ends of a range from which on it tells nothing: it then reaches a factor of two to either side of its middle, and
/// a factor of two is what predictions are judged by.
const WIDEST: f64 = 4.0;

/// Whether a range from one value to another could contradict a result.
pub fn are_telling((low, high): (f64, f64)) -> bool {
    low > 0.0 && high < WIDEST * low
}

impl Measured {
    /// An exact number: a constant, or a count.
    pub fn exact(value: f64) -> Self {
        Measured { value, interval: Some(Interval { low: value, high: value }) }
    }

    /// The value times an exact constant.
    #[must_use]
    pub fn scaled(self, by: f64) -> Self {
        let ends = |interval: Interval| {
            let (one, other) = (interval.low * by, interval.high * by);
            Interval { low: one.min(other), high: one.max(other) }
        };
        Measured { value: self.value * by, interval: self.interval.map(ends) }
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let value = self.value + other.value;
        let reach = self.reach().zip(other.reach());
        let interval = reach.map(|((below, above), (other_below, other_above))| Interval {
            low: value - below.hypot(other_below),
            high: value + above.hypot(other_above),
        });
        Measured { value, interval }
    }

    /// The ends of its interval.
    pub fn ends(&self) -> Option<(f64, f64)> {
        self.interval.map(|interval| (interval.low, interval.high))
    }

    /// Whether its interval could contradict anything: it is above zero and its ends are within a factor of four of each other. What a wider one
    /// holds is not confirmed by it. Never without an interval.
    pub fn tells(&self) -> bool {
        self.ends().is_some_and(are_telling)
    }

    /// Whether the value is known to be greater than zero: its whole interval lies above zero. A difference that is not resolved
    /// is *below resolution*; it is neither zero nor a value. Without an interval nothing is resolved.
    pub fn is_resolved(&self) -> bool {
        self.interval.is_some_and(|interval| interval.low > 0.0)
    }

    /// The difference to the other.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        self.plus(other.scaled(-1.0))
    }

    /// The product; an interval only where both are positive.
    #[must_use]
    pub fn times(self, other: Self) -> Self {
        Measured { value: self.value * other.value, interval: exponent(self.logarithm(), other.logarithm()) }
    }

    /// The quotient; an interval only where both are positive.
    #[must_use]
    pub fn over(self, other: Self) -> Self {
        let inverse = other.logarithm().map(|logarithm| logarithm.scaled(-1.0));
        Measured { value: self.value / other.value, interval: exponent(self.logarithm(), inverse) }
    }

    /// Whether two differ significantly by their intervals: the intervals do not overlap. That is stricter than a 95 % interval
    /// of their difference (about 99.4 % where both are equally wide: Schenker & Gentleman 2001, "On judging the significance of
    /// differences by examining the overlap between confidence intervals"), as is appropriate where many are compared. `None`
    /// where one has no interval.
    pub fn differs_from(self, other: Self) -> Option<bool> {
        let (one, other) = (self.interval?, other.interval?);
        Some(one.high < other.low || other.high < one.low)
    }

    /// How far the interval reaches below and above the value.
    fn reach(self) -> Option<(f64, f64)> {
        self.interval.map(|interval| (self.value - interval.low, interval.high - self.value))
    }

    fn logarithm(self) -> Option<Self> {
        let interval = self.interval.filter(|interval| interval.low > 0.0)?;
        let ends = Interval { low: interval.low.ln(), high: interval.high.ln() };
        Some(Measured { value: self.value.ln(), interval: Some(ends) })
    }
}

/// The interval of a product, from its factors' logarithms.
fn exponent(one: Option<Measured>, other: Option<Measured>) -> Option<Interval> {
    let sum = one?.plus(other?).interval?;
    Some(Interval { low: sum.low.exp(), high: sum.high.exp() })
}

/// A ratio as it is recorded.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ratio {
    /// The quotient of the values.
    pub value: f64,
    /// The interval of the quotient.
    pub interval: Option<Interval>,
    /// The probability with which the interval is meant to hold the truth.
    pub level: f64,
}

impl From<Measured> for Ratio {
    fn from(Measured { value, interval }: Measured) -> Self {
        Ratio { value, interval, level: LEVEL }
    }
}

/// The ratio of `measured` to `reference`, two values from different trials, with the interval that [`Measured::over`] gives: none
/// if one of them has no interval or one that reaches zero. `None` unless both values are positive.
pub fn ratio(measured: Measured, reference: Measured) -> Option<Measured> {
    let positive = measured.value > 0.0 && reference.value > 0.0;
    let quotient = measured.over(reference);
    (positive && quotient.value.is_finite()).then_some(quotient)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(value: f64, low: f64, high: f64) -> Measured {
        Measured { value, interval: Some(Interval { low, high }) }
    }

    fn near(result: Measured, value: f64, low: f64, high: f64) {
        let interval = result.interval.expect("an interval");
        let off = [result.value - value, interval.low - low, interval.high - high];
        assert!(off.iter().all(|off| off.abs() < 1e-9), "{result:?} for {value} [{low}, {high}]");
    }

    #[test]
    fn distances_add_by_their_squares_each_on_its_side() {
        let (one, other) = (measured(10.0, 7.0, 14.0), measured(20.0, 16.0, 23.0));
        near(one.plus(other), 30.0, 25.0, 35.0);
        // Least where the one is smallest and the other largest.
        near(other.minus(one), 10.0, 10.0 - 32.0_f64.sqrt(), 10.0 + 18.0_f64.sqrt());
    }

    #[test]
    fn factors_add_on_logarithms() {
        let reach = 2.0_f64.powf(2.0_f64.sqrt());
        let (one, other) = (measured(20.0, 10.0, 40.0), measured(10.0, 5.0, 20.0));
        near(one.over(other), 2.0, 2.0 / reach, 2.0 * reach);
        near(one.times(other), 200.0, 200.0 / reach, 200.0 * reach);
        near(one.over(Measured::exact(4.0)), 5.0, 2.5, 10.0);
    }

    #[test]
    fn a_constant_scales_and_a_negative_one_turns() {
        near(measured(10.0, 8.0, 13.0).scaled(-2.0), -20.0, -26.0, -16.0);
    }

    #[test]
    fn without_an_interval_there_is_none_and_nothing_is_told_apart() {
        let (bare, sound) = (Measured { value: 5.0, interval: None }, measured(10.0, 9.0, 11.0));
        assert_eq!((bare.plus(sound).interval, sound.over(bare).interval), (None, None));
        assert_eq!(measured(1.0, -1.0, 3.0).over(sound).interval, None);
        assert_eq!(bare.differs_from(sound), None);
        assert_eq!(sound.differs_from(measured(12.0, 11.0, 13.0)), Some(false));
        assert_eq!(sound.differs_from(measured(12.0, 11.1, 13.0)), Some(true));
    }

    #[test]
    fn equal_uncertainties_add_by_their_squares() {
        let result = ratio(measured(20.0, 10.0, 40.0), measured(10.0, 5.0, 20.0)).expect("positive");
        let interval = result.interval.expect("both have one");
        let reach = 2.0_f64.powf(2.0_f64.sqrt());
        assert!((result.value - 2.0).abs() < 1e-12);
        assert!((interval.low - 2.0 / reach).abs() < 1e-12 && (interval.high - 2.0 * reach).abs() < 1e-12);
    }

    #[test]
    fn an_unresolved_estimate_gives_no_interval_and_a_negative_one_no_ratio() {
        let sound = measured(10.0, 9.0, 11.0);
        assert_eq!(ratio(measured(1.0, -1.0, 3.0), sound).map(|result| result.interval), Some(None));
        assert_eq!(ratio(sound, measured(-1.0, -2.0, 1.0)), None);
    }
}
