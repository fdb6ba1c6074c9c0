//! What the time of a run bought: how much of it was observed, and what the rest went into.

use crate::record::{Run, Trial};
use fathom_core::sampling::{Observations, Sample};
use fathom_core::sorting;
use std::collections::BTreeMap;

/// Where the time of trials went, seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct TimeSpent {
    /// Trials that gave a value; those of a block have a process in common.
    pub trials: usize,
    /// Observed: from the first observation of each trial to its last, without the beginning of work that had to become steady.
    pub observed_s: f64,
    /// Turns of the work in which the other side's core was read: they are not timed.
    pub reading_s: f64,
    /// Preparing each trial: its work, its warm-up, what is read around it, and its cleaning up.
    pub prepared_s: f64,
    /// Starting processes, and preparing what the trials of one process share.
    pub started_s: f64,
    /// Waiting for the core to be alone.
    pub waited_s: f64,
}

impl TimeSpent {
    /// All of it, seconds.
    pub fn whole_s(&self) -> f64 {
        self.observed_s + self.reading_s + self.prepared_s + self.started_s + self.waited_s
    }

    fn add(&mut self, other: &TimeSpent) {
        self.trials += other.trials;
        self.observed_s += other.observed_s;
        self.reading_s += other.reading_s;
        self.prepared_s += other.prepared_s;
        self.started_s += other.started_s;
        self.waited_s += other.waited_s;
    }
}

/// The same of a whole run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunTime {
    /// All trials.
    pub trials: TimeSpent,
    /// The trials of each experiment, those with the longest first.
    pub experiments: Vec<(String, TimeSpent)>,
    /// Between trials: recording, choosing the next one, and ending processes, seconds.
    pub between_s: f64,
}

impl RunTime {
    /// Of a complete run; `None` if it has not ended or has no trial.
    pub fn of(run: &Run) -> Option<Self> {
        let took_s = run.closing.as_ref()?.took_s;
        let mut experiments = BTreeMap::<&str, TimeSpent>::new();
        let mut trials = TimeSpent::default();
        for trial in figures_together(run) {
            let seconds = seconds_of(&trial, run.header.clock.ticks_per_second);
            experiments.entry(&trial[0].experiment).or_default().add(&seconds);
            trials.add(&seconds);
        }
        let mut experiments: Vec<(String, TimeSpent)> =
            experiments.into_iter().map(|(name, seconds)| (name.to_owned(), seconds)).collect();
        sorting::by_number(&mut experiments, |(_, times)| -times.whole_s());
        // Clocks of different kinds tell the two.
        let between_s = (took_s - trials.whole_s()).max(0.0);
        (trials.trials > 0).then_some(RunTime { trials, experiments, between_s })
    }

    /// The whole run, seconds.
    pub fn whole_s(&self) -> f64 {
        self.trials.whole_s() + self.between_s
    }
}

/// The lines of each trial: several if it has several figures, each with its part of the time.
fn figures_together(run: &Run) -> Vec<Vec<&Trial>> {
    let place = |trial: &Trial| trial.block.as_ref().map(|block| (block.process, block.place));
    let same = |one: &&Trial, other: &&Trial| place(one).is_some() && place(one) == place(other);
    run.trials.iter().collect::<Vec<_>>().chunk_by(same).map(<[&Trial]>::to_vec).collect()
}

fn seconds_of(figures: &[&Trial], ticks_per_second: f64) -> TimeSpent {
    let sum = |part: fn(&Trial) -> f64| figures.iter().map(|trial| part(trial)).sum::<f64>();
    let started_s = sum(|trial| trial.block.as_ref().map_or(0.0, |block| block.shared_s));
    let own_s = sum(|trial| trial.took_s) - started_s;
    let sample = figures[0].outcome.sample();
    let waited = sample.and_then(|sample| sample.core.as_ref()).map_or(0, |core| core.waited_ns);
    let waited_s = (waited as f64 / 1e9).min(own_s);
    let whole_s = sample.map_or(0.0, |sample| observed(sample, ticks_per_second)).min(own_s - waited_s);
    let reading_s = whole_s * sample.map_or(0.0, share_of_readings);
    let prepared_s = own_s - waited_s - whole_s;
    TimeSpent { trials: 1, observed_s: whole_s - reading_s, reading_s, prepared_s, started_s, waited_s }
}

/// The share of a sample's operations by which the other side's core was read.
fn share_of_readings(sample: &Sample) -> f64 {
    let turns = sample.core.as_ref().map_or(0, |core| core.partner.len()) as f64;
    let each = match &sample.observations {
        Observations::Ticks { operations, .. } => *operations as f64,
        Observations::Values { .. } => 1.0,
    };
    let timed = sample.observations.len() as f64 * each;
    if turns > 0.0 { turns / (turns + timed) } else { 0.0 }
}

/// How long a sample was observed, seconds: by the accounting of its thread, else by the moments of the readings around its
/// observations, else by these alone.
fn observed(sample: &Sample, ticks_per_second: f64) -> f64 {
    if let Some(on_cpu) = sample.on_cpu {
        let before_ns = sample.beginning.map_or(0.0, |beginning| beginning.repeated_ns);
        return (on_cpu.wall_ns as f64 - before_ns).max(0.0) / 1e9;
    }
    let last = sample.core.as_ref().and_then(|core| core.at.last());
    let ticks = match (&sample.observations, last) {
        (_, Some(last)) => *last as f64,
        (Observations::Ticks { operation, baseline, .. }, None) => {
            operation.iter().chain(baseline).sum::<i64>() as f64
        }
        (Observations::Values { .. }, None) => 0.0,
    };
    ticks / ticks_per_second
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::BlockVisit;
    use crate::results::planted;
    use fathom_core::sampling::{CoreReadings, OnCpu};

    fn trial(took_s: f64, sample: Sample) -> Trial {
        let block = BlockVisit { process: 1, place: 1, shared_s: 0.25 * took_s };
        planted::trial("cpu/noise", took_s, block, sample)
    }

    fn close(seconds: TimeSpent, [observed, prepared, started, waited]: [f64; 4]) {
        let pairs = [
            (seconds.observed_s, observed),
            (seconds.prepared_s, prepared),
            (seconds.started_s, started),
            (seconds.waited_s, waited),
        ];
        assert!(pairs.iter().all(|(found, set)| (found - set).abs() < 1e-9), "{seconds:?}");
    }

    #[test]
    fn two_figures_of_a_trial_were_observed_once() {
        let on_cpu = Some(OnCpu { wall_ns: 4_000_000, ..OnCpu::default() });
        let core = Some(CoreReadings { waited_ns: 1_000_000, ..CoreReadings::default() });
        let figure = trial(0.005, Sample { on_cpu, core, ..Sample::default() });
        let together = seconds_of(&[&figure, &figure], 1e9);
        close(together, [0.004, 0.0025, 0.0025, 0.001]);
        assert_eq!(together.trials, 1);
    }

    #[test]
    fn what_sleeps_is_timed_by_its_readings_or_by_its_observations() {
        let core = Some(CoreReadings { at: vec![0, 3_000_000], ..CoreReadings::default() });
        close(
            seconds_of(&[&trial(0.01, Sample { core, ..Sample::default() })], 1e9),
            [0.003, 0.0045, 0.0025, 0.0],
        );
        let observations = Observations::Ticks {
            operations: 1,
            each: true,
            overhead_ticks: 0.0,
            beyond_ns: 0.0,
            operation: vec![1_000_000; 2],
            baseline: vec![500_000],
        };
        let sample = Sample { observations, ..Sample::default() };
        close(seconds_of(&[&trial(0.01, sample)], 1e9), [0.0025, 0.005, 0.0025, 0.0]);
    }
}
