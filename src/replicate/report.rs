//! A published report: the rows of its summary table, each with its figure, its method and where Fathom asks the same
//! question.

use super::method::Method;
use super::picture::Picture;
use super::statistic::Statistic;
use crate::experiment::{Found, Known, Point};
use crate::machine::Machine;
use crate::quantity::Unit;

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
    /// Its figures of measurements, in its order.
    pub figures: &'static [Picture],
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
    /// Where Fathom asks the same question.
    pub fathom: SameQuestion,
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

/// Where Fathom asks the *same question*, by the method that answers it rightly: so that what a row finds by the
/// report's method is set against what is so. Points of the *same method* as a published figure, like for like, are
/// another relation ([`SameMethod`](crate::references::SameMethod)): a `close` that waits for nobody has such a point, but
/// how long the end of a connection takes is asked elsewhere.
pub enum SameQuestion {
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

impl SameQuestion {
    /// Whether the figure is a difference of values, or follows from several: it may lie below nothing.
    pub fn is_difference(&self) -> bool {
        matches!(self, SameQuestion::Slope(..) | SameQuestion::Computed { .. })
    }
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

impl SameQuestion {
    /// The points that it needs.
    pub fn points(&self, machine: &Machine) -> Vec<(&'static str, Point)> {
        match self {
            SameQuestion::Point(experiment, point) => vec![(*experiment, point(machine))],
            SameQuestion::Slope(experiment, along, group) => {
                along_sweep(experiment, along, &group(machine), machine)
            }
            SameQuestion::Computed { of, .. } => of(machine),
            SameQuestion::Nowhere(_) => vec![],
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
