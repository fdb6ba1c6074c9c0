//! How much more a level varies from run to run than the trials of one run suggest.
//!
//! The interval of a run is taken over its trials: it includes their differences, but nothing that all of them share, such
//! as the hour, the host's other guests, heat, or the kernel's placement of the memory. Two runs differ in that as well, and
//! with intervals that exclude it every second difference would seem real.
//!
//! If a side has several runs, they show it. A single run shows it in part, by the difference of its halves in time. If
//! trials were independent, the difference of the halves' means would have the variance `4 σ²/n` of their spread; any excess
//! is twice the variance `ω²` of a level that varies slowly. Two runs, each with the level of its time, then differ with the
//! variance `2 σ²/n + 2 ω²`. With `λ` times the expected square between halves this is `2 λ − 1` times that of the
//! intervals. States that last longer than a run are not detected; only further runs show them.
//!
//! The factor is the median over the points of an experiment, as in genomic control (Devlin & Roeder 1999, Biometrics 55),
//! so that the few points that really changed do not affect it.

use super::side::{Level, Side};
use fathom_core::experiment::Point;
use fathom_core::sorting;
use fathom_core::statistics::{self, LogLevel, Mean};
use std::collections::BTreeMap;

/// The factors of variance of a comparison, by experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct Repeatability {
    by_experiment: BTreeMap<String, f64>,
    overall: f64,
}

/// The fewest points from which the factor of an experiment is computed; with fewer that of all experiments is used.
const FEWEST_POINTS: usize = 10;

impl Repeatability {
    /// The factors for the compared sides.
    pub fn of(sides: &[&Side]) -> Self {
        let mut factors_by_experiment: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for side in sides {
            let factors_of_points =
                if side.runs.len() > 1 { between_runs(side) } else { between_halves(side) };
            for (experiment, factor) in factors_of_points {
                factors_by_experiment.entry(experiment).or_default().push(factor);
            }
        }
        let all: Vec<f64> = factors_by_experiment.values().flatten().copied().collect();
        let typical_factors =
            factors_by_experiment.into_iter().filter(|(_, factors)| factors.len() >= FEWEST_POINTS);
        Repeatability {
            by_experiment: typical_factors
                .map(|(experiment, factors)| (experiment, typical(&factors)))
                .collect(),
            overall: typical(&all),
        }
    }

    /// The factor on the variance of a level from its trials that gives its variance over runs; at least 1.
    pub fn factor(&self, experiment: &str) -> f64 {
        self.by_experiment.get(experiment).copied().unwrap_or(self.overall)
    }

    /// The same over all experiments.
    pub fn overall(&self) -> f64 {
        self.overall
    }
}

/// The median, and no less than 1: trials that agree better than by chance do so by luck.
fn typical(factors: &[f64]) -> f64 {
    statistics::median(factors).unwrap_or(1.0).max(1.0)
}

fn between_halves(side: &Side) -> Vec<(String, f64)> {
    let halves = |level: &Level| {
        let factor = halves(&level.by_round).filter(|_| !level.refuted)?;
        Some((level.experiment.clone(), factor))
    };
    side.runs.iter().flat_map(|run| &run.levels).filter_map(halves).collect()
}

/// The fewest trials whose halves are compared.
const FEWEST_TRIALS: usize = 6;

/// The factor of variance estimated from the later and the earlier half of a point's trials, in logarithms of their medians;
/// `None` with too few trials. Below 1 if they agree better than by chance.
fn halves(by_round: &[(u32, f64)]) -> Option<f64> {
    let mut ordered: Vec<(u32, f64)> = by_round.iter().filter(|(_, median)| *median > 0.0).copied().collect();
    if ordered.len() < FEWEST_TRIALS {
        return None;
    }
    sorting::by_key(&mut ordered, |(round, _)| *round);
    let logs: Vec<f64> = ordered.iter().map(|(_, median)| median.ln()).collect();
    let (early, late) = logs.split_at(logs.len() / 2);
    let freedom = logs.len() as f64 - 2.0;
    let (before, after) = (statistics::mean(early)?, statistics::mean(late)?);
    let squares = |half: &[f64], mean: &Mean| Some(mean.deviation?.powi(2) * (half.len() as f64 - 1.0));
    let pooled = (squares(early, &before)? + squares(late, &after)?) / freedom;
    let expected = pooled * (1.0 / early.len() as f64 + 1.0 / late.len() as f64);
    // Divided by the median for independent trials, which have an F distribution with 1 and these degrees of freedom.
    let usual = expected * statistics::middle_half_of_student(freedom).powi(2);
    (usual > 0.0).then(|| 2.0 * (after.value - before.value).powi(2) / usual - 1.0)
}

fn between_runs(side: &Side) -> Vec<(String, f64)> {
    let of = |((experiment, _), levels): (&(&str, &Point), &Vec<&Level>)| {
        let logarithms: Vec<LogLevel> = levels.iter().filter_map(|level| level.logarithm()).collect();
        Some(((*experiment).to_owned(), spread(&logarithms)?))
    };
    side.by_point().iter().filter_map(of).collect()
}

/// The variance between runs over that expected from their trials, divided by the median of this ratio for independent runs:
/// that of a chi-squared distribution over its degrees of freedom (Wilson & Hilferty 1931, PNAS 17).
fn spread(levels: &[LogLevel]) -> Option<f64> {
    let freedom = levels.len() as f64 - 1.0;
    let values: Vec<f64> = levels.iter().map(|level| level.value).collect();
    let between = statistics::mean(&values)?.deviation?.powi(2);
    let within: f64 =
        levels.iter().map(|level| level.below.max(level.above).powi(2)).sum::<f64>() / levels.len() as f64;
    let usual = (1.0 - 2.0 / (9.0 * freedom)).powi(3);
    (within > 0.0).then_some(between / within / usual)
}
