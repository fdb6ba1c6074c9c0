//! The frequency of the core during a trial, the usual one of a run, and a cost in cycles of the core where it follows its frequency.
//!
//! Times that were moved to one frequency (`at_frequency.rs`) are cycles by that, if all of the cost follows it. Otherwise a trial's
//! calibrated chains give the frequency at which its observations were made, and its times become cycles by its own frequency. Whether a
//! cost follows the frequency is decided by the trials where the frequency changed between them: on logarithmic scales such a cost falls by
//! one for each that the frequency rises. Where the frequency hardly changed the trials cannot tell, and it is decided by the kind of the
//! operation: instructions that wait for nothing outside the core.

use super::headline;
use super::visit::{Visit, Visits, of_visits};
use crate::record::{Header, PlannedPoint, Run, Trial};
use fathom_core::quantity::Unit;
use fathom_core::sampling::{CoreReadings, Sample, occupancy};
use fathom_core::sorting;
use fathom_core::statistics::{self, Estimate, Interval, MINIMUM_TRIALS};

/// The frequency of the core in a trial, hertz: by the chains next to its observations, or else around them.
pub fn core_hz_of(header: &Header, trial: &Trial) -> Option<f64> {
    let sample = trial.sample()?;
    let of_readings = statistics::midmean(&of_readings(header, sample));
    of_readings.or_else(|| sample.conditions.core_hz())
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

/// The share of the trials on each side of a standard deviation below and above the median.
const DEVIATION: [f64; 2] = [0.16, 0.84];

impl UsualFrequency {
    pub fn of(run: &Run) -> Self {
        let mut of_trials: Vec<f64> =
            run.trials.iter().filter_map(|trial| core_hz_of(&run.header, trial)).collect();
        let described = || run.header.machine.processor.observed_hz.value().copied();
        let hz = statistics::median(&of_trials).or_else(described);
        sorting::numbers(&mut of_trials);
        let last = of_trials.len().saturating_sub(1) as f64;
        let at = |share: f64| of_trials.get((share * last).round() as usize).copied();
        let [low, high] = DEVIATION.map(at);
        let ends = low.zip(high).filter(|_| of_trials.len() >= MINIMUM_TRIALS);
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

/// The frequency by the ticks of a chain so many times as long as the shortest, hertz. What the clock's own readings cost was measured
/// when the machine was described, at the frequency observed then.
pub fn by_chain(header: &Header, chain_ticks: f64, times: u32) -> f64 {
    let clock = &header.clock;
    let described_hz = header.machine.processor.observed_hz.value().copied();
    let cycles_a_tick = described_hz.map_or(1.0, |hz| hz / clock.ticks_per_second);
    occupancy::core_hz(chain_ticks, times, clock.ticks_per_second, clock.overhead_ticks * cycles_a_tick)
}

/// The slope of a cost that follows the frequency. One that does not has zero: an interval as wide as their distance cannot tell.
const FOLLOWS: f64 = -1.0;

/// The relative standard deviation of the trials' frequencies from which they tell. Chains are known to some three per mille, and an
/// error that the cost does not follow makes a slope flatter, by the share of its variance: here by two per cent.
const CHANGED: f64 = 0.02;

/// The estimate in core cycles; `None` for a cost that does not follow the core's frequency, or is not known to.
pub(super) fn estimate(
    run: &Run,
    planned: &PlannedPoint,
    samples: &[&Sample],
    visits: &Visits,
) -> Option<Estimate> {
    if planned.unit != Unit::Nanoseconds {
        return None;
    }
    if let Some(moved) = &visits.at_frequency {
        if moved.share_interval.is_some_and(|share| !share.contains(1.0)) {
            return None;
        }
        let cycles: Vec<Visit> = visits.chosen.iter().map(|visit| visit.in_cycles(moved.hz)).collect();
        return of_cycles(run, samples, &cycles, moved.hz).map(|estimate| moved.widened(estimate));
    }
    let timed: Vec<(&Visit, f64)> =
        visits.chosen.iter().filter_map(|visit| Some((visit, visit.core_hz?))).collect();
    let usual_hz = statistics::median(&timed.iter().map(|(_, hz)| *hz).collect::<Vec<_>>())?;
    let by_kind = || planned.method().is_ok_and(|method| method.waits_for_the_core_alone(&planned.point));
    if timed.len() < MINIMUM_TRIALS || !follows(&timed).unwrap_or_else(by_kind) {
        return None;
    }
    let cycles: Vec<Visit> = timed.iter().map(|(visit, hz)| visit.in_cycles(*hz)).collect();
    of_cycles(run, samples, &cycles, usual_hz)
}

/// Whether the cost of trials follows their frequencies; `None` if these are too much alike to tell.
fn follows(visits: &[(&Visit, f64)]) -> Option<bool> {
    let place =
        |(visit, hz): &(&Visit, f64)| Some((hz.ln(), visit.median().filter(|cost| *cost > 0.0)?.ln()));
    let places: Vec<(f64, f64)> = visits.iter().filter_map(place).collect();
    let frequencies: Vec<f64> = places.iter().map(|(frequency, _)| *frequency).collect();
    statistics::mean(&frequencies)?.deviation.filter(|deviation| *deviation >= CHANGED)?;
    let line = statistics::fit_line(&places)?;
    let slope = line.slope_interval.filter(|slope| slope.high - slope.low <= FOLLOWS.abs())?;
    Some(slope.contains(FOLLOWS) && !slope.contains(0.0))
}

/// The estimate of numbers of cycles, no narrower than the clock allows at this frequency.
fn of_cycles(run: &Run, samples: &[&Sample], cycles: &[Visit], hz: f64) -> Option<Estimate> {
    let step = headline::resolution_ns(run, samples) / 1e9 * hz;
    Some(headline::within_the_clock(of_visits(cycles)?, step / 2.0, run))
}
