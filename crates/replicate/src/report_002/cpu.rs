//! The report's chapter "CPU & Scheduling".

use crate::operations::{Between, Switching, creation};
use crate::protocol::{Span, TrialProtocol};
use crate::timer::{Fenced, Timer};
use crate::unoptimised::call_once;
use crate::{Series, Stage};
use fathom_core::experiment::Failure;

const THOUSAND: TrialProtocol = TrialProtocol::THOUSAND;

/// Times single operations, less the mean of an empty pair of readings.
pub(super) fn span(stage: &Stage) -> Result<Span<Fenced>, Failure> {
    Span::of(stage, &empty_pairs(stage)?)
}

fn empty_pairs(stage: &Stage) -> Result<Vec<f64>, Failure> {
    let tick_ns = stage.ns_per_tick()?;
    THOUSAND.values(|| Ok(Fenced::ticks(|| ()) as f64 * tick_ns))
}

pub(super) fn reading(stage: &Stage) -> Result<Series, Failure> {
    Ok(Series::of(empty_pairs(stage)?))
}

pub(super) fn calling(stage: &Stage) -> Result<Series, Failure> {
    let span = span(stage)?;
    // Written out for each number, because a branch would stand inside the timed region.
    macro_rules! of {
        ($($arguments:literal)*) => { [$(THOUSAND.values(|| Ok(span.ns(|| call_once($arguments))))?),*] };
    }
    let series = of!(0 1 2 3 4 5 6 7);
    let below = series.iter().flatten().filter(|ns| **ns < 0.0).count();
    let all: usize = series.iter().map(Vec::len).sum();
    let note = format!("{below} of {all} trials were below zero after the subtraction.");
    let points = series.into_iter().enumerate();
    let series = points.fold(Series::default(), |series, (at, values)| series.and("", at as f64, values));
    Ok(series.with_note(note))
}

pub(super) fn entering(stage: &Stage) -> Result<Series, Failure> {
    let span = span(stage)?;
    // SAFETY: takes nothing and cannot fail.
    let once = || Ok(span.ns(|| _ = unsafe { libc::getpid() }));
    Ok(Series::of(THOUSAND.values(once)?))
}

/// The time to create a task; its end is waited for outside of the timed span.
pub fn creating<T>(
    stage: &Stage,
    create: impl Fn() -> Result<T, Failure>,
    end: impl Fn(T) -> Result<(), Failure>,
) -> Result<Series, Failure> {
    creation(THOUSAND, &span(stage)?, 1, create, end)
}

pub(super) fn switching(stage: &Stage, between: Between) -> Result<Series, Failure> {
    let cpu = stage.site.partner;
    Switching { between, cpu, rounds: 1, switches: 1.0 }.measure(THOUSAND, &span(stage)?)
}
