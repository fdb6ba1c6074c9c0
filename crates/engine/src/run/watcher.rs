//! Who follows a run: told of every trial, of what was settled, and of long preparations.
//! The rounds of a run are told as the trials that a point has in the mean, of those that each was promised.

use crate::plan::Settlement;
use crate::record::{PlannedPoint, Settled};
use crate::results::Headline;
use std::time::Duration;

/// The state of a run after each trial, for its watcher.
pub struct Tick<'run> {
    /// The point that was visited.
    pub planned: &'run PlannedPoint,
    /// Its estimate so far; `None` while nothing was observed.
    pub headline: Option<&'run Headline>,
    /// The round that is going on, by the trials that every point has in the mean.
    pub round: u32,
    /// How many are promised; `None` before that is settled.
    pub rounds: Option<u32>,
    /// Time since the run began or was resumed.
    pub elapsed: Duration,
    /// The time that the run may take.
    pub budget: Duration,
    /// Points whose interval is as narrow as the target.
    pub precise: usize,
    /// The target: the distance of an interval's farther end from its value, as a share of it.
    pub precision: f64,
    /// Points that are measured.
    pub points: usize,
}

/// An observer of a run, such as a progress display.
pub trait Watcher {
    /// Called after every trial, between two measurements.
    fn trial(&mut self, tick: &Tick);

    /// Called when the planner has settled which points get their trials, and until when.
    fn settled(&mut self, settlement: &Settlement);

    /// Called while a trial prepares something that takes long, with its description; nothing is measured meanwhile.
    fn preparing(&mut self, doing: &str);
}

/// A watcher that shows nothing.
pub(crate) struct Unwatched;

impl Watcher for Unwatched {
    fn trial(&mut self, _: &Tick) {}

    fn settled(&mut self, _: &Settlement) {}

    fn preparing(&mut self, _: &str) {}
}

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
