//! The order of trials. Round one goes in the order of the report, because predictions stand on what experiments before
//! them have found; every later round is shuffled, across all experiments, so that drift and heat fall on all alike.
//! After a few rounds the remaining budget goes where an interval is furthest from the wished precision, counting what
//! a trial costs.

use crate::experiment::Point;
use crate::statistics::MINIMUM_TRIALS;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::time::Duration;

/// Trials of one point beyond which more of them teach little, whatever precision was wished.
const MOST_TRIALS: usize = 200;

/// Of the points that miss the wished precision, each later round visits this share: the most profitable ones.
const LATER_SHARE: usize = 4;

/// How far a point has come.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Progress {
    /// Trials visited, whatever became of them.
    pub trials: usize,
    /// Trials in a row that did not observe anything.
    pub barren: usize,
    /// Relative half-width of the interval; `None` where there is none yet.
    pub half_width: Option<f64>,
    /// Whether more trials cannot sharpen it usefully (a difference that is lost in the noise).
    pub exhausted: bool,
    /// Seconds that its trials took.
    pub seconds: f64,
}

impl Progress {
    /// Broken twice at the start, it will not recover: its reason is known.
    fn given_up(&self) -> bool {
        self.barren >= 2 && self.barren == self.trials
    }

    fn missing(&self, precision: f64) -> bool {
        let wide = self.half_width.is_none_or(|half_width| half_width > precision);
        !self.given_up() && !self.exhausted && wide && self.trials < MOST_TRIALS
    }

    /// How much a further trial is expected to bring for its cost: intervals narrow with the root of the trials.
    fn profit(&self, precision: f64) -> f64 {
        let excess = (self.half_width.unwrap_or(10.0) / precision).min(100.0);
        let cost = self.seconds / self.trials.max(1) as f64;
        excess / (self.trials.max(1) as f64).sqrt() / cost.max(1e-3)
    }
}

/// Decides the order of trials, round by round.
#[derive(Debug)]
pub struct Schedule {
    seed: u64,
    precision: f64,
}

impl Schedule {
    /// A schedule whose chance comes from the run's seed.
    pub fn new(seed: u64, precision: f64) -> Self {
        Schedule { seed, precision }
    }

    /// The points of a round (from 1), as indices; empty when everything is as precise as wished.
    pub fn round(&self, round: u32, progress: &[Progress]) -> Vec<usize> {
        let mut due: Vec<usize> =
            (0..progress.len()).filter(|index| self.is_due(round, &progress[*index])).collect();
        if round as usize > MINIMUM_TRIALS {
            let profit = |index: &usize| progress[*index].profit(self.precision);
            due.sort_by(|one, other| profit(other).total_cmp(&profit(one)));
            due.truncate(due.len().div_ceil(LATER_SHARE).max(8).min(due.len()));
        }
        if round > 1 {
            shuffle(&mut due, &mut SplitMix64::seed_from_u64(self.seed ^ u64::from(round)));
        }
        due
    }

    fn is_due(&self, round: u32, progress: &Progress) -> bool {
        let first_rounds =
            progress.trials < MINIMUM_TRIALS && progress.trials < round as usize && !progress.given_up();
        first_rounds || (round as usize > MINIMUM_TRIALS && progress.missing(self.precision))
    }
}

/// Fisher and Yates, with Lemire's way to a number below a bound (close enough to uniform for an order).
fn shuffle(items: &mut [usize], chance: &mut SplitMix64) {
    for last in (1..items.len()).rev() {
        let other = ((u128::from(chance.next_u64()) * (last as u128 + 1)) >> 64) as usize;
        items.swap(last, other);
    }
}

/// The seed of one trial, from the run's: the same point in the same round draws the same, whatever the order.
pub fn trial_seed(seed: u64, experiment: &str, point: &Point, round: u32) -> u64 {
    // FNV-1a, a published hash that will not change with a library.
    let text = format!("{experiment} {point}");
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    SplitMix64::seed_from_u64(seed ^ hash ^ u64::from(round).rotate_left(32)).next_u64()
}

/// How long trials observe, so that the least number of rounds fits into the budget.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    budget: Duration,
}

/// What starting, preparing and ending a trial takes besides observing, as first guessed.
const TRIAL_OVERHEAD: Duration = Duration::from_millis(7);
/// A trial that observes for less sees too few observations; one that observes for longer learns little more.
const SHORTEST: Duration = Duration::from_millis(4);
const LONGEST: Duration = Duration::from_millis(30);
/// The share of the budget that the first rounds may take.
const SHARE: f64 = 0.85;

impl Pace {
    /// The pace for a budget.
    pub fn new(budget: Duration) -> Self {
        Pace { budget }
    }

    /// How long the first round's trials observe.
    pub fn first(&self, points: usize) -> Duration {
        let trials = (points * MINIMUM_TRIALS).max(1) as u32;
        (self.budget.mul_f64(SHARE) / trials).saturating_sub(TRIAL_OVERHEAD).clamp(SHORTEST, LONGEST)
    }

    /// How long trials observe after the first round, from what it took.
    pub fn later(&self, observed: Duration, first_round: Duration, points: usize) -> Duration {
        let points = points.max(1) as u32;
        let overhead = (first_round / points).saturating_sub(observed);
        let left = self.budget.mul_f64(SHARE).saturating_sub(first_round);
        let each = left / (points * (MINIMUM_TRIALS as u32 - 1));
        each.saturating_sub(overhead).clamp(SHORTEST, LONGEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visited(trials: usize, half_width: f64) -> Progress {
        Progress {
            trials,
            half_width: Some(half_width),
            seconds: trials as f64 * 0.02,
            ..Progress::default()
        }
    }

    #[test]
    fn round_one_keeps_the_order_and_later_rounds_are_shuffled_the_same_way_each_time() {
        let schedule = Schedule::new(7, 0.02);
        let fresh = vec![Progress::default(); 50];
        assert_eq!(schedule.round(1, &fresh), (0..50).collect::<Vec<_>>());
        let once = vec![visited(1, 1.0); 50];
        let second = schedule.round(2, &once);
        assert_ne!(second, (0..50).collect::<Vec<_>>());
        assert_eq!(second, Schedule::new(7, 0.02).round(2, &once));
        let mut sorted = second;
        sorted.sort_unstable();
        assert_eq!(sorted, (0..50).collect::<Vec<_>>(), "every point is visited once a round");
    }

    #[test]
    fn later_rounds_go_where_precision_is_missed() {
        let mut progress = vec![visited(6, 0.01); 40];
        progress[3] = visited(6, 0.5);
        assert_eq!(Schedule::new(7, 0.02).round(7, &progress), vec![3]);
        progress[3] = visited(6, 0.01);
        assert!(Schedule::new(7, 0.02).round(7, &progress).is_empty(), "everything is as precise as wished");
    }

    #[test]
    fn a_point_that_only_breaks_is_given_up_after_two_trials() {
        let broken = Progress { trials: 2, barren: 2, ..Progress::default() };
        assert!(Schedule::new(7, 0.02).round(3, &[broken]).is_empty());
    }

    #[test]
    fn the_pace_fits_six_rounds_into_the_budget() {
        let pace = Pace::new(Duration::from_secs(30));
        let first = pace.first(200);
        assert!((first + TRIAL_OVERHEAD) * 1200 <= Duration::from_secs(30), "{first:?}");
        let slower = pace.later(first, Duration::from_secs(7), 200);
        assert!(slower < first, "trials that cost more than guessed observe for less");
    }
}
