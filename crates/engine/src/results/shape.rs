//! The shape of the distribution of observations: several modes, if they differ enough to matter.

use fathom_core::sorting;
use fathom_core::statistics::{self, Mode};

/// Modes within this factor of each other are merged. Observations of one process are closer together than those of two, so
/// a test on all of them finds as many clusters as processes; a factor of this size has another cause, such as a shared core
/// or an interrupt.
const DISTINCT: f64 = 1.25;

/// A mode with a smaller share of the observations consists of outliers.
const LEAST_SHARE: f64 = 0.1;

/// A cluster of a tenth is detected in this number of observations as well as in more, which would only take time.
const ENOUGH: usize = 2000;

/// The modes of the observations that differ by the factor; empty or a single one if they cluster around one value.
pub fn distinct_modes(observations: &[f64]) -> Vec<Mode> {
    let mut distinct: Vec<Mode> = vec![];
    for mode in statistics::modes(&evenly(observations)) {
        match distinct.last_mut() {
            Some(last) if mode.centre <= last.centre * DISTINCT => *last = joined(last, &mode),
            _ => distinct.push(mode),
        }
    }
    distinct.retain(|mode| mode.share >= LEAST_SHARE);
    distinct
}

/// At most [`ENOUGH`] of the observations, evenly over their ranks.
fn evenly(observations: &[f64]) -> Vec<f64> {
    let mut sorted = observations.to_vec();
    sorting::numbers(&mut sorted);
    let (all, count) = (sorted.len(), sorted.len().min(ENOUGH));
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
        assert_eq!(evenly(&[3.0, 1.0, 2.0]), [1.0, 2.0, 3.0]);
    }

    #[test]
    fn a_factor_of_two_is_told() {
        let modes = distinct_modes(&trials(&[1.0, 1.04, 2.0, 2.1, 1.03, 2.12]));
        assert_eq!(modes.len(), 2, "{modes:?}");
        assert!((modes[0].share - 0.5).abs() < 0.1);
    }
}
