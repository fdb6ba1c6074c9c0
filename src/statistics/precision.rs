//! How precise an estimate is, and what it would take to make it more so.

use super::distribution::student_quantile;
use super::estimate::{Estimate, Interval, MINIMUM_TRIALS};

/// More trials than anyone will wait for; a wish beyond it is not answered.
const MOST_TRIALS: usize = 1_000_000;

/// Half the width of the interval as a share of the value: 0.02 means "within two per cent". No unit.
///
/// `None` without an interval, and for a value of zero, of which nothing is a share.
pub fn relative_half_width(estimate: &Estimate) -> Option<f64> {
    let Interval { low, high } = estimate.interval?;
    let share = (high - low) / 2.0 / estimate.value.abs();
    share.is_finite().then_some(share)
}

/// How many trials more are expected to bring the relative half-width down to `wished` (0.02 for two per cent).
///
/// The half-width is proportional to `t(n - 1) / sqrt(n)`: the square root is the law of averages, and Student's t,
/// which the interval contains, makes the first few trials worth more than that. An estimate with too few trials
/// for an interval needs those first. `None` where there is an interval but no relative width, if the wish is not
/// positive, and if it would take more than a million trials.
pub fn further_trials(estimate: &Estimate, wished: f64) -> Option<usize> {
    let have = estimate.trials;
    if estimate.interval.is_none() {
        return MINIMUM_TRIALS.checked_sub(have).filter(|&missing| missing > 0);
    }
    let width = relative_half_width(estimate)?;
    if wished.is_nan() || wished <= 0.0 {
        return None;
    }
    let factor =
        |n: usize| student_quantile(f64::midpoint(1.0, estimate.level), n as f64 - 1.0) / (n as f64).sqrt();
    let enough = factor(have) * wished / width;
    if width <= wished {
        return Some(0);
    }
    let needed = least(have, MOST_TRIALS, |n| factor(n) <= enough)?;
    Some(needed - have)
}

/// The least number in a range that satisfies a condition which, once satisfied, stays so.
fn least(first: usize, last: usize, satisfied: impl Fn(usize) -> bool) -> Option<usize> {
    if !satisfied(last) {
        return None;
    }
    let (mut low, mut high) = (first, last);
    while low < high {
        let middle = usize::midpoint(low, high);
        if satisfied(middle) { high = middle } else { low = middle + 1 }
    }
    Some(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(half_width: f64, trials: usize) -> Estimate {
        let interval = Some(Interval { low: 100.0 - half_width, high: 100.0 + half_width });
        Estimate { value: 100.0, interval, level: 0.95, min: None, max: None, trials, observations: trials }
    }

    #[test]
    fn the_half_width_is_a_share_of_the_value() {
        assert_eq!(relative_half_width(&estimate(3.0, 10)), Some(0.03));
        assert_eq!(relative_half_width(&Estimate { value: 0.0, ..estimate(3.0, 10) }), None);
        assert_eq!(relative_half_width(&Estimate { interval: None, ..estimate(3.0, 10) }), None);
    }

    #[test]
    fn half_the_width_takes_four_times_the_trials_and_fewer_at_the_start() {
        assert_eq!(further_trials(&estimate(4.0, 1000), 0.02), Some(2993));
        // t falls from 2.57 to 2.12, which is worth seven trials.
        assert_eq!(further_trials(&estimate(4.0, 6), 0.02), Some(11));
    }

    #[test]
    fn a_wish_can_be_met_already_or_not_at_all() {
        assert_eq!(further_trials(&estimate(1.0, 10), 0.02), Some(0));
        assert_eq!(further_trials(&estimate(1.0, 10), 0.0), None);
        assert_eq!(further_trials(&estimate(1.0, 10), 1e-9), None);
        assert_eq!(further_trials(&Estimate { interval: None, ..estimate(1.0, 4) }, 0.02), Some(2));
    }
}
