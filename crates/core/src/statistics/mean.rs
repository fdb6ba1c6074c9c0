//! The mean of trials with its interval by Student's t, to compare with others who report means. Fathom's own headline is the
//! median ([`super::estimate`]).

use super::distribution::student_quantile;
use super::measured::Interval;

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
}
