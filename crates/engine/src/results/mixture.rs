//! Points of two states: what their trials, or their observations, are medians of. The median over all of them may be of neither
//! state, so reports print the value of each.
//!
//! The shape of the distribution of observations shows several modes, if they differ enough to matter.

use super::visits::Visits;
use fathom_core::sorting;
use fathom_core::statistics::{self, Interval, MINIMUM_TRIALS, Measured, Mode};

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
    /// The 95 % interval of the value over these trials; `None` of fewer than four.
    pub interval: Option<Interval>,
}

/// A state of the machine: its value, and how much of the measurement was in it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MachineState {
    /// Its value, in the point's unit.
    pub value: f64,
    /// The 95 % interval of the value, where enough trials were in it.
    pub interval: Option<Interval>,
    /// How much was in it.
    pub part: StatePart,
}

/// How much of a point's measurement was in a state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StatePart {
    /// This many trials of all.
    Trials(usize, usize),
    /// This share of the observations.
    Observations(f64),
}

/// The share of the observations from which a state lasts: a smaller one is of what disturbed them.
const LASTING: f64 = 0.1;

impl MachineState {
    /// Whether the machine was in it for long: for some trials, or for a tenth of the observations.
    fn lasts(&self) -> bool {
        match self.part {
            StatePart::Trials(..) => true,
            StatePart::Observations(share) => share >= LASTING,
        }
    }

    /// Its value with its interval.
    pub fn measured(self) -> Measured {
        Measured { value: self.value, interval: self.interval }
    }
}

impl StatePart {
    /// As a share of the whole, 0 to 1.
    pub fn share(self) -> f64 {
        match self {
            StatePart::Trials(part, all) => part as f64 / all as f64,
            StatePart::Observations(share) => share,
        }
    }
}

impl Mixture {
    /// The states of a point with this median over its trials, of which the clock allows this error; `None` if it shows one.
    pub(super) fn of(
        median: Measured,
        visits: &Visits,
        modes: &[Mode],
        clock_error: impl Fn(f64) -> f64,
    ) -> Option<Self> {
        let trials = visits.chosen.iter().filter_map(|visit| Some((visit.median()?, visit.less_baseline())));
        let is_difference = visits.chosen.iter().any(|visit| !visit.baseline.is_empty());
        of_trials(trials.collect(), clock_error).map(Mixture::OfTrials).or_else(|| {
            let trials: Vec<&[f64]> = visits.chosen.iter().map(|visit| visit.operation.as_slice()).collect();
            let is_of_none = || {
                is_between(median.value, &trials, modes)
                    || differs_from_all(median, modes)
                    || is_beside_most(median.value, modes)
            };
            let has_nothing = modes
                .first()
                .zip(modes.last())
                .is_some_and(|(first, last)| is_nothing(first.centre, last.centre));
            (!is_difference && !has_nothing && is_of_none()).then(|| Mixture::OfObservations(modes.to_vec()))
        })
    }

    /// The states, that with the most first; of two with as many, the lower.
    pub fn states(&self) -> Vec<MachineState> {
        let mut states: Vec<MachineState> = match self {
            Mixture::OfTrials(states) => {
                let all = states.iter().map(|state| state.trials).sum();
                let of = |state: &TrialState| MachineState {
                    value: state.value,
                    interval: state.interval,
                    part: StatePart::Trials(state.trials, all),
                };
                states.iter().map(of).collect()
            }
            Mixture::OfObservations(modes) => {
                let of = |mode: &Mode| MachineState {
                    value: mode.centre,
                    interval: None,
                    part: StatePart::Observations(mode.share),
                };
                modes.iter().map(of).collect()
            }
        };
        sorting::by_number(&mut states, |state| -state.part.share());
        states
    }

    /// The value of each state, in the same order.
    pub fn values(&self) -> Vec<f64> {
        self.states().into_iter().map(|state| state.value).collect()
    }

    /// The values of the states that last, in the same order; of all where none does.
    pub(super) fn lasting(&self) -> Vec<f64> {
        let states = self.states();
        let lasts = states.iter().any(MachineState::lasts);
        states.into_iter().filter(|state| !lasts || state.lasts()).map(|state| state.value).collect()
    }

    /// The value of the state with the most.
    pub fn leading(&self) -> Option<f64> {
        self.values().first().copied()
    }
}

/// The share of a greater value below which one is what rounding leaves of no time.
const NOTHING: f64 = 1e-6;

/// Whether a value is none beside another: an access that took no longer than the reading of the clock has no state of its own.
fn is_nothing(value: f64, beside: f64) -> bool {
    value <= NOTHING * beside
}

/// The two states of trials, each given by its median and its observations; `None` if they are of one, or no further apart than the clock's
/// readings, whose steps show two values of one that lies between them.
fn of_trials(mut trials: Vec<(f64, Vec<f64>)>, clock_error: impl Fn(f64) -> f64) -> Option<[TrialState; 2]> {
    sorting::by_number(&mut trials, |(median, _)| *median);
    let medians: Vec<f64> = trials.iter().map(|(median, _)| *median).collect();
    let (lower, higher) = trials.split_at(statistics::two_groups(&medians)?);
    let states = [state(lower, &clock_error)?, state(higher, &clock_error)?];
    let [below, above] = states.map(|state| (state.value, clock_error(state.value)));
    (!is_nothing(below.0, above.0) && below.0 + below.1 < above.0 - above.1).then_some(states)
}

fn state(trials: &[(f64, Vec<f64>)], clock_error: impl Fn(f64) -> f64) -> Option<TrialState> {
    let value = statistics::median(&trials.iter().map(|(median, _)| *median).collect::<Vec<_>>())?;
    let observations: Vec<&[f64]> = trials.iter().map(|(_, observations)| observations.as_slice()).collect();
    let interval = statistics::estimate_in_proportion(&observations).and_then(|estimate| estimate.interval);
    let around = |ends: Interval| Interval {
        low: ends.low.min(value) - clock_error(value),
        high: ends.high.max(value) + clock_error(value),
    };
    // Of trials that differ as much as they are long it would reach below zero, and says nothing.
    let interval = interval.map(around).filter(|ends| ends.low > 0.0);
    Some(TrialState { value, trials: trials.len(), interval })
}

/// How near an observation is to be counted with a value.
pub(super) const NEAR: f64 = 1.05;

/// The observations near a median of no mode are fewer than this share of those near either mode next to it: two hills are told apart where
/// the valley between them is less than half as high as the lower one.
const FEW: f64 = 0.5;

/// Whether a median lies between modes, where few observations are: of all trials, or, where those that are left are enough for an interval and no mode is at the
/// median, of all but the one with the most of them. What one trial alone has there is no level of the others, and fills no valley of theirs.
fn is_between(median: f64, trials: &[&[f64]], modes: &[Mode]) -> bool {
    let near = |value: f64| {
        let count = |trial: &&[f64]| {
            trial.iter().filter(|seen| (value / NEAR..=value * NEAR).contains(*seen)).count() as f64
        };
        trials.iter().map(count).collect::<Vec<f64>>()
    };
    let centres = || modes.iter().map(|mode| mode.centre);
    // A third mode further away, of which there may be few observations, says nothing of the place of the median.
    let below = centres().filter(|centre| *centre < median).reduce(f64::max);
    let above = centres().filter(|centre| *centre > median).reduce(f64::min);
    let Some(sides) = below.zip(above).map(|(below, above)| [near(below), near(above)]) else { return false };
    let valley = near(median);
    let is_valley_without = |left_out: Option<usize>| {
        let sum = |of: &[f64]| {
            of.iter()
                .enumerate()
                .filter(|(place, _)| Some(*place) != left_out)
                .map(|(_, count)| count)
                .sum::<f64>()
        };
        sum(&valley) < FEW * sum(&sides[0]).min(sum(&sides[1]))
    };
    let most = (0..trials.len()).max_by(|one, other| valley[*one].total_cmp(&valley[*other]));
    let is_at_a_mode = centres().any(|centre| (median / NEAR..=median * NEAR).contains(&centre));
    let is_enough = trials.len() > MINIMUM_TRIALS;
    is_valley_without(None) || is_enough && !is_at_a_mode && is_valley_without(most)
}

/// Whether a median between two modes is for certain that of none: its interval reaches neither, and it is not near one.
fn differs_from_all(median: Measured, modes: &[Mode]) -> bool {
    let Some(ends) = median.interval else { return false };
    let centres = || modes.iter().map(|mode| mode.centre);
    let is_like =
        |centre: f64| ends.contains(centre) || (median.value / NEAR..=median.value * NEAR).contains(&centre);
    centres().any(|centre| centre < median.value)
        && centres().any(|centre| centre > median.value)
        && !centres().any(is_like)
}

/// Whether most observations are in modes on one side of the mode to which a median is nearest: theirs is there, and that over the medians of
/// trials is of trials that have few of them.
fn is_beside_most(median: f64, modes: &[Mode]) -> bool {
    let apart = |mode: &Mode| (mode.centre / median).ln().abs();
    let nearest = (0..modes.len()).min_by(|one, other| apart(&modes[*one]).total_cmp(&apart(&modes[*other])));
    let share = |modes: &[Mode]| modes.iter().map(|mode| mode.share).sum::<f64>();
    let is_above_zero = median > 0.0 && modes.iter().all(|mode| mode.centre > 0.0);
    nearest
        .filter(|_| is_above_zero)
        .is_some_and(|nearest| share(&modes[..nearest]).max(share(&modes[nearest + 1..])) > MOST)
}

/// More than this share of the observations are most of them.
const MOST: f64 = 0.5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_of_two_states_are_counted_with_the_value_of_each() {
        let trials = |medians: &[f64]| {
            of_trials(
                medians.iter().map(|median| (*median, vec![*median, median * 1.01, median * 0.99])).collect(),
                |_| 0.0,
            )
        };
        let [lower, higher] = trials(&[35.0, 4.0, 4.2, 34.0, 4.1, 36.0, 4.1]).expect("two states");
        assert_eq!((lower.value, lower.trials, higher.value, higher.trials), (4.1, 4, 35.0, 3));
        let ends = lower.interval.expect("four trials have an interval");
        assert!(3.5 < ends.low && ends.low < 4.1 && 4.1 < ends.high && ends.high < 4.7, "{ends:?}");
        assert_eq!(higher.interval, None, "three trials have none");
        assert_eq!(trials(&[4.0, 4.1, 4.2, 4.0, 4.1, 4.2]), None);
    }

    /// "20.0 ns (−38.9 to 304.5)" in 4 of 6 trials, and "< 0.0001 ns" in the others.
    #[test]
    fn no_time_is_no_state_and_an_interval_does_not_reach_below_zero() {
        let trials = |values: &[f64]| {
            of_trials(values.iter().map(|value| (*value, vec![*value; 5])).collect(), |_| 0.0)
        };
        assert_eq!(trials(&[1e-9, 2e-9, 19.0, 20.0, 21.0, 22.0]), None);
        let own: Vec<(f64, Vec<f64>)> = [1e-9, 20.0, 20.0, 300.0].map(|value| (value, vec![value; 5])).into();
        assert_eq!(state(&own, |_| 1.0).map(|state| (state.value, state.interval)), Some((20.0, None)));
        assert!(is_nothing(-1e-9, 5.0) && !is_nothing(0.01, 5.0));
    }

    #[test]
    fn a_state_is_known_no_better_than_the_clock_allows() {
        let trials = |values: [f64; 8]| {
            of_trials(values.iter().map(|value| (*value, vec![*value; 5])).collect(), |_| 5.0)
        };
        let [_, higher] = trials([10.0, 10.0, 10.0, 10.0, 40.0, 40.0, 40.0, 40.0]).expect("two states");
        let ends = higher.interval.expect("four trials have an interval");
        assert!(ends.low <= 35.0 && ends.high >= 45.0, "{ends:?}");
        assert_eq!(trials([30.0, 30.0, 30.0, 30.0, 40.0, 40.0, 40.0, 40.0]), None, "neighbouring steps");
    }

    #[test]
    fn the_state_with_the_most_leads() {
        let state = |value, trials| TrialState { value, trials, interval: None };
        let mixture = Mixture::OfTrials([state(4.1, 2), state(35.0, 4)]);
        assert_eq!(mixture.values(), [35.0, 4.1]);
        assert_eq!(mixture.states()[0].part, StatePart::Trials(4, 6));
        let mode = |centre, share| Mode { centre, share };
        assert_eq!(Mixture::OfObservations(vec![mode(4.0, 0.5), mode(9.0, 0.5)]).leading(), Some(4.0));
    }

    #[test]
    fn a_median_between_two_modes_is_of_neither_and_one_in_a_mode_is() {
        let modes = [Mode { centre: 4.0, share: 0.5 }, Mode { centre: 35.0, share: 0.5 }];
        let observations: Vec<f64> = [4.0, 35.0].repeat(50);
        assert!(is_between(19.5, &[&observations], &modes));
        // Trials count the same, however many observations each has: so the median may lie beyond the modes of all.
        assert!(!is_between(50.0, &[&observations], &modes) && !is_between(1.0, &[&observations], &modes));
        assert!(
            !is_between(4.1, &[&observations], &modes) && !is_between(19.5, &[&observations], &modes[..1])
        );
    }

    /// Gaps of 0.29, 1.99 and 26.2 µs on one CPU of one run had a median of 17.7 µs (3.2 to 25.4).
    #[test]
    fn a_median_whose_interval_reaches_the_value_of_no_mode_is_of_none() {
        let modes = [(288.0, 0.17), (1985.0, 0.34), (26211.0, 0.4)];
        let modes = modes.map(|(centre, share)| Mode { centre, share });
        let of = |value, low, high| {
            differs_from_all(Measured { value, interval: Some(Interval { low, high }) }, &modes)
        };
        assert!(of(17674.0, 3226.0, 25361.0));
        assert!(!of(17674.0, 3226.0, 26361.0), "it may be that of the third");
        assert!(!of(2050.0, 2010.0, 2080.0), "it is near the second");
        assert!(!of(30000.0, 28000.0, 32000.0), "it is beyond all of them: trials count the same");
        assert!(!differs_from_all(Measured { value: 17674.0, interval: None }, &modes));
    }

    /// Of 307 writes that were kept on the device 17 took about the median of 85.5 µs, between two levels.
    #[test]
    fn a_median_in_a_valley_is_of_neither_hill_however_few_are_further_away() {
        let modes = |third: Option<f64>| -> Vec<Mode> {
            let centres = [Some(73.2), Some(105.0), third].into_iter().flatten();
            centres.map(|centre| Mode { centre, share: 0.3 }).collect()
        };
        let seen =
            |valley: usize| [vec![73.2; 132], vec![85.5; valley], vec![105.0; 62], vec![900.0; 3]].concat();
        assert!(is_between(85.5, &[&seen(17)], &modes(None)));
        assert!(is_between(85.5, &[&seen(17)], &modes(Some(900.0))), "three observations far away");
        assert!(!is_between(85.5, &[&seen(40)], &modes(None)), "no valley");
    }

    /// Of eight trials seven had their round trips at 22.7 and 36.2 us, and one at 25 us: the median over all of them was that of the one.
    #[test]
    fn what_one_trial_alone_has_fills_no_valley_of_the_others() {
        let modes = [Mode { centre: 22.7, share: 0.43 }, Mode { centre: 36.2, share: 0.42 }];
        let usual = [vec![22.7; 120], vec![25.0; 20], vec![36.2; 130]].concat();
        let other = [vec![22.7; 24], vec![25.0; 338], vec![36.2; 42]].concat();
        let of = |others: usize| -> Vec<&[f64]> {
            (0..8).map(|place| if place < others { other.as_slice() } else { usual.as_slice() }).collect()
        };
        assert!(is_between(25.0, &of(0), &modes) && is_between(25.0, &of(1), &modes));
        assert!(!is_between(25.0, &of(3), &modes), "of three trials it is a level");
        let with_its_own = [modes[0], Mode { centre: 25.2, share: 0.14 }, modes[1]];
        assert!(!is_between(25.0, &of(1), &with_its_own), "a mode is there");
        assert!(!is_between(25.0, &of(1)[..4], &modes), "three trials are not enough");
    }

    /// A thread's first instruction took 9.55 µs in 54 % of its observations, and 13.5 µs in the median over trials.
    #[test]
    fn a_median_beside_most_observations_is_of_none() {
        let modes = |shares: [f64; 3]| {
            let of = |(centre, share)| Mode { centre, share };
            [9.55, 13.9, 24.5].into_iter().zip(shares).map(of).collect::<Vec<Mode>>()
        };
        assert!(is_beside_most(13.5, &modes([0.541, 0.218, 0.24])));
        assert!(is_beside_most(13.5, &modes([0.24, 0.218, 0.541])));
        assert!(!is_beside_most(13.5, &modes([0.41, 0.35, 0.24])), "half of them are in none beside it");
        assert!(!is_beside_most(9.6, &modes([0.541, 0.218, 0.24])), "it is of most of them");
        assert!(!is_beside_most(-1.0, &modes([0.541, 0.218, 0.24])) && !is_beside_most(1.0, &[]));
    }
}
