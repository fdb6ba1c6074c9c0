//! The trials on which a point's figure rests: those whose own evidence holds.
//!
//! A point's evidence is judged over the sums of its trials, which can hide a single trial that did something other than the
//! operation named, while its observations move the median. So each trial's evidence is judged by itself as well. A trial
//! that fails alone among many valid ones is left out, and counted. If most fail there is nothing to prefer: the others may
//! hold by chance, so all are kept, and the point is marked.
//!
//! Work that never sleeps has its CPU all the time. Where the thread of a trial was not running while time passed, that claim fails.

use super::evidence::observed;
use crate::record::Trial;
use fathom_core::experiment::registry::OtherVersion;
use fathom_core::experiment::{Check, Experiment};
use fathom_core::quantities;
use fathom_core::sampling::Sample;
use fathom_core::statistics::MINIMUM_TRIALS;

pub(crate) struct ValidTrials<'run> {
    /// The trials, in the order in which they were visited.
    pub trials: Vec<&'run Trial>,
    /// The number of valid trials that observed something.
    pub holding: usize,
    /// The number of other trials, left out because their own evidence does not hold.
    pub left_out: usize,
    /// The disturbance, if at least half of the trials were kept off their CPU, so that too few valid ones remain.
    pub disturbed: Option<Check>,
    /// The check about trials whose own evidence does not hold; it holds if they could be left out.
    pub remark: Option<Check>,
}

impl<'run> ValidTrials<'run> {
    /// Judges the trials of a point, each by itself, by the claims of its experiment if this program has the method that
    /// measured them.
    pub fn of(method: Result<&dyn Experiment, OtherVersion>, trials: &[&'run Trial]) -> Self {
        let judge = |trial: &&'run Trial| trial.sample().map(|_| (*trial, failing(method, trial)));
        let judged: Vec<(&Trial, Option<Check>)> = trials.iter().filter_map(judge).collect();
        let all = judged.len();
        let first = judged.iter().find_map(|(_, failing)| failing.clone());
        let valid: Vec<&Trial> =
            judged.iter().filter(|(_, failing)| failing.is_none()).map(|(trial, _)| *trial).collect();
        let holding = valid.iter().filter(|trial| trial.observed()).count();
        let remark = |holds| first.as_ref().map(|first| remark(valid.len(), all, first, holds));
        // The valid ones are enough for an interval and are the majority.
        if holding >= MINIMUM_TRIALS && 2 * valid.len() > all {
            return ValidTrials {
                holding,
                left_out: all - valid.len(),
                disturbed: None,
                remark: remark(true),
                trials: valid,
            };
        }
        let remark = remark(false);
        let off: Vec<&Check> = judged
            .iter()
            .filter_map(|(_, failing)| failing.as_ref())
            .filter(|check| check.claim == CLAIM)
            .collect();
        // Fewer than half of them do not move the median, but the point stays marked.
        let disturbed = off.first().filter(|_| 2 * off.len() >= all).map(|check| (*check).clone());
        let trials = judged.into_iter().map(|(trial, _)| trial).collect();
        ValidTrials { trials, holding, left_out: 0, disturbed, remark }
    }
}

/// The first claim that does not hold in this trial alone; `None` if all hold, or nothing can be judged.
fn failing(method: Result<&dyn Experiment, OtherVersion>, trial: &Trial) -> Option<Check> {
    let sample = trial.sample()?;
    if let Some(check) = descheduled(sample) {
        return Some(check);
    }
    let of_trial = observed(&[sample]);
    method.ok()?.evidence(&trial.point, &of_trial).into_iter().find(Check::fails)
}

fn remark(valid: usize, all: usize, first: &Check, holds: bool) -> Check {
    let rest = if holds { "and the others are left out" } else { "and all are kept" };
    let (claim, seen) = (&first.claim, &first.seen);
    Check {
        claim: "the evidence of each trial separately".to_owned(),
        holds,
        unasked: false,
        quantity: None,
        seen: format!(
            "it holds in {valid} of {all} trials, {rest}; in the first in which it fails: {claim}: {seen}"
        ),
    }
}

/// The share of the time in which work that does not sleep must have had its CPU. A thread that competes for the same CPU
/// all the time leaves half of it; an occasional time slice leaves more than this.
const LEAST_SHARE: f64 = 0.75;

/// The share of the observations that may include time without the CPU without moving their median: each interruption falls
/// into one observation, and medians are robust to a few long ones.
const MOST_HIT: f64 = 0.1;

/// The shortest time for which a thread loses its CPU to another, nanoseconds: the shortest slice of schedulers. Operations
/// that hand over the CPU on purpose have it back in microseconds.
const SLICE_NS: f64 = 100_000.0;

/// The claim that a trial's thread had its CPU, if it does not hold; `None` if it holds, or if the work sleeps, so that it
/// cannot be judged.
pub(super) fn descheduled(sample: &Sample) -> Option<Check> {
    let on_cpu = sample.on_cpu?;
    let observations = sample.observations.len().max(1) as f64;
    // Work that waits gives up the CPU voluntarily each time.
    let sleeps = on_cpu.voluntary_switches as f64 > MOST_HIT * observations;
    let hit = on_cpu.involuntary_switches as f64 / observations;
    let off_ns = on_cpu.wall_ns.saturating_sub(on_cpu.cpu_ns) as f64;
    let handed_over = off_ns < SLICE_NS * on_cpu.involuntary_switches as f64;
    if sleeps || handed_over || on_cpu.share() >= LEAST_SHARE || hit <= MOST_HIT {
        return None;
    }
    Some(Check {
        claim: CLAIM.to_owned(),
        holds: false,
        unasked: false,
        quantity: None,
        seen: format!(
            "it ran for {} of the time, and was preempted {} during {}",
            quantities::percent(on_cpu.share()),
            counted(on_cpu.involuntary_switches as usize, "time"),
            counted(sample.observations.len().max(1), "observation")
        ),
    })
}

/// A number of things, with the plural of their word.
fn counted(number: usize, word: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {word}{ending}", quantities::count(number))
}

/// The claim about work that does not sleep.
pub(super) const CLAIM: &str = "the measuring thread had its CPU all the time";

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::sampling::{Observations, OnCpu};

    fn trial(share: f64, voluntary_switches: u64, involuntary_switches: u64) -> Sample {
        let cpu_ns = (share * 1e9) as u64;
        let on_cpu = OnCpu { wall_ns: 1_000_000_000, cpu_ns, voluntary_switches, involuntary_switches };
        let observations = Observations::Values { values: vec![1.0; 100] };
        Sample { observations, on_cpu: Some(on_cpu), ..Sample::default() }
    }

    #[test]
    fn work_that_shared_its_cpu_with_another_thread_is_found_out() {
        assert!(descheduled(&trial(0.5, 0, 50)).is_some(), "half of the time, in every second observation");
        assert!(descheduled(&trial(0.99, 0, 50)).is_none(), "taken off often and never for long");
    }

    #[test]
    fn a_pause_or_two_do_not_move_a_median() {
        assert!(descheduled(&trial(0.5, 0, 2)).is_none(), "a quota that ran out once");
    }

    #[test]
    fn work_that_hands_its_cpu_over_is_no_disturbance() {
        assert!(descheduled(&trial(0.5, 0, 100_000)).is_none(), "a yield every 10 µs");
    }

    #[test]
    fn work_that_sleeps_is_not_judged() {
        assert!(descheduled(&trial(0.2, 100, 50)).is_none());
        assert!(descheduled(&Sample::default()).is_none(), "nothing was written down");
    }
}
