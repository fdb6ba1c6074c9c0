//! Section 3.1.3: the timer around a loop of many iterations. One such loop is a trial, and an experiment has ten.

use super::super::pace::reduced;
use super::super::timer::paoloni;
use super::super::{Series, Stage};
use fathom_core::experiment::Failure;

/// Trials in almost every experiment.
pub const TRIALS: u64 = 10;
/// Iterations of a trial, unless the report says otherwise.
pub const ITERATIONS: u64 = 1_000_000;

/// The results of a loop's trials.
pub struct Timed {
    /// Nanoseconds per iteration, for each trial.
    pub values: Vec<f64>,
    /// A sentence on the number of iterations where it was reduced.
    pub reduced: Option<String>,
}

/// Ten trials of a loop: the timer is read before its first and after its last iteration, and the difference is divided by the
/// iterations. The trials take this share of the method's time at most.
pub fn trials(
    stage: &Stage,
    iterations: u64,
    share: f64,
    mut work: impl FnMut(u64) -> Result<(), Failure>,
) -> Result<Timed, Failure> {
    let tick = stage.ns_per_tick()?;
    let count = stage.afforded(iterations, share / TRIALS as f64, &mut work)?;
    let trial = |_| Ok(timed_once(|| work(count))? * tick / count as f64);
    let values = (0..TRIALS).map(trial).collect::<Result<_, Failure>>()?;
    Ok(Timed { values, reduced: reduced("iterations per trial", iterations, count) })
}

/// The ticks that work takes between two of the report's readings, without a sign, as the report took them.
pub fn timed_once(work: impl FnOnce() -> Result<(), Failure>) -> Result<f64, Failure> {
    let mut outcome = Ok(());
    let ticks = paoloni(|| outcome = work());
    outcome.map(|()| ticks as u64 as f64)
}

/// The trials of one loop as a series.
pub fn series(timed: Timed) -> Series {
    Series::of(timed.values).having_seen(timed.reduced)
}
