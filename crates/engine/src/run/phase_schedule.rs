//! How many trials each block of a short phase gets: as many as fit, the same number in every phase of a run.

use fathom_core::sorting;

/// The fewest trials of a point in a phase: one more than an interval needs, because a trial may fail.
pub(super) const FEWEST: u32 = 5;

/// The most trials of a point: from there on an interval narrows by little.
const MOST: u32 = 40;

/// By how much a phase may take longer than requested, so that every block has its fewest trials, before the most expensive
/// blocks are left out.
const LONGER: f64 = 2.0;

/// The number of trials of each block in a phase of this length, from the cost of a trial of each, seconds; 0 for a block that is
/// left out. Every block has its fewest, and what is left of the time goes where it narrows intervals most: the numbers are then as
/// the reciprocals of the square roots of the costs (Neyman 1934, "On the two different aspects of the representative method", J. R.
/// Stat. Soc. 97, for blocks whose trials scatter alike).
pub(super) fn trials(costs: &[f64], length: f64) -> Vec<u32> {
    let mut ascending: Vec<usize> = (0..costs.len()).collect();
    sorting::by_number(&mut ascending, |block| costs[*block]);
    let (mut trials, mut total) = (vec![0; costs.len()], 0.0);
    for block in ascending {
        let fewest = costs[block] * f64::from(FEWEST);
        if total + fewest <= length * LONGER {
            trials[block] = FEWEST;
            total += fewest;
        }
    }
    while let Some(block) = next(costs, &trials, length - total) {
        trials[block] += 1;
        total += costs[block];
    }
    trials
}

/// The block whose next trial narrows intervals most for its time, among those that have any and fit into the rest of the time, seconds.
pub(super) fn next(costs: &[f64], trials: &[u32], rest: f64) -> Option<usize> {
    let fits = |block: &usize| (1..MOST).contains(&trials[*block]) && costs[*block] <= rest;
    let price = |block: &usize| f64::from(trials[*block]).powi(2) * costs[*block];
    (0..costs.len()).filter(fits).min_by(|one, other| price(one).total_cmp(&price(other)))
}

/// Whether a block with so many trials in a phase of so many rounds is visited in this round, from 0: its trials are spread over
/// the phase, so that each block sees all of it.
pub(super) fn is_due(trials: u32, rounds: u32, round: u32) -> bool {
    let reached = |round: u32| u64::from(round) * u64::from(trials) / u64::from(rounds.max(1));
    reached(round + 1) > reached(round)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(costs: &[f64], trials: &[u32]) -> f64 {
        costs.iter().zip(trials).map(|(cost, trials)| cost * f64::from(*trials)).sum()
    }

    #[test]
    fn what_fits_is_used_and_the_cheap_have_more() {
        let costs = [0.01, 0.2, 0.02, 0.3];
        let length = 5.15;
        let planned = trials(&costs, length);
        assert!(planned.iter().all(|trials| *trials >= FEWEST), "{planned:?}");
        assert!(planned[0] > planned[3] && planned[2] > planned[1], "{planned:?}");
        assert!(total(&costs, &planned) <= length, "{planned:?}");
        // A block that costs nine times as much has a third of the trials.
        let planned = trials(&[0.01, 0.09], 1.2);
        let quotient = f64::from(planned[0]) / f64::from(planned[1]);
        assert!((2.7..3.4).contains(&quotient), "{planned:?}");
        assert!(trials(&costs, 100.0).iter().all(|trials| *trials == MOST));
    }

    #[test]
    fn a_phase_grows_for_the_fewest_trials_and_leaves_out_what_exceeds_that() {
        let costs = [0.3, 0.9, 9.0];
        let trials = trials(&costs, 4.0);
        assert_eq!(trials, [FEWEST, FEWEST, 0]);
        assert!(total(&costs, &trials) <= 8.0);
    }

    #[test]
    fn trials_are_spread_over_the_rounds_of_a_phase() {
        for (trials, rounds) in [(5, 16), (40, 40), (7, 9), (0, 4)] {
            let due: Vec<u32> = (0..rounds).filter(|round| is_due(trials, rounds, *round)).collect();
            assert_eq!(due.len() as u32, trials);
            assert!(due.windows(2).all(|pair| pair[1] - pair[0] <= rounds.div_ceil(trials)), "{due:?}");
        }
    }
}
