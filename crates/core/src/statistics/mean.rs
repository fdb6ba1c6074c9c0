//! Means with their interval by Student's t, and the other summary statistics that published reports print. Fathom's own headline is
//! the median over trials ([`super::estimate`]); these are given as well, so that a published figure can be compared in its own statistic.

use super::distribution::student_quantile;
use super::measured::Interval;
use crate::sorting;

/// A mean over trials.
#[derive(Debug, Clone, PartialEq)]
pub struct Mean {
    /// The arithmetic mean.
    pub value: f64,
    /// The sample standard deviation (divisor n − 1); `None` of fewer than two values.
    pub deviation: Option<f64>,
    /// Its 95 % interval, which supposes values from a normal distribution; `None` of fewer than two values.
    pub interval: Option<Interval>,
}

/// The mean of values; `None` where there is none.
pub fn mean(values: &[f64]) -> Option<Mean> {
    let count = values.len() as f64;
    let value = (!values.is_empty()).then(|| values.iter().sum::<f64>() / count)?;
    let squares: f64 = values.iter().map(|each| (each - value).powi(2)).sum();
    let deviation = (values.len() > 1).then(|| (squares / (count - 1.0)).sqrt());
    let interval = deviation.map(|deviation| {
        let half = student_quantile(0.975, count - 1.0) * deviation / count.sqrt();
        Interval { low: value - half, high: value + half }
    });
    Some(Mean { value, deviation, interval })
}

/// The share of the observations that a trimmed mean leaves out at each end.
pub const TRIMMED: f64 = 0.1;

/// Summary statistics of some observations, in their unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// The number of observations.
    pub observations: usize,
    /// The arithmetic mean.
    pub mean: f64,
    /// The sample standard deviation (divisor n − 1); `None` of fewer than two.
    pub deviation: Option<f64>,
    /// The mean without the tenth of the observations at each end ([`TRIMMED`], rounded down).
    pub trimmed_mean: f64,
    /// The smallest.
    pub minimum: f64,
    /// The largest.
    pub maximum: f64,
}

/// The summary statistics of some observations; `None` where there is none, or one that is not finite.
pub fn summary(observations: &[f64]) -> Option<Summary> {
    if observations.iter().any(|each| !each.is_finite()) {
        return None;
    }
    let mut sorted = observations.to_vec();
    sorting::numbers(&mut sorted);
    let cut = (sorted.len() as f64 * TRIMMED) as usize;
    let whole = mean(&sorted)?;
    Some(Summary {
        observations: sorted.len(),
        mean: whole.value,
        deviation: whole.deviation,
        trimmed_mean: mean(&sorted[cut..sorted.len() - cut])?.value,
        minimum: *sorted.first()?,
        maximum: *sorted.last()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_two_has_students_interval() {
        let mean = mean(&[1.0, 3.0]).unwrap();
        assert!((mean.value - 2.0).abs() < 1e-12);
        assert!((mean.deviation.unwrap() - 2.0_f64.sqrt()).abs() < 1e-12);
        let interval = mean.interval.unwrap();
        assert!((interval.high - 2.0 - 12.706_204_736).abs() < 1e-6, "{interval:?}");
        assert!((interval.low - 2.0 + 12.706_204_736).abs() < 1e-6, "{interval:?}");
    }

    #[test]
    fn one_value_has_no_interval_and_none_has_no_mean() {
        let one = mean(&[5.0]).unwrap();
        assert_eq!((one.deviation, one.interval), (None, None));
        assert_eq!(mean(&[]), None);
    }

    #[test]
    fn one_far_value_moves_the_mean_and_not_the_trimmed_one() {
        let mut observations: Vec<f64> = (1..=9).map(f64::from).collect();
        observations.push(1000.0);
        let result = summary(&observations).unwrap();
        assert_eq!((result.observations, result.minimum, result.maximum), (10, 1.0, 1000.0));
        assert!((result.mean - 104.5).abs() < 1e-12, "{result:?}");
        assert!((result.trimmed_mean - 5.5).abs() < 1e-12, "2 to 9: {result:?}");
    }

    #[test]
    fn the_deviation_has_the_divisor_of_a_sample() {
        let result = summary(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
        assert!((result.deviation.unwrap() - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12, "{result:?}");
    }

    #[test]
    fn nothing_and_what_is_no_number_have_none() {
        assert_eq!(summary(&[]), None);
        assert_eq!(summary(&[1.0, f64::NAN]), None);
        assert_eq!(summary(&[7.0]).unwrap().deviation, None);
    }
}
