//! The frequency of the core during a trial, and the usual one of a run.

use crate::record::{Header, Run, Trial};
use fathom_core::sampling::{CoreReadings, Sample, occupancy};
use fathom_core::statistics;

/// The frequency of the core in a trial, hertz: by the chains next to its observations, or else around them.
pub fn core_hz_of(header: &Header, trial: &Trial) -> Option<f64> {
    let sample = trial.sample()?;
    let of_readings = statistics::midmean(&of_readings(header, sample));
    of_readings.or_else(|| sample.conditions.core_hz())
}

/// The observed frequency, median over the run's trials, hertz; before the first trial, the one observed when the machine was described.
pub fn core_hz(run: &Run) -> Option<f64> {
    let of_trials: Vec<f64> = run.trials.iter().filter_map(|trial| core_hz_of(&run.header, trial)).collect();
    statistics::median(&of_trials).or_else(|| run.header.machine.processor.observed_hz.value().copied())
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

/// The frequency by the ticks of a chain so many times as long as the shortest, hertz. What the clock's own readings cost was measured
/// when the machine was described, at the frequency observed then.
pub fn by_chain(header: &Header, chain_ticks: f64, times: u32) -> f64 {
    let clock = &header.clock;
    let described_hz = header.machine.processor.observed_hz.value().copied();
    let cycles_a_tick = described_hz.map_or(1.0, |hz| hz / clock.ticks_per_second);
    occupancy::core_hz(chain_ticks, times, clock.ticks_per_second, clock.overhead_ticks * cycles_a_tick)
}
