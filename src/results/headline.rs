//! The headline of a point: its median over trials with its interval, with the baseline subtracted where there is one.

use crate::quantity::{Kind, Unit};
use crate::record::{Run, Trial};
use crate::sampling::{Observations, Sample};
use crate::statistics::{self, Estimate, MINIMUM_TRIALS};

/// The headline of a point, and what it was made from.
#[derive(Debug, Clone, PartialEq)]
pub struct Headline {
    /// The median with its interval, in the point's unit.
    pub estimate: Estimate,
    /// The baseline's own median, where one was subtracted.
    pub baseline: Option<Estimate>,
    /// What the clock can tell apart of one operation, in the point's unit; 0 for numbers that no clock made.
    pub resolution: f64,
}

impl Headline {
    /// The headline of a point's trials; `None` where nothing was observed.
    pub fn of(run: &Run, unit: Unit, trials: &[&Trial]) -> Option<Self> {
        let measured: Vec<&Sample> = trials
            .iter()
            .filter_map(|trial| trial.sample())
            .filter(|sample| !sample.observations.is_empty())
            .collect();
        let (operations, baselines) = (operations(run, unit, &measured), baselines(run, &measured));
        let resolution_ns = resolution_ns(run, &measured);
        if baselines.iter().all(Vec::is_empty) {
            let estimate = statistics::estimate(&operations)?;
            let resolution = match unit.kind() {
                // A rate is one over a time, and so is its step.
                Kind::Rate => estimate.value.powi(2) * resolution_ns / 1e9,
                Kind::Cost | Kind::Size => resolution_ns,
            };
            // No clock has made a size.
            let estimate = match unit.kind() {
                Kind::Size => estimate,
                Kind::Cost | Kind::Rate => within_the_clock(estimate, resolution / 2.0, run),
            };
            return Some(Headline { estimate, baseline: None, resolution });
        }
        let resolution = resolution_ns;
        // Two medians are subtracted, each of which the clock rounds.
        let estimate = within_the_clock(statistics::difference(&operations, &baselines)?, resolution, run);
        Some(Headline { estimate, baseline: statistics::estimate(&baselines), resolution })
    }

    /// The relative half-width of the interval; `None` where there is none.
    pub fn half_width(&self) -> Option<f64> {
        statistics::relative_half_width(&self.estimate)
    }

    /// Whether a difference is so small against its baseline that no affordable number of trials will resolve it: its
    /// interval still holds zero, and is narrower than the wished share of the baseline.
    pub fn is_lost(&self, precision: f64) -> bool {
        let (Some(baseline), Some(interval)) = (&self.baseline, self.estimate.interval) else { return false };
        let lost = interval.low <= 0.0 && interval.high - interval.low < precision * baseline.value.abs();
        lost || (interval.low <= 0.0 && self.estimate.trials >= 2 * MINIMUM_TRIALS)
    }
}

/// The clock's resolution divided by the operations of an observation (median over trials), nanoseconds.
fn resolution_ns(run: &Run, measured: &[&Sample]) -> f64 {
    let operations = measured.iter().filter_map(|sample| match &sample.observations {
        Observations::Ticks { operations, .. } => Some(*operations as f64),
        Observations::Values { .. } => None,
    });
    let operations: Vec<f64> = operations.collect();
    statistics::median(&operations).map_or(0.0, |usual| run.header.clock.resolution_ns() / usual)
}

/// An estimate whose interval is not narrower than the clock allows: a median of rounded readings may lie half a step
/// from the truth however often it is repeated, and the clock's own frequency is known to its spread only.
fn within_the_clock(mut estimate: Estimate, half_step: f64, run: &Run) -> Estimate {
    let of_frequency = estimate.value.abs() * run.header.clock.frequency_spread_ppm * 1e-6;
    if let Some(interval) = &mut estimate.interval {
        interval.low -= half_step + of_frequency;
        interval.high += half_step + of_frequency;
    }
    estimate
}

/// The observations of each trial per operation, in the point's unit, with no baseline subtracted.
pub fn operations(run: &Run, unit: Unit, measured: &[&Sample]) -> Vec<Vec<f64>> {
    let hz = run.header.clock.ticks_per_second;
    measured.iter().map(|sample| sample.observations.operation(unit, hz)).collect()
}

fn baselines(run: &Run, measured: &[&Sample]) -> Vec<Vec<f64>> {
    let hz = run.header.clock.ticks_per_second;
    measured.iter().map(|sample| sample.observations.baseline(hz)).collect()
}
