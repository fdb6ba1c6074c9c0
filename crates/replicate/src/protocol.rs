//! How the reports repeat an operation, and which of the results count. There are two ways to time it: a loop of many between two
//! readings of the clock, or each by itself.
//!
//! Some counts took the authors an hour, and what took them a second may take a virtual machine a minute. A count that does not fit
//! into a method's time is reduced, and a sentence with the method's result says so.

use super::method::THOROUGH;
use super::timer::{CpuidRdtscRdtscpCpuid, Timer};
use super::{Series, Stage};
use fathom_core::experiment::Failure;
use std::marker::PhantomData;

#[derive(Debug, Clone, Copy)]
pub struct TrialProtocol {
    pub trials: usize,
    /// The first of them, which are discarded.
    pub discarded: usize,
    /// Trials farther from the mean than so many standard deviations are left out, once.
    pub trimmed_beyond: Option<f64>,
}

impl TrialProtocol {
    pub const TEN: TrialProtocol = TrialProtocol { trials: 10, discarded: 0, trimmed_beyond: None };
    /// Report 002: single operations.
    pub const THOUSAND: TrialProtocol =
        TrialProtocol { trials: 1000, discarded: 10, trimmed_beyond: Some(3.0) };

    /// The values of the trials that count.
    pub fn values(self, one: impl FnMut() -> Result<f64, Failure>) -> Result<Vec<f64>, Failure> {
        let all: Vec<f64> = std::iter::repeat_with(one).take(self.trials).collect::<Result<_, _>>()?;
        let counted = all.get(self.discarded..).unwrap_or_default();
        Ok(self.trimmed_beyond.map_or_else(|| counted.to_vec(), |most| trimmed(counted, most)))
    }
}

/// The values that lie within so many standard deviations of the mean of all.
fn trimmed(values: &[f64], most: f64) -> Vec<f64> {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let deviation = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt();
    values.iter().copied().filter(|value| (value - mean).abs() <= most * deviation).collect()
}

/// Times an operation by itself, between two readings of a report's timer less those of an empty pair, nanoseconds.
pub struct Span<T> {
    tick_ns: f64,
    /// In ticks, of which a mean of equal readings is whole: what is left of an operation that took as long is zero, and no residue of
    /// the conversion.
    overhead_ticks: f64,
    timer: PhantomData<T>,
}

impl<T: Timer> Span<T> {
    pub fn of(stage: &Stage, empty_pairs: &[f64]) -> Result<Self, Failure> {
        let tick_ns = stage.ns_per_tick()?;
        Ok(Span { tick_ns, overhead_ticks: mean_in_ticks(empty_pairs, tick_ns), timer: PhantomData })
    }

    #[inline(always)]
    pub fn ns(&self, work: impl FnOnce()) -> f64 {
        (T::ticks(work) as f64 - self.overhead_ticks) * self.tick_ns
    }
}

/// The mean of readings that are whole ticks, in ticks.
fn mean_in_ticks(readings_ns: &[f64], tick_ns: f64) -> f64 {
    readings_ns.iter().map(|ns| (ns / tick_ns).round()).sum::<f64>() / readings_ns.len() as f64
}

/// Trials of report 000 in almost every experiment.
pub const TRIALS: u64 = TrialProtocol::TEN.trials as u64;
/// Iterations of such a trial, unless the report says otherwise (section 3.1.3).
pub const ITERATIONS: u64 = 1_000_000;

/// The ticks that work takes between two readings of the timer of report 000, without a sign, as the report took them.
pub fn unsigned_ticks(work: impl FnOnce()) -> f64 {
    CpuidRdtscRdtscpCpuid::ticks(work) as u64 as f64
}

/// The same of work that may fail.
pub fn try_unsigned_ticks(work: impl FnOnce() -> Result<(), Failure>) -> Result<f64, Failure> {
    CpuidRdtscRdtscpCpuid::try_ticks(work).map(|ticks| ticks as u64 as f64)
}

/// The trials of a loop between two readings of the clock.
pub struct LoopTrials {
    /// Nanoseconds per iteration, for each trial.
    pub values: Vec<f64>,
    /// A sentence on the number of iterations where it was reduced.
    pub reduced: Option<String>,
}

/// Ten trials of a loop, as in report 000: the timer is read before its first and after its last iteration, and the difference is
/// divided by the iterations. The trials take this share of the method's time at most.
pub fn loop_trials(
    stage: &Stage,
    iterations: u64,
    share: f64,
    mut work: impl FnMut(u64) -> Result<(), Failure>,
) -> Result<LoopTrials, Failure> {
    let (protocol, tick) = (TrialProtocol::TEN, stage.ns_per_tick()?);
    let count = stage.count_within_budget(iterations, share / protocol.trials as f64, &mut work)?;
    let values = protocol.values(|| Ok(try_unsigned_ticks(|| work(count))? * tick / count as f64))?;
    Ok(LoopTrials { values, reduced: reduced("iterations per trial", iterations, count) })
}

impl From<LoopTrials> for Series {
    fn from(trials: LoopTrials) -> Self {
        Series::of(trials.values).with_notes(trials.reduced)
    }
}

/// The number of operations, each between two readings of the clock, in each average of report 003: as many as in the report, or
/// fewer where the CPUIDs around them would take too long.
pub struct Repetitions {
    /// Operations in each average.
    pub count: u64,
    theirs: u64,
    tick_ns: f64,
}

impl Repetitions {
    /// The time for all repetitions of one method, counting the clock readings alone, seconds.
    const BUDGET_S: f64 = 12.0;
    const QUICK_BUDGET_S: f64 = 1.2;

    /// `theirs` in each of `averages`, or as many as fit into the time: in a virtual machine both CPUIDs of a pair exit to the
    /// hypervisor, and the pair takes a hundred times as long as the difference of its readings.
    pub fn of(stage: &Stage, theirs: u64, averages: u64) -> Result<Self, Failure> {
        let tick_ns = stage.ns_per_tick()?;
        let budget = if stage.quick { Self::QUICK_BUDGET_S } else { Self::BUDGET_S };
        let most = (budget / pair_s() / averages as f64) as u64;
        Ok(Repetitions { count: theirs.min(most.max(1)), theirs, tick_ns })
    }

    /// Ten averages, nanoseconds, of so many results of `once`, ticks.
    pub fn averages_ns(&self, mut once: impl FnMut() -> i64) -> Vec<f64> {
        std::iter::repeat_with(|| mean(self.count, &mut once) * self.tick_ns)
            .take(TrialProtocol::TEN.trials)
            .collect()
    }

    /// A sentence where the count was reduced.
    pub fn reduced(&self) -> Option<String> {
        (self.count < self.theirs).then(|| {
            format!(
                "Each average has {} repetitions instead of {}, because the two CPUIDs of each repetition take long on this machine.",
                self.count, self.theirs
            )
        })
    }
}

/// Seconds that a pair of readings takes, CPUIDs included.
fn pair_s() -> f64 {
    const TRIED: u32 = 200;
    let began = std::time::Instant::now();
    for _ in 0..TRIED {
        std::hint::black_box(CpuidRdtscRdtscpCpuid::ticks(|| ()));
    }
    began.elapsed().as_secs_f64().max(1e-9) / f64::from(TRIED)
}

/// The mean of `repetitions` results of `once`, ticks.
pub fn mean(repetitions: u64, mut once: impl FnMut() -> i64) -> f64 {
    let sum: i64 = (0..repetitions).map(|_| once()).sum();
    sum as f64 / repetitions as f64
}

/// The time for all timed work of a method, nanoseconds.
const USUAL_NS: f64 = 15e9;
/// The same where it should be quick.
const QUICK_NS: f64 = 1.5e9;
/// A first look is long enough when it takes this, nanoseconds: many times the clock's resolution and most wake-ups.
const LOOK_NS: f64 = 2e6;

impl Stage<'_> {
    /// What the method may take for all that it times, nanoseconds.
    pub fn time_ns(&self) -> f64 {
        match (self.quick, self.thorough) {
            (true, _) => QUICK_NS,
            (_, true) => USUAL_NS * f64::from(THOROUGH),
            _ => USUAL_NS,
        }
    }

    /// `theirs`, or as many as fit into this share of the method's time, at least one, judged by a few.
    pub fn count_within_budget(
        &self,
        theirs: u64,
        share: f64,
        mut few: impl FnMut(u64) -> Result<(), Failure>,
    ) -> Result<u64, Failure> {
        let mut count = 1;
        loop {
            let began = self.site.stopwatch.now_ns();
            few(count)?;
            let took = self.site.stopwatch.now_ns() - began;
            if took >= LOOK_NS || count >= theirs {
                return Ok(fitting(theirs, took / count as f64, self.time_ns() * share));
            }
            count = (count * 4).min(theirs);
        }
    }
}

/// So many of `theirs` as fit, when each takes this long.
fn fitting(theirs: u64, each_ns: f64, time_ns: f64) -> u64 {
    ((time_ns / each_ns.max(1e-3)) as u64).clamp(1, theirs.max(1))
}

/// What is said of a count that was reduced; `None` where it was not.
pub fn reduced(what: &str, theirs: u64, here: u64) -> Option<String> {
    (here < theirs).then(|| format!("{here} {what} instead of the report's {theirs}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_readings_leave_nothing_of_each_other() {
        let tick = 1e9 / 2_596_124_130.490_546_7;
        let readings = vec![78.0 * tick; 990];
        assert!(mean_in_ticks(&readings, tick).to_bits() == 78.0_f64.to_bits());
        let residue = readings.iter().sum::<f64>() / 990.0 - 78.0 * tick;
        assert!(residue.abs() > 0.0, "in nanoseconds a residue is left");
    }

    #[test]
    fn the_first_trials_are_discarded_and_outliers_trimmed() {
        let mut made = 0;
        let values = TrialProtocol::THOUSAND.values(|| {
            made += 1;
            // The first ten are cold, one later is disturbed.
            Ok(if made <= 10 {
                900.0
            } else if made == 500 {
                1e6
            } else {
                100.0
            })
        });
        assert_eq!(made, 1000);
        assert_eq!(values.unwrap(), vec![100.0; 989]);
        assert_eq!(trimmed(&[1.0, 2.0], 3.0), [1.0, 2.0]);
    }

    #[test]
    fn a_mean_is_of_all_repetitions_and_negative_ones_count() {
        let mut values = [10, -4, 6].into_iter();
        assert!((mean(3, || values.next().unwrap()) - 4.0).abs() < 1e-12);
    }

    #[test]
    fn as_many_as_fit_are_counted_and_never_more_than_theirs_or_none() {
        assert_eq!(fitting(1000, 1e6, 1e8), 100);
        assert_eq!(fitting(1000, 10.0, 1e8), 1000);
        assert_eq!(fitting(1000, 1e9, 1e8), 1);
        assert_eq!(fitting(1000, 0.0, 1e8), 1000);
    }

    #[test]
    fn a_reduced_count_is_told_and_a_whole_one_is_not() {
        assert!(reduced("connections", 1000, 10).is_some_and(|sentence| sentence.contains("10 connections")));
        assert_eq!(reduced("connections", 1000, 1000), None);
    }
}
