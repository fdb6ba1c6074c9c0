//! Points with the amounts of data that the user asked for (`--sizes`).

use fathom_core::experiment::{Effort, Experiment, Point, SweepOptions, registry};
use fathom_core::machine::Machine;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;

/// The amounts that may be asked for, in whole pages: from one page to sixteen TiB.
pub const SIZES: RangeInclusive<u64> = PAGE..=16 << 40;

/// Amounts are whole numbers of pages of this size, so that files, mappings and arrays of that size exist everywhere.
const PAGE: u64 = 4096;

/// The points of an experiment for these requests.
pub fn swept(experiment: &dyn Experiment, machine: &Machine, options: &SweepOptions) -> Vec<Point> {
    with_effort(experiment, machine, options).into_iter().map(|(point, _)| point).collect()
}

/// The same, each with the least effort at which it is measured: for a requested amount the least of the points in whose place it stands.
/// Variants whose amount cannot be chosen are left out where others of the experiment have one.
pub(super) fn with_effort(
    experiment: &dyn Experiment,
    machine: &Machine,
    options: &SweepOptions,
) -> Vec<(Point, Effort)> {
    let (mut sized, mut places) = (Vec::<(Point, Effort)>::new(), BTreeMap::new());
    let own = experiment.sweep_for(machine, options);
    for point in &own {
        let effort = experiment.effort(point, machine);
        for with in options.sizes.iter().filter_map(|bytes| experiment.sized(point, *bytes)) {
            let place = *places.entry(with.clone()).or_insert_with(|| {
                sized.push((with, effort));
                sized.len() - 1
            });
            sized[place].1 = sized[place].1.min(effort);
        }
    }
    if !sized.is_empty() {
        return sized;
    }
    let with_own = |point: Point| {
        let effort = experiment.effort(&point, machine);
        (point, effort)
    };
    own.into_iter().map(with_own).collect()
}

/// Refuses amounts of data where no selected experiment has one to choose.
pub fn ensure_sized(
    selected: &[&'static dyn Experiment],
    machine: &Machine,
    options: &SweepOptions,
) -> Result<(), NoSizes> {
    let takes = |experiment: &&'static dyn Experiment| {
        let points = experiment.sweep_for(machine, options);
        options.sizes.iter().any(|bytes| points.iter().any(|point| experiment.sized(point, *bytes).is_some()))
    };
    if options.sizes.is_empty() || selected.iter().any(takes) {
        return Ok(());
    }
    let all: Vec<&'static dyn Experiment> = registry::all().collect();
    Err(NoSizes {
        taken_by: all.iter().filter(|other| takes(other)).map(|other| other.about().name).collect(),
    })
}

/// No selected experiment has an amount of data that can be chosen.
#[derive(Debug)]
pub struct NoSizes {
    /// The experiments that have one.
    taken_by: Vec<&'static str>,
}

impl fmt::Display for NoSizes {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        match self.taken_by.as_slice() {
            [] => write!(to, "--sizes: no experiment has such an amount of data"),
            names => write!(
                to,
                "--sizes: no selected experiment has an amount of data that can be chosen; {} can",
                names.join(", ")
            ),
        }
    }
}

impl std::error::Error for NoSizes {}
