//! The vocabulary of experiments.
//!
//! An experiment knows its work and no clock; the sampler knows a clock and no experiment. They meet in [`Workload`]. Each file
//! in `experiments/` reads like the method section of a paper, in these terms.

mod evidence;
mod excerpt;
mod failure;
mod finding;
mod found;
mod level;
mod main_figure;
mod peer_address;
mod point;
mod prediction;
pub mod registry;
mod remote_file;
mod requirement;
mod shared;
mod shown;
mod touch;
mod workload;

pub use crate::{finding, statement};
pub use evidence::{Bound, Check, Counters, Observed};
pub use excerpt::TimedCode;
pub use failure::{Failure, ensure, errno};
pub use finding::{Figure, Finding, Piece, Question, Statement, Template, capitalize};
pub use found::{Dimension, Found};
pub use level::{Level, Levels};
pub use main_figure::{At, Landmark, MainFigure};
pub use peer_address::{PeerAddress, Token};
pub use point::{AXIS_PLACEMENT, PEER, Parameter, Placement, Point, Scale, VIRTUAL_PEER, Value};
pub use prediction::{Basis, Known, Learnt, Part, Prediction, Source, Term};
pub use remote_file::{Access, RemoteFile};
pub use requirement::Requirement;
pub use shared::Shared;
pub use shown::Shown;
pub use touch::Touch;
pub use workload::{
    CoreWidth, FigureValue, FirstCall, Operation, Site, Spin, Stopwatch, TRACED_CALLS, TRACED_OPERATIONS,
    TRACING_REFUSED, Work, Workload, repeated,
};

use crate::machine::Machine;
use crate::quantity::Unit;
use std::time::Duration;

/// The header of an experiment: facts about it, and functions of a point or a machine alone.
#[derive(Debug)]
pub struct About {
    /// Family and name, such as `cpu/system_call`; also the path of its file.
    pub name: &'static str,
    /// The question: one sentence that ends in a question mark.
    pub question: &'static str,
    /// The definition of one operation.
    pub operation: &'static str,
    /// The method and its reasons, in paragraphs separated by blank lines.
    pub method: &'static str,
    /// The naive variants, and what is wrong with them; empty if there are none.
    pub caveats: &'static str,
    /// Raised whenever the method changes such that figures change; figures of different versions are not compared.
    pub version: u32,
    /// The timed code, where it says more than the method.
    pub timed: Option<TimedCode>,
    /// Every parameter that a point may carry besides the placement, in the order of the tables.
    pub parameters: &'static [Parameter],
    /// The fits for which the sweep is made.
    pub trends: &'static [Trend],
    /// The display of its results.
    pub shown: Shown,
}

/// A straight line expected along one parameter, all others held: the cost of one more argument, page or iteration.
#[derive(Debug)]
pub struct Trend {
    /// The parameter on the horizontal axis.
    pub along: &'static str,
    /// The size of one step in the parameter: 4096 for bytes reported per page.
    pub step: f64,
    /// The name of one step: "per argument".
    pub slope: &'static str,
}

/// The effort of a run; explicit settings override those that it implies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    /// A complete table in about a minute.
    Quick,
    /// The default.
    Standard,
    /// As precise as time allows.
    Thorough,
}

/// Requests for sweeps, beyond those that the effort implies.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asked {
    /// Whether the run has a second host.
    pub peer: bool,
    /// Requested numbers of competing processes; the usual ones if empty.
    pub processes: Vec<u64>,
    /// The seed of the run, with which samples of many points are drawn.
    pub seed: u64,
    /// Whether every pair of CPUs is requested, however many there are.
    pub every_pair: bool,
    /// Maximum size of a point's data, bytes; `None` for no limit.
    pub most_bytes: Option<u64>,
    /// Whether the memory of the whole machine may be taken.
    pub whole_memory: bool,
}

impl Asked {
    /// Whether the run meets a requirement that no machine meets by itself.
    pub fn meets(&self, requirement: &Requirement) -> bool {
        (self.peer && *requirement == Requirement::Peer)
            || (self.whole_memory && requirement.is_met_by_whole_memory())
    }

    /// Whether a point's number of processes was requested.
    pub fn names(&self, point: &Point) -> bool {
        matches!(point.get("processes"), Some(Value::Number(processes)) if self.processes.contains(processes))
    }
}

/// One question to the machine. One experiment is one file in `experiments/`, or one with a folder of its own.
pub trait Experiment: Sync {
    /// The question, the operation, and the method.
    fn about(&self) -> &'static About;

    /// The points to measure, in terms of this machine and in the order of the report's table.
    fn sweep(&self, machine: &Machine) -> Vec<Point>;

    /// The points with requests considered; requests that do not concern the experiment are ignored.
    fn sweep_for(&self, machine: &Machine, _asked: &Asked) -> Vec<Point> {
        self.sweep(machine)
    }

    /// The CPUs of the work and of its other side, if the point itself names them instead of its placement.
    fn cpus(&self, _point: &Point) -> Option<(usize, usize)> {
        None
    }

    /// What this point does to the machine as a whole, beside what it requires.
    fn touches(&self, _point: &Point) -> Vec<Touch> {
        vec![]
    }

    /// The requirements of this point. If one is not met, the point is skipped with the reason.
    fn requires(&self, _point: &Point) -> Vec<Requirement> {
        vec![]
    }

    /// The least effort at which this point is measured; below it, it is skipped with that reason.
    fn effort(&self, _point: &Point, _machine: &Machine) -> Effort {
        Effort::Quick
    }

    /// The unit of this point's figures.
    fn unit(&self, _point: &Point) -> Unit {
        Unit::Nanoseconds
    }

    /// The expected result, term by term, predicted before measuring; or the reason why there is none.
    fn predict(&self, point: &Point, known: &Known) -> Result<Prediction, String>;

    /// The limit that this point's result cannot be below (or above, for rates) on any machine, with the reason.
    fn bound(&self, _point: &Point, _known: &Known) -> Option<Bound> {
        None
    }

    /// The block that this point belongs to: points of one name share a costly preparation ([`Site::shared`]) and are
    /// measured one after the other in one fresh process, in an order drawn from the seed. `None` for a point alone.
    fn block(&self, _point: &Point) -> Option<String> {
        None
    }

    /// The parameter that names one of several figures of the same trial, if there is one. Points that differ only in it are
    /// figures of one trial: the work is prepared and observed once ([`Workload::figures`]).
    fn figure(&self) -> Option<&'static Parameter> {
        None
    }

    /// The steps in which a trial counts this point's figure, in the point's unit, if these are coarser than the clock:
    /// differences smaller than a step are not resolved. 0 if there are none.
    fn step(&self, _point: &Point) -> f64 {
        0.0
    }

    /// Prepares the work to be measured, inside the trial's process. Untimed. Dropping the workload cleans up, also after a
    /// failure.
    fn prepare<'site>(&self, point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure>;

    /// The checks that the operation named was measured: a pure function of the observations around the samples.
    fn evidence(&self, point: &Point, seen: &Observed) -> Vec<Check>;

    /// The findings; computed, after the run, only from results whose evidence holds. A finding that they do not support is not
    /// made.
    fn findings(&self, _known: &Known) -> Vec<Finding> {
        vec![]
    }

    /// The time that a trial takes at least on any machine, however long it is asked to observe.
    fn least_time(&self, _point: &Point) -> Duration {
        Duration::ZERO
    }

    /// Time limit of one visit.
    fn time_limit(&self, _point: &Point) -> Duration {
        Duration::from_secs(10)
    }
}
