//! The vocabulary of experiments.
//!
//! An experiment knows its work and no clock; the sampler knows a clock and no experiment. They meet in [`Workload`]. Each file
//! in `experiments/` reads like the method section of a paper, in these terms.

mod beside_usual;
mod best;
mod core_share;
mod curve_steps;
mod evidence;
mod excerpt;
mod excess;
mod failure;
mod finding;
mod found;
mod known;
mod main_figure;
mod peer_address;
mod point;
mod prediction;
pub mod registry;
mod remote_file;
mod requirement;
mod selector;
mod shared;
mod shown;
mod term;
mod workload;

pub use crate::message::capitalize;
pub use crate::{finding, statement};
pub use beside_usual::BesideUsual;
pub use core_share::CoreShare;
pub use curve_steps::CurveSteps;
pub use evidence::{Bound, Check, Counters, Observed};
pub use excerpt::TimedCode;
pub use excess::Excess;
pub use failure::{Failure, ensure, errno};
pub use finding::{Figure, Finding, Piece, Question, Statement, Template};
pub use found::{CoreUse, Dimension, Found};
pub use known::{Bend, Known, Learnt, LineLooks, OFTEN_PREEMPTED};
pub use main_figure::MainFigure;
pub use peer_address::{PeerAddress, Token};
pub use point::{AXIS_PLACEMENT, PEER, Parameter, Placement, Point, Scale, VIRTUAL_PEER, Value};
pub use prediction::{LIMIT_OF_THE_RUN, Prediction};
pub use remote_file::{Access, RemoteFile};
pub use requirement::{Requirement, Touch};
pub use selector::{At, Landmark, Others, PointSettings, Selector, well_within};
pub use shared::Shared;
pub use shown::{Clause, Level, Levels, Shown};
pub use term::{Basis, Ground, Part, Source, Term, TermEvent};
pub use workload::{
    CoreWidth, FigureValue, FirstCall, ObservedFrom, Operation, PartnerTask, Site, Spin, Stopwatch,
    TRACED_CALLS, TRACED_OPERATIONS, TRACING_REFUSED, Work, Workload, repeated,
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

/// The family of an experiment, which begins its name: `cpu` of `cpu/system_call`.
pub fn family(name: &str) -> &str {
    name.split('/').next().unwrap_or_default()
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

impl Effort {
    /// That of two switches, of which one is set at most.
    pub fn of(quick: bool, thorough: bool) -> Self {
        match (quick, thorough) {
            (true, _) => Effort::Quick,
            (_, true) => Effort::Thorough,
            _ => Effort::Standard,
        }
    }
}

/// Requests for sweeps, beyond those that the effort implies.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SweepOptions {
    /// Whether the run has a second host.
    pub peer: bool,
    /// Requested numbers of competing processes; the usual ones if empty.
    pub processes: Vec<u64>,
    /// Requested amounts of data, bytes, in place of those of experiments that let them be chosen; their own if empty.
    pub sizes: Vec<u64>,
    /// The seed of the run, with which samples of many points are drawn.
    pub seed: u64,
    /// Whether every pair of CPUs is requested, however many there are.
    pub every_pair: bool,
    /// Maximum size of a point's data, bytes; `None` for no limit.
    pub most_bytes: Option<u64>,
    /// Whether the memory of the whole machine may be taken.
    pub whole_memory: bool,
}

impl SweepOptions {
    /// Whether the run meets a requirement that no machine meets by itself.
    pub fn meets(&self, requirement: &Requirement) -> bool {
        (self.peer && *requirement == Requirement::Peer)
            || (self.whole_memory && requirement.is_met_by_whole_memory())
    }

    /// Whether a point's number of processes was requested.
    pub fn names(&self, point: &Point) -> bool {
        point.number_of("processes").is_some_and(|processes| self.processes.contains(&processes))
    }
}

/// One question to the machine. One experiment is one file, or one file with a folder of its own, and reads from top to bottom like
/// the method section of a paper.
///
/// # Writing one
///
/// Begin with the question and with what one operation *is*; most wrong numbers come from an operation that was never defined. Then
/// decide what would show that the operation was performed ([`evidence`](Self::evidence)), before you write the work: an experiment
/// whose evidence cannot fail measures nothing that should be believed.
///
/// An experiment knows its work and no clock: it hands a [`Workload`] to the sampler, which decides how often it is repeated, reads the
/// clock and watches the machine. It keeps nothing between two calls; everything follows from the machine, the point and what is
/// already [known](Known).
///
/// ```
/// use fathom_core::prelude::*;
///
/// /// The experiment `cpu/yield`.
/// pub struct Yield;
///
/// static ABOUT: About = About {
///     name: "cpu/yield",
///     question: "What does it cost to yield the CPU when nothing else wants it?",
///     operation: "one call of sched_yield on a CPU without other work",
///     method: "The call enters the kernel, which finds nothing better to run, and returns.",
///     caveats: "On a busy CPU the same call is a context switch.",
///     version: 1,
///     timed: None,
///     parameters: &[],
///     trends: &[],
///     shown: Shown::by(&[]),
/// };
///
/// impl Experiment for Yield {
///     fn about(&self) -> &'static About {
///         &ABOUT
///     }
///
///     // One setting: pinned to one CPU, without parameters.
///     fn sweep(&self, _: &Machine) -> Vec<Point> {
///         vec![Point::new()]
///     }
///
///     // Base hardware and software overhead, each term with its source.
///     fn predict(&self, _: &Point, known: &Known) -> Result<Prediction, String> {
///         let entry = known.assumed_cycles(100.0, "a call of the kernel that does next to nothing");
///         let choice = known.assumed_cycles(200.0, "a look at a run queue without other tasks");
///         Ok(Prediction::new().hardware("entry and exit", 1.0, entry).software("the scheduler", 1.0, choice))
///     }
///
///     // The work alone: the sampler calls it in batches and reads the clock around them.
///     fn prepare<'site>(&self, _: &Point, _: &'site Site) -> Result<Workload<'site>, Failure> {
///         let yields = |n: u64| {
///             for _ in 0..n {
///                 // SAFETY: the call takes no argument and touches no memory.
///                 ensure(unsafe { libc::sched_yield() } == 0, "sched_yield failed")?;
///             }
///             Ok(())
///         };
///         Ok(Workload::batched(yields).traced())
///     }
///
///     // A tracer counts the calls of some untimed iterations: one for each operation, or the figure is not used.
///     fn evidence(&self, _: &Point, observed: &Observed) -> Vec<Check> {
///         vec![Check::system_calls(observed, 1.0)]
///     }
/// }
///
/// registry::register([&Yield as &dyn Experiment]);
/// assert_eq!(registry::find("cpu/yield").unwrap().about().version, 1);
/// ```
pub trait Experiment: Sync {
    /// The question, the operation, and the method: what a report prints above the results.
    ///
    /// Give one `static`; its `name` is the path of the file. Raise `version` with every change that moves figures, and say so in
    /// `CHANGELOG.md`: results of different versions are not compared.
    fn about(&self) -> &'static About;

    /// The points to measure on this machine, in the order of the report's table.
    ///
    /// Derive settings from the machine's description (a quarter of the second-level cache), not from a machine that you know, and
    /// give values that are reached on every machine the same setting, so that runs can be compared. Points must differ from each
    /// other and may carry declared parameters alone. Do not leave out what a machine lacks: say so in [`requires`](Self::requires),
    /// so that the report names it with its reason.
    fn sweep(&self, machine: &Machine) -> Vec<Point>;

    /// The points with the user's requests considered, such as numbers of processes or a peer. Ignore requests that do not concern the
    /// experiment.
    fn sweep_for(&self, machine: &Machine, _options: &SweepOptions) -> Vec<Point> {
        self.sweep(machine)
    }

    /// This point with another amount of data, bytes, where the user may choose it (`--sizes`); `None` where neither the experiment
    /// nor this variant has one to choose.
    fn sized(&self, _point: &Point, _bytes: u64) -> Option<Point> {
        None
    }

    /// The CPUs of the work and of its other side, if the point itself names them (a pair of CPUs) instead of its placement.
    fn cpus(&self, _point: &Point) -> Option<(usize, usize)> {
        None
    }

    /// Whether the work of a point may run on any CPU of the run's kind: it is on one CPU, which the point does not name.
    fn runs_on_any_cpu(&self, point: &Point) -> bool {
        point.placement() == Placement::OneCpu && self.cpus(point).is_none()
    }

    /// What this point does to the machine as a whole that others could notice, beside using processor time and beside what it
    /// [requires](Self::requires). It is said before a run begins.
    fn touches(&self, _point: &Point) -> Vec<Touch> {
        vec![]
    }

    /// What this point needs: instructions, CPUs, memory, a peer. Where one is missing, the point is skipped with that reason.
    ///
    /// Name only what the description of the machine can answer. What is found out by trying (a refused system call) is
    /// [`Failure::Unsupported`] from [`prepare`](Self::prepare).
    fn requires(&self, _point: &Point) -> Vec<Requirement> {
        vec![]
    }

    /// The least effort at which this point is measured; below it, it is skipped with that reason. Leave a point in
    /// [`Effort::Quick`] only if a reader of ninety seconds would miss it.
    fn effort(&self, _point: &Point, _machine: &Machine) -> Effort {
        Effort::Quick
    }

    /// The unit of this point's figures. For a rate, [`Workload::per_iteration`] is the number of bytes moved.
    fn unit(&self, _point: &Point) -> Unit {
        Unit::Nanoseconds
    }

    /// The expected result, term by term, before it is measured; or the reason why there is none.
    ///
    /// Each term is base hardware or software overhead, and comes from a fact of the machine, a published figure with its citation, or
    /// an earlier result of the same run. Never use the point's own result, nor one of an experiment that comes later in the registry
    /// (a test perturbs each result to see that). A prediction that turns out wrong stays: the report explains the factor.
    fn predict(&self, point: &Point, known: &Known) -> Result<Prediction, String>;

    /// What makes results exceed this prediction, known by the machine's description, by the nature of the operation or by other figures of
    /// the run, though they do not tell how much of it: the cause of a miss is then called probable.
    fn exceeded_for(&self, _point: &Point, _known: &Known) -> Option<Excess> {
        None
    }

    /// The limit that this point's result cannot be below (for a rate: above) on any machine, with the reason. A value beyond it is
    /// reported as implausible, so leave a margin for what you are not sure of.
    fn bound(&self, _point: &Point, _known: &Known) -> Option<Bound> {
        None
    }

    /// The block that this point belongs to. Points of one name share a costly preparation, kept in [`Site::shared`], and are measured
    /// one after the other in one fresh process, in an order drawn from the seed. `None` for a point alone, which is right unless the
    /// preparation takes longer than the observation.
    fn block(&self, _point: &Point) -> Option<String> {
        None
    }

    /// The parameter that names one of several figures of the same trial, if there is one. Points that differ only in it are figures of
    /// one trial: the work is prepared and observed once ([`Workload::figures`]).
    fn figure(&self) -> Option<&'static Parameter> {
        None
    }

    /// Whether a point's operation is of instructions that wait for nothing outside the core, such as memory, another CPU or a
    /// timer: its cost is then a number of core cycles, whatever the frequency.
    fn waits_for_the_core_alone(&self, _point: &Point) -> bool {
        false
    }

    /// Whether a point's operation waits for the device on which its files lie: how soon that answers is then read before and after the
    /// observations, and what follows it has a second value at the commonest time of a read. Not of work that keeps the device busy itself meanwhile.
    fn waits_for_the_device(&self, _point: &Point) -> bool {
        false
    }

    /// The share of a point's cost that follows the frequency of the core, as far as the kind of the operation gives it; `None` where
    /// trials have to show it. Trials that contradict it are believed.
    fn core_share(&self, point: &Point, _machine: &Machine) -> Option<CoreShare> {
        self.waits_for_the_core_alone(point).then_some(CoreShare::WHOLE)
    }

    /// The steps in which a trial counts this point's figure, in the point's unit, if these are coarser than the clock: smaller
    /// differences are not resolved. 0 if there are none.
    fn step(&self, _point: &Point) -> f64 {
        0.0
    }

    /// Prepares the work to be measured, inside the trial's fresh process. Untimed.
    ///
    /// Check every return value in the timed loop: calls that fail are fast. A name that its parameter does not list as a variant is
    /// refused before; of a parameter without such a list, refuse a variant that there is not
    /// ([`Failure::no_variant`]) instead of measuring another in its place. Whatever is made here must be gone when the workload is
    /// dropped, and after a kill. Do not read a clock, print, or sleep.
    ///
    /// # Errors
    /// [`Failure::Unsupported`] for what this machine or this user cannot do, with what to do about it; [`Failure::Broke`] for what
    /// should have worked.
    fn prepare<'site>(&self, point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure>;

    /// The checks that the operation named was the one measured: a pure function of what was counted around the samples.
    ///
    /// Claim what would be false if something else had been measured: as many switches as turns, every fault major, bytes really read
    /// from the device. See each check fail once, on work that is deliberately wrong, before you trust it. A trial whose checks fail
    /// is not used.
    fn evidence(&self, point: &Point, observed: &Observed) -> Vec<Check>;

    /// What the results say, in sentences with their numbers: computed after the run, from results whose evidence holds. Make no
    /// finding that the intervals do not support, and name no cause that this run has not measured.
    fn findings(&self, _known: &Known) -> Vec<Finding> {
        vec![]
    }

    /// The time that a trial takes at least on any machine, however long it is asked to observe: a second of sleep is a second.
    fn least_time(&self, _point: &Point) -> Duration {
        Duration::ZERO
    }

    /// The time after which a visit is taken for hung and ended.
    fn time_limit(&self, _point: &Point) -> Duration {
        Duration::from_secs(10)
    }
}

impl dyn Experiment + '_ {
    /// The work of a point, [prepared](Experiment::prepare): nothing is made for one that names a variant which a parameter does not list.
    ///
    /// # Errors
    /// [`Failure::no_variant`], and those of the preparation.
    pub fn workload<'site>(&self, point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
        point.ensure_variants(self.about().parameters)?;
        self.prepare(point, site)
    }
}
