//! Overhead by difference: what an operation costs beyond a baseline of the same shape without it.

use super::bootstrap::{Bootstrap, Estimate};
use super::pool::Pool;

impl Bootstrap {
    /// The median of the operation less the median of the baseline; see [`difference`].
    pub fn difference<T: AsRef<[f64]>>(&self, operation: &[T], baseline: &[T]) -> Option<Estimate> {
        let (operation, baseline) = (Pool::new(operation)?, Pool::new(baseline)?);
        if operation.trials() != baseline.trials() {
            return None;
        }
        let (value, interval) =
            self.interval(operation.trials(), |times| operation.median(times) - baseline.median(times));
        let (trials, observations) = (operation.trials(), operation.observations());
        Some(Estimate { value, interval, level: self.level, min: None, trials, observations })
    }
}

/// What the operation costs beyond the baseline: the difference of their medians with a 95 % interval over trials, in
/// the unit of the observations.
///
/// `operation[i]` and `baseline[i]` were interleaved in the same process, so whenever a trial is drawn both are:
/// the variance of both enters, and what the process did to both (its layout, its CPU's frequency) cancels as far as it
/// really was common. Nothing is clamped: a negative difference is reported as such, and
/// [`Estimate::resolved`] says whether it is known to be above zero. There is no `min` of a difference.
///
/// `None` if the two do not have equally many trials, and where [`super::estimate`] gives `None` for either.
pub fn difference<T: AsRef<[f64]>>(operation: &[T], baseline: &[T], seed: u64) -> Option<Estimate> {
    Bootstrap::new(seed).difference(operation, baseline)
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
        let found = difference(&trials(137.0), &trials(100.0), 1).expect("sound");
        assert!((found.value - 37.0).abs() < 1e-12 && found.resolved());
        assert_eq!(found.min, None);
    }

    #[test]
    fn a_negative_difference_stays_negative() {
        let found = difference(&trials(90.0), &trials(100.0), 1).expect("sound");
        assert!((found.value + 10.0).abs() < 1e-12 && !found.resolved());
    }

    #[test]
    fn what_a_process_does_to_both_cancels() {
        let drift = |level: f64| -> Vec<Vec<f64>> {
            (0..9_u32).map(|trial| vec![level + 1000.0 * f64::from(trial); 5]).collect()
        };
        let interval =
            difference(&drift(3.0), &drift(1.0), 1).and_then(|found| found.interval).expect("nine trials");
        assert!((interval.low - 2.0).abs() < 1e-9 && (interval.high - 2.0).abs() < 1e-9);
    }

    #[test]
    fn trials_without_a_partner_are_refused() {
        assert_eq!(difference(&trials(2.0), &trials(1.0)[1..], 1), None);
    }
}
