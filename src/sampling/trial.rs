//! One trial, inside its own fresh process: from a request on standard input to a sample on standard output.

use super::clock::{Clock, ClockKind, Counter, MonotonicRaw, overhead};
use super::conditions::{Conditions, Snapshot};
use super::counters::Counting;
use super::observe::{Observations, Sampler};
use super::stopwatch::SharedStopwatch;
use super::{affinity, frequency, gaps, partner, tracer};
use crate::experiment::{Counters, Experiment, Failure, PeerAddress, Placement, Point, RemoteFile, Site};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// How long a loop spins before the observations to look for gaps, nanoseconds.
const SPIN_NS: f64 = 300_000.0;

/// Everything that a trial's process needs to know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// Name of the experiment.
    pub experiment: String,
    /// The point to visit.
    pub point: Point,
    /// Seeds the trial's own randomness.
    pub seed: u64,
    /// The clock to read.
    pub clock: ClockKind,
    /// Its frequency.
    pub ticks_per_second: f64,
    /// How long to observe, nanoseconds.
    pub duration_ns: u64,
    /// The CPU to be pinned to.
    pub home: Option<usize>,
    /// The CPU of the other side.
    pub partner: Option<usize>,
    /// The cgroup's `cpu.stat`, for throttling.
    pub cpu_stat: Option<String>,
    /// Where files may be made.
    pub folder: PathBuf,
    /// The file to read over a network, or why there is none; `None` where none was asked for.
    #[serde(default)]
    pub remote: Option<Result<RemoteFile, String>>,
    /// The other host, where the run has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<PeerAddress>,
    /// The process that asks, with which the trial dies.
    pub parent: u32,
}

/// What one trial has found.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Sample {
    /// The raw observations.
    pub observations: Observations,
    /// Operations that were timed, and that the counters ran around.
    pub operations: u64,
    /// Iterations of the baseline that the counters ran around as well.
    pub baseline_iterations: u64,
    /// What the kernel and the processor counted.
    pub counters: Counters,
    /// What the work itself counted, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub witnessed: BTreeMap<String, f64>,
    /// What its preparation has found, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub stated: BTreeMap<String, f64>,
    /// What disturbed it.
    pub conditions: Conditions,
    /// The CPU the work was pinned to; absent where it was free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<usize>,
    /// The CPU of the other side; absent where it was free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partner: Option<usize>,
}

/// What a trial's process answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// It observed something.
    Measured(Box<Sample>),
    /// It cannot be done here.
    Unsupported(String),
    /// It broke.
    Broke(String),
}

/// Visits a point in this process: pins, shifts the stack, prepares, observes, cleans up.
pub fn visit(experiment: &dyn Experiment, request: &Request) -> Answer {
    let visited = prepare_process(request)
        .and_then(|()| shifted(request.seed as usize % 64, || with_clock(experiment, request)));
    match visited {
        Ok(sample) => Answer::Measured(Box::new(sample)),
        Err(Failure::Unsupported(reason)) => Answer::Unsupported(reason),
        Err(Failure::Broke(reason)) => Answer::Broke(reason),
    }
}

fn prepare_process(request: &Request) -> Result<(), Failure> {
    partner::die_with(request.parent)?;
    // Work that is spread pins each of its threads, and needs to know where it may.
    let pinned = request.home.filter(|_| request.point.placement() != Placement::Spread);
    pinned.map_or(Ok(()), affinity::pin)
}

/// Calls `work` up to 63 frames of a cache line deeper, so that its stack begins elsewhere in every trial.
#[inline(never)]
fn shifted<T>(frames: usize, work: impl FnOnce() -> T) -> T {
    let frame = std::hint::black_box([0_u8; 64]);
    let result =
        if frames == 0 { work() } else { shifted(frames - 1, Box::new(work) as Box<dyn FnOnce() -> T>) };
    std::hint::black_box(frame);
    result
}

fn with_clock(experiment: &dyn Experiment, request: &Request) -> Result<Sample, Failure> {
    match request.clock {
        ClockKind::Counter => run(experiment, request, &Counter),
        ClockKind::MonotonicRaw => run(experiment, request, &MonotonicRaw),
    }
}

fn run<C: Clock>(experiment: &dyn Experiment, request: &Request, clock: &C) -> Result<Sample, Failure> {
    let hz = request.ticks_per_second;
    let stopwatch = SharedStopwatch::new(request.clock, hz)
        .map_err(|error| Failure::Broke(format!("shared memory for the stopwatch: {error}")))?;
    let site = Site {
        home: request.home,
        partner: request.partner,
        buffer_offset: (request.seed >> 8) as usize % 64 * 64,
        seed: request.seed,
        duration_ns: request.duration_ns,
        ticks_per_second: hz,
        stopwatch: &stopwatch,
        folder: request.folder.clone(),
        remote: request.remote.clone(),
        peer: request.peer.clone(),
    };
    let mut workload = experiment.prepare(&request.point, &site)?;
    let spin = gaps::spin(clock, hz, overhead(clock), SPIN_NS);
    let core_hz_before = frequency::observe(clock, hz);
    let sampler =
        Sampler { clock, ticks_per_second: hz, duration_ns: request.duration_ns, stopwatch: &stopwatch };
    let begin = || (Snapshot::take(request.cpu_stat.as_deref()), Counting::begin());
    let (found, (before, counting)) = sampler.observe(&mut workload, begin)?;
    let counters = counting.end();
    let mut conditions = Snapshot::take(request.cpu_stat.as_deref()).since(&before);
    conditions.core_hz_before = core_hz_before;
    conditions.core_hz_after = frequency::observe(clock, hz);
    conditions.migrations = found.migrations;
    conditions.spun(&spin);
    let mut witnessed = found.witnessed;
    witnessed.extend(tracer::witness(&mut workload));
    Ok(Sample {
        observations: found.observations,
        operations: found.operations,
        baseline_iterations: found.baseline_iterations,
        counters,
        witnessed,
        stated: workload.stated.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
        conditions,
        home: request.home,
        partner: request.partner,
    })
}
