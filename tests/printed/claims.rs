//! A claim that cannot fail says nothing: each is seen failing on counts that were planted.

use super::Findings;
use fathom::record::{Run, TrialOutcome};
use fathom::results::Results;
use fathom::sampling::Observations;
use std::collections::BTreeSet;

/// What is planted instead of counts.
#[derive(Clone, Copy)]
enum Plant {
    Nothing,
    Half,
    Far,
}

/// The counts that it replaces: all, those of every second trial, or those whose names have this bit in a hash.
#[derive(Clone, Copy)]
enum Where {
    Everywhere,
    SecondTrials,
    Names(u32),
}

impl Plant {
    fn of(self, count: f64) -> f64 {
        match self {
            Plant::Nothing => 0.0,
            Plant::Half => count * 0.4,
            Plant::Far => count * 1000.0 + 1e13,
        }
    }
}

impl Where {
    fn is_here(self, trial: usize, name: &str) -> bool {
        match self {
            Where::Everywhere => true,
            Where::SecondTrials => trial % 2 == 0,
            Where::Names(bit) => hash(name) >> bit & 1 == 1,
        }
    }
}

/// FNV-1a (Fowler, Noll, Vo), whose middle bits differ for similar names.
fn hash(name: &str) -> u32 {
    let hash =
        name.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    hash >> 8
}

/// Counts that no operation of the named kind has.
fn plants() -> impl Iterator<Item = (Plant, Where)> {
    let all = [Plant::Nothing, Plant::Half, Plant::Far].map(|plant| (plant, Where::Everywhere));
    let names = (0..4).flat_map(|bit| [Plant::Nothing, Plant::Far].map(|plant| (plant, Where::Names(bit))));
    all.into_iter().chain([(Plant::Far, Where::SecondTrials)]).chain(names)
}

const FEW: usize = 3;

const OF_TRIALS: &str = "the evidence of each trial separately";

/// A claim without the numbers and the remarks in it, of an experiment.
fn kind(experiment: &str, claim: &str) -> (String, String) {
    let claim = claim.split_once(" (").map_or(claim, |(claim, _)| claim);
    let words = claim.chars().filter(|letter| !letter.is_ascii_digit()).collect();
    (experiment.to_owned(), words)
}

fn failing(results: &Results) -> BTreeSet<(String, String)> {
    let checks = results.points.iter().flat_map(|point| {
        point
            .evidence
            .checks()
            .iter()
            .filter(|check| check.fails())
            .map(|check| kind(&point.experiment, &check.claim))
    });
    checks.collect()
}

fn planted(run: &Run, (plant, place): (Plant, Where)) -> Run {
    let mut run = run.clone();
    for (number, trial) in run.trials.iter_mut().enumerate() {
        let TrialOutcome::Measured { sample } = &mut trial.outcome else { continue };
        // Claims rest on counts; a few observations are enough to have a value.
        if let Observations::Ticks { operation, baseline, .. } = &mut sample.observations {
            operation.truncate(FEW);
            baseline.truncate(FEW);
        }
        sample.core = None;
        for (name, count) in sample.witnessed.iter_mut().chain(sample.stated.iter_mut()) {
            if place.is_here(number, name) {
                *count = plant.of(*count);
            }
        }
        let counters = &mut sample.counters;
        for (name, count) in [
            ("minor", &mut counters.minor_faults),
            ("major fault", &mut counters.major_faults),
            ("voluntary", &mut counters.voluntary_switches),
            ("involuntary", &mut counters.involuntary_switches),
        ] {
            if place.is_here(number, name) {
                *count = plant.of(*count as f64) as u64;
            }
        }
    }
    run
}

/// Every kind of claim of a run fails on some planted counts.
pub fn look(run: &Run, results: &Results, findings: &mut Findings) {
    let mut left: BTreeSet<(String, String)> = results
        .points
        .iter()
        .flat_map(|point| point.evidence.checks().iter().map(|check| kind(&point.experiment, &check.claim)))
        .collect();
    // It counts the trials in which the others hold.
    left.retain(|(_, claim)| claim != OF_TRIALS);
    findings.claims = left.len();
    for plant in plants() {
        let failed = failing(&Results::of(&planted(run, plant)));
        left.retain(|claim| !failed.contains(claim));
    }
    for (experiment, claim) in left {
        findings.add("evidence", "a claim that never fails", &format!("{experiment}: {claim}"));
    }
}
