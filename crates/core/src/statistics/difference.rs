//! Overhead by difference: what an operation costs beyond a baseline of the same shape without it.

use super::estimate::Estimate;
use super::measured::Interval;
use super::over_trials::interval;
use super::pool::Pool;
use super::quantile::LEVEL;

/// The cost of the operation beyond the baseline: the difference of their medians with a 95 % interval over trials, in the unit
/// of the observations.
///
/// `operation[i]` and `baseline[i]` were interleaved in the same process, so effects of the process on both (its layout, its
/// CPU's frequency) cancel as far as they really were common. Nothing is clamped: a negative difference is reported as such, and
/// [`Estimate::resolved`] says whether it is known to be above zero. There is no `min` of a difference.
///
/// The variance of both enters: the ends are as far from the value as the intervals of the two medians reach, added like standard
/// deviations with the correlation found between the trials of the two (Zou 2007, "Toward using confidence intervals to compare
/// correlations", and Zou & Donner 2008). Each reach replaces a standard error on its own side, so asymmetric intervals stay
/// asymmetric.
///
/// `None` if the two do not have equally many trials, and where [`super::estimate`] gives `None` for either.
pub fn difference<T: AsRef<[f64]>>(operation: &[T], baseline: &[T]) -> Option<Estimate> {
    let (operation, baseline) = (Pool::new(operation)?, Pool::new(baseline)?);
    if operation.trials() != baseline.trials() {
        return None;
    }
    Some(Estimate {
        value: operation.median() - baseline.median(),
        interval: reach(&operation, &baseline, interval),
        level: LEVEL,
        min: None,
        max: None,
        trials: operation.trials(),
        observations: operation.observations(),
    })
}

/// The interval of the difference of two medians, from the interval of each.
pub(super) fn reach(
    operation: &Pool,
    baseline: &Pool,
    interval: impl Fn(&Pool) -> Option<Interval>,
) -> Option<Interval> {
    let (of_operation, of_baseline) = (interval(operation)?, interval(baseline)?);
    let (median, base) = (operation.median(), baseline.median());
    let together = correlation(&operation.shares_below(median), &baseline.shares_below(base));
    // The variance of a difference; rounding must not make it negative.
    let join = |a: f64, b: f64| (a * a + b * b - 2.0 * together * a * b).max(0.0).sqrt();
    Some(Interval {
        low: median - base - join(median - of_operation.low, of_baseline.high - base),
        high: median - base + join(of_operation.high - median, base - of_baseline.low),
    })
}

/// The correlation (Pearson) of two quantities over the same trials, -1 to 1; 0 if one of them does not vary.
fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len() as f64;
    let (middle_a, middle_b) = (a.iter().sum::<f64>() / n, b.iter().sum::<f64>() / n);
    let sum = |x: &[f64], y: &[f64], middle_x: f64, middle_y: f64| {
        x.iter().zip(y).map(|(x, y)| (x - middle_x) * (y - middle_y)).sum::<f64>()
    };
    let scale = (sum(a, a, middle_a, middle_a) * sum(b, b, middle_b, middle_b)).sqrt();
    if scale > 0.0 { (sum(a, b, middle_a, middle_b) / scale).clamp(-1.0, 1.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trials(level: f64) -> Vec<Vec<f64>> {
        (0..8_u32)
            .map(|trial| (0..15).map(|place| level + f64::from((trial * 5 + place * 3) % 7)).collect())
            .collect()
    }

    #[test]
    fn the_baseline_is_taken_away() {
        let result = difference(&trials(137.0), &trials(100.0)).expect("sound");
        assert!((result.value - 37.0).abs() < 1e-12 && result.resolved());
        assert_eq!(result.min, None);
    }

    #[test]
    fn a_negative_difference_stays_negative() {
        let result = difference(&trials(90.0), &trials(100.0)).expect("sound");
        assert!((result.value + 10.0).abs() < 1e-12 && !result.resolved());
    }

    #[test]
    fn what_a_process_does_to_both_cancels() {
        let drift = |level: f64| -> Vec<Vec<f64>> {
            (0..9_u32).map(|trial| vec![level + 1000.0 * f64::from(trial); 5]).collect()
        };
        let interval =
            difference(&drift(3.0), &drift(1.0)).and_then(|result| result.interval).expect("nine trials");
        assert!((interval.low - 2.0).abs() < 1e-9 && (interval.high - 2.0).abs() < 1e-9);
    }

    #[test]
    fn trials_without_a_partner_are_refused() {
        assert_eq!(difference(&trials(2.0), &trials(1.0)[1..]), None);
    }
}
