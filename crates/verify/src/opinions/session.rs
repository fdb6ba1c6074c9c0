//! A session: one run of Fathom's points in which, after each trial of a point, every tool that measures the point is run
//! once.

use super::comparison::{Agreement, Reproduced, ToolComparison, compare};
use super::measurement::{ToolMeasurement, ToolRunner};
use super::opinion::Opinion;
use crate::rig::points_of;
use crate::session::{Bench, run};
use anyhow::{Result, anyhow};
use fathom_core::experiment::Point;
use fathom_core::machine::Machine;
use fathom_core::sampling::own_folder;
use fathom_core::statistics::{self, MINIMUM_TRIALS};
use fathom_engine::plan::{Cpus, Settlement};
use fathom_engine::record::Trial;
use fathom_engine::results::{PointResult, Results};
pub use fathom_engine::run::{OwnFiles, Tick, Watcher, described};
use std::path::PathBuf;
use std::time::Duration;

/// The time of a session: that of eight rounds.
const BUDGET: Duration = Duration::from_secs(200);

/// The half-width at which measuring a point ends. Tools take far longer than a trial of Fathom, so the time of the session
/// usually ends it.
const PRECISION: f64 = 0.002;

/// Runs the tools of these opinions, alternately with Fathom's own measurement of the same operations.
pub fn second_opinions(
    opinions: &[&'static Opinion],
    bench: &Bench,
    watcher: &mut dyn Watcher,
) -> Result<Vec<ToolComparison>> {
    let (machine, cpus) = described(&bench.folder, None, bench.cpu)?;
    let mut options = bench.options(BUDGET, PRECISION);
    options.cpu = Some(cpus.home);
    let files = OwnFiles::of_this_run(&bench.folder);
    let file = own_folder::path(files.folder(), "file").map_err(|failure| anyhow!("{failure}"))?;
    let measurements =
        opinions.iter().map(|opinion| ToolMeasurement::of(opinion, point_of(opinion, &machine))).collect();
    let mut turns = ToolTurns { measurements, runner: ToolRunner::default(), cpus, file, watcher };
    let able = turns.measurements.iter().filter(|measurement| measurement.failure.is_none());
    options.points = able
        .filter_map(|measurement| Some((measurement.opinion.points.experiment, measurement.point.clone()?)))
        .collect();
    let run = if options.points.is_empty() { None } else { Some(run(&mut options, None, &mut turns)?) };
    let results = run.as_ref().map(Results::of);
    Ok(turns.measurements.into_iter().map(|measurement| compared(measurement, results.as_ref())).collect())
}

/// Fathom's point for the operation on this machine.
fn point_of(opinion: &Opinion, machine: &Machine) -> Result<Point, String> {
    points_of(machine, &opinion.points).map(|mut points| points.remove(0).1)
}

/// Runs tools between trials.
struct ToolTurns<'a> {
    measurements: Vec<ToolMeasurement>,
    runner: ToolRunner,
    cpus: Cpus,
    file: PathBuf,
    watcher: &'a mut dyn Watcher,
}

impl Watcher for ToolTurns<'_> {
    fn trial(&mut self, tick: &Tick) {
        let planned = tick.planned;
        let of_it = |measurement: &&mut ToolMeasurement| {
            (measurement.opinion.points.experiment, measurement.point.as_ref())
                == (planned.experiment.as_str(), Some(&planned.point))
        };
        for measurement in self.measurements.iter_mut().filter(of_it) {
            measurement.run_tool(&mut self.runner, self.cpus, &self.file);
        }
        self.watcher.trial(tick);
    }

    fn settled(&mut self, settlement: &Settlement) {
        self.watcher.settled(settlement);
    }

    fn preparing(&mut self, doing: &str) {
        self.watcher.preparing(doing);
    }
}

fn compared(measurement: ToolMeasurement, results: Option<&Results>) -> ToolComparison {
    let opinion = measurement.opinion;
    let is_it = |experiment: &str, point: &Point| {
        (experiment, Some(point)) == (opinion.points.experiment, measurement.point.as_ref())
    };
    let result =
        results.and_then(|results| results.points.iter().find(|one| is_it(&one.experiment, &one.point)));
    // The duration of the point's trials.
    let trials = results.into_iter().flat_map(|results| &results.run.trials);
    let mine: Vec<&Trial> = trials.filter(|trial| is_it(&trial.experiment, &trial.point)).collect();
    let fathom_s = mine.iter().fold(0.0, |sum, trial| sum + trial.took_s);
    let tool_estimate =
        statistics::estimate(&measurement.figures.iter().map(|figure| [*figure]).collect::<Vec<_>>());
    let fathom_estimate = result.and_then(PointResult::estimate).cloned();
    let (ratio, agreement) = match (&fathom_estimate, &tool_estimate) {
        (Some(fathom), Some(tool)) => compare(fathom.measured(), tool.measured()),
        _ => (None, Agreement::Skipped),
    };
    let statistic = (opinion.statistic, opinion.counts);
    let reproduced = result.zip(results).and_then(|(result, results)| {
        Reproduced::of(statistic, result.unit, &mine, results, tool_estimate.as_ref())
    });
    let is_known = agreement == Agreement::Differ && !opinion.otherwise.is_empty();
    let known = is_known.then(|| opinion.otherwise.to_owned());
    let few = (measurement.figures.len() < MINIMUM_TRIALS)
        .then(|| "too few runs for an interval: allow more time with `--times-as-long`".to_owned());
    let point = measurement.point.as_ref();
    ToolComparison {
        operation: opinion.operation,
        tool: opinion.tool.name,
        command: opinion.command,
        point: point.map_or_else(String::new, |point| format!("{} {point}", opinion.points.experiment)),
        unit: result.map(|result| result.unit),
        tool_estimate,
        fathom_estimate,
        ratio,
        took_s: [measurement.took_s, fathom_s],
        agreement,
        reproduced,
        because: known.or(measurement.failure).or(result.and_then(|result| result.outcome.reason())).or(few),
    }
}
