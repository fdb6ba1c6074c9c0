//! The measured work: timed by the sampler, and made by an experiment inside a trial's fresh process.

use super::failure::Failure;
use super::peer_address::PeerAddress;
use super::point::Placement;
use super::remote_file::RemoteFile;
use super::shared::Shared;
use std::path::PathBuf;
use std::rc::Rc;

/// Work that can be repeated.
pub trait Operation {
    /// Performs exactly `n` iterations. The clock is read just before and just after this call; nothing else is
    /// timed. An `Err` discards the observation and fails the trial.
    fn run(&mut self, n: u64) -> Result<(), Failure>;
}

impl<F: FnMut(u64) -> Result<(), Failure>> Operation for F {
    fn run(&mut self, n: u64) -> Result<(), Failure> {
        self(n)
    }
}

/// An operation that repeats `once`.
pub fn repeated<T>(
    mut once: impl FnMut() -> Result<T, Failure> + 'static,
) -> Result<Box<dyn Operation>, Failure> {
    Ok(Box::new(move |n| {
        for _ in 0..n {
            once()?;
        }
        Ok(())
    }))
}

/// The sampler's clock for work that needs it during the observation.
pub trait Stopwatch: Sync {
    /// Records the clock at the end of an operation that ends in another thread or process. Safe in a freshly forked child.
    fn stamp(&self);

    /// Reads the clock: nanoseconds from an arbitrary origin, the same for every thread and process of the trial. For work that
    /// counts the progress of others while all of them run.
    fn now_ns(&self) -> f64;

    /// Reads the clock as often as possible for `duration_ns` and returns the gaps between readings.
    fn spin(&self, duration_ns: f64) -> Spin;

    /// Measures the share of the core's width that this thread gets.
    fn core(&self) -> CoreWidth;
}

/// The share of its core's width that a thread got.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CoreWidth {
    /// Time of one of a stream of independent additions, nanoseconds.
    pub addition_ns: f64,
    /// The stream's time divided by that of a chain of dependent additions: independent of the core's frequency.
    pub quotient: f64,
}

/// The result of a loop that only reads the clock.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Spin {
    /// Duration of the loop, nanoseconds.
    pub lasted_ns: f64,
    /// Every gap between two readings above the threshold, less the cost of a reading, nanoseconds.
    pub gaps_ns: Vec<f64>,
    /// The longest distance between two readings, also below the threshold, nanoseconds.
    pub longest_ns: f64,
}

impl Spin {
    /// Time lost in gaps, nanoseconds.
    pub fn lost_ns(&self) -> f64 {
        self.gaps_ns.iter().sum()
    }
}

/// The way in which the work yields observations.
pub enum Work<'site> {
    /// The sampler reads its clock around `n` iterations; the baseline, of the same shape without the operation, is
    /// interleaved in the same trial.
    Timed {
        /// The operation.
        operation: Box<dyn Operation + 'site>,
        /// The same work without the operation.
        baseline: Option<Box<dyn Operation + 'site>>,
    },
    /// The sampler reads its clock before one iteration; the work stamps [`Site::stopwatch`] where the operation ends.
    Marked(Box<dyn Operation + 'site>),
    /// The work returns the results itself, in the point's unit, such as a clock's resolution. Called until the trial's time is
    /// over; `None` is a call without an observation.
    Recorded(Box<dyn FnMut() -> Result<Option<f64>, Failure> + 'site>),
    /// As [`Work::Recorded`], for several figures of one trial: each number comes with the name of its figure.
    Figures(Box<dyn FnMut() -> Result<Vec<FigureValue>, Failure> + 'site>),
}

/// The treatment of the first call of work that returns its results itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstCall {
    /// Its results are discarded.
    WarmsUp,
    /// Its results are kept as all others.
    Counts,
}

/// The part of the work's life that is observed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObservedFrom {
    /// All of it.
    ItsBeginning,
    /// What follows once its cost is steady.
    ItsSteadyState,
}

/// What the other side of the work does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartnerTask {
    /// Its part of the work, if there is another side.
    Work,
    /// The same, and readings of its core when asked (`sampling/partner_core.rs`).
    WorkAndReadings,
}

/// A number with the name of its figure: the value of the parameter that [`super::Experiment::figure`] names.
pub type FigureValue = (&'static str, f64);

/// Witness: system calls counted by a tracer in a forked copy of the work.
pub const TRACED_CALLS: &str = "system_calls_traced";

/// Witness: the operations during which they were counted.
pub const TRACED_OPERATIONS: &str = "operations_traced";

/// Stated: the error with which the kernel refused tracing of a copy of the work; 0 if the copy was killed for the request.
pub const TRACING_REFUSED: &str = "tracing_refused_errno";

/// Reads values that only the work knows, by name.
pub type Witness<'site> = Box<dyn FnMut() -> Vec<(&'static str, f64)> + 'site>;

/// The prepared work of one trial.
pub struct Workload<'site> {
    /// The work.
    pub work: Work<'site>,
    /// Whether every iteration is an observation of its own, so that there is a distribution.
    pub each: bool,
    /// Operations per iteration: 2 switches in a round trip, 64 adds in an unrolled loop; if the point's unit is a rate, the
    /// number of bytes moved.
    pub per_iteration: u64,
    /// Time in every iteration that is not part of the operation, nanoseconds; subtracted exactly.
    pub beyond_ns: f64,
    /// Whether use of the trial's CPU by others disturbs it; false if that is the measured quantity.
    pub needs_its_cpu: bool,
    /// The treatment of the first call if the work returns its results itself.
    pub first_call: FirstCall,
    /// Whether it is repeated until its cost is steady before it is observed.
    pub observed: ObservedFrom,
    /// Whether the other side reads its own core.
    pub partner: PartnerTask,
    /// Whether the system calls of some untimed iterations are counted by tracing a forked copy.
    pub traced: bool,
    /// The iterations of timed work that go through all of its memory once, if it does so again and again.
    pub visit: Option<u64>,
    /// Counts that only the work knows, never decreasing: read before the first observation and after the last.
    pub witness: Option<Witness<'site>>,
    /// Values at the end of the trial that only the work knows: read after the last observation.
    pub gauges: Option<Witness<'site>>,
    /// Values known from the preparation alone.
    pub stated: Vec<(&'static str, f64)>,
}

impl<'site> Workload<'site> {
    fn new(work: Work<'site>, each: bool) -> Self {
        Workload {
            work,
            each,
            per_iteration: 1,
            beyond_ns: 0.0,
            needs_its_cpu: true,
            first_call: FirstCall::WarmsUp,
            observed: ObservedFrom::ItsBeginning,
            partner: PartnerTask::Work,
            traced: false,
            visit: None,
            witness: None,
            gauges: None,
            stated: vec![],
        }
    }

    /// Small operations: many between two clock readings.
    pub fn batched(operation: impl Operation + 'site) -> Self {
        Workload::new(Work::Timed { operation: Box::new(operation), baseline: None }, false)
    }

    /// Large operations (20 times the clock's cost and more): one between two clock readings.
    pub fn each(operation: impl Operation + 'site) -> Self {
        Workload::new(Work::Timed { operation: Box::new(operation), baseline: None }, true)
    }

    /// Operations that end in another thread or process, where they stamp the site's stopwatch.
    pub fn until_marked(operation: impl Operation + 'site) -> Self {
        Workload::new(Work::Marked(Box::new(operation)), true)
    }

    /// Work that returns the results itself.
    pub fn recorded(observe: impl FnMut() -> Result<Option<f64>, Failure> + 'site) -> Self {
        Workload::new(Work::Recorded(Box::new(observe)), true)
    }

    /// Work that returns the results of several figures at once: each call returns its observations of each figure.
    pub fn figures(observe: impl FnMut() -> Result<Vec<FigureValue>, Failure> + 'site) -> Self {
        Workload::new(Work::Figures(Box::new(observe)), true)
    }

    /// Subtracts the cost of this work, which has the same shape without the operation.
    #[must_use]
    pub fn against(mut self, same_without: impl Operation + 'site) -> Self {
        if let Work::Timed { baseline, .. } = &mut self.work {
            *baseline = Some(Box::new(same_without));
        }
        self
    }

    /// One iteration performs `operations` operations (for a rate, moves that many bytes); the result is per operation.
    #[must_use]
    pub fn per_iteration(mut self, operations: u64) -> Self {
        self.per_iteration = operations;
        self
    }

    /// The result is only the time beyond `nanoseconds`: the lateness, not the duration.
    #[must_use]
    pub fn beyond(mut self, nanoseconds: f64) -> Self {
        self.beyond_ns = nanoseconds;
        self
    }

    /// Use of the CPU by others is the measured quantity, and does not disturb the trial.
    #[must_use]
    pub fn about_its_cpu(mut self) -> Self {
        self.needs_its_cpu = false;
        self
    }

    /// There is another side: on one CPU it sometimes takes the CPU before this side sleeps, which does not disturb the trial.
    #[must_use]
    pub fn with_a_partner(self, placement: Placement) -> Self {
        if placement == Placement::OneCpu { self.about_its_cpu() } else { self }
    }

    /// Keeps the results of the first call too: each call is long, or has an initial phase of its own.
    #[must_use]
    pub fn cold(mut self) -> Self {
        self.first_call = FirstCall::Counts;
        self
    }

    /// Work that wakes another CPU, or to which the machine adapts, is observed once its cost is steady; how long its beginning
    /// took is recorded.
    #[must_use]
    pub fn settling(mut self, adapts: bool) -> Self {
        if adapts {
            self.observed = ObservedFrom::ItsSteadyState;
        }
        self
    }

    /// Timed work goes through all of its memory again and again, once in so many iterations: it does until the caches have adapted to
    /// it before it is observed.
    #[must_use]
    pub fn revisiting(mut self, iterations: u64) -> Self {
        self.visit = Some(iterations.max(1));
        self
    }

    /// The other side answers questions about its core after each turn, so that the work is known to have had both cores alone.
    #[must_use]
    pub fn whose_partner_reads_its_core(mut self) -> Self {
        self.partner = PartnerTask::WorkAndReadings;
        self
    }

    /// Counts the system calls, under the names [`TRACED_CALLS`] and [`TRACED_OPERATIONS`].
    #[must_use]
    pub fn traced(mut self) -> Self {
        self.traced = true;
        self
    }

    /// Adds counts for the evidence that only the work itself knows; their growth during the observations is used.
    #[must_use]
    pub fn witnessed(mut self, witness: impl FnMut() -> Vec<(&'static str, f64)> + 'site) -> Self {
        self.witness = Some(Box::new(witness));
        self
    }

    /// Adds values for the evidence that are read at the end, such as the contents of a cache.
    #[must_use]
    pub fn gauged(mut self, gauges: impl FnMut() -> Vec<(&'static str, f64)> + 'site) -> Self {
        self.gauges = Some(Box::new(gauges));
        self
    }

    /// Adds a fact for the evidence from the preparation, the same in every trial, if there is one.
    #[must_use]
    pub fn stating(mut self, name: &'static str, value: impl Into<Option<f64>>) -> Self {
        self.stated.extend(value.into().map(|value| (name, value)));
        self
    }
}

/// The environment of a trial.
pub struct Site<'run> {
    /// The CPU to which this process is pinned, or its first thread should be if the work is spread; `None` if the placement is
    /// free.
    pub home: Option<usize>,
    /// The CPU for the other side: the same, another, or `None` if the placement is free.
    pub partner: Option<usize>,
    /// The offset of buffers in a page, bytes: drawn anew for every trial (Mytkowicz et al., ASPLOS 2009).
    pub buffer_offset: usize,
    /// Seed of all random choices of the work.
    pub seed: u64,
    /// Duration of the trial's observations, nanoseconds.
    pub duration_ns: u64,
    /// The clock's frequency, for work that reads the counter as its operation.
    pub ticks_per_second: f64,
    /// The sampler's clock, for operations that end in another thread or process, or that are about time itself.
    pub stopwatch: &'run dyn Stopwatch,
    /// The folder for files.
    pub folder: PathBuf,
    /// The run's own folder in it, created with the first file, accessible to this user only.
    pub own_folder: PathBuf,
    /// The file to read over a network, or the reason why there is none although one was requested; `None` if none was.
    pub remote: Option<Result<RemoteFile, String>>,
    /// The other host; `None` if the run has none.
    pub peer: Option<PeerAddress>,
    /// The equipment shared by the points of a block.
    pub shared: Rc<Shared>,
}
