//! The observations of one trial, and the median over several.

use super::core_frequency;
use super::core_state::states;
use crate::record::{Run, Trial};
use fathom_core::quantity::Unit;
use fathom_core::sampling::{DeviceReadings, Sample};
use fathom_core::statistics::{self, Estimate, Levels, Occupancy};

/// The observations of one trial, per operation and in the point's unit.
#[derive(Debug, Clone, PartialEq)]
pub struct Visit {
    /// Its round in the run.
    pub round: u32,
    /// The observations of the operation.
    pub operation: Vec<f64>,
    /// The observations of the baseline; empty if there is none.
    pub baseline: Vec<f64>,
    /// The core's frequency around the observations, by the trial's calibrated chains, hertz; `None` where they disagreed.
    pub core_hz: Option<f64>,
    /// The core's frequency by the readings next to the observations, hertz; `None` if it was not read next to every one.
    pub(super) beside_hz: Option<f64>,
    /// The same by each reading; empty if it was not read next to every observation.
    readings_hz: Vec<f64>,
    /// What a direct read of the device took around the observations, nanoseconds; `None` of work that does not wait for it.
    pub(super) device_ns: Option<f64>,
    /// The factor by which all observations were multiplied since they were observed.
    scaled_by: f64,
    /// The state of the core from one reading to the next; empty if it was not read next to every observation.
    pub(super) states: Vec<Occupancy>,
}

/// The share of a trial's observations that must be in a state for their median to be of it. Readings are misjudged now and then, so
/// the few that seem to have had the core alone in a trial that shared it are of both: in five runs of shared hosts the medians of
/// trials with less than a tenth of such observations lay 2 to 15 % above those of trials with most, from 15 % on 0 to 5 %.
const LEAST_IN_STATE: f64 = 0.15;

impl Visit {
    pub(super) fn of(
        run: &Run,
        unit: Unit,
        (trial, sample): (&Trial, &Sample),
        levels: Option<&Levels>,
    ) -> Self {
        let hz = run.header.clock.ticks_per_second;
        let readings_hz = core_frequency::of_readings(&run.header, sample);
        Visit {
            round: trial.round,
            operation: sample.observations.operation(unit, hz),
            baseline: sample.observations.baseline(hz),
            core_hz: sample.conditions.core_hz(),
            beside_hz: statistics::midmean(&readings_hz),
            readings_hz,
            device_ns: sample.device.as_ref().map(DeviceReadings::mean_ns),
            scaled_by: 1.0,
            states: levels.and_then(|levels| states(sample, levels)).unwrap_or_default(),
        }
    }

    /// The number of observations of the operation in this state of the core.
    pub fn count(&self, state: Occupancy) -> usize {
        self.operation_states().filter(|each| **each == state).count()
    }

    /// The observations of the operation in this state of the core.
    pub(super) fn in_state(&self, state: Occupancy) -> Vec<f64> {
        let mine = self.operation.iter().zip(self.operation_states()).filter(|(_, each)| **each == state);
        mine.map(|(value, _)| *value).collect()
    }

    pub(super) fn operation_states(&self) -> impl Iterator<Item = &Occupancy> {
        self.states.iter().step_by(if self.baseline.is_empty() { 1 } else { 2 })
    }

    /// The observations made in one state of the core, both of the operation and of its baseline; `None` if they are too
    /// few: fewer than it takes for the extremes to enclose their own median, unless they are all, or than [`LEAST_IN_STATE`]. Every
    /// trial has the same weight, and one with such an uncertain median would only add noise.
    pub(super) fn only(&self, state: Occupancy) -> Option<Visit> {
        let select = |all: &[f64], states: &mut dyn Iterator<Item = &Occupancy>| {
            let mine = all.iter().zip(states).filter(|(_, each)| **each == state);
            let mine: Vec<f64> = mine.map(|(value, _)| *value).collect();
            let least = statistics::minimum_sample(0.5).max((LEAST_IN_STATE * all.len() as f64) as usize);
            (mine.len() >= least.min(all.len())).then_some(mine)
        };
        let operation = select(&self.operation, &mut self.operation_states())?;
        let baseline = select(&self.baseline, &mut self.states.iter().skip(1).step_by(2))?;
        Some(Visit {
            operation,
            baseline,
            beside_hz: self.hz_in_state(state),
            readings_hz: vec![],
            states: vec![],
            ..*self
        })
    }

    /// The core's frequency by the readings before observations in this state.
    fn hz_in_state(&self, state: Occupancy) -> Option<f64> {
        let mine = self.readings_hz.iter().zip(&self.states).filter(|(_, each)| **each == state);
        statistics::midmean(&mine.map(|(hz, _)| *hz).collect::<Vec<_>>())
    }

    /// Multiplies all observations by a factor.
    pub(super) fn scale(&mut self, by: f64) {
        self.scaled_by *= by;
        self.operation.iter_mut().chain(&mut self.baseline).for_each(|observed| *observed *= by);
    }

    /// The same as it was observed.
    pub(super) fn as_observed(&self) -> Visit {
        let mut observed = self.clone();
        observed.scale(1.0 / self.scaled_by);
        observed
    }

    /// The same with times in cycles of a core at this frequency, hertz.
    pub(super) fn in_cycles(&self, hz: f64) -> Visit {
        let mut cycles = self.clone();
        cycles.scale(hz / 1e9);
        cycles
    }

    /// The trial's own median, less that of its baseline.
    pub(super) fn median(&self) -> Option<f64> {
        Some(statistics::median(&self.operation)? - self.base())
    }

    /// The operation's observations, each less the median of the trial's baseline.
    pub fn less_baseline(&self) -> Vec<f64> {
        let base = self.base();
        self.operation.iter().map(|observed| observed - base).collect()
    }

    fn base(&self) -> f64 {
        statistics::median(&self.baseline).unwrap_or(0.0)
    }
}

/// The median of some visits with its interval, less that of the baseline if there is one, in the unit of their numbers.
pub(super) fn of_visits(visits: &[Visit]) -> Option<Estimate> {
    let operations: Vec<&[f64]> = visits.iter().map(|visit| visit.operation.as_slice()).collect();
    let baselines = baselines(visits);
    if baselines.is_empty() {
        statistics::estimate_in_proportion(&operations)
    } else {
        statistics::difference(&operations, &baselines)
    }
}

/// The median of each visit with its round, less that of its baseline.
pub(super) fn by_round(visits: &[Visit]) -> Vec<(u32, f64)> {
    visits.iter().filter_map(|visit| Some((visit.round, visit.median()?))).collect()
}

/// The baseline's observations in each visit; empty if there is no baseline.
pub(super) fn baselines(visits: &[Visit]) -> Vec<&[f64]> {
    let of_each = || visits.iter().map(|visit| visit.baseline.as_slice());
    if of_each().all(<[f64]>::is_empty) { vec![] } else { of_each().collect() }
}
