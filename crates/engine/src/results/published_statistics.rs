//! A point in the statistics of published reports: mean, deviation, trimmed mean, extremes, clock ticks and core cycles.

use super::visit::Visit;
use crate::record::Run;
use fathom_core::quantity::Unit;
use fathom_core::sampling::{Observations, Sample};
use fathom_core::statistics::{self, Mean, Summary};

/// The statistics that published reports print, in the point's unit. The observations are those of the point's own estimate,
/// each as it was observed, less the median of its trial's baseline if there is one.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedStatistics {
    /// Over the single observations.
    pub observations: Summary,
    /// The mean of the trials' means, with the deviation between trials: the statistic of reports that average within a
    /// trial.
    pub trials: Mean,
    /// Operations between two readings of the clock, median over trials: the divisor of an observation, 1 if every operation
    /// was timed by itself; `None` if no clock was read.
    pub operations: Option<f64>,
}

impl PublishedStatistics {
    /// For a point's trials; `None` if nothing, or no number, was observed.
    pub fn of(visits: &[Visit], measured: &[&Sample]) -> Option<Self> {
        let by_trial: Vec<Vec<f64>> =
            visits.iter().map(|visit| visit.as_observed().less_baseline()).collect();
        let means: Vec<f64> =
            by_trial.iter().filter_map(|trial| Some(statistics::mean(trial)?.value)).collect();
        let operations: Vec<f64> = measured.iter().filter_map(|sample| operations(sample)).collect();
        Some(PublishedStatistics {
            observations: statistics::summary(&by_trial.concat())?,
            trials: statistics::mean(&means)?,
            operations: statistics::median(&operations),
        })
    }
}

fn operations(sample: &Sample) -> Option<f64> {
    match &sample.observations {
        Observations::Ticks { operations, .. } => Some(*operations as f64),
        Observations::Values { .. } => None,
    }
}

/// A time in ticks of the clock and, if the core's frequency was observed, in cycles of the core; `None` if the unit is not
/// time.
pub fn ticks_and_cycles(
    run: &Run,
    core_hz: Option<f64>,
    unit: Unit,
    value: f64,
) -> Option<(f64, Option<f64>)> {
    let seconds = (unit == Unit::Nanoseconds).then_some(value / 1e9)?;
    Some((seconds * run.header.clock.ticks_per_second, core_hz.map(|hz| seconds * hz)))
}
