//! The trials on which a point's figure rests: those whose own evidence holds.
//!
//! A point's evidence is judged over the sums of its trials, which can hide a single trial that did something other than the
//! operation named, while its observations move the median. So each trial's evidence is judged by itself as well. A trial
//! that fails alone among many valid ones is left out, and counted. If most fail there is nothing to prefer: the others may
//! hold by chance, so all are kept, and the point is marked.

use super::descheduled::{self, descheduled};
use super::evidence::observed;
use crate::record::Trial;
use fathom_core::experiment::registry::OtherVersion;
use fathom_core::experiment::{Check, Experiment};
use fathom_core::statistics::MINIMUM_TRIALS;

/// The trials on which a point's figure rests.
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
            .filter(|check| check.claim == descheduled::CLAIM)
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
    let rest = if holds { "the others are left out" } else { "all are kept" };
    let (claim, seen) = (&first.claim, &first.seen);
    Check {
        claim: "the evidence of each trial separately".to_owned(),
        holds,
        unasked: false,
        quantity: None,
        seen: format!("it holds in {valid} of {all} trials, {rest}; the first failure: {claim}: {seen}"),
    }
}
