//! The run file, with all results.
//!
//! One file per run, JSON Lines, appended during the run: a header, the predictions, one line per trial, a closing line. It
//! is both journal and store. Every field and its unit is described in `docs/run-file.md`; the published JSON Schema is
//! generated from these types. The schema only grows: fields are added, never renamed, and readers ignore unknown ones.
//! Parameters of points were renamed once, by schema 2; `migration` reads earlier files.

pub mod door;
pub mod file_name;
mod journal;
mod label;
pub mod lines;
mod method;
mod migration;
mod read;
pub mod regular;
pub mod store;
mod tool;
mod verification;

pub use fathom_core::sampling::TrialOutcome;
pub use journal::Journal;
pub use label::{HOST, Label, labels};
pub use lines::ReadError;
pub use method::{Excerpt, Method, MethodParameter, MethodTrend};
pub(crate) use migration::name_events;
pub use read::Run;
pub use tool::Tool;
pub use verification::{Truth, Verdict, Verification};

use fathom_core::experiment::registry::{self, OtherVersion};
use fathom_core::experiment::{Bound, Effort, Experiment, Point, Prediction};
use fathom_core::machine::Machine;
use fathom_core::quantity::Unit;
use fathom_core::sampling::{Conditions, Qualification, Sample};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the run file's schema that this program writes, and the newest that it reads. Earlier ones are read too.
pub const SCHEMA_VERSION: u32 = 2;

/// One line of a run file.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "line", rename_all = "snake_case")]
pub enum Line {
    /// The first line: everything known before the first trial.
    Header(Box<Header>),
    /// The prediction of a point, written before its first trial.
    Prediction(PredictionLine),
    /// One visit of one point.
    Trial(Box<Trial>),
    /// The cores on which short work may run, as they were when the next visit was chosen.
    Look(Look),
    /// The points that fit into the budget, settled when the pilot round had shown the cost of trials; the last such line is valid.
    Settled(Settled),
    /// The run was resumed by `--resume`; these settings apply to later lines.
    Resumed(Resumed),
    /// The run ended normally.
    Closing(Closing),
}

/// Everything known before the first trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Header {
    /// The schema's version; see [`SCHEMA_VERSION`].
    pub schema: u32,
    /// The program that measured.
    pub tool: Tool,
    /// When the run began, RFC 3339, UTC.
    pub started: String,
    /// The settings of the run.
    pub settings: Settings,
    /// The clock from which all times are read, and its qualification.
    pub clock: Qualification,
    /// The machine, with where each fact was read.
    pub machine: Machine,
    /// The second host; absent where the run has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<Box<Peer>>,
    /// The last verification of the same program on the same machine; absent where there was none, or this user keeps none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification: Option<Box<Verification>>,
    /// The methods of the selected experiments; none in files of earlier programs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub methods: Vec<Method>,
    /// Every point of the selected experiments, in the order of the report; also those that are skipped.
    pub plan: Vec<PlannedPoint>,
}

/// The second host of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Peer {
    /// The peer as given: a host, an address with a port, or `namespace`.
    pub wanted: String,
    /// The kind of second host, and how it was reached.
    pub kind: PeerKind,
    /// The address that was given in addition; absent where none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_address: Option<String>,
    /// The address for direct connections.
    pub address: String,
    /// Its machine; absent for a virtual peer, whose machine is the measured one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Machine>,
}

/// The kind of second host that a peer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PeerKind {
    /// A host on which ssh started it.
    Ssh,
    /// A host on which a user started it by hand.
    ByHand,
    /// Not a second host: a network namespace of the measured machine.
    Virtual,
}

/// The settings of a run, explicit and implied alike.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Settings {
    /// Names or globs of experiments, as given.
    pub selection: Vec<String>,
    /// Quick, standard or thorough.
    pub effort: Effort,
    /// The time that the run may take, seconds.
    pub budget_s: f64,
    /// The target of the intervals: how far the farther end may be from the value, as a share of it.
    pub precision: f64,
    /// The seed of all randomness of the run.
    pub seed: u64,
    /// How long a trial of the first round observes, nanoseconds.
    pub trial_ns: u64,
    /// Whether that was given explicitly, and so applies to later rounds too.
    pub trial_fixed: bool,
    /// The CPU on which pinned work runs.
    pub home: usize,
    /// The other CPUs of the same kind, on which short work on one CPU may run while the core of `home` is shared for more than half of the
    /// time; none where a CPU was given explicitly.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alike: Vec<usize>,
    /// The CPU for the other side of work across CPUs; absent where there is only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partner: Option<usize>,
    /// The CPU for the other side of work across packages (sockets); absent where this process may use one only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_package: Option<usize>,
    /// The folder in which experiments may make files.
    pub folder: String,
    /// Numbers of processes that were asked for, for experiments in which processes compete; empty for the usual ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub processes: Vec<u64>,
    /// Amounts of data that were asked for instead of those of the experiments, bytes; empty for their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<u64>,
    /// The number of trials of every point, if it was asked for; absent where the planner decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trials: Option<u32>,
    /// The priority of the measuring processes (nice, -20 to 19), if it was asked for; absent for that of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<i32>,
    /// The other half of the measurement and what differs in this one; absent where the run was made alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interleaved: Option<Interleaved>,
    /// The set whose points were requested; absent where experiments were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set: Option<String>,
    /// Labels of the run, such as the rack of its host, given by the user. `host` names the machine.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

/// One of two settings that were measured alternately.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interleaved {
    /// An identifier that the two halves of one measurement share.
    pub session: String,
    /// The settings of this half, as given; empty where nothing was set.
    pub setting: Vec<String>,
}

/// A point of the plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlannedPoint {
    /// Name of the experiment.
    pub experiment: String,
    /// Version of its method.
    pub method_version: u32,
    /// The setting of its parameters.
    pub point: Point,
    /// The unit of its numbers.
    pub unit: Unit,
    /// The reason why it is not measured; absent if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skip: Option<String>,
}

impl PlannedPoint {
    /// The experiment by which it is measured, if this program has the same version of its method.
    pub fn method(&self) -> Result<&'static dyn Experiment, OtherVersion> {
        registry::recorded(&self.experiment, self.method_version)
    }
}

/// The prediction of a point, written before its first trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PredictionLine {
    /// Name of the experiment.
    pub experiment: String,
    /// The setting of its parameters.
    pub point: Point,
    /// The derivation, term by term, in the point's unit; absent if there is no prediction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prediction: Option<Prediction>,
    /// The reason why there is no prediction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unpredicted: Option<String>,
    /// The bound that the result cannot be below (above, for rates).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<Bound>,
}

/// One visit of one point in a fresh process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Trial {
    /// Name of the experiment.
    pub experiment: String,
    /// The setting of its parameters.
    pub point: Point,
    /// The round of the run it belongs to, from 1.
    pub round: u32,
    /// The seed of this trial's own randomness (environment size, stack and buffer offset, work).
    pub seed: u64,
    /// Seconds from the start of the run to the start of the trial.
    pub began_s: f64,
    /// Seconds the trial took, with what it did for all trials of its process ([`BlockVisit::shared_s`]); figures of one trial
    /// share them evenly.
    pub took_s: f64,
    /// The process that it was measured in, and with which others; absent in files of earlier programs, which had a process
    /// for every trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<BlockVisit>,
    /// Its outcome.
    pub outcome: TrialOutcome,
}

impl Trial {
    /// Its observations; `None` if it has none.
    pub fn sample(&self) -> Option<&Sample> {
        self.outcome.sample()
    }

    /// Whether it has any observations.
    pub fn observed(&self) -> bool {
        self.sample().is_some_and(|sample| !sample.observations.is_empty())
    }
}

/// The process in which a trial was measured. Trials of one process share its memory layout and its preparation; only trials of
/// different processes are independent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockVisit {
    /// The number of the process in the run, from 1.
    pub process: u32,
    /// The place of the trial among those of the process, from 1; figures of one trial have one place.
    pub place: u32,
    /// Seconds of `took_s` that belong to no single trial: starting the process, and the preparation that its trials share.
    pub shared_s: f64,
}

/// A look at the cores on which short work may run, when the next visit was chosen. The time between two looks has their states
/// whatever work was chosen, so the share of the time in which a core was shared follows from them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Look {
    /// Seconds from the start of the run.
    pub at_s: f64,
    /// The readings, first that of the run's own CPU; others only where its core is shared.
    pub cores: Vec<CoreLook>,
    /// Before and after work on two CPUs: ticks that a cache line takes from the run's own CPU to that of the other side and back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_ticks: Option<f64>,
}

/// The reading of one core: see [`fathom_core::sampling::CoreReadings`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CoreLook {
    /// The CPU.
    pub cpu: usize,
    /// Ticks of 3,968 independent additions, or of a multiple of them.
    pub stream: u32,
    /// Ticks of 512 dependent additions, or of the same multiple of them.
    pub chain: u32,
}

impl CoreLook {
    /// The quotient of the reading, which shows whether the core was shared.
    pub fn quotient(&self) -> f64 {
        f64::from(self.stream) / f64::from(self.chain)
    }
}

/// Which points get the trials that an interval needs, within the budget, as settled when costs were known; written again
/// whenever other points are left out than before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Settled {
    /// Time of the settlement, seconds from the start of the run or of the part that was added to it.
    pub at_s: f64,
    /// The time that the run, or the added part, may take, seconds.
    pub budget_s: f64,
    /// Points that get their trials.
    pub points: u64,
    /// Trials still to be made for that, of all of them together.
    pub trials: u64,
    /// The least number of trials that one of them gets.
    pub least_trials: u64,
    /// The most trials that one of them gets for certain; remaining time may bring more.
    pub most_trials: u64,
    /// How long each of these trials observes, nanoseconds.
    pub trial_ns: u64,
    /// When they are expected to be done, seconds from the same start.
    pub end_s: f64,
    /// Points that do not fit into the budget, and are skipped unless they have their interval already.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// A budget that is expected to be enough for a new run with all points, seconds.
    pub enough_budget_s: f64,
}

/// A point that does not fit into the budget.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeftOut {
    /// Name of the experiment.
    pub experiment: String,
    /// The setting of its parameters.
    pub point: Point,
    /// The cost of its missing trials, seconds, with its share of the block's preparation.
    pub cost_s: f64,
    /// Whether it costs more: its trial was ended before it was made, so that time remained for others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub more: bool,
}

/// A resumed run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Resumed {
    /// When, RFC 3339, UTC.
    pub at: String,
    /// The program that resumed it.
    pub tool: Tool,
    /// The time for the added part, seconds.
    pub budget_s: f64,
}

/// The normal end of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Closing {
    /// When, RFC 3339, UTC.
    pub at: String,
    /// Seconds that the run took in all, in elapsed time.
    pub took_s: f64,
    /// Rounds that every point was visited in.
    pub rounds: u32,
    /// The reason why it ended.
    pub ended: Ending,
    /// Disturbances of the whole run: counters of the machine from start to end.
    pub conditions: Conditions,
    /// The reason why the run had lost its peer when it ended; absent if it had not, or had none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer_lost: Option<String>,
}

/// The reason why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// No further trial was expected to bring an interval to its target.
    Precision,
    /// Every requirement was decided, or no further trial could decide it.
    Decided,
    /// The time was up.
    Budget,
    /// A user interrupted it; the results up to then are valid.
    Interrupted,
}
