//! The report's chapter "CPU & Scheduling".

use super::trials::{TRIALS, trials};
use crate::experiment::Failure;
use crate::replicate::timer::fenced as timed;
use crate::replicate::unoptimised::call_once;
use crate::replicate::usage::Usage;
use crate::replicate::{Series, Stage, tasks};
use crate::sampling::partner::{self, Process};
use crate::sampling::turn;

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

pub fn reading(stage: &Stage) -> Result<Series, Failure> {
    let priority = tasks::raise_priority();
    Ok(Series::of(empty_pairs(stage)?).seen_where(priority))
}

pub fn calling(stage: &Stage) -> Result<Series, Failure> {
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

pub fn entering(stage: &Stage) -> Result<Series, Failure> {
    let priority = tasks::raise_priority();
    let span = Span::of(stage)?;
    // SAFETY: takes nothing and cannot fail.
    let once = || Ok::<_, Failure>(span.ns(|| _ = unsafe { libc::getpid() }));
    Ok(Series::of(trials(once)?).seen_where(priority))
}

/// The time to create a task; its end is waited for outside of the timed span.
pub fn making<T>(
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
pub enum Between {
    Processes,
    Threads,
}

pub fn switching(stage: &Stage, between: Between) -> Result<Series, Failure> {
    let priority = tasks::raise_priority();
    let span = Span::of(stage)?;
    let (mut near, far) = turn::pipes()?;
    let (cpu, sides) = (stage.site.partner, if matches!(between, Between::Threads) { 2 } else { 1 });
    let _child = match between {
        Between::Processes => Some(Process::start(cpu, move || turn::echo(far))?),
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
