//! The report's chapter "CPU & Scheduling".

use super::trials::{TRIALS, trials};
use crate::sweep::point;
use crate::tasks;
use crate::timer::fenced as timed;
use crate::unoptimised::call_once;
use crate::usage::Usage;
use crate::{Deviation, Fit, Method, Replica, Row, SameQuestion, Series, Stage, Statistic, Theirs};
use fathom_core::experiment::{Failure, Placement, Point};
use fathom_core::quantity::Unit;
use fathom_core::sampling::partner::{self, PartnerProcess};
use fathom_core::sampling::turn;
use std::time::Duration;

const MINUTE: Duration = Duration::from_mins(1);
const MEAN: Statistic = Statistic::of(Fit::Mean(Deviation::None));

/// What applies to all methods of this file.
const ALONE: Method = Method {
    name: "",
    text: "",
    differs: "",
    placement: Placement::OneCpu,
    needs: &[],
    limit: MINUTE,
    measure: reading,
};

static READING_TWICE: Method = Method {
    name: "timer overhead",
    text: "The program executes MFENCE, LFENCE and RDTSC twice with nothing between; the difference, 1000 trials.",
    ..ALONE
};

static CALLING: Method = Method {
    name: "function call",
    text: "One call of a function with 0 to 7 arguments stands between two readings; an empty pair of readings is subtracted; 1000 trials \
           for each number of arguments.",
    differs: "The report does not say that it subtracted the empty pair.",
    measure: calling,
    ..ALONE
};

static ENTERING: Method = Method {
    name: "system call",
    text: "One getpid() stands between two readings; an empty pair of readings is subtracted; 1000 trials.",
    differs: "The report does not say that it subtracted the empty pair.",
    measure: entering,
    ..ALONE
};

static FORKING: Method = Method {
    name: "process creation",
    text: "One fork() stands between two readings in the parent; the child exits at once. The parent waits for it outside of the timed \
           span; 1000 trials.",
    differs: "The process that forks is Fathom's, which is larger than the report's program.",
    measure: |stage| making(stage, tasks::fork, tasks::reap),
    ..ALONE
};

static THREADING: Method = Method {
    name: "thread creation",
    text: "One pthread_create() stands between two readings; the thread exits at once and is joined outside of the timed span; 1000 trials.",
    measure: |stage| making(stage, tasks::thread, tasks::join),
    ..ALONE
};

static SWITCHING_PROCESSES: Method = Method {
    name: "process switch",
    text: "A forked child waits in read() on a pipe; the parent writes to it and waits for the answer on another. Two switches stand \
           between two readings; 1000 trials on one core.",
    differs: "The report does not say whether it halved its figure; here it is not halved, because the report's figure has the size of two \
              switches. Fathom assumes that the answer came through a second pipe.",
    measure: |stage| switching(stage, Between::Processes),
    ..ALONE
};

static SWITCHING_THREADS: Method = Method {
    name: "thread switch",
    text: "Two threads made by pthread_create exchange the same messages.",
    differs: "The report does not say how it made threads switch; Fathom assumes pipes, as between processes.",
    measure: |stage| switching(stage, Between::Threads),
    ..ALONE
};

pub const READING: Row = Row {
    section: "Single read",
    operation: "reading the counter twice",
    unit: Unit::Nanoseconds,
    per: "",
    theirs: Theirs::Printed("s002-0001"),
    replica: Replica::By(&READING_TWICE),
    statistic: MEAN,
    fathom: SameQuestion::Point("cpu/timing_overhead", |_| timing()),
    misleads: "The method is right: the fences keep the readings in order, without the CPUID of the other reports, and the time between \
               the two readings is the whole cost of the pair.",
};

pub const FUNCTION_CALL: Row = Row {
    section: "Function call",
    operation: "function call without arguments",
    unit: Unit::Nanoseconds,
    per: "",
    theirs: Theirs::Printed("s002-0004"),
    replica: Replica::By(&CALLING),
    statistic: Statistic::of(Fit::MeanAt(0.0)),
    fathom: SameQuestion::Point("cpu/procedure_call", |_| calls(0)),
    misleads: "One call takes a few cycles, between two readings that take ten times as long and count in steps of many cycles. After \
               their subtraction only noise and the state of the pipeline remain. That five arguments seemed faster than four says nothing \
               about arguments; the first six are passed in registers and not, as the text says, on the stack.",
};

pub const FIVE_ARGUMENTS: Row = Row {
    operation: "function call with five arguments",
    theirs: Theirs::NotPrinted("only in a picture; the text says that five arguments were faster than four"),
    statistic: Statistic::of(Fit::MeanAt(5.0)),
    fathom: SameQuestion::Point("cpu/procedure_call", |_| calls(5)),
    ..FUNCTION_CALL
};

pub const SYSTEM_CALL: Row = Row {
    section: "System call",
    operation: "system call (getpid)",
    unit: Unit::Nanoseconds,
    per: "",
    theirs: Theirs::Printed("s002-0003"),
    replica: Replica::By(&ENTERING),
    statistic: MEAN,
    fathom: SameQuestion::Point("cpu/system_call", |_| point(Placement::OneCpu, &[("call", "getpid")], &[])),
    misleads: "Only slightly misleading: a call takes several times the cost of the timer. Between fences it cannot overlap with the \
               program around it, so it takes somewhat longer than one of many in a row.",
};

pub const PROCESS_CREATION: Row = Row {
    section: "Task creation",
    operation: "process creation (fork)",
    unit: Unit::Nanoseconds,
    per: "",
    theirs: Theirs::Printed("s002-0005"),
    replica: Replica::By(&FORKING),
    statistic: MEAN,
    fathom: SameQuestion::Point("cpu/process_creation", |_| {
        point(Placement::OneCpu, &[("measure", "fork, exit, wait")], &[])
    }),
    misleads: "The report times only the parent's work; the start and the end of the child, on the same core, are left out.",
};

pub const THREAD_CREATION: Row = Row {
    section: "Task creation",
    operation: "thread creation (pthread_create)",
    unit: Unit::Nanoseconds,
    per: "",
    theirs: Theirs::Printed("s002-0006"),
    replica: Replica::By(&THREADING),
    statistic: MEAN,
    fathom: SameQuestion::Point("cpu/thread_creation", |_| {
        point(Placement::OneCpu, &[("measure", "create and join")], &[])
    }),
    misleads: "The report times only the call, neither the thread's start nor its end. And these are kernel threads, not \"user-level\" \
               ones: threads that the kernel does not know cost a thousandth.",
};

pub const PROCESS_SWITCH: Row = Row {
    section: "Context switch",
    operation: "process context switch (two of them)",
    unit: Unit::Nanoseconds,
    per: "",
    theirs: Theirs::Printed("s002-0007"),
    replica: Replica::By(&SWITCHING_PROCESSES),
    statistic: MEAN,
    fathom: SameQuestion::Point("cpu/context_switch", |_| switches("processes")),
    misleads: "The report counts two switches as one, and includes two writes and two reads of pipes; Fathom's figure is one switch \
               without the pipe. A side that is woken may preempt the one that woke it at once, so a round trip can include more than two \
               switches.",
};

pub const THREAD_SWITCH: Row = Row {
    operation: "thread context switch (two of them)",
    theirs: Theirs::Printed("s002-0008"),
    replica: Replica::By(&SWITCHING_THREADS),
    fathom: SameQuestion::Point("cpu/context_switch", |_| switches("threads")),
    misleads: "As between processes. Threads of pthread_create are kernel threads, and a switch between them costs nearly as much as one \
               between processes. The report's figure is an eleventh of that, which a switch between such threads cannot explain.",
    ..PROCESS_SWITCH
};

/// The report's timer, or this architecture's counter where it has another.
fn timing() -> Point {
    let reading = if cfg!(target_arch = "x86_64") { "mfence-lfence-rdtsc" } else { "counter" };
    point(Placement::OneCpu, &[("measure", "pair"), ("reading", reading)], &[])
}

fn calls(arguments: u64) -> Point {
    point(Placement::OneCpu, &[("form", "abi")], &[("arguments", arguments)])
}

fn switches(between: &str) -> Point {
    point(Placement::OneCpu, &[("between", between), ("mechanism", "pipe less its cost")], &[])
}

/// Times work by a reading before and one after, less those of an empty pair, nanoseconds.
pub struct Span {
    tick_ns: f64,
    overhead_ns: f64,
}

impl Span {
    /// Measures the mean of an empty pair first.
    pub fn of(stage: &Stage) -> Result<Self, Failure> {
        let pairs = empty_pairs(stage)?;
        let overhead_ns = pairs.iter().sum::<f64>() / pairs.len() as f64;
        Ok(Span { tick_ns: stage.ns_per_tick()?, overhead_ns })
    }

    /// The time of the work; inline, because a call would be timed.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "a call would stand inside the timed region")]
    pub fn ns(&self, work: impl FnOnce()) -> f64 {
        timed(work) as f64 * self.tick_ns - self.overhead_ns
    }
}

fn empty_pairs(stage: &Stage) -> Result<Vec<f64>, Failure> {
    let tick_ns = stage.ns_per_tick()?;
    trials(|| Ok(timed(|| ()) as f64 * tick_ns))
}

fn reading(stage: &Stage) -> Result<Series, Failure> {
    let priority = tasks::raise_priority();
    Ok(Series::of(empty_pairs(stage)?).seen_where(priority))
}

fn calling(stage: &Stage) -> Result<Series, Failure> {
    let priority = tasks::raise_priority();
    let span = Span::of(stage)?;
    // Written out for each number, because a branch would stand inside the timed region.
    macro_rules! of {
        ($($arguments:literal)*) => { [$(trials(|| Ok::<_, Failure>(span.ns(|| call_once($arguments))))?),*] };
    }
    let series = of!(0 1 2 3 4 5 6 7);
    let below = series.iter().flatten().filter(|ns| **ns < 0.0).count();
    let all: usize = series.iter().map(Vec::len).sum();
    let seen = format!("{below} of {all} trials were below zero after the subtraction.");
    let points = series.into_iter().enumerate();
    let found = points.fold(Series::default(), |found, (at, values)| found.and("", at as f64, values));
    Ok(found.seen(seen).seen_where(priority))
}

fn entering(stage: &Stage) -> Result<Series, Failure> {
    let priority = tasks::raise_priority();
    let span = Span::of(stage)?;
    // SAFETY: takes nothing and cannot fail.
    let once = || Ok::<_, Failure>(span.ns(|| _ = unsafe { libc::getpid() }));
    Ok(Series::of(trials(once)?).seen_where(priority))
}

/// The time to create a task; its end is waited for outside of the timed span.
fn making<T>(
    stage: &Stage,
    make: impl Fn() -> Result<T, Failure>,
    end: impl Fn(T) -> Result<(), Failure>,
) -> Result<Series, Failure> {
    let priority = tasks::raise_priority();
    let span = Span::of(stage)?;
    let trial = || {
        let mut task = None;
        let ns = span.ns(|| task = Some(make()));
        task.map_or(Ok(()), |task| end(task?))?;
        Ok::<_, Failure>(ns)
    };
    Ok(Series::of(trials(trial)?).seen_where(priority))
}

#[derive(Clone, Copy)]
enum Between {
    Processes,
    Threads,
}

fn switching(stage: &Stage, between: Between) -> Result<Series, Failure> {
    let priority = tasks::raise_priority();
    let span = Span::of(stage)?;
    let (mut near, far) = turn::pipes()?;
    let (cpu, sides) = (stage.site.partner, if matches!(between, Between::Threads) { 2 } else { 1 });
    let _child = match between {
        Between::Processes => Some(PartnerProcess::start(cpu, move || turn::echo(far))?),
        Between::Threads => partner::thread(cpu, move || turn::echo(far)).map(|()| None)?,
    };
    let before = Usage::now();
    let round = || {
        let mut played = Ok(());
        let ns = span.ns(|| played = near.give().and_then(|()| near.wait()));
        played.map(|()| ns)
    };
    let values = trials(round)?;
    let waits = Usage::now().since(before).voluntary as f64 / (TRIALS * sides) as f64;
    let seen = format!("In each round trip a side waited {waits:.2} times and gave up its CPU.");
    Ok(Series::of(values).seen(seen).seen_where(priority))
}
