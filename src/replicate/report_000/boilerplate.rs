//! Section 3.1.3: the timer around a loop of so many iterations, which is called a trial; ten trials.

use super::super::pace::reduced;
use super::super::timer::paoloni;
use super::super::{Series, Stage};
use crate::experiment::Failure;

/// Trials of almost every experiment.
pub const TRIALS: u64 = 10;
/// Iterations of a trial, where they say nothing else.
pub const ITERATIONS: u64 = 1_000_000;

/// What the trials of a loop have found.
pub struct Timed {
    /// Nanoseconds an iteration, for each trial.
    pub values: Vec<f64>,
    /// What is said of their number where it was reduced.
    pub reduced: Option<String>,
}

/// Ten trials of a loop: the timer is read before its first and after its last iteration, and divided by their number. They
/// take this share of the method's time at most.
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
    Ok(Timed { values, reduced: reduced("iterations a trial", iterations, count) })
}

/// The ticks that work takes between their readings; as they took it, without a sign.
pub fn timed_once(work: impl FnOnce() -> Result<(), Failure>) -> Result<f64, Failure> {
    let mut outcome = Ok(());
    let ticks = paoloni(|| outcome = work());
    outcome.map(|()| ticks as u64 as f64)
}

/// A series of one loop's trials.
pub fn series(timed: Timed) -> Series {
    Series::of(timed.values).having_seen(timed.reduced)
}
