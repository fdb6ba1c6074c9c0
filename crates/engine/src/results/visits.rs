//! The observations of a point's trials, sorted by the state of the core during each.

use super::core_state::{CoreState, states};
use crate::record::{Run, Trial};
use fathom_core::experiment::Placement;
use fathom_core::quantity::Unit;
use fathom_core::sampling::{Observations, Sample};
use fathom_core::statistics::{self, Levels, MINIMUM_TRIALS, Occupancy};

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
    /// The state of the core from one reading to the next; empty if it was not read next to every observation.
    states: Vec<Occupancy>,
}

impl Visit {
    pub(super) fn of(
        run: &Run,
        unit: Unit,
        (trial, sample): (&Trial, &Sample),
        levels: Option<&Levels>,
    ) -> Self {
        let hz = run.header.clock.ticks_per_second;
        Visit {
            round: trial.round,
            operation: sample.observations.operation(unit, hz),
            baseline: sample.observations.baseline(hz),
            core_hz: sample.conditions.core_hz(),
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

    fn operation_states(&self) -> impl Iterator<Item = &Occupancy> {
        self.states.iter().step_by(if self.baseline.is_empty() { 1 } else { 2 })
    }

    /// The observations made in one state of the core, both of the operation and of its baseline; `None` if they are too
    /// few: fewer than it takes for the extremes to enclose their own median, unless they are all. Every trial has the same
    /// weight, and one with such an uncertain median would only add noise.
    fn only(&self, state: Occupancy) -> Option<Visit> {
        let select = |all: &[f64], states: &mut dyn Iterator<Item = &Occupancy>| {
            let mine = all.iter().zip(states).filter(|(_, each)| **each == state);
            let mine: Vec<f64> = mine.map(|(value, _)| *value).collect();
            (mine.len() >= statistics::minimum_sample(0.5).min(all.len())).then_some(mine)
        };
        let operation = select(&self.operation, &mut self.operation_states())?;
        let baseline = select(&self.baseline, &mut self.states.iter().skip(1).step_by(2))?;
        Some(Visit { round: self.round, operation, baseline, core_hz: self.core_hz, states: vec![] })
    }

    /// The same with times in cycles of the core at the trial's frequency.
    pub(super) fn in_cycles(&self) -> Option<Visit> {
        let cycles_per_ns = self.core_hz? / 1e9;
        let scaled = |times: &[f64]| times.iter().map(|time| time * cycles_per_ns).collect();
        Some(Visit { operation: scaled(&self.operation), baseline: scaled(&self.baseline), ..self.clone() })
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

/// The trials of a point with enough observations of the core in one state; a trial may count for both.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CoreTrials {
    /// With the core alone.
    pub alone: usize,
    /// With the core shared.
    pub shared: usize,
}

/// The trials of a point that observed something.
#[derive(Debug, Clone, PartialEq)]
pub struct Visits {
    /// All observations.
    pub all: Vec<Visit>,
    /// The observations on which the estimate is based.
    pub chosen: Vec<Visit>,
    /// The kind of these observations; `None` if the state of the core is not known.
    pub state: Option<CoreState>,
    /// The number of trials of short work by the state of the core; `None` for other work, and if the states are unknown.
    pub core_trials: Option<CoreTrials>,
    /// The observations made while the core was shared, of trials of short work with enough of them.
    pub shared: Vec<Visit>,
}

impl Visits {
    /// Chooses the observations for the estimate: for short work those made with the core alone, or both cores of work between two, or else those made
    /// with the core shared, if enough trials have enough of them; otherwise all.
    pub fn of(run: &Run, unit: Unit, trials: &[&Trial], levels: Option<&Levels>) -> Self {
        let observed = trials.iter().filter_map(|trial| Some((*trial, trial.sample()?)));
        let observed: Vec<(&Trial, &Sample)> =
            observed.filter(|(_, sample)| !sample.observations.is_empty()).collect();
        let visit = |trial: &(&Trial, &Sample)| Visit::of(run, unit, *trial, levels);
        let all: Vec<Visit> = observed.iter().map(visit).collect();
        let whole = |all: Vec<Visit>, state| Visits {
            chosen: all.clone(),
            all,
            state,
            core_trials: None,
            shared: vec![],
        };
        if levels.is_none() || observed.iter().all(|(_, sample)| sample.core.is_none()) {
            return whole(all, None);
        }
        if !is_short(&observed, run.header.clock.ticks_per_second) {
            return whole(all, Some(CoreState::AtEnds));
        }
        let all = with_known_states(all, &observed);
        let only = |state| -> Vec<Visit> { all.iter().filter_map(|visit| visit.only(state)).collect() };
        let (alone, shared) = (only(Occupancy::Alone), only(Occupancy::Shared));
        let core_trials = Some(CoreTrials { alone: alone.len(), shared: shared.len() });
        let (chosen, state) = if alone.len() >= MINIMUM_TRIALS {
            (alone, CoreState::Alone)
        } else if shared.len() >= MINIMUM_TRIALS {
            (shared.clone(), CoreState::Shared)
        } else {
            (all.clone(), CoreState::Mixed)
        };
        Visits { all, chosen, state: Some(state), core_trials, shared }
    }

    /// The median of all observations made with the core alone; `None` if a baseline has to be subtracted.
    pub fn median_alone(&self) -> Option<f64> {
        let observed = self.all.iter().filter(|visit| visit.baseline.is_empty()).flat_map(|visit| {
            let states = visit.operation_states();
            visit.operation.iter().zip(states).filter(|(_, state)| **state == Occupancy::Alone)
        });
        statistics::median(&observed.map(|(value, _)| *value).collect::<Vec<_>>())
    }

    /// The number of observations of the operation in a state of the core, over all trials.
    pub fn count(&self, state: Occupancy) -> usize {
        self.all.iter().map(|visit| visit.count(state)).sum()
    }

    /// The result of each round, from the chosen observations: the trial's median less that of its baseline.
    pub fn by_round(&self) -> Vec<(u32, f64)> {
        self.chosen.iter().filter_map(|visit| Some((visit.round, visit.median()?))).collect()
    }
}

/// Whether the other side read its core in a trial.
fn has_partner(sample: &Sample) -> bool {
    sample.core.as_ref().is_some_and(|core| !core.partner.is_empty())
}

/// The visits of short work; of work between two cores, a trial in which only one was read is in no known state.
fn with_known_states(mut visits: Vec<Visit>, observed: &[(&Trial, &Sample)]) -> Vec<Visit> {
    let is_between_two = observed.iter().any(|(_, sample)| has_partner(sample));
    for (visit, (_, sample)) in visits.iter_mut().zip(observed) {
        if is_between_two && !has_partner(sample) {
            visit.states.clear();
        }
    }
    visits
}

/// Durations that count as short, nanoseconds. The states of a core last tens of milliseconds or more: work that is much
/// shorter and had the core alone before and after it had it alone throughout.
const SHORT_NS: f64 = 1e6;

/// Whether a point's work is short and its cores were read, those of both sides of work between two: each observation, a batch or a single operation, is far shorter than a
/// state of the core lasts, whether or not it hands over its CPU or waits.
fn is_short(observed: &[(&Trial, &Sample)], ticks_per_second: f64) -> bool {
    let is_between_two = observed.iter().any(|(_, sample)| has_partner(sample));
    observed.iter().all(|(trial, sample)| {
        let elapsed: Vec<f64> = match (&sample.observations, &sample.core) {
            (Observations::Ticks { operation, .. }, _) => {
                operation.iter().map(|ticks| *ticks as f64).collect()
            }
            (Observations::Values { values }, Some(core)) if core.at.len() == values.len() + 1 => {
                core.at.windows(2).map(|pair| pair[1].saturating_sub(pair[0]) as f64).collect()
            }
            _ => return false,
        };
        let usual_ns = statistics::median(&elapsed).unwrap_or_default() / ticks_per_second * 1e9;
        (is_between_two || trial.point.placement() == Placement::OneCpu) && usual_ns < SHORT_NS
    })
}
