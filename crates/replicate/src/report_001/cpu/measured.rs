//! Section 3: the timed code of the report.

use super::super::trials::trials;
use crate::timer::without_trailing_cpuid as timed;
use crate::unoptimised::{ROUNDS, call, empty_loop};
use crate::usage::Usage;
use crate::{Series, Stage, tasks};
use fathom_core::experiment::Failure;
use fathom_core::sampling::partner::{self, PartnerProcess};
use fathom_core::sampling::turn;

/// The time between a reading before the work and one after it, less that of an empty pair, nanoseconds.
struct Span {
    tick_ns: f64,
    overhead_ns: f64,
}

impl Span {
    fn of(stage: &Stage) -> Result<Self, Failure> {
        let tick_ns = stage.ns_per_tick()?;
        Ok(Span { tick_ns, overhead_ns: pair(tick_ns) })
    }

    fn ns(&self, work: impl FnOnce()) -> f64 {
        timed(work) as f64 * self.tick_ns - self.overhead_ns
    }
}

/// The mean of 1000 pairs of readings with nothing between, nanoseconds.
fn pair(tick_ns: f64) -> f64 {
    let ticks: i64 = (0..ROUNDS).map(|_| timed(|| ())).sum();
    ticks as f64 / ROUNDS as f64 * tick_ns
}

/// An empty pair of readings.
pub fn measurement(stage: &Stage) -> Result<Series, Failure> {
    let tick_ns = stage.ns_per_tick()?;
    let priority = tasks::raise_priority();
    Ok(Series::of(trials(|| Ok::<_, Failure>(pair(tick_ns)))?).seen_where(priority))
}

/// One iteration of an empty loop.
pub fn looping(stage: &Stage) -> Result<Series, Failure> {
    let priority = tasks::raise_priority();
    let span = Span::of(stage)?;
    Ok(Series::of(loops(&span)?).seen_where(priority))
}

/// The loop overhead of each trial, nanoseconds.
fn loops(span: &Span) -> Result<Vec<f64>, Failure> {
    trials(|| Ok(span.ns(empty_loop) / ROUNDS as f64))
}

/// The time that the body of the loop adds to an iteration, nanoseconds.
fn body(span: &Span, work: impl Fn()) -> Result<Vec<f64>, Failure> {
    let empty = loops(span)?;
    let empty_ns = empty.iter().sum::<f64>() / empty.len() as f64;
    trials(|| Ok(span.ns(&work) / ROUNDS as f64 - empty_ns))
}

/// A procedure call less the loop, by the number of its arguments.
pub fn calling(stage: &Stage) -> Result<Series, Failure> {
    let priority = tasks::raise_priority();
    let span = Span::of(stage)?;
    let mut series = Series::default();
    for arguments in 0..8 {
        series = series.and("", arguments as f64, body(&span, || call(arguments))?);
    }
    Ok(series.seen_where(priority))
}

/// A system call, less the loop.
pub fn entering(stage: &Stage) -> Result<Series, Failure> {
    let priority = tasks::raise_priority();
    let span = Span::of(stage)?;
    let enter = || {
        for round in 0..ROUNDS {
            std::hint::black_box(round);
            // SAFETY: takes nothing and cannot fail.
            unsafe { libc::syscall(libc::SYS_getpid) };
        }
    };
    Ok(Series::of(body(&span, enter)?).seen_where(priority))
}

/// The tasks that are created in a trial.
fn made(stage: &Stage) -> u64 {
    stage.count(100, 20)
}

/// The mean time to create a task; its end is waited for outside of the timed span.
fn making<T>(
    stage: &Stage,
    make: impl Fn() -> Result<T, Failure>,
    end: impl Fn(T) -> Result<(), Failure>,
) -> Result<Series, Failure> {
    let priority = tasks::raise_priority();
    let (span, count) = (Span::of(stage)?, made(stage));
    let trial = || {
        let mut total = 0.0;
        for _ in 0..count {
            let mut task = None;
            total += span.ns(|| task = Some(make()));
            task.map_or(Ok(()), |task| end(task?))?;
        }
        Ok::<_, Failure>(total / count as f64)
    };
    Ok(Series::of(trials(trial)?).seen_where(priority))
}

/// A fork, timed in the parent.
pub fn forking(stage: &Stage) -> Result<Series, Failure> {
    let resident = tasks::resident_bytes().map(|bytes| {
        format!("The process that forks has {:.1} MiB of resident memory.", bytes as f64 / f64::from(1 << 20))
    });
    Ok(making(stage, tasks::fork, tasks::reap)?.seen_where(resident))
}

/// The creation of a thread, timed in its creator.
pub fn threading(stage: &Stage) -> Result<Series, Failure> {
    making(stage, tasks::thread, tasks::join)
}

/// The two sides between which the CPU is switched.
#[derive(Clone, Copy)]
pub enum Between {
    /// A parent and its child.
    Processes,
    /// Two threads of a process.
    Threads,
}

/// Half of a round trip through two pipes.
pub fn switching(stage: &Stage, between: Between) -> Result<Series, Failure> {
    let priority = tasks::raise_priority();
    let (span, rounds) = (Span::of(stage)?, stage.count(1000, 200));
    let (mut near, far) = turn::pipes()?;
    let (_child, sides) = match between {
        Between::Processes => (Some(PartnerProcess::start(None, move || turn::echo(far))?), 1),
        Between::Threads => (partner::thread(None, move || turn::echo(far)).map(|()| None)?, 2),
    };
    let before = Usage::now();
    let trial = || {
        let mut played = Ok(());
        let ns = span.ns(|| {
            played = (0..rounds).try_for_each(|_| near.give().and_then(|()| near.wait()));
        });
        played.map(|()| ns / rounds as f64 / 2.0)
    };
    let values = trials(trial)?;
    let waits = Usage::now().since(before).voluntary as f64 / (values.len() as u64 * rounds * sides) as f64;
    let seen = format!("In each round trip a side waited {waits:.2} times and gave up its CPU.");
    Ok(Series::of(values).seen(seen).seen_where(priority))
}
