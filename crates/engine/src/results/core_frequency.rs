//! The frequency of the core during a trial, and the usual one of a run.

use super::CounterStep;
use crate::record::{Header, Run, Trial};
use fathom_core::sampling::{CoreReadings, Sample, occupancy};
use fathom_core::sorting;
use fathom_core::statistics::{self, Interval};

/// The frequency of the core in a trial, hertz: by the chains next to its observations, or else around them.
pub fn core_hz_of(header: &Header, trial: &Trial) -> Option<f64> {
    of_sample(header, trial.sample()?)
}

/// The same of a sample.
pub(super) fn of_sample(header: &Header, sample: &Sample) -> Option<f64> {
    beside(header, sample).or_else(|| sample.conditions.core_hz())
}

/// By the chains next to its observations alone: these are many, and warm. Where most of them take as many steps of the clock it is by that
/// number; a mean of nearly all was tried, and scattered by a thousandth where additions took the same time within four in ten thousand.
fn beside(header: &Header, sample: &Sample) -> Option<f64> {
    let readings = of_readings(header, sample);
    (readings.len() >= MANY).then(|| statistics::midmean(&readings)).flatten()
}

/// The observed frequency, median over the run's trials, hertz; before the first trial, the one observed when the machine was described.
pub fn core_hz(run: &Run) -> Option<f64> {
    UsualFrequency::of(run).hz
}

/// The frequency of the core over the trials of a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct UsualFrequency {
    /// The median over the trials, hertz; before the first, what was observed when the machine was described.
    pub hz: Option<f64>,
    /// An interval for the frequency of one point, hertz: a standard deviation over trials below and above the median. The median of six
    /// trials, as a point has, has a standard error of half of that (1.25 over the root of six), of which 95 % is two. `None` with too
    /// few trials.
    pub ends: Option<Interval>,
}

/// The chains that are many: of the two around long work the second is read with what that has left in the core, and is longer.
const MANY: usize = 20;

/// The share of the trials on each side of a standard deviation below and above the median.
const DEVIATION: [f64; 2] = [0.16, 0.84];

impl UsualFrequency {
    pub fn of(run: &Run) -> Self {
        let samples = || run.trials.iter().filter_map(Trial::sample);
        let mut of_trials: Vec<f64> = samples().filter_map(|sample| beside(&run.header, sample)).collect();
        // The few chains before and after other trials are known to a step of the clock.
        if of_trials.len() < statistics::MINIMUM_TRIALS {
            of_trials = samples().filter_map(|sample| of_sample(&run.header, sample)).collect();
        }
        let described = || run.header.machine.processor.observed_hz.value().copied();
        let hz = statistics::median(&of_trials).or_else(described);
        sorting::numbers(&mut of_trials);
        let last = of_trials.len().saturating_sub(1) as f64;
        let at = |share: f64| of_trials.get((share * last).round() as usize).copied();
        let [low, high] = DEVIATION.map(at);
        let ends = low.zip(high).filter(|_| of_trials.len() >= statistics::MINIMUM_TRIALS);
        UsualFrequency { hz, ends: ends.map(|(low, high)| Interval { low, high }) }
    }
}

/// The frequency by each reading of a sample, hertz; none if the core was not read next to every observation.
pub(super) fn of_readings(header: &Header, sample: &Sample) -> Vec<f64> {
    let Some(core) = sample.core.as_ref().filter(|core| core.chain.len() == sample.observations.timed() + 1)
    else {
        return vec![];
    };
    // All or none: each stands at the place of its reading.
    core.chain.iter().map(|ticks| hz(header, core, *ticks)).collect::<Option<_>>().unwrap_or_default()
}

/// The frequency by the ticks of a chain, hertz, without the part of the clock's readings around it; `None` without ticks.
fn hz(header: &Header, core: &CoreReadings, ticks: u32) -> Option<f64> {
    (ticks > 0).then(|| by_chain(header, f64::from(ticks), core.times))
}

/// The share of a chain next to an observation that one step of the run's clock is, at this frequency of the core, hertz.
pub fn step_of_chain(header: &Header, step: CounterStep, core_hz: f64) -> f64 {
    let clock = &header.clock;
    let times = occupancy::times(clock.resolution_ticks, clock.ticks_per_second, Some(core_hz));
    let chain_ticks = occupancy::LINKS * f64::from(times) / core_hz * clock.ticks_per_second;
    step.ticks as f64 / chain_ticks
}

/// The frequency by the ticks of a chain so many times as long as the shortest, hertz. What the clock's own readings cost was measured
/// when the machine was described, at the frequency observed then.
pub fn by_chain(header: &Header, chain_ticks: f64, times: u32) -> f64 {
    let clock = &header.clock;
    let described_hz = header.machine.processor.observed_hz.value().copied();
    let cycles_a_tick = described_hz.map_or(1.0, |hz| hz / clock.ticks_per_second);
    occupancy::core_hz(chain_ticks, times, clock.ticks_per_second, clock.overhead_ticks * cycles_a_tick)
}
