//! A session: one run of Fathom's points in which, after each trial of a point, every tool that measures the point is run
//! once.

use super::asked::{Asked, Keeper};
use super::opinion::Opinion;
use super::weighed::{Agreement, Weighed, weigh};
use crate::session::{Bench, run};
use crate::swept;
use anyhow::{Result, anyhow};
use fathom_core::experiment::Point;
use fathom_core::machine::Machine;
use fathom_core::sampling::own_folder;
use fathom_core::statistics::{self, MINIMUM_TRIALS};
use fathom_engine::plan::{Cpus, Settlement};
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
) -> Result<Vec<Weighed>> {
    let (machine, cpus) = described(&bench.folder, None, bench.cpu)?;
    let mut options = bench.options(BUDGET, PRECISION);
    options.cpu = Some(cpus.home);
    let files = OwnFiles::of_this_run(&bench.folder);
    let file = own_folder::path(files.folder(), "file").map_err(|failure| anyhow!("{failure}"))?;
    let asked = opinions.iter().map(|opinion| Asked::of(opinion, wanted(opinion, &machine))).collect();
    let mut beside = Beside { asked, keeper: Keeper::default(), cpus, file, watcher };
    let able = beside.asked.iter().filter(|asked| asked.broke.is_none());
    options.points =
        able.filter_map(|asked| Some((asked.opinion.points.experiment, asked.point.clone()?))).collect();
    let run = if options.points.is_empty() { None } else { Some(run(&mut options, None, &mut beside)?) };
    let results = run.as_ref().map(Results::of);
    Ok(beside.asked.into_iter().map(|asked| weighed(asked, results.as_ref())).collect())
}

/// Fathom's point for the operation on this machine.
fn wanted(opinion: &Opinion, machine: &Machine) -> Result<Point, String> {
    swept::points(machine, &opinion.points).map(|mut points| points.remove(0).1)
}

/// Runs tools between trials.
struct Beside<'a> {
    asked: Vec<Asked>,
    keeper: Keeper,
    cpus: Cpus,
    file: PathBuf,
    watcher: &'a mut dyn Watcher,
}

impl Watcher for Beside<'_> {
    fn trial(&mut self, tick: &Tick) {
        let planned = tick.planned;
        let of_it = |asked: &&mut Asked| {
            (asked.opinion.points.experiment, asked.point.as_ref())
                == (planned.experiment.as_str(), Some(&planned.point))
        };
        for asked in self.asked.iter_mut().filter(of_it) {
            asked.ask(&mut self.keeper, self.cpus, &self.file);
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

fn weighed(asked: Asked, results: Option<&Results>) -> Weighed {
    let opinion = asked.opinion;
    let is_it = |experiment: &str, point: &Point| {
        (experiment, Some(point)) == (opinion.points.experiment, asked.point.as_ref())
    };
    let found = results
        .and_then(|results| results.points.iter().find(|result| is_it(&result.experiment, &result.point)));
    // The duration of the point's trials.
    let trials = results.into_iter().flat_map(|results| &results.run.trials);
    let mine = trials.filter(|trial| is_it(&trial.experiment, &trial.point));
    let ours_s = mine.fold(0.0, |sum, trial| sum + trial.took_s);
    let mut weighed = nothing(&asked);
    weighed.took_s = [asked.took_s, ours_s];
    weighed.theirs = statistics::estimate(&asked.figures.iter().map(|figure| [*figure]).collect::<Vec<_>>());
    weighed.ours = found.and_then(PointResult::estimate).cloned();
    weighed.unit = found.map(|found| found.unit);
    let reason = found.and_then(|found| found.outcome.reason());
    weighed.because = asked.broke.or(reason).or_else(|| {
        let few = asked.figures.len() < MINIMUM_TRIALS;
        few.then(|| "too few runs for an interval: allow more time with `--times-as-long`".to_owned())
    });
    if let (Some(ours), Some(theirs)) = (&weighed.ours, &weighed.theirs) {
        (weighed.ratio, weighed.agreement) = weigh(ours, theirs);
        if weighed.agreement == Agreement::Differ && !opinion.otherwise.is_empty() {
            weighed.because = Some(opinion.otherwise.to_owned());
        }
    }
    weighed
}

/// The result before any figure is known.
fn nothing(asked: &Asked) -> Weighed {
    let opinion = asked.opinion;
    Weighed {
        operation: opinion.operation,
        tool: opinion.tool.name,
        command: opinion.command,
        point: asked
            .point
            .as_ref()
            .map_or_else(String::new, |point| format!("{} {point}", opinion.points.experiment)),
        unit: None,
        theirs: None,
        ours: None,
        ratio: None,
        took_s: [0.0; 2],
        agreement: Agreement::Skipped,
        because: None,
    }
}
