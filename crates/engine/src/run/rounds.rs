//! The rounds of a run as they are told: how many trials a point has in the mean, of those that each was promised.

use crate::record::Settled;

/// The round that is going on, and how many the promise takes; `None` while the pilot round finds out what trials cost.
pub(super) fn rounds(trials: &[Vec<usize>], settled: Option<&Settled>) -> (u32, Option<u32>) {
    let all: usize = trials.iter().map(Vec::len).sum();
    let points = settled.map_or(trials.len(), |settled| settled.points as usize);
    let round = (all / points.max(1)) as u32 + 1;
    (round, settled.map(|settled| settled.most_trials as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(points: u64, most_trials: u64) -> Settled {
        Settled {
            at_s: 20.0,
            budget_s: 90.0,
            points,
            trials: 0,
            least_trials: 6,
            most_trials,
            trial_ns: 4_000_000,
            end_s: 80.0,
            left_out: vec![],
            enough_budget_s: 90.0,
        }
    }

    #[test]
    fn a_round_is_a_trial_of_every_point_whatever_their_order() {
        assert_eq!(rounds(&[vec![], vec![0]], None), (1, None));
        // A group that is measured to the end has no more rounds than the trials of all points make.
        assert_eq!(rounds(&[vec![0, 1, 2], vec![]], Some(&settled(2, 6))), (2, Some(6)));
        // A point that was left out after its pilot is none of them.
        assert_eq!(rounds(&[vec![0], vec![1, 2], vec![3, 4]], Some(&settled(2, 8))), (3, Some(8)));
    }
}
