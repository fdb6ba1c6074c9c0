//! The header of a run: all that is known before the first trial.

use crate::plan::{self, Cpus, Set};
use crate::record::{
    Header, Method, Peer, PeerKind, PlannedPoint, SCHEMA_VERSION, Settings, Tool, Verification, store,
};
use anyhow::{Context, Result, anyhow};
use data_encoding::HEXLOWER;
use fathom_core::experiment::{Effort, Experiment, Point, SweepOptions};
use fathom_core::machine::{Machine, RatedDisk, Remote, RemoteAddress, Root, Route};
use fathom_core::sampling::{ClockKind, Qualification, observe_core};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

/// The options of a run; those that are `None` follow from the effort and the machine.
#[derive(Debug, Clone)]
pub struct Options {
    /// Names or globs of experiments; all if empty.
    pub selection: Vec<String>,
    /// Quick, standard or thorough.
    pub effort: Effort,
    /// The time that the run may take.
    pub budget: Option<Duration>,
    /// The target of the intervals: how far the farther end may be from the value, as a share of it.
    pub precision: Option<f64>,
    /// The seed of all randomness.
    pub seed: Option<u64>,
    /// The CPU for pinned work.
    pub cpu: Option<usize>,
    /// The clock to read.
    pub clock: Option<ClockKind>,
    /// How long a trial observes.
    pub trial: Option<Duration>,
    /// The folder in which experiments may create files.
    pub folder: PathBuf,
    /// Numbers of processes for experiments in which processes compete; the default ones if empty.
    pub processes: Vec<u64>,
    /// Amounts of data instead of those of the experiments, bytes; their own if empty.
    pub sizes: Vec<u64>,
    /// The number of trials of every point; the planner decides if `None`.
    pub trials: Option<u32>,
    /// The priority of the measuring processes; that of the run if `None`.
    pub priority: Option<i32>,
    /// The remote file or server to read over a network.
    pub remote: Option<RemoteAddress>,
    /// The only points to measure, whatever the effort; all of the selection if empty.
    pub points: Vec<(&'static str, Point)>,
    /// The set whose points are measured, instead of whole experiments.
    pub set: Option<&'static Set>,
    /// The labels of the run.
    pub labels: BTreeMap<String, String>,
    /// The figures of the disk's data sheet, for predictions.
    pub rated_disk: Option<RatedDisk>,
    /// Whether the memory of the whole machine may be taken.
    pub whole_memory: bool,
}

/// This machine, with the remote address to read over a network, and the measured CPUs: `cpu` if given.
pub fn described(
    folder: &Path,
    remote: Option<&RemoteAddress>,
    cpu: Option<usize>,
) -> Result<(Machine, Cpus)> {
    let mut machine = Machine::describe(folder);
    let cpus = plan::choose(&machine, cpu).map_err(|reason| anyhow!(reason))?;
    machine.ask_on(cpus.home);
    if let Some(address) = remote {
        let remote =
            Remote::find(&Root::default(), address).map_err(|reason| anyhow!("--remote: {reason}"))?;
        machine.storage.remote = Some(remote);
    }
    machine.storage.remote = machine.storage.remote.map(|remote| remote.with_route(&Root::default()));
    Ok((machine, cpus))
}

impl Options {
    /// The options of a standard run of these experiments, with files in this folder and every other choice by default.
    pub fn of(selection: Vec<String>, folder: PathBuf) -> Self {
        Options {
            selection,
            effort: Effort::Standard,
            budget: None,
            precision: None,
            seed: None,
            cpu: None,
            clock: None,
            trial: None,
            folder,
            processes: vec![],
            sizes: vec![],
            trials: None,
            priority: None,
            remote: None,
            points: vec![],
            set: None,
            labels: BTreeMap::new(),
            rated_disk: None,
            whole_memory: false,
        }
    }

    /// Describes the machine, qualifies the clock, makes the plan, and returns the header.
    pub fn header(&self, peer: Option<&Peer>) -> Result<Header> {
        let selected = self.set.map_or_else(|| plan::select(&self.selection), |set| Ok(set.experiments()))?;
        let (mut machine, cpus) = described(&self.folder, self.remote.as_ref(), self.cpu)?;
        machine.storage.rated = self.rated_disk;
        let real = peer.filter(|peer| peer.kind != PeerKind::Virtual);
        machine.peer_route = real
            .and_then(|peer| peer.address.parse().ok())
            .map(|address| Route::to(&Root::default(), address));
        let seed = self.seed.unwrap_or_else(fresh_seed);
        let points = self.planned(&selected, &machine, peer.is_some(), seed)?;
        let usual =
            || self.set.map_or_else(|| plan::default_budget(&selected, self.effort), |set| set.budget);
        let budget = self.budget.unwrap_or_else(usual);
        let precise = || self.set.map_or_else(|| plan::default_precision(self.effort), |set| set.precision);
        let trial = self.trial.unwrap_or(plan::SHORTEST);
        let settings = Settings {
            selection: self.selection.clone(),
            effort: self.effort,
            budget_s: budget.as_secs_f64(),
            precision: self.precision.unwrap_or_else(precise),
            seed,
            trial_ns: trial.as_nanos() as u64,
            trial_fixed: self.trial.is_some(),
            home: cpus.home,
            alike: if self.cpu.is_some() { vec![] } else { plan::alike(&machine, cpus.home) },
            partner: cpus.partner,
            other_package: cpus.other_package,
            folder: self.folder.display().to_string(),
            processes: self.processes.clone(),
            sizes: self.sizes.clone(),
            trials: self.trials,
            priority: self.priority,
            interleaved: None,
            set: self.set.map(|set| set.name.to_owned()),
            labels: self.labels.clone(),
        };
        let clock = Qualification::run(&machine, self.clock);
        observe_core(&mut machine, &clock);
        let tool = tool()?;
        let verification = store::verification().and_then(|path| Verification::read(&path));
        Ok(Header {
            schema: SCHEMA_VERSION,
            verification: verification
                .filter(|verification| verification.is_of(&tool, &machine))
                .map(Box::new),
            tool,
            started: now(),
            settings,
            clock,
            machine,
            peer: peer.cloned().map(Box::new),
            methods: selected.iter().map(|experiment| Method::of(experiment.about())).collect(),
            plan: points,
        })
    }

    /// The plan: every point of the selection, or only the requested points.
    fn planned(
        &self,
        selected: &[&'static dyn Experiment],
        machine: &Machine,
        peer: bool,
        seed: u64,
    ) -> Result<Vec<PlannedPoint>> {
        // Points requested one by one are measured even if they take long.
        let by_point = !self.points.is_empty() || self.set.is_some();
        let effort = if by_point { Effort::Thorough } else { self.effort };
        let options = SweepOptions {
            peer,
            processes: self.processes.clone(),
            sizes: self.sizes.clone(),
            seed,
            every_pair: effort == Effort::Thorough && self.set.is_none(),
            most_bytes: self.set.map(Set::for_data),
            whole_memory: self.whole_memory,
        };
        plan::ensure_sized(selected, machine, &options)?;
        let mut points = plan::points(selected, machine, effort, &options);
        if let Some(set) = self.set {
            points = set.chosen(&points, machine);
        }
        if self.points.is_empty() {
            return Ok(points);
        }
        let is_selected = |planned: &PlannedPoint| {
            self.points.iter().any(|(name, point)| planned.experiment == *name && planned.point == *point)
        };
        Ok(points.into_iter().filter(is_selected).collect())
    }
}

/// This program, with the digest of its binary.
pub fn tool() -> Result<Tool> {
    let path = std::env::current_exe().context("this program cannot find its own executable file")?;
    let binary = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(Tool {
        name: "fathom".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        binary_sha256: digest(&binary),
        target: format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
        build: if cfg!(debug_assertions) { "debug" } else { "release" }.to_owned(),
        compiler: Some(COMPILER.to_owned()),
        commit: COMMIT.get().map(|commit| (*commit).to_owned()),
    })
}

/// The compiler of this program and its flags; see `build.rs`.
pub const COMPILER: &str = concat!(env!("FATHOM_COMPILER"), ", ", env!("FATHOM_COMPILER_FLAGS"));

/// The commit of this program's source, once it has said so.
static COMMIT: OnceLock<&'static str> = OnceLock::new();

/// Says from which commit of its source this program was built; the header of every run file names it.
pub fn set_commit(commit: &'static str) {
    COMMIT.get_or_init(|| commit);
}

/// SHA-256 in hexadecimal.
pub(super) fn digest(bytes: &[u8]) -> String {
    HEXLOWER.encode(&Sha256::digest(bytes))
}

/// The current time, RFC 3339, UTC, whole seconds.
pub fn now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

/// A seed from the time of day and the process; it is recorded, so the run can be repeated.
fn fresh_seed() -> u64 {
    let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    // Below 2^53, so that readers of JSON whose numbers are doubles keep it whole.
    (time.as_nanos() as u64 ^ (u64::from(std::process::id()) << 32)) & ((1 << 53) - 1)
}
