//! Which trials, in which order, within which budget; which points are skipped, and why.

mod chance;
mod choice;
mod costs;
mod jobs;
mod layout;
mod own_core;
mod pilot;
mod placement;
mod planner;
mod progress;
mod recorded;
mod selection;
mod set;
mod settlement;
mod simulation;
mod sized;
mod step;

pub use chance::trial_seed;
pub use jobs::{Importance, Job, blocks, jobs};
pub use own_core::OwnCore;
pub use placement::{Cpus, alike, choose};
pub use planner::Planner;
pub use progress::Progress;
pub use recorded::{RecordedCosts, places};
pub use selection::{UnknownExperiment, names, select};
pub(crate) use set::{
    FIRST_WRITE, GETPPID, LOOPBACK_ROUND_TRIP, PIPE_ON_ONE_CPU, READ_FROM_DEVICE, WRITE_AND_FSYNC,
    random_loads,
};
pub use set::{SETS, Set, SetMember};
pub use settlement::{Price, Settlement};
pub use simulation::{Simulated, VisitTimes, forecast, simulate};
pub use sized::{NoSizes, SIZES, ensure_sized, swept};
pub use step::{
    CoreWanted, Moment, Moments, PROMISED_TRIALS, PlannerSettings, SHORTEST, Step, TRIALS_ASKED, Visit,
};

use crate::record::PlannedPoint;
use fathom_core::experiment;
use fathom_core::experiment::{Effort, Experiment, Point, Requirement, SweepOptions};
use fathom_core::machine::Machine;
use std::time::Duration;

/// The number of trials of a point if the costs allow it, and the least number of a point that is not left out.
pub const TRIALS: (usize, usize) = (choice::GOAL, PROMISED_TRIALS);

/// Every point of the selected experiments, in the order of the report; those that are not measured have the reason.
pub fn points(
    experiments: &[&'static dyn Experiment],
    machine: &Machine,
    effort: Effort,
    options: &SweepOptions,
) -> Vec<PlannedPoint> {
    experiments
        .iter()
        .flat_map(|experiment| {
            let planned = |(point, needed)| {
                let skip = skip(*experiment, &point, machine, (needed, effort), options);
                planned(*experiment, point, skip)
            };
            sized::with_effort(*experiment, machine, options).into_iter().map(planned).collect::<Vec<_>>()
        })
        .collect()
}

fn planned(experiment: &dyn Experiment, point: Point, skip: Option<String>) -> PlannedPoint {
    let about = experiment.about();
    PlannedPoint {
        experiment: about.name.to_owned(),
        method_version: about.version,
        unit: experiment.unit(&point),
        skip,
        point,
    }
}

/// The reason why a point is not measured: the machine lacks something, or the point is not worth its time at this effort.
fn skip(
    experiment: &dyn Experiment,
    point: &Point,
    machine: &Machine,
    (needed, effort): (Effort, Effort),
    options: &SweepOptions,
) -> Option<String> {
    let requirements = experiment.requires(point);
    let missing = requirements
        .iter()
        .filter(|requirement| !options.meets(requirement))
        .find_map(|requirement| requirement.unmet_reason(machine));
    missing.or_else(|| cpus_lacking(experiment, point, machine)).or_else(|| {
        // A point requested by its number is measured, unless it takes long; what takes all memory is requested by name.
        let whole = options.whole_memory && requirements.contains(&Requirement::WholeMemory);
        let is_explicit = whole || (needed < Effort::Thorough && options.names(point));
        (needed > effort && !is_explicit).then(|| match needed {
            Effort::Thorough => "left out, because it takes long: --thorough measures it".to_owned(),
            _ => "left out by --quick: the default run measures it".to_owned(),
        })
    })
}

fn cpus_lacking(experiment: &dyn Experiment, point: &Point, machine: &Machine) -> Option<String> {
    let (one, other) = experiment.cpus(point)?;
    let missing = [one, other].into_iter().find(|cpu| !machine.allowed_cpus().contains(cpu))?;
    Some(format!("CPU {missing} is not among those that this process may use (see taskset, cpuset)"))
}

/// The time of a complete run of a family without a given budget.
fn family_budget(family: &str, effort: Effort) -> Duration {
    let seconds = match (family, effort) {
        ("memory" | "filesystem", Effort::Quick) => 20,
        ("memory", Effort::Standard) => 90,
        ("network", Effort::Quick) => 15,
        ("network", Effort::Standard) => 60,
        ("filesystem", Effort::Standard) => 120,
        (_, Effort::Quick) => 28,
        (_, Effort::Standard) => 88,
        (_, Effort::Thorough) => 900,
    };
    Duration::from_secs(seconds)
}

/// The budget of a selection: that of each family times the share of its experiments that are selected; three seconds at
/// least.
pub fn default_budget(selected: &[&'static dyn Experiment], effort: Effort) -> Duration {
    let family = |experiment: &dyn Experiment| experiment::family(experiment.about().name);
    let mut of_family = std::collections::BTreeMap::<&str, (u32, u32)>::new();
    for experiment in experiment::registry::all() {
        of_family.entry(family(experiment)).or_default().1 += 1;
    }
    for experiment in selected {
        of_family.entry(family(*experiment)).or_default().0 += 1;
    }
    let share =
        |(name, (some, all)): (&&str, &(u32, u32))| family_budget(name, effort) * *some / (*all).max(1);
    of_family.iter().map(share).sum::<Duration>().max(Duration::from_secs(3))
}

/// The target of intervals: the distance of their farther end from the value, as a share of it.
pub fn default_precision(effort: Effort) -> f64 {
    match effort {
        Effort::Quick => 0.05,
        Effort::Standard => 0.02,
        Effort::Thorough => 0.01,
    }
}
