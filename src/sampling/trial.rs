//! One trial, inside its own fresh process: from a request on standard input to a sample on standard output.

use super::clock::{Clock, ClockKind, Counter, MonotonicRaw, overhead};
use super::conditions::{Conditions, Snapshot};
use super::counters::Counting;
use super::observe::{Observations, Sampler};
use super::stopwatch::SharedStopwatch;
use super::{affinity, frequency, gaps, partner, tracer};
use crate::experiment::{Counters, Experiment, Failure, PeerAddress, Point, RemoteFile, Site};
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
    /// Where and how.
    pub setting: Setting,
}

/// Where a process measures, and with which clock.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// Seeds the trial's own randomness.
    pub seed: u64,
    /// The clock to read.
    pub clock: ClockKind,
    /// Its frequency.
    pub ticks_per_second: f64,
    /// How long to observe, nanoseconds.
    pub duration_ns: u64,
    /// Whether each thread is pinned to a CPU of its own, and the process to none.
    pub spread: bool,
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
    let setting = &request.setting;
    let visited = at_site(setting, |site, stopwatch| match setting.clock {
        ClockKind::Counter => observe(experiment, request, (site, stopwatch), &Counter),
        ClockKind::MonotonicRaw => observe(experiment, request, (site, stopwatch), &MonotonicRaw),
    });
    match visited {
        Ok(sample) => Answer::Measured(Box::new(sample)),
        Err(Failure::Unsupported(reason)) => Answer::Unsupported(reason),
        Err(Failure::Broke(reason)) => Answer::Broke(reason),
    }
}

/// Does work where a setting says: pins this process, shifts its stack, and has a stopwatch at hand.
pub fn at_site<T>(
    setting: &Setting,
    work: impl FnOnce(&Site, &SharedStopwatch) -> Result<T, Failure>,
) -> Result<T, Failure> {
    partner::die_with(setting.parent)?;
    // Work that is spread pins each of its threads, and needs to know where it may.
    setting.home.filter(|_| !setting.spread).map_or(Ok(()), affinity::pin)?;
    let stopwatch = SharedStopwatch::new(setting.clock, setting.ticks_per_second)
        .map_err(|error| Failure::Broke(format!("shared memory for the stopwatch: {error}")))?;
    let site = Site {
        home: setting.home,
        partner: setting.partner,
        buffer_offset: (setting.seed >> 8) as usize % 64 * 64,
        seed: setting.seed,
        duration_ns: setting.duration_ns,
        ticks_per_second: setting.ticks_per_second,
        stopwatch: &stopwatch,
        folder: setting.folder.clone(),
        remote: setting.remote.clone(),
        peer: setting.peer.clone(),
    };
    shifted(setting.seed as usize % 64, || work(&site, &stopwatch))
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

fn observe<C: Clock>(
    experiment: &dyn Experiment,
    request: &Request,
    (site, stopwatch): (&Site, &SharedStopwatch),
    clock: &C,
) -> Result<Sample, Failure> {
    let (setting, hz) = (&request.setting, site.ticks_per_second);
    let mut workload = experiment.prepare(&request.point, site)?;
    let spin = gaps::spin(clock, hz, overhead(clock), SPIN_NS);
    let core_hz_before = frequency::observe(clock, hz);
    let sampler = Sampler { clock, ticks_per_second: hz, duration_ns: site.duration_ns, stopwatch };
    let begin = || (Snapshot::take(setting.cpu_stat.as_deref()), Counting::begin());
    let (found, (before, counting)) = sampler.observe(&mut workload, begin)?;
    let counters = counting.end();
    let mut conditions = Snapshot::take(setting.cpu_stat.as_deref()).since(&before);
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
        home: site.home,
        partner: site.partner,
    })
}
