//! The published reports replicated: each report's own methods, run here as its authors described them, beside what they
//! printed and what Fathom finds.
//!
//! A [`Report`] has [`Method`]s, each of which measures as its authors did: their sizes, counts, cache control, and timer
//! placement, mistakes included. A [`Row`] of its summary table takes one figure out of what a method has found, by the
//! authors' statistic, and names the figure that they printed and the point that asks the same of Fathom. Methods are
//! measured in fresh processes and written down ([`record`]); the table is a pure function of that record and of the run
//! beside it ([`table`]).

mod mapping;
mod past_cache;
mod measuring;
mod pace;
pub mod record;
mod report_000;
mod report_001;
mod report_002;
mod report_003;
mod report_004;
mod series;
mod statistic;
mod sweep;
pub mod table;
mod tasks;
mod timer;
mod unoptimised;
mod usage;
mod visit;

pub use measuring::measure;
pub use series::{Series, Trials};
pub use statistic::{Deviation, Fit, Statistic, Summary};
pub use visit::{Request, answer};

use crate::experiment::{Failure, Found, Known, Placement, Point, Requirement, Site};
use crate::machine::Machine;
use crate::quantity::Unit;
use std::time::Duration;

/// A published report.
pub struct Report {
    /// Its number: `000`.
    pub id: &'static str,
    /// The machine it is about, as the reference data call it.
    pub machine: &'static str,
    /// What it is, and by whom.
    pub title: &'static str,
    /// What holds for all of its methods: compiler, timer, placement, statistics; and what of it is different here.
    pub methodology: &'static str,
    /// The rows of its summary table, in its order; then those of experiments that its summary leaves out.
    pub rows: &'static [Row],
}

/// A row of a report's summary table.
pub struct Row {
    /// The section of the report that describes it: `3.4`.
    pub section: &'static str,
    /// The operation, in a few words: "system call (write of nothing to /dev/null)".
    pub operation: &'static str,
    /// What its number counts.
    pub unit: Unit,
    /// What one such number is for, where that is not one operation: "block", "argument"; else empty.
    pub per: &'static str,
    /// Their figure, by its id in the reference data.
    pub theirs: Theirs,
    /// How it is measured here.
    pub replica: Replica,
    /// How they made one figure of what they measured.
    pub statistic: Statistic,
    /// Where Fathom asks the same.
    pub fathom: Fathom,
    /// Where their method misleads, and why: a sentence or two. By how much is computed.
    pub misleads: &'static str,
}

/// A figure of theirs.
pub enum Theirs {
    /// It is printed: its id in the reference data.
    Printed(&'static str),
    /// It is not, for this reason: "only in a picture".
    NotPrinted(&'static str),
}

/// How a row is measured here.
pub enum Replica {
    /// By this method.
    By(&'static Method),
    /// It cannot be, for this reason.
    NotHere(&'static str),
}

/// A method of a report, as its authors described it.
pub struct Method {
    /// Its name, unique within its report.
    pub name: &'static str,
    /// What they did: sizes, counts, cache control, what stands between the readings of the clock and what it is divided by.
    pub text: &'static str,
    /// What is different here, and why: the operating system, counts that would take hours; empty where nothing is.
    pub differs: &'static str,
    /// Where they ran it.
    pub placement: Placement,
    /// What it needs of the machine.
    pub needs: &'static [Requirement],
    /// How long it may take before it is given up.
    pub limit: Duration,
    /// Measures.
    pub measure: fn(&Stage) -> Result<Series, Failure>,
}

/// The place where a method is measured: inside a fresh process, pinned as its placement says.
pub struct Stage<'a> {
    /// CPUs, folder, seed, peer.
    pub site: &'a Site<'a>,
    /// Whether counts are reduced.
    pub quick: bool,
}

impl Stage<'_> {
    /// How often: `theirs`, or less where it should be quick.
    pub fn count(&self, theirs: u64, quick: u64) -> u64 {
        if self.quick { quick } else { theirs }
    }

    /// Nanoseconds of one tick of the counter that the reports' timers read; a reason where there is none to convert with.
    pub fn ns_per_tick(&self) -> Result<f64, Failure> {
        // The other clock counts nanoseconds already, and is not what their instructions read.
        const NANOSECONDS: f64 = 1e9;
        let ticks = self.site.ticks_per_second;
        if (ticks - NANOSECONDS).abs() < 1.0 {
            return Err(Failure::Unsupported(
                "their timer reads the time-stamp counter, which this machine does not have or does not keep steady"
                    .to_owned(),
            ));
        }
        Ok(1e9 / ticks)
    }
}

/// Where Fathom asks the same.
pub enum Fathom {
    /// At a point of an experiment.
    Point(&'static str, fn(&Machine) -> Point),
    /// In the slope along a parameter; the point has all others.
    Slope(&'static str, &'static str, fn(&Machine) -> Point),
    /// In what follows from several points.
    Computed {
        /// The points.
        of: fn(&Machine) -> Vec<(&'static str, Point)>,
        /// What follows, in the row's unit; `None` where one that is needed has no value.
        value: fn(&Known) -> Option<Found>,
    },
    /// Nowhere, for this reason.
    Nowhere(&'static str),
}

/// Every report.
pub const REPORTS: [&Report; 5] =
    [&report_000::REPORT, &report_001::REPORT, &report_002::REPORT, &report_003::REPORT, &report_004::REPORT];

/// The report of this number, or about the machine whose name has this part; `None` where there is none or several are.
pub fn find(name: &str) -> Option<&'static Report> {
    let wanted = name.to_lowercase();
    let by_number = REPORTS.into_iter().find(|report| report.id == wanted);
    let mut by_machine = REPORTS.into_iter().filter(|report| report.machine.to_lowercase().contains(&wanted));
    by_number.or_else(|| {
        let first = by_machine.next()?;
        by_machine.all(|other| other.machine == first.machine).then_some(first)
    })
}

impl Report {
    /// The methods of its rows, each once.
    pub fn methods(&self) -> Vec<&'static Method> {
        let mut methods: Vec<&'static Method> = vec![];
        for row in self.rows {
            if let Replica::By(method) = row.replica
                && !methods.iter().any(|known| known.name == method.name)
            {
                methods.push(method);
            }
        }
        methods
    }

    /// The points that Fathom's own figures come from, each once.
    pub fn points(&self, machine: &Machine) -> Vec<(&'static str, Point)> {
        let mut points = vec![];
        for point in self.rows.iter().flat_map(|row| row.fathom.points(machine)) {
            if !points.contains(&point) {
                points.push(point);
            }
        }
        points
    }
}

impl Fathom {
    /// The points that it needs.
    pub fn points(&self, machine: &Machine) -> Vec<(&'static str, Point)> {
        match self {
            Fathom::Point(experiment, point) => vec![(*experiment, point(machine))],
            Fathom::Slope(experiment, along, group) => {
                along_sweep(experiment, along, &group(machine), machine)
            }
            Fathom::Computed { of, .. } => of(machine),
            Fathom::Nowhere(_) => vec![],
        }
    }
}

/// The points of a sweep along one parameter, all others as in `group`.
fn along_sweep(
    experiment: &'static str,
    along: &str,
    group: &Point,
    machine: &Machine,
) -> Vec<(&'static str, Point)> {
    let found = crate::experiments::find(experiment);
    let sweep = found.map(|found| found.sweep(machine)).unwrap_or_default();
    let mine = sweep.into_iter().filter(|point| point.get(along).is_some() && point.without(along) == *group);
    mine.map(|point| (experiment, point)).collect()
}
