//! A claim that cannot fail says nothing: each is seen failing on counts that were planted.

use super::Findings;
use fathom::record::{Run, TrialOutcome};
use fathom::results::Results;
use fathom::sampling::Observations;
use std::collections::BTreeSet;

/// A change of every count that a trial witnessed or its preparation stated.
type Plant = fn(&str, f64) -> f64;

/// Counts that no operation of the named kind has: none, far too many, and those of half of the names only.
const PLANTS: &[Plant] = &[
    |_, _| 0.0,
    |_, count| count * 1000.0 + 1e6,
    |_, count| count * 0.4,
    |name, count| if name.len() % 2 == 0 { 0.0 } else { count },
    |name, count| if name.len() % 2 == 1 { 0.0 } else { count },
    |name, count| if name.len() % 2 == 0 { count * 1000.0 + 1e6 } else { count },
    |name, count| if name.len() % 2 == 1 { count * 1000.0 + 1e6 } else { count },
];

const FEW: usize = 3;

/// A claim without the numbers in it, of an experiment.
fn kind(experiment: &str, claim: &str) -> (String, String) {
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

fn planted(run: &Run, plant: Plant) -> Run {
    let mut run = run.clone();
    for trial in &mut run.trials {
        let TrialOutcome::Measured { sample } = &mut trial.outcome else { continue };
        // Claims rest on counts; a few observations are enough to have a value.
        if let Observations::Ticks { operation, baseline, .. } = &mut sample.observations {
            operation.truncate(FEW);
            baseline.truncate(FEW);
        }
        sample.core = None;
        for (name, count) in sample.witnessed.iter_mut().chain(sample.stated.iter_mut()) {
            *count = plant(name, *count);
        }
        let counters = &mut sample.counters;
        for (name, count) in [
            ("minor", &mut counters.minor_faults),
            ("major fault", &mut counters.major_faults),
            ("voluntary", &mut counters.voluntary_switches),
            ("involuntary", &mut counters.involuntary_switches),
        ] {
            *count = plant(name, *count as f64) as u64;
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
    findings.claims = left.len();
    for plant in PLANTS {
        let failed = failing(&Results::of(&planted(run, *plant)));
        left.retain(|claim| !failed.contains(claim));
    }
    for (experiment, claim) in left {
        findings.add("evidence", "a claim that never fails", &format!("{experiment}: {claim}"));
    }
}
