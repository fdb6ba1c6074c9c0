//! The modes of a point's observations that differ enough to matter.

use fathom_core::sorting;
use fathom_core::statistics::{self, Mode};

/// Modes within this factor of each other are merged. Observations of one process are closer together than those of two, so
/// a test on all of them finds as many clusters as processes; a factor of this size has another cause, such as a shared core
/// or an interrupt.
pub(super) const DISTINCT: f64 = 1.25;

/// A mode with a smaller share of the observations consists of outliers.
const LEAST_SHARE: f64 = 0.1;

/// A cluster of a tenth is detected in this number of observations as well as in more, which would only take time.
const ENOUGH: usize = 2000;

/// The observations of trials, of none more than the median one has, evenly over their ranks: where a trial has as many as it meets (gaps,
/// interrupts), one of twelve that was disturbed had 298 of 505 observations, and made a state of the machine.
pub fn of_equal_trials(trials: &[Vec<f64>]) -> Vec<f64> {
    let counts: Vec<f64> = trials.iter().map(|trial| trial.len() as f64).collect();
    let most = statistics::median(&counts).map_or(0, |median| median.ceil() as usize);
    trials.iter().flat_map(|trial| evenly(trial, most)).collect()
}

/// The modes of the observations that differ by the factor; empty or a single one if they cluster around one value.
pub fn distinct_modes(observations: &[f64]) -> Vec<Mode> {
    let mut distinct: Vec<Mode> = vec![];
    for mode in told_apart(&evenly(observations, ENOUGH)) {
        match distinct.last_mut() {
            Some(last) if mode.centre <= last.centre * DISTINCT => *last = joined(last, &mode),
            _ => distinct.push(mode),
        }
    }
    distinct.retain(|mode| mode.share >= LEAST_SHARE);
    distinct
}

/// A cluster whose middle observations spread over this factor may be of several values.
const WIDE: f64 = 4.0;

/// The observations that are the middle of a cluster: all but this share at either end.
const OUTER: f64 = 0.1;

/// The modes of ascending observations; those of a wide one by their ratios.
fn told_apart(ascending: &[f64]) -> Vec<Mode> {
    let mut begin = 0;
    let mut modes = vec![];
    for mode in statistics::modes(ascending) {
        let end = ascending.len().min(begin + (mode.share * ascending.len() as f64).round() as usize);
        let members = &ascending[begin..end];
        begin = end;
        let is_wide = statistics::quantile(members, OUTER)
            .zip(statistics::quantile(members, 1.0 - OUTER))
            .is_some_and(|(low, high)| low > 0.0 && high >= WIDE * low);
        if is_wide {
            let parts = statistics::modes_by_ratio(members).into_iter();
            modes.extend(parts.map(|part| Mode { share: part.share * mode.share, ..part }));
        } else {
            modes.push(mode);
        }
    }
    modes
}

/// At most so many of the observations, evenly over their ranks.
fn evenly(observations: &[f64], most: usize) -> Vec<f64> {
    let mut sorted = observations.to_vec();
    sorting::numbers(&mut sorted);
    let (all, count) = (sorted.len(), sorted.len().min(most));
    (0..count).map(|place| sorted[(2 * place + 1) * all / (2 * count)]).collect()
}

/// Two modes merged, at the mean of their centres weighted by their shares.
fn joined(one: &Mode, other: &Mode) -> Mode {
    let share = one.share + other.share;
    Mode { centre: (one.centre * one.share + other.centre * other.share) / share, share }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of one CPU's gaps all of the observations that were counted stood in two states far below their median.
    #[test]
    fn one_trial_with_most_of_the_observations_makes_no_state() {
        let quiet = |trial: usize| (0..12).map(|gap| 10.0 + trial as f64 + 0.1 * f64::from(gap)).collect();
        let mut trials: Vec<Vec<f64>> = (0..11).map(quiet).collect();
        trials.push((0..300).map(|gap| 0.3 + 0.0001 * f64::from(gap)).collect());
        assert!(
            distinct_modes(&trials.concat()).iter().any(|mode| mode.centre < 1.0),
            "all of them together"
        );
        let modes = distinct_modes(&of_equal_trials(&trials));
        assert!(modes.iter().all(|mode| mode.centre > 5.0), "{modes:?}");
        assert_eq!(of_equal_trials(&[]), Vec::<f64>::new());
    }

    /// Gaps of a quarter of a microsecond, of 1 to 5 and of 10 to 28 were two clusters, one of which held the long ones.
    #[test]
    fn a_cluster_that_spreads_over_several_times_its_least_is_judged_by_ratios() {
        let evenly = |from: f64, to: f64, count: u32| {
            (0..count).map(move |nth| from + (to - from) * (f64::from(nth) + 0.5) / f64::from(count))
        };
        let gaps: Vec<f64> = evenly(250.0, 340.0, 39)
            .chain(evenly(1_000.0, 4_000.0, 23))
            .chain(evenly(10_000.0, 28_000.0, 20))
            .collect();
        let shares: Vec<f64> =
            distinct_modes(&gaps).iter().map(|mode| (100.0 * mode.share).round()).collect();
        assert_eq!(shares, [48.0, 28.0, 24.0]);
    }

    /// Trials of a hundred observations each, tightly around these values.
    fn trials(centres: &[f64]) -> Vec<f64> {
        let around =
            |centre: &f64| (0..100).map(|step| centre * (1.0 + f64::from(step) * 1e-5)).collect::<Vec<_>>();
        centres.iter().flat_map(around).collect()
    }

    #[test]
    fn processes_that_differ_a_little_are_one_mode() {
        assert!(distinct_modes(&trials(&[1.0, 1.04, 1.07, 1.1, 1.03, 1.12])).len() <= 1);
    }

    #[test]
    fn of_very_many_observations_the_shape_is_the_same() {
        let many: Vec<f64> = (0..100).flat_map(|_| trials(&[1.0, 1.0, 1.0, 2.0])).collect();
        let modes = distinct_modes(&many);
        assert_eq!(modes.len(), 2, "{modes:?}");
        assert!((modes[1].share - 0.25).abs() < 0.01, "{modes:?}");
        assert_eq!(evenly(&[3.0, 1.0, 2.0], ENOUGH), [1.0, 2.0, 3.0]);
    }

    #[test]
    fn a_factor_of_two_is_told() {
        let modes = distinct_modes(&trials(&[1.0, 1.04, 2.0, 2.1, 1.03, 2.12]));
        assert_eq!(modes.len(), 2, "{modes:?}");
        assert!((modes[0].share - 0.5).abs() < 0.1);
    }
}
