//! Section 3: CPU, scheduling and operating-system services.

use crate::operations::{Between, Switching, creation};
use crate::protocol::{Span, TrialProtocol};
use crate::timer::{CpuidRdtscRdtscp, Timer};
use crate::unoptimised::{ROUNDS, call, empty_loop};
use crate::{Series, Stage, tasks};
use fathom_core::experiment::Failure;
use fathom_core::quantities;
use fathom_core::quantity::Unit;

const TEN: TrialProtocol = TrialProtocol::TEN;

/// The mean of 1000 pairs of readings with nothing between, nanoseconds.
fn pair(tick_ns: f64) -> f64 {
    let ticks: i64 = (0..ROUNDS).map(|_| CpuidRdtscRdtscp::ticks(|| ())).sum();
    ticks as f64 / ROUNDS as f64 * tick_ns
}

fn span(stage: &Stage) -> Result<Span<CpuidRdtscRdtscp>, Failure> {
    Span::of(stage, &[pair(stage.ns_per_tick()?)])
}

/// An empty pair of readings.
pub(super) fn measurement(stage: &Stage) -> Result<Series, Failure> {
    let tick_ns = stage.ns_per_tick()?;
    Ok(Series::of(TEN.values(|| Ok(pair(tick_ns)))?))
}

/// One iteration of an empty loop.
pub(super) fn looping(stage: &Stage) -> Result<Series, Failure> {
    Ok(Series::of(loops(&span(stage)?)?))
}

/// The loop overhead of each trial, nanoseconds.
fn loops(span: &Span<CpuidRdtscRdtscp>) -> Result<Vec<f64>, Failure> {
    TEN.values(|| Ok(span.ns(empty_loop) / ROUNDS as f64))
}

/// The time that the body of the loop adds to an iteration, nanoseconds.
fn body(span: &Span<CpuidRdtscRdtscp>, work: impl Fn()) -> Result<Vec<f64>, Failure> {
    let empty = loops(span)?;
    let empty_ns = empty.iter().sum::<f64>() / empty.len() as f64;
    TEN.values(|| Ok(span.ns(&work) / ROUNDS as f64 - empty_ns))
}

/// A procedure call less the loop, by the number of its arguments.
pub(super) fn calling(stage: &Stage) -> Result<Series, Failure> {
    let span = span(stage)?;
    let each = |series: Series, arguments: usize| {
        Ok(series.and("", arguments as f64, body(&span, || call(arguments))?))
    };
    (0..8).try_fold(Series::default(), each)
}

/// A system call, less the loop.
pub(super) fn entering(stage: &Stage) -> Result<Series, Failure> {
    let enter = || {
        for round in 0..ROUNDS {
            std::hint::black_box(round);
            // SAFETY: takes nothing and cannot fail.
            unsafe { libc::syscall(libc::SYS_getpid) };
        }
    };
    Ok(Series::of(body(&span(stage)?, enter)?))
}

fn tasks_in_a_trial(stage: &Stage) -> u64 {
    stage.count(100, 20)
}

/// A fork, timed in the parent.
pub(super) fn forking(stage: &Stage) -> Result<Series, Failure> {
    let resident = tasks::resident_bytes().map(|bytes| {
        let size = quantities::value(Unit::Bytes, bytes as f64);
        format!("The process that forks has {size} of resident memory.")
    });
    let forks = creation(TEN, &span(stage)?, tasks_in_a_trial(stage), tasks::fork, tasks::reap)?;
    Ok(forks.with_notes(resident))
}

/// The creation of a thread, timed in its creator.
pub(super) fn threading(stage: &Stage) -> Result<Series, Failure> {
    creation(TEN, &span(stage)?, tasks_in_a_trial(stage), tasks::thread, tasks::join)
}

/// Half of a round trip through two pipes, on whatever CPUs.
pub(super) fn switching(stage: &Stage, between: Between) -> Result<Series, Failure> {
    let rounds = stage.count(1000, 200);
    Switching { between, cpu: None, rounds, switches: 2.0 }.measure(TEN, &span(stage)?)
}
