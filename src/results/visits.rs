//! What a point's trials have observed, sorted by what the core did meanwhile.

use super::core_state::{CoreState, states};
use crate::experiment::Placement;
use crate::quantity::Unit;
use crate::record::{Run, Trial};
use crate::sampling::{Observations, Sample};
use crate::statistics::{self, Levels, MINIMUM_TRIALS, Occupancy};

/// The observations of one trial, per operation and in the point's unit.
#[derive(Debug, Clone, PartialEq)]
pub struct Visit {
    /// The round of the run that it belongs to.
    pub round: u32,
    /// Those of the operation.
    pub operation: Vec<f64>,
    /// Those of the baseline; empty where there is none.
    pub baseline: Vec<f64>,
    /// What the core did from one reading to the next; empty where it was not read beside every observation.
    states: Vec<Occupancy>,
}

impl Visit {
    fn of(run: &Run, unit: Unit, (trial, sample): (&Trial, &Sample), levels: Option<&Levels>) -> Self {
        let hz = run.header.clock.ticks_per_second;
        Visit {
            round: trial.round,
            operation: sample.observations.operation(unit, hz),
            baseline: sample.observations.baseline(hz),
            states: levels.and_then(|levels| states(sample, levels)).unwrap_or_default(),
        }
    }

    /// How many observations of the operation were made in this state of the core.
    pub fn count(&self, wanted: Occupancy) -> usize {
        self.operation_states().filter(|state| **state == wanted).count()
    }

    fn operation_states(&self) -> impl Iterator<Item = &Occupancy> {
        self.states.iter().step_by(if self.baseline.is_empty() { 1 } else { 2 })
    }

    /// The observations made in one state of the core, both of the operation and of its baseline; `None` where they are too
    /// few: as many as it takes for the extremes to enclose their own median, or all that there are. Every trial counts the
    /// same, and one that knows its median that badly would only add its noise.
    fn only(&self, wanted: Occupancy) -> Option<Visit> {
        let select = |all: &[f64], states: &mut dyn Iterator<Item = &Occupancy>| {
            let mine = all.iter().zip(states).filter(|(_, state)| **state == wanted);
            let mine: Vec<f64> = mine.map(|(value, _)| *value).collect();
            (mine.len() >= statistics::minimum_sample(0.5).min(all.len())).then_some(mine)
        };
        let operation = select(&self.operation, &mut self.operation_states())?;
        let baseline = select(&self.baseline, &mut self.states.iter().skip(1).step_by(2))?;
        Some(Visit { round: self.round, operation, baseline, states: vec![] })
    }

    /// The trial's own median, less that of its baseline.
    fn median(&self) -> Option<f64> {
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

/// The trials of a point that have observed something.
#[derive(Debug, Clone, PartialEq)]
pub struct Visits {
    /// All that was observed.
    pub all: Vec<Visit>,
    /// Those observations that the estimate is of.
    pub chosen: Vec<Visit>,
    /// Which those are; `None` where the state of the core is not known.
    pub state: Option<CoreState>,
    /// Trials of short work that hold enough of the core alone.
    pub alone: usize,
}

impl Visits {
    /// Chooses what the estimate is of: of short work on one CPU what had the core alone, wherever enough trials hold enough
    /// of it; otherwise all.
    pub fn of(run: &Run, unit: Unit, trials: &[&Trial], levels: Option<&Levels>) -> Self {
        let observed = trials.iter().filter_map(|trial| Some((*trial, trial.sample()?)));
        let observed: Vec<(&Trial, &Sample)> =
            observed.filter(|(_, sample)| !sample.observations.is_empty()).collect();
        let all: Vec<Visit> = observed.iter().map(|seen| Visit::of(run, unit, *seen, levels)).collect();
        if levels.is_none() || observed.iter().all(|(_, sample)| sample.core.is_none()) {
            return Visits { chosen: all.clone(), all, state: None, alone: 0 };
        }
        if !is_short(&observed, run.header.clock.ticks_per_second) {
            return Visits { chosen: all.clone(), all, state: Some(CoreState::AtEnds), alone: 0 };
        }
        let alone: Vec<Visit> = all.iter().filter_map(|visit| visit.only(Occupancy::Alone)).collect();
        let trials = alone.len();
        if trials < MINIMUM_TRIALS {
            return Visits { chosen: all.clone(), all, state: Some(CoreState::Mixed), alone: trials };
        }
        Visits { chosen: alone, all, state: Some(CoreState::Alone), alone: trials }
    }

    /// What was observed while the core was shared, as far as it is enough.
    pub fn shared(&self) -> Vec<Visit> {
        self.all.iter().filter_map(|visit| visit.only(Occupancy::Shared)).collect()
    }

    /// How many observations of the operation were made in a state of the core, over all trials.
    pub fn count(&self, wanted: Occupancy) -> usize {
        self.all.iter().map(|visit| visit.count(wanted)).sum()
    }

    /// What each round has found, of what the estimate is of: the trial's median less that of its baseline.
    pub fn by_round(&self) -> Vec<(u32, f64)> {
        self.chosen.iter().filter_map(|visit| Some((visit.round, visit.median()?))).collect()
    }
}

/// The states of a core last from tens of milliseconds on: what is so much shorter and had the core alone before and after had it
/// alone throughout.
const SHORT_NS: f64 = 1e6;

/// Whether a point's work is short work on one CPU: each observation, a batch or a single operation, is far shorter than a state
/// of the core lasts, whether or not it hands its CPU over or waits within it.
fn is_short(observed: &[(&Trial, &Sample)], ticks_per_second: f64) -> bool {
    observed.iter().all(|(trial, sample)| {
        let Observations::Ticks { operation, .. } = &sample.observations else { return false };
        let elapsed: Vec<f64> = operation.iter().map(|ticks| *ticks as f64).collect();
        let usual_ns = statistics::median(&elapsed).unwrap_or_default() / ticks_per_second * 1e9;
        trial.point.placement() == Placement::OneCpu && usual_ns < SHORT_NS
    })
}
