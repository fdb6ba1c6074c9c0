//! `run --dry-run`: the plan and its forecast, without measuring.

use super::measuring::set;
use super::refused;
use super::streams::print;
use crate::cli;
use anyhow::Result;
use fathom_core::experiment::{Effort, Experiment, SweepOptions};
use fathom_core::machine::Machine;
use fathom_engine::plan::{self, Planner, PlannerSettings, Progress, RecordedCosts, Set};
use fathom_engine::record::{Header, PlannedPoint, Run, store};
use fathom_engine::run::{self, Effect};
use fathom_report::Style;
use fathom_report::planned::{Forecast, Planned, text};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// Prints what `run` would do with the same arguments.
pub fn plan(args: &cli::Run, style: Style) -> Result<()> {
    let set = set(args)?;
    let selected = set.map_or_else(|| plan::select(&args.experiments), |set| Ok(set.experiments()))?;
    refused::ensure_folder(args.dir.as_deref())?;
    refused::ensure_peer(&args.peer)?;
    let folder = args.dir.clone().unwrap_or_else(std::env::temp_dir);
    let (machine, _) = run::described(&folder, args.remote.as_ref(), args.cpu)?;
    let options = SweepOptions {
        peer: args.peer.peer.is_some(),
        processes: args.processes.clone(),
        sizes: args.sizes.clone(),
        seed: args.seed.unwrap_or_default(),
        every_pair: args.extent.effort() == Effort::Thorough,
        most_bytes: set.map(Set::for_data),
        whole_memory: args.whole_memory,
    };
    refused::ensure_priority(args.priority)?;
    plan::ensure_sized(&selected, &machine, &options)?;
    let points = match set {
        Some(set) => set.chosen(&plan::points(&selected, &machine, Effort::Thorough, &options), &machine),
        None => plan::points(&selected, &machine, args.extent.effort(), &options),
    };
    let usual = || plan::default_budget(&selected, args.extent.effort());
    let precise = || plan::default_precision(args.extent.effort());
    let settings = PlannerSettings {
        seed: args.seed.unwrap_or_default(),
        budget: args.budget.unwrap_or_else(|| set.map_or_else(usual, |set| set.budget)),
        precision: args.precision.unwrap_or_else(|| set.map_or_else(precise, |set| set.precision)),
        observe: args.trial,
        trials: args.trials,
        rounds: 0,
    };
    let least = (settings.goals().1, args.trial.unwrap_or(plan::SHORTEST));
    run::ensure_anything_fits(&points, settings.budget, least)?;
    let planned = Planned {
        points: &points,
        blocks: &plan::blocks(&selected, &points),
        budget: settings.budget,
        pilot: settings.pilot(),
        trials: settings.goals(),
        effects: effects(args, &points, &machine, &folder),
        forecast: forecast(&selected, &machine, &points, settings),
    };
    print(&text(&planned, style))
}

/// What the run does to the machine as a whole, beside measuring.
fn effects(args: &cli::Run, points: &[PlannedPoint], machine: &Machine, folder: &Path) -> Vec<Effect> {
    let own = run::of_points(points, machine, folder, args.peer.peer.as_deref());
    let files = Effect {
        what:
            "files that stay: the run file and its page; what `fathom ab` left set after a kill is restored"
                .to_owned(),
        by: vec![],
    };
    own.into_iter().chain(run::of_every_trial()).chain([files]).collect()
}

/// The forecast from the newest stored run of this machine with any of these experiments; `None` if there is none.
fn forecast(
    selected: &[&'static dyn Experiment],
    machine: &Machine,
    points: &[PlannedPoint],
    settings: PlannerSettings,
) -> Option<Forecast> {
    let measured: Vec<PlannedPoint> = points.iter().filter(|point| point.skip.is_none()).cloned().collect();
    let alike = |header: &Header| same_machine(&header.machine, machine) && has_any(header, &measured);
    let path = store::newest(&store::folder(), alike)?;
    let run = Run::read(&path).ok()?;
    // A forecast from impossible times would be none.
    run::ensure_sound(&run, Some(settings.budget)).ok()?;
    let jobs = plan::jobs(selected, machine, &measured);
    let mut recorded = RecordedCosts::of(&run, &measured, &jobs);
    let mut planner = Planner::new(settings, &jobs);
    let mut progress = vec![Progress::default(); measured.len()];
    let settlement = plan::forecast(&mut planner, &mut recorded, &mut progress)?;
    let mut left_out = BTreeMap::<String, (usize, Duration)>::new();
    for price in &settlement.left_out {
        let sum = left_out.entry(measured[price.point].experiment.clone()).or_default();
        *sum = (sum.0 + 1, sum.1 + price.cost);
    }
    let known = (recorded.known, measured.len());
    Some(Forecast { from: path.display().to_string(), known, settlement, left_out })
}

fn same_machine(one: &Machine, other: &Machine) -> bool {
    one.processor.model_name.value() == other.processor.model_name.value()
        && one.allowed_cpus() == other.allowed_cpus()
}

fn has_any(header: &Header, measured: &[PlannedPoint]) -> bool {
    let mine = |planned: &&PlannedPoint| planned.skip.is_none();
    header
        .plan
        .iter()
        .filter(mine)
        .any(|there| measured.iter().any(|here| here.experiment == there.experiment))
}
