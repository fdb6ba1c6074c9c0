//! Levels between which an interval leaves a median open: a figure that has one value all the same is said to be of several.

use super::mixture::NEAR;
use fathom_core::statistics::{Interval, Mode};

/// A level with a smaller share of the observations is a rare one, by which the value is not another.
const LEAST_SHARE: f64 = 0.25;

/// Levels that hold less than this share of the observations together are not all that there is of them: these are spread.
const NEARLY_ALL: f64 = 0.9;

/// The modes of a quarter of the observations or more that an interval reaches, ascending; empty unless there are two, which hold nearly all.
pub(super) fn reached(ends: Interval, modes: &[Mode]) -> Vec<Mode> {
    let is_reached = |mode: &&Mode| {
        mode.share >= LEAST_SHARE && (ends.low / NEAR..=ends.high * NEAR).contains(&mode.centre)
    };
    let reached: Vec<Mode> = modes.iter().filter(is_reached).copied().collect();
    let share: f64 = reached.iter().map(|mode| mode.share).sum();
    if reached.len() > 1 && share >= NEARLY_ALL { reached } else { vec![] }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads of 39.6 us in 44 % and of 49.5 us in 56 %, whose median is 48.1 (39.7-49.4).
    #[test]
    fn a_median_between_whose_ends_both_levels_lie_is_of_one_of_them_by_chance() {
        let of = |slow: f64, low, high| {
            let modes = [(39.6, 1.0 - slow), (49.5, slow)].map(|(centre, share)| Mode { centre, share });
            reached(Interval { low, high }, &modes).len()
        };
        let reached = |low, high| of(0.56, low, high);
        assert_eq!(of(0.15, 39.7, 49.4), 0, "the slower is rare");
        let spread = [(28.4, 0.47), (37.4, 0.35), (49.0, 0.18)].map(|(centre, share)| Mode { centre, share });
        assert!(
            super::reached(Interval { low: 28.0, high: 38.0 }, &spread).is_empty(),
            "a third is elsewhere"
        );
        assert_eq!(reached(39.7, 49.4), 2);
        assert_eq!(reached(46.0, 49.4), 0, "it is of the slower for certain");
        assert_eq!(reached(42.0, 46.0), 0, "it is of neither");
    }
}
