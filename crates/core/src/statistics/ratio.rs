//! The ratio of two estimates.

use super::estimate::{Estimate, Interval};
use super::measured::Measured;
use serde::{Deserialize, Serialize};

/// A quotient with its interval; it has no unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ratio {
    /// The quotient of the values.
    pub value: f64,
    /// The interval of the quotient; none if an estimate has no interval or one that reaches zero.
    pub interval: Option<Interval>,
    /// The probability with which the interval is meant to hold the truth: the lower of the two estimates'.
    pub level: f64,
}

/// The ratio of `measured` to `reference`, two estimates from different trials, with the interval that [`Measured::over`] gives.
/// `None` unless both values are positive; to judge a quantity against a constant, see [`Ratio::to_constant`].
pub fn ratio(measured: &Estimate, reference: &Estimate) -> Option<Ratio> {
    let positive = measured.value > 0.0 && reference.value > 0.0;
    let quotient = Measured::from(measured).over(Measured::from(reference));
    (positive && quotient.value.is_finite()).then(|| Ratio {
        value: quotient.value,
        interval: quotient.interval,
        level: measured.level.min(reference.level),
    })
}

impl Ratio {
    /// The ratio of `measured` to a positive constant, such as a prediction; the constant counts as exact.
    pub fn to_constant(measured: &Estimate, constant: f64) -> Option<Self> {
        if !(constant > 0.0 && constant.is_finite()) {
            return None;
        }
        let scaled =
            |interval: Interval| Interval { low: interval.low / constant, high: interval.high / constant };
        let interval = measured.interval.map(scaled);
        Some(Self { value: measured.value / constant, interval, level: measured.level })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(value: f64, low: f64, high: f64) -> Estimate {
        let interval = Some(Interval { low, high });
        Estimate { value, interval, level: 0.95, min: None, max: None, trials: 10, observations: 100 }
    }

    #[test]
    fn equal_uncertainties_add_by_their_squares() {
        let result = ratio(&estimate(20.0, 10.0, 40.0), &estimate(10.0, 5.0, 20.0)).expect("positive");
        let interval = result.interval.expect("both have one");
        let reach = 2.0_f64.powf(2.0_f64.sqrt());
        assert!((result.value - 2.0).abs() < 1e-12);
        assert!((interval.low - 2.0 / reach).abs() < 1e-12 && (interval.high - 2.0 * reach).abs() < 1e-12);
    }

    #[test]
    fn an_unresolved_estimate_gives_no_interval_and_a_negative_one_no_ratio() {
        let sound = estimate(10.0, 9.0, 11.0);
        assert_eq!(ratio(&estimate(1.0, -1.0, 3.0), &sound).map(|result| result.interval), Some(None));
        assert_eq!(ratio(&sound, &estimate(-1.0, -2.0, 1.0)), None);
    }

    #[test]
    fn a_prediction_scales_value_and_interval() {
        let result = Ratio::to_constant(&estimate(10.0, 8.0, 12.0), 4.0).expect("positive");
        assert_eq!((result.value, result.interval), (2.5, Some(Interval { low: 2.0, high: 3.0 })));
        assert_eq!(Ratio::to_constant(&estimate(10.0, 8.0, 12.0), 0.0), None);
    }
}
