//! What is measured: work that the sampler times, made by an experiment inside a trial's fresh process.

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

/// What the sampler does with its clock at the work's request, so that the work needs none.
pub trait Stopwatch: Sync {
    /// Reads the clock, here and now: an operation that ends in another thread or process ends. Safe in a freshly
    /// forked child.
    fn stamp(&self);

    /// Reads the clock: nanoseconds since some moment, the same for every thread and process of the trial. For work that
    /// counts what others do while all of them run.
    fn now_ns(&self) -> f64;

    /// Reads the clock as often as it can for so many nanoseconds and tells what came between.
    fn spin(&self, duration_ns: f64) -> Spin;

    /// Reads how much of the core's width this thread gets.
    fn core(&self) -> CoreWidth;
}

/// How much of its core's width a thread got.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CoreWidth {
    /// What one of a stream of independent additions took, nanoseconds.
    pub addition_ns: f64,
    /// The stream's time over that of a chain of dependent additions: free of the core's frequency.
    pub quotient: f64,
}

/// What a loop that does nothing but read the clock has seen.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Spin {
    /// How long it spun, nanoseconds.
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

/// How the work yields observations.
pub enum Work<'site> {
    /// The sampler reads its clock around `n` iterations; the baseline, of the same shape without the operation, is
    /// interleaved in the same trial.
    Timed {
        /// What is asked for.
        operation: Box<dyn Operation + 'site>,
        /// The same without it.
        baseline: Option<Box<dyn Operation + 'site>>,
    },
    /// The sampler reads its clock before one iteration; the work stamps [`Site::stopwatch`] where the operation ends.
    Marked(Box<dyn Operation + 'site>),
    /// The numbers are the result themselves, in the point's unit, such as a clock's resolution. Called until the
    /// trial's time is over; `None` is a call that observed nothing.
    Recorded(Box<dyn FnMut() -> Result<Option<f64>, Failure> + 'site>),
    /// As [`Work::Recorded`], of several figures of one trial: each number comes with the figure that it is of.
    Figures(Box<dyn FnMut() -> Result<Vec<FigureValue>, Failure> + 'site>),
}

/// What becomes of the first call of work that yields numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstCall {
    /// It is not kept.
    WarmsUp,
    /// It is kept as all others.
    Counts,
}

/// A number with the name of the figure that it is of: the value of the parameter that [`super::Experiment::figure`] names.
pub type FigureValue = (&'static str, f64);

/// Witness: system calls that a tracer saw in a forked copy of the work.
pub const TRACED_CALLS: &str = "system_calls_traced";

/// Witness: the operations that it saw them in.
pub const TRACED_OPERATIONS: &str = "operations_traced";

/// Stated: the error with which the kernel refused to have a copy of the work traced; 0 where the copy was killed for asking.
pub const TRACING_REFUSED: &str = "tracing_refused_errno";

/// Reads numbers that only the work knows, by name.
pub type Witness<'site> = Box<dyn FnMut() -> Vec<(&'static str, f64)> + 'site>;

/// The prepared work of one trial.
pub struct Workload<'site> {
    /// The work itself.
    pub work: Work<'site>,
    /// Whether every iteration is an observation of its own, so that there is a distribution.
    pub each: bool,
    /// How many operations one iteration performs: 2 switches in a round trip, 64 adds in an unrolled loop; where the
    /// point's unit is a rate, how many bytes it moves.
    pub per_iteration: u64,
    /// Time in every iteration that is not asked for, nanoseconds; subtracted exactly.
    pub beyond_ns: f64,
    /// Whether the trial is disturbed where others have its CPU meanwhile; not where that is what is asked.
    pub needs_its_cpu: bool,
    /// What becomes of the first call where the numbers are the result themselves.
    pub first_call: FirstCall,
    /// Whether the system calls of some untimed iterations are counted by tracing a forked copy.
    pub traced: bool,
    /// Counts that only the work knows, ever growing: read before the first observation and after the last.
    pub witness: Option<Witness<'site>>,
    /// Values that only the work knows, as they are in the end: read after the last observation.
    pub gauges: Option<Witness<'site>>,
    /// What is known of the work from its preparation alone.
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
            traced: false,
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

    /// Operations that end elsewhere, at the site's stopwatch.
    pub fn until_marked(operation: impl Operation + 'site) -> Self {
        Workload::new(Work::Marked(Box::new(operation)), true)
    }

    /// Numbers that are the result themselves.
    pub fn recorded(observe: impl FnMut() -> Result<Option<f64>, Failure> + 'site) -> Self {
        Workload::new(Work::Recorded(Box::new(observe)), true)
    }

    /// Numbers that are the results themselves, of several figures at once: what one call has observed of each.
    pub fn figures(observe: impl FnMut() -> Result<Vec<FigureValue>, Failure> + 'site) -> Self {
        Workload::new(Work::Figures(Box::new(observe)), true)
    }

    /// Subtracts the cost of this work, of the same shape without the operation.
    #[must_use]
    pub fn against(mut self, same_without: impl Operation + 'site) -> Self {
        if let Work::Timed { baseline, .. } = &mut self.work {
            *baseline = Some(Box::new(same_without));
        }
        self
    }

    /// One iteration performs `operations` operations (moves so many bytes, of a rate); the result is per operation.
    #[must_use]
    pub fn per_iteration(mut self, operations: u64) -> Self {
        self.per_iteration = operations;
        self
    }

    /// Only the time beyond `nanoseconds` is the result: how late, not how long.
    #[must_use]
    pub fn beyond(mut self, nanoseconds: f64) -> Self {
        self.beyond_ns = nanoseconds;
        self
    }

    /// What others take of the CPU is what is asked, and disturbs nothing.
    #[must_use]
    pub fn about_its_cpu(mut self) -> Self {
        self.needs_its_cpu = false;
        self
    }

    /// There is another side: on one CPU it takes the CPU at times before this side sleeps, which disturbs nothing.
    #[must_use]
    pub fn with_a_partner(self, placement: Placement) -> Self {
        if placement == Placement::OneCpu { self.about_its_cpu() } else { self }
    }

    /// Counts the first numbers too: each is long, or has a beginning of its own.
    #[must_use]
    pub fn cold(mut self) -> Self {
        self.first_call = FirstCall::Counts;
        self
    }

    /// Has the system calls counted, under the names of [`TRACED_CALLS`] and [`TRACED_OPERATIONS`].
    #[must_use]
    pub fn traced(mut self) -> Self {
        self.traced = true;
        self
    }

    /// Counts for the evidence that only the work itself knows; what they grow by during the observations counts.
    #[must_use]
    pub fn witnessed(mut self, witness: impl FnMut() -> Vec<(&'static str, f64)> + 'site) -> Self {
        self.witness = Some(Box::new(witness));
        self
    }

    /// Values for the evidence that count as they are in the end, such as what a cache holds.
    #[must_use]
    pub fn gauged(mut self, gauges: impl FnMut() -> Vec<(&'static str, f64)> + 'site) -> Self {
        self.gauges = Some(Box::new(gauges));
        self
    }

    /// A fact for the evidence that the preparation has found, the same in every trial.
    #[must_use]
    pub fn stating(mut self, name: &'static str, value: f64) -> Self {
        self.stated.push((name, value));
        self
    }
}

/// The place where a trial happens.
pub struct Site<'run> {
    /// The CPU that this process is pinned to, or its first thread should be where the work is spread; `None` where the
    /// placement is free.
    pub home: Option<usize>,
    /// The CPU for the other side: the same, another, or `None` where the placement is free.
    pub partner: Option<usize>,
    /// Where in a page buffers begin, in bytes: drawn anew for every trial (Mytkowicz et al., ASPLOS 2009).
    pub buffer_offset: usize,
    /// Seeds whatever the work draws at random.
    pub seed: u64,
    /// How long the trial observes, in nanoseconds.
    pub duration_ns: u64,
    /// The clock's frequency, for work that reads the counter as its operation.
    pub ticks_per_second: f64,
    /// The sampler's clock, for work that ends elsewhere or that is about time itself.
    pub stopwatch: &'run dyn Stopwatch,
    /// The folder where files may be made.
    pub folder: PathBuf,
    /// The folder of the run in it, made with the first file: for this user alone.
    pub own_folder: PathBuf,
    /// The file to read over a network; why there is none, where one was asked for; `None` where none was.
    pub remote: Option<Result<RemoteFile, String>>,
    /// The other host; `None` where the run has none.
    pub peer: Option<PeerAddress>,
    /// What the points of a block share.
    pub shared: Rc<Shared>,
}
