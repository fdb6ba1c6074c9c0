//! The ratio of two estimates.

use super::measured::Interval;
use super::measured::Measured;
use super::quantile::LEVEL;
use serde::Serialize;

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
