//! The precision of an estimate, and the number of trials for a better one.

use super::estimate::{Estimate, MINIMUM_TRIALS, reach};
use super::measured::Interval;
use super::over_trials::foreseen;
use super::pool::Pool;

/// The limit of the number of trials; a target that needs more has no answer.
const MOST_TRIALS: usize = 10_000;

/// Half the width of the interval as a share of the value: 0.02 means "within two per cent". No unit.
///
/// `None` without an interval, and for a value of zero, which has no shares.
pub fn relative_half_width(estimate: &Estimate) -> Option<f64> {
    let Interval { low, high } = estimate.interval?;
    let share = (high - low) / 2.0 / estimate.value.abs();
    share.is_finite().then_some(share)
}

/// The distance of the farther end of the interval from the value as a share of it: 0.05 means "known within five per cent". No unit.
///
/// Of an interval that is lopsided, half the width says less: 100 (98 to 110) is known within ten per cent, not six. `None` as for
/// [`relative_half_width`].
pub fn relative_reach(estimate: &Estimate) -> Option<f64> {
    let Interval { low, high } = estimate.interval?;
    let share = (high - estimate.value).max(estimate.value - low) / estimate.value.abs();
    share.is_finite().then_some(share)
}

/// The expected number of further trials until the relative reach is down to `target` (0.02 for two per cent): of the median of
/// `operation`, or of its difference to that of `baseline` where there is one (else that is empty).
///
/// The existing trials represent the further ones: the interval shrinks as that of their shares would if it were taken over more
/// trials of the same distribution (the plug-in principle: Efron 1979, "Bootstrap methods: another look at the jackknife", Ann. Stat. 7). If trials
/// differ evenly, widths then fall with the root of their number. If one of six lies far off, two or three more exclude it, where
/// the root of the number would ask for ninety.
///
/// With too few trials for an interval, the number includes those that are missing. `None` if [`super::estimate`] or
/// [`super::difference`] gives `None`, for a value of zero, and beyond ten thousand trials.
pub fn further_trials<T: AsRef<[f64]>>(operation: &[T], baseline: &[T], target: f64) -> Option<usize> {
    let operation = Pool::new(operation)?;
    let baseline = if baseline.is_empty() { None } else { Some(Pool::new(baseline)?) };
    let have = operation.trials();
    if have < MINIMUM_TRIALS {
        return Some(MINIMUM_TRIALS - have);
    }
    let value = operation.median() - baseline.as_ref().map_or(0.0, Pool::median);
    let of = |trials: usize| match &baseline {
        Some(baseline) => reach(&operation, baseline, |pool| foreseen(pool, trials)),
        None => foreseen(&operation, trials),
    };
    let reaches = |trials: usize| {
        let reach = |Interval { low, high }| (high - value).max(value - low);
        of(trials).is_some_and(|interval| reach(interval) <= target * value.abs())
    };
    let needed = if value == 0.0 { None } else { least(have, MOST_TRIALS, reaches) };
    Some(needed? - have)
}

/// The least number from `first` to `last` that satisfies a condition which, once satisfied, stays so. Small numbers are
/// tried first.
fn least(first: usize, last: usize, satisfied: impl Fn(usize) -> bool) -> Option<usize> {
    let (mut low, mut high) = (first, first);
    while !satisfied(high) {
        if high >= last {
            return None;
        }
        (low, high) = (high + 1, (2 * high).min(last));
    }
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

    /// Trials of one observation each, evenly from 90 to 110.
    fn even(trials: u32) -> Vec<Vec<f64>> {
        let step = 20.0 / f64::from(trials - 1);
        (0..trials).map(|trial| vec![90.0 + step * f64::from(trial)]).collect()
    }

    const NO_BASELINE: &[Vec<f64>] = &[];

    fn half_width(trials: &[Vec<f64>]) -> f64 {
        super::super::estimate(trials)
            .and_then(|estimate| relative_half_width(&estimate))
            .expect("enough trials")
    }

    #[test]
    fn the_half_width_is_a_share_of_the_value() {
        assert_eq!(relative_half_width(&estimate(3.0, 10)), Some(0.03));
        assert_eq!(relative_reach(&estimate(3.0, 10)), Some(0.03));
        let lopsided = Some(Interval { low: 98.0, high: 110.0 });
        assert_eq!(relative_reach(&Estimate { interval: lopsided, ..estimate(3.0, 10) }), Some(0.1));
        assert_eq!(relative_half_width(&Estimate { value: 0.0, ..estimate(3.0, 10) }), None);
        assert_eq!(relative_half_width(&Estimate { interval: None, ..estimate(3.0, 10) }), None);
    }

    #[test]
    fn half_the_width_takes_four_times_the_trials_where_they_differ_evenly() {
        let trials = even(400);
        let further = further_trials(&trials, NO_BASELINE, half_width(&trials) / 2.0).expect("reached");
        assert!((1100..=1300).contains(&further), "{further}");
    }

    #[test]
    fn one_trial_of_six_that_lies_far_off_is_shut_out_by_a_few_more() {
        let mut trials = vec![vec![100.0], vec![100.5], vec![99.5], vec![100.2], vec![99.8]];
        trials.push(vec![160.0]);
        assert!(half_width(&trials) > 0.15);
        let further = further_trials(&trials, NO_BASELINE, 0.05).expect("reached");
        assert!((1..=4).contains(&further), "{further}");
    }

    #[test]
    fn as_many_more_like_them_have_the_width_that_was_foretold() {
        let trials = even(12);
        let target = half_width(&trials) / 1.6;
        let further = further_trials(&trials, NO_BASELINE, target).expect("reached");
        let more = |trials: usize| half_width(&vec![even(12); trials / 12].concat());
        assert!(more((12 + further).next_multiple_of(12)) <= target);
        assert!(more((12 + further) / 12 * 12) > target);
    }

    #[test]
    fn of_a_difference_both_medians_count() {
        let (operation, baseline) = (even(12), vec![vec![50.0]; 12]);
        let of_difference = further_trials(&operation, &baseline, 0.05).expect("reached");
        assert!(of_difference > further_trials(&operation, NO_BASELINE, 0.05).expect("reached"));
    }

    #[test]
    fn a_target_can_be_met_already_or_not_at_all() {
        let trials = even(12);
        assert_eq!(further_trials(&trials, NO_BASELINE, 1.0), Some(0));
        assert_eq!(further_trials(&trials, NO_BASELINE, 0.0), None);
        assert_eq!(further_trials(&trials, &trials, 0.02), None, "of zero nothing is a share");
        assert_eq!(further_trials(&even(3), NO_BASELINE, 0.02), Some(1));
    }
}
