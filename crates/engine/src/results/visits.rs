//! The observations of a point's trials, sorted by the state of the core during each, at one frequency of it.

use super::at_usual::AtUsual;
use super::core_state::CoreState;
use super::known_states::KnownStates;
use super::point_estimate;
use super::visit::{Visit, by_round};
use crate::record::{PlannedPoint, Run, Trial};
use fathom_core::experiment::Placement;
use fathom_core::quantity::Unit;
use fathom_core::sampling::{Observations, Sample};
use fathom_core::statistics::{self, Levels, MINIMUM_TRIALS, Occupancy};

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
    /// The observations as they were made while the core was shared, of trials of short work with enough of them.
    pub shared: Vec<Visit>,
    /// How the chosen observations were moved to the usual frequency of the core; `None` if they stay as they were observed.
    pub at_frequency: Option<AtUsual>,
    /// The usual frequency of the core, hertz, if it applies to these observations.
    usual_hz: Option<f64>,
}

impl Visits {
    /// Chooses the observations for the estimate: for short work those made with the core alone, or both cores of work between two, or else those made
    /// with the core shared, if enough trials have enough of them; otherwise all. Those of short work are moved to the usual frequency
    /// of the core where they follow it.
    pub fn of(run: &Run, planned: &PlannedPoint, trials: &[&Trial], states: KnownStates) -> Self {
        let observed = trials.iter().filter_map(|trial| Some((*trial, trial.sample()?)));
        let observed: Vec<(&Trial, &Sample)> =
            observed.filter(|(_, sample)| !sample.observations.is_empty()).collect();
        let is_short = is_short(&observed, run.header.clock.ticks_per_second);
        let mut visits = Visits::sorted(run, planned.unit, &observed, states.core, is_short);
        let is_of_one_state = visits.state != Some(CoreState::Mixed);
        if let Some(usual_hz) = states.usual_hz.filter(|_| is_short && is_of_one_state) {
            let samples: Vec<&Sample> = observed.iter().map(|(_, sample)| *sample).collect();
            if !point_estimate::has_long_steps(run, planned.unit, &samples, &visits.chosen) {
                visits.usual_hz = Some(usual_hz);
                // Another hardware thread lengthens the chain too, by its own kind of work: what is known of a cost in cycles of the
                // chain is known of a core alone.
                let method = planned.method().ok().filter(|_| visits.state != Some(CoreState::Shared));
                let by_kind =
                    method.and_then(|method| method.core_share(&planned.point, &run.header.machine));
                visits.at_frequency = AtUsual::of_frequency(usual_hz, by_kind, planned, &mut visits.chosen);
            }
        }
        visits
    }

    /// The observations made while the core was shared, at the usual frequency as those of the estimate, and how they were moved.
    pub(super) fn shared_at_frequency(&self, planned: &PlannedPoint) -> (Vec<Visit>, Option<AtUsual>) {
        let mut shared = self.shared.clone();
        let moved = self.usual_hz.and_then(|hz| AtUsual::of_frequency(hz, None, planned, &mut shared));
        (shared, moved)
    }

    fn sorted(
        run: &Run,
        unit: Unit,
        observed: &[(&Trial, &Sample)],
        levels: Option<&Levels>,
        is_short: bool,
    ) -> Self {
        let visit = |trial: &(&Trial, &Sample)| Visit::of(run, unit, *trial, levels);
        let all: Vec<Visit> = observed.iter().map(visit).collect();
        let whole = |all: Vec<Visit>, state| Visits {
            chosen: all.clone(),
            all,
            state,
            core_trials: None,
            shared: vec![],
            at_frequency: None,
            usual_hz: None,
        };
        if levels.is_none() || observed.iter().all(|(_, sample)| sample.core.is_none()) {
            return whole(all, None);
        }
        if !is_short {
            return whole(all, Some(CoreState::AtEnds));
        }
        let all = with_known_states(all, observed);
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
        let unmoved = whole(all, Some(state));
        Visits { chosen, core_trials, shared, ..unmoved }
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
        by_round(&self.chosen)
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
