//! Points of two states: what their trials, or their observations, are medians of. The median over all of them may be of neither
//! state, so reports print the value of each.

use super::outcome::Outcome;
use super::visits::Visits;
use fathom_core::sorting;
use fathom_core::statistics::{self, Mode};

/// The values of a machine in several states.
#[derive(Debug, Clone, PartialEq)]
pub enum Mixture {
    /// Each trial was in one of two states: the lower and the higher.
    OfTrials([TrialState; 2]),
    /// The observations of a trial were in several states, and the median is of none.
    OfObservations(Vec<Mode>),
}

/// A state of some trials.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrialState {
    /// The median of the medians of its trials, in the point's unit.
    pub value: f64,
    /// The number of its trials.
    pub trials: usize,
}

impl Mixture {
    /// The states of a point with a value; `None` if it shows one.
    pub(super) fn of(
        outcome: &Outcome,
        visits: &Visits,
        observations: &[f64],
        modes: &[Mode],
    ) -> Option<Self> {
        let median = outcome.estimate()?.value;
        let trials = visits.by_round().into_iter().map(|(_, median)| median).collect();
        let is_difference = visits.chosen.iter().any(|visit| !visit.baseline.is_empty());
        of_trials(trials).map(Mixture::OfTrials).or_else(|| {
            let is_of_none = !is_difference && is_between(median, observations, modes);
            is_of_none.then(|| Mixture::OfObservations(modes.to_vec()))
        })
    }

    /// The value of each state, ascending.
    pub fn values(&self) -> Vec<f64> {
        match self {
            Mixture::OfTrials(states) => states.iter().map(|state| state.value).collect(),
            Mixture::OfObservations(modes) => modes.iter().map(|mode| mode.centre).collect(),
        }
    }
}

fn of_trials(mut trials: Vec<f64>) -> Option<[TrialState; 2]> {
    sorting::numbers(&mut trials);
    let (lower, higher) = trials.split_at(statistics::two_groups(&trials)?);
    let state = |of: &[f64]| Some(TrialState { value: statistics::median(of)?, trials: of.len() });
    Some([state(lower)?, state(higher)?])
}

/// How near an observation is to be counted with a value.
const NEAR: f64 = 1.05;

/// The observations near a median of no mode are fewer than this share of those near each mode.
const FEW: f64 = 0.2;

/// Whether a median lies between modes, where few observations are.
fn is_between(median: f64, observations: &[f64], modes: &[Mode]) -> bool {
    let near = |value: f64| {
        observations.iter().filter(|seen| (value / NEAR..=value * NEAR).contains(*seen)).count() as f64
    };
    modes.len() > 1 && modes.iter().all(|mode| near(median) < FEW * near(mode.centre))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_of_two_states_are_counted_with_the_value_of_each() {
        let states = of_trials(vec![35.0, 4.0, 4.2, 34.0, 4.1, 36.0]).expect("two states");
        assert_eq!(states.map(|state| (state.value, state.trials)), [(4.1, 3), (35.0, 3)]);
        assert_eq!(of_trials(vec![4.0, 4.1, 4.2, 4.0, 4.1, 4.2]), None);
    }

    #[test]
    fn a_median_between_two_modes_is_of_neither_and_one_in_a_mode_is() {
        let modes = [Mode { centre: 4.0, share: 0.5 }, Mode { centre: 35.0, share: 0.5 }];
        let observations: Vec<f64> = [4.0, 35.0].repeat(50);
        assert!(is_between(19.5, &observations, &modes));
        assert!(!is_between(4.1, &observations, &modes) && !is_between(19.5, &observations, &modes[..1]));
    }
}
