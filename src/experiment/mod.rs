//! The words an experiment is written in.
//!
//! An experiment knows its work and no clock; the sampler knows a clock and no experiment. They meet in
//! [`Workload`]. Each file in `experiments/` reads like the method section of a paper, in these words.

mod evidence;
mod failure;
mod finding;
mod found;
mod level;
mod main_figure;
mod peer_address;
mod point;
mod prediction;
mod remote_file;
mod requirement;
mod shared;
mod shown;
mod workload;

pub use evidence::{Bound, Check, Counters, Observed};
pub use failure::{Failure, ensure, errno};
pub(crate) use finding::said;
pub use finding::{Figure, Finding, Piece, Question, Statement};
pub use found::{Dimension, Found};
pub use level::{Level, Levels};
pub use main_figure::{At, Landmark, MainFigure};
pub use peer_address::{PeerAddress, Token};
pub use point::{AXIS_PLACEMENT, PEER, Parameter, Placement, Point, Scale, VIRTUAL_PEER, Value};
pub use prediction::{Basis, Known, Learnt, Part, Prediction, Source, Term};
pub use remote_file::{Access, RemoteFile};
pub use requirement::{Requirement, has_instructions};
pub use shared::Shared;
pub use shown::Shown;
pub use workload::{
    CoreWidth, FigureValue, FirstCall, Operation, Site, Spin, Stopwatch, TRACED_CALLS, TRACED_OPERATIONS,
    TRACING_REFUSED, Work, Workload, repeated,
};

use crate::machine::Machine;
use crate::quantity::Unit;
use std::time::Duration;

/// The header of an experiment: facts about it, and what follows from a point or a machine alone.
#[derive(Debug)]
pub struct About {
    /// Family and name, `cpu/system_call`: also where its file is.
    pub name: &'static str,
    /// What is asked: one sentence that ends in a question mark.
    pub question: &'static str,
    /// What one operation is.
    pub operation: &'static str,
    /// How it is done and why so: the method section, in paragraphs separated by blank lines.
    pub method: &'static str,
    /// Which variants are naive and what is wrong with them; empty where none is.
    pub caveats: &'static str,
    /// Grows whenever the method changes such that figures move; figures of different versions are not compared.
    pub version: u32,
    /// Every parameter that a point may carry besides the placement, in the order of the tables.
    pub parameters: &'static [Parameter],
    /// The fits that the sweep is made for.
    pub trends: &'static [Trend],
    /// How its results are shown.
    pub shown: Shown,
}

/// A straight line expected along one parameter, all others held: what one more argument, page or iteration costs.
#[derive(Debug)]
pub struct Trend {
    /// The parameter on the horizontal axis.
    pub along: &'static str,
    /// How much of the parameter one step of the slope is: 4096 for bytes told per page.
    pub step: f64,
    /// What one step is called: "per argument".
    pub slope: &'static str,
}

/// The effort of a run; explicit settings win over what it implies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    /// A complete table in about a minute.
    Quick,
    /// The default.
    Standard,
    /// As precise as time allows.
    Thorough,
}

/// What somebody wants of sweeps, beyond what the effort implies.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asked {
    /// Whether there is a second host.
    pub peer: bool,
    /// Numbers of processes, where processes compete; the usual ones where there is none.
    pub processes: Vec<u64>,
    /// What samples of many points are drawn from: the seed of the run.
    pub seed: u64,
    /// Whether every pair of CPUs is wanted, however many there are.
    pub every_pair: bool,
    /// What the data of a point may fill at most, bytes; as much as it needs where there is none.
    pub most_bytes: Option<u64>,
}

impl Asked {
    /// Whether a point's number of processes was asked for.
    pub fn names(&self, point: &Point) -> bool {
        matches!(point.get("processes"), Some(Value::Number(processes)) if self.processes.contains(processes))
    }
}

/// One question put to the machine. One experiment is one file in `experiments/`, or one with a
/// folder beside it.
pub trait Experiment: Sync {
    /// The abstract: what is asked, what one operation is, how it is timed.
    fn about(&self) -> &'static About;

    /// The points to visit, in terms of this machine and in the order of the report's table.
    fn sweep(&self, machine: &Machine) -> Vec<Point>;

    /// The points where something was asked for; wishes that do not concern the experiment change nothing.
    fn sweep_for(&self, machine: &Machine, _asked: &Asked) -> Vec<Point> {
        self.sweep(machine)
    }

    /// The CPUs of the work and of its other side, where the point itself names them instead of its placement.
    fn cpus(&self, _point: &Point) -> Option<(usize, usize)> {
        None
    }

    /// What must hold for this point. Where it does not, the point is skipped and the record says why.
    fn requires(&self, _point: &Point) -> Vec<Requirement> {
        vec![]
    }

    /// The least effort at which this point is worth its time; below it, it is skipped with that reason.
    fn effort(&self, _point: &Point, _machine: &Machine) -> Effort {
        Effort::Quick
    }

    /// What the numbers of this point count.
    fn unit(&self, _point: &Point) -> Unit {
        Unit::Nanoseconds
    }

    /// What we expect to find, said before measuring, term by term; or why nothing can be said.
    fn predict(&self, point: &Point, known: &Known) -> Result<Prediction, String>;

    /// What this point cannot be below (or above, for rates) on any machine, and why.
    fn bound(&self, _point: &Point, _known: &Known) -> Option<Bound> {
        None
    }

    /// The block that this point belongs to: points of one name share a costly preparation ([`Site::shared`]) and are
    /// measured one after the other in one fresh process, in an order drawn from the seed. `None` for a point alone.
    fn block(&self, _point: &Point) -> Option<String> {
        None
    }

    /// The parameter that names one of several readings of the same trial, where there is one. Points that differ in it
    /// alone are figures of one trial: the work is prepared and observed once ([`Workload::figures`]).
    fn figure(&self) -> Option<&'static Parameter> {
        None
    }

    /// The steps in which a trial counts this point's figure, in the point's unit, where these are coarser than the clock: less
    /// than a step cannot be told from nothing. 0 where there are none.
    fn step(&self, _point: &Point) -> f64 {
        0.0
    }

    /// Builds the thing to be measured, inside the trial's process. Untimed. Dropping the workload cleans up, also
    /// after a failure.
    fn prepare<'site>(&self, point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure>;

    /// Did we measure what we say we measured? A pure judgement on what was seen around the samples.
    fn evidence(&self, point: &Point, seen: &Observed) -> Vec<Check>;

    /// What the results say; computed, after the run, from results whose evidence holds and from nothing else. A finding
    /// that they do not support is not made.
    fn findings(&self, _known: &Known) -> Vec<Finding> {
        vec![]
    }

    /// How long one visit may take before it is given up.
    fn time_limit(&self, _point: &Point) -> Duration {
        Duration::from_secs(10)
    }
}
