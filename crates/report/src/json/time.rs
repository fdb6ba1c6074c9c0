//! What the time of a run bought, how long its work took to become steady, and what changed meanwhile, as JSON.

use super::with_interval::WithInterval;
use fathom_core::experiment::Point;
use fathom_engine::results::{Beginnings, Drift, ExperimentDrift, RunTime, TimeSpent};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct TimeReport {
    #[serde(flatten)]
    all: TimeSpentReport,
    between_s: f64,
    experiments: Vec<ExperimentTime>,
}

#[derive(Serialize)]
struct ExperimentTime {
    experiment: String,
    #[serde(flatten)]
    seconds: TimeSpentReport,
}

#[derive(Serialize)]
struct TimeSpentReport {
    trials: usize,
    observed_s: f64,
    reading_s: f64,
    prepared_s: f64,
    started_s: f64,
    waited_s: f64,
}

#[derive(Serialize)]
pub(super) struct BeginningReport {
    experiment: String,
    processes: usize,
    lasted_ns: WithInterval,
    first_cost: Option<WithInterval>,
}

#[derive(Serialize)]
pub(super) struct DriftReport {
    points: usize,
    changed: usize,
    by_chance: f64,
    experiments: Vec<ExperimentDriftReport>,
}

#[derive(Serialize)]
struct ExperimentDriftReport {
    experiment: String,
    points: usize,
    changed: usize,
    most: Point,
    factor: f64,
}

pub(super) fn drift(drift: Drift) -> DriftReport {
    let Drift { points, changed, by_chance, experiments } = drift;
    let of = |ExperimentDrift { experiment, points, changed, most, factor }| ExperimentDriftReport {
        experiment,
        points,
        changed,
        most,
        factor,
    };
    DriftReport { points, changed, by_chance, experiments: experiments.into_iter().map(of).collect() }
}

pub(super) fn time(run: RunTime) -> TimeReport {
    let experiments = run.experiments.into_iter();
    TimeReport {
        all: seconds_of(&run.trials),
        between_s: run.between_s,
        experiments: experiments
            .map(|(experiment, seconds)| ExperimentTime { experiment, seconds: seconds_of(&seconds) })
            .collect(),
    }
}

fn seconds_of(seconds: &TimeSpent) -> TimeSpentReport {
    let TimeSpent { trials, observed_s, reading_s, prepared_s, started_s, waited_s } = *seconds;
    TimeSpentReport { trials, observed_s, reading_s, prepared_s, started_s, waited_s }
}

pub(super) fn beginning(all: Beginnings) -> BeginningReport {
    BeginningReport {
        processes: all.lasted_ns.trials,
        lasted_ns: WithInterval::of(&all.lasted_ns),
        first_cost: all.first_cost.as_ref().map(WithInterval::of),
        experiment: all.experiment,
    }
}
