//! Trials, inside their own fresh process: from a request on standard input to answers on standard output.

use super::clock::{Clock, ClockKind, Counter, MonotonicRaw, kernel_clock, overhead};
use super::conditions::Snapshot;
use super::counters::{Counting, OnCpu};
use super::device_reading::{DeviceReader, DeviceReadings};
use super::memory_limit::MemoryLimit;
use super::observations::Observations;
use super::observe::{RawSample, Sampler};
use super::occupancy::{self, CoreWait};
use super::outcome::TrialOutcome;
use super::partner_core::PartnerCore;
use super::sample::Sample;
use super::stopwatch::SharedStopwatch;
use super::{affinity, frequency, gaps, partner, tracer};
use crate::experiment::{Experiment, Failure, PeerAddress, Placement, Point, RemoteFile, Shared, Site};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Instant;

/// Duration of the loop that looks for gaps before the observations, nanoseconds.
const SPIN_NS: f64 = 300_000.0;

/// The first message to a measuring process: visits to points of this experiment follow, and are answered one by one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// Name of the experiment.
    pub experiment: String,
    /// The setting of the measurement.
    pub setting: Setting,
}

/// One trial of a point, or of several that are figures of one trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Visit {
    /// The points: one, or those that differ only in their figure.
    pub points: Vec<Point>,
    /// Seed of this trial's own randomness.
    pub seed: u64,
    /// The longest time in which it may make a file, seconds; `None` for no limit.
    #[serde(default)]
    pub making_s: Option<f64>,
    /// The demand that the core be alone, for short work on one CPU; `None` if the trial observes the core as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core_wait: Option<CoreWait>,
}

/// The result of a visit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Visited {
    /// Time to prepare, observe and clean up, seconds.
    pub took_s: f64,
    /// The part of it spent on preparing equipment shared by all visits of the process, seconds.
    pub shared_s: f64,
    /// The part of it spent on files that later processes use too, seconds.
    #[serde(default)]
    pub kept_s: f64,
    /// The time of a preparation that was not begun because it takes too long, seconds; the trial was then not made.
    #[serde(default)]
    pub too_long_s: Option<f64>,
    /// Whether the trial was not made because its core was shared.
    #[serde(default)]
    pub put_back: bool,
    /// The outcome of each of its points.
    pub outcomes: Vec<TrialOutcome>,
}

/// The placement of a measuring process, and its clock.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// Seed of the randomness of the process.
    pub seed: u64,
    /// The clock to read.
    pub clock: ClockKind,
    /// Its frequency.
    pub ticks_per_second: f64,
    /// Duration of the observations, nanoseconds.
    pub duration_ns: u64,
    /// How many times as long as the shortest the readings of the core are.
    pub reading_times: u32,
    /// Whether each thread is pinned to its own CPU, and the process to none.
    pub spread: bool,
    /// The CPU to which the process is pinned.
    pub home: Option<usize>,
    /// The CPU of the other side.
    pub partner: Option<usize>,
    /// Whether the other side has a core of its own, of the same kind, whose state counts too.
    #[serde(default)]
    pub two_cores: bool,
    /// The cgroup's `cpu.stat`, for throttling.
    pub cpu_stat: Option<String>,
    /// The folder for files.
    pub folder: PathBuf,
    /// The run's own folder in it.
    pub own_folder: PathBuf,
    /// The file to read over a network, or the reason why there is none; `None` if none was requested.
    #[serde(default)]
    pub remote: Option<Result<RemoteFile, String>>,
    /// The other host, if the run has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<PeerAddress>,
    /// The memory limit of the measurement, or the reason why it has none; `None` if it needs none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Result<MemoryLimit, String>>,
    /// The requesting process, with which the trial dies.
    pub parent: u32,
}

impl Setting {
    /// The memory limit, if there is one.
    pub fn limit(&self) -> Option<&MemoryLimit> {
        self.memory.as_ref().and_then(|limit| limit.as_ref().ok())
    }
}

/// The process of a block of points, or of a single one: visits them one after the other and keeps their shared equipment
/// ([`Site::shared`]) until the last has ended.
pub struct Block<'request> {
    experiment: &'request dyn Experiment,
    setting: &'request Setting,
    /// The CPUs on which this process may run.
    everywhere: Vec<usize>,
    shared: Rc<Shared>,
}

impl<'request> Block<'request> {
    /// A process without visits yet.
    pub fn new(experiment: &'request dyn Experiment, setting: &'request Setting) -> Self {
        Block { experiment, setting, everywhere: affinity::current(), shared: shared() }
    }

    /// Visits the points of one trial: pins, shifts the stack, prepares, observes, cleans up.
    pub fn visit(&self, visit: &Visit) -> Visited {
        // The work of the previous visit may have pinned this thread.
        affinity::set(&self.everywhere);
        let (began, shared_ns, kept_ns) = (Instant::now(), self.shared.took_ns(), self.shared.kept_ns());
        self.shared.limit_making(visit.making_s.unwrap_or(f64::INFINITY));
        let setting = Setting { seed: visit.seed, ..self.setting.clone() };
        let result = sharing(&setting, &self.shared, |site, stopwatch| match setting.clock {
            ClockKind::Counter => observe(self.experiment, visit, &setting, (site, stopwatch), &Counter),
            ClockKind::MonotonicRaw => {
                observe(self.experiment, visit, &setting, (site, stopwatch), &MonotonicRaw)
            }
        });
        let too_long_s = match &result {
            Err(Failure::TooLong(seconds)) => Some(*seconds),
            _ => None,
        };
        let put_back = matches!(result, Err(Failure::CoreShared));
        let outcomes = match result {
            Ok(samples) => samples.into_iter().map(|sample| Ok(sample).into()).collect(),
            Err(failure) => vec![Err(failure).into(); visit.points.len()],
        };
        let shared_s = (self.shared.took_ns() - shared_ns) as f64 / 1e9;
        let kept_s = (self.shared.kept_ns() - kept_ns) as f64 / 1e9;
        Visited { took_s: began.elapsed().as_secs_f64(), shared_s, kept_s, too_long_s, put_back, outcomes }
    }
}

/// Runs work in a setting: pins this process, shifts its stack, and provides a stopwatch.
pub fn at_site<T>(
    setting: &Setting,
    work: impl FnOnce(&Site, &SharedStopwatch) -> Result<T, Failure>,
) -> Result<T, Failure> {
    sharing(setting, &shared(), work)
}

fn shared() -> Rc<Shared> {
    Rc::new(Shared::new(|| kernel_clock(libc::CLOCK_MONOTONIC_RAW)))
}

/// The same, with the equipment shared by the points of a block.
fn sharing<T>(
    setting: &Setting,
    shared: &Rc<Shared>,
    work: impl FnOnce(&Site, &SharedStopwatch) -> Result<T, Failure>,
) -> Result<T, Failure> {
    partner::die_with(setting.parent)?;
    match &setting.memory {
        Some(Ok(limit)) => limit.enter()?,
        Some(Err(reason)) => return Err(Failure::Unsupported(reason.clone())),
        None => {}
    }
    // Work that is spread pins each of its threads, and needs to know the allowed CPUs.
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
        own_folder: setting.own_folder.clone(),
        remote: setting.remote.clone(),
        peer: setting.peer.clone(),
        shared: Rc::clone(shared),
    };
    shifted(setting.seed as usize % 64, || work(&site, &stopwatch))
}

/// Calls `work` up to 63 frames of a cache line deeper, so that its stack begins at another offset in every trial.
#[inline(never)]
fn shifted<T>(frames: usize, work: impl FnOnce() -> T) -> T {
    let frame = std::hint::black_box([0_u8; 64]);
    let result =
        if frames == 0 { work() } else { shifted(frames - 1, Box::new(work) as Box<dyn FnOnce() -> T>) };
    std::hint::black_box(frame);
    result
}

/// Prepares the work of a visit, observes it, and returns the sample of each of its points.
fn observe<C: Clock>(
    experiment: &dyn Experiment,
    visit: &Visit,
    setting: &Setting,
    (site, stopwatch): (&Site, &SharedStopwatch),
    clock: &C,
) -> Result<Vec<Sample>, Failure> {
    let hz = site.ticks_per_second;
    // The first readings of a process wait for their own instructions.
    let arrived = (0..4).map(|_| occupancy::read(clock, setting.reading_times)).last();
    let core_wait = visit.points.iter().all(is_on_one_cpu).then_some(visit.core_wait).flatten();
    // Before the work is prepared, and with it the other side.
    let partner_core = setting.two_cores.then(|| PartnerCore::new(setting.clock, setting.reading_times));
    let mut sampler = Sampler {
        clock,
        ticks_per_second: hz,
        reading_ticks: overhead(clock),
        duration_ns: site.duration_ns,
        stopwatch,
        core_wait,
        reading_times: setting.reading_times,
        partner_core: partner_core.transpose()?,
        shared: &site.shared,
    };
    // A trial that is put back is so before its preparation, if the core is shared by then.
    let waited_ns = if core_wait.is_some_and(|wait| wait.puts_back) { sampler.wait()? } else { 0 };
    let waits_for_the_device = visit.points.iter().any(|point| experiment.waits_for_the_device(point));
    let mut device = waits_for_the_device.then(|| DeviceReader::open(&site.own_folder)).flatten();
    let mut read_device = || device.as_mut().and_then(|device| device.read(clock, hz));
    let preparing = Instant::now();
    let mut workload = experiment.workload(&visit.points[0], site)?;
    sampler.core_wait = core_wait.map(|wait| wait.at_least(preparing.elapsed()));
    let spin = gaps::spin(clock, hz, sampler.reading_ticks, SPIN_NS);
    let core_hz_before = frequency::observe(clock, hz);
    let begin = || (Snapshot::take(setting.cpu_stat.as_deref()), Counting::begin(), OnCpu::begin());
    let device_before_ns = read_device();
    let (mut raw, (before, counting, on_cpu)) = sampler.observe(&mut workload, begin)?;
    let on_cpu = on_cpu.end();
    let counters = counting.end();
    let mut conditions = Snapshot::take(setting.cpu_stat.as_deref()).since(&before);
    let device_after_ns = read_device();
    conditions.core_hz_before = core_hz_before;
    conditions.core_hz_after = frequency::observe(clock, hz);
    conditions.migrations = raw.migrations;
    conditions.spun(&spin);
    let mut witnessed = std::mem::take(&mut raw.witnessed);
    let traced = tracer::witness(&mut workload);
    witnessed.extend(traced.counts);
    let stated = workload.stated.iter().map(|(name, value)| ((*name).to_owned(), *value));
    raw.core.arrived = arrived;
    raw.core.waited_ns += waited_ns;
    let sample = Sample {
        observations: Observations::default(),
        operations: raw.operations,
        baseline_iterations: raw.baseline_iterations,
        counters,
        witnessed,
        stated: stated.chain(traced.refused).collect(),
        conditions,
        on_cpu: workload.needs_its_cpu.then_some(on_cpu),
        core: Some(std::mem::take(&mut raw.core)),
        device: device_before_ns
            .zip(device_after_ns)
            .map(|(before_ns, after_ns)| DeviceReadings { before_ns, after_ns }),
        beginning: raw.beginning,
        home: site.home,
        partner: site.partner,
    };
    of_points(experiment, &visit.points, sample, raw)
}

/// Whether all of a point's work runs on one CPU.
fn is_on_one_cpu(point: &Point) -> bool {
    point.placement() == Placement::OneCpu
}

/// The sample of each point of a visit: of the same trial, each with its own figure.
fn of_points(
    experiment: &dyn Experiment,
    points: &[Point],
    sample: Sample,
    mut raw: RawSample,
) -> Result<Vec<Sample>, Failure> {
    if points.len() == 1 && raw.figures.is_empty() {
        return Ok(vec![Sample { observations: raw.observations, ..sample }]);
    }
    let figure = experiment.figure().ok_or_else(|| {
        Failure::Broke(
            "several points of one trial, and no parameter that distinguishes its figures".to_owned(),
        )
    })?;
    let mut of = |point: &Point| {
        let values = raw.figures.remove(point.name(figure)).unwrap_or_default();
        let operations = values.len() as u64;
        Sample { observations: Observations::Values { values }, operations, ..sample.clone() }
    };
    Ok(points.iter().map(&mut of).collect())
}
