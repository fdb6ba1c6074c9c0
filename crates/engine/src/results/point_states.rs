//! The states of the machine in which a point was measured: that of the core, and the distance of the two CPUs, with the value at another.

use super::at_usual::AtUsual;
use super::core_state::{CoreState, shared_share};
use super::cpu_distance::{ByDistance, CpuDistance, is_same};
use super::headline::Headline;
use super::known_states::KnownStates;
use super::point_estimate;
use super::visits::Visits;
use crate::record::{PlannedPoint, Run, Trial};
use fathom_core::experiment::{Found, Prediction};
use fathom_core::quantity::{Kind, Unit};
use fathom_core::sampling::Sample;
use fathom_core::statistics::{self, Estimate, Interval, Levels, Occupancy};

/// The state of the core at one point.
#[derive(Debug, Clone, PartialEq)]
pub struct PointCore {
    /// The observations on which the point's estimate is based.
    pub state: CoreState,
    /// The share of the observed time in which the core was shared, mean over trials; `None` if its state was never clear.
    pub shared_share: Option<f64>,
    /// Whether the run saw the core in both states: of one throughout it is not known which that is.
    pub is_told_apart: bool,
    /// The median of all observations made with the core alone, for short work; `None` if there are none, or if a baseline is
    /// subtracted.
    pub alone: Option<f64>,
    /// The same estimate from the observations made while the core was shared, for short work; `None` if there were too few, or
    /// if they do not resolve it from zero.
    pub shared: Option<Estimate>,
    /// The same at whatever frequency the core ran; `None` if the estimate was not moved to the usual one.
    pub shared_as_observed: Option<Estimate>,
    /// The number of observations over all trials with the core alone, shared, and uncertain.
    pub observations: [usize; 3],
}

/// The least number of observations with the core alone that stand for its state, and how many of them there must be for one with it shared:
/// fewer are of a trial or two.
const FEWEST_ALONE: usize = 30;
const LEAST_ALONE: f64 = 0.25;

/// The share of its time from which on a neighbour tells in the value of other work: a core that was shared for less moves a median over
/// trials by less than a fortieth of their ranks.
pub(super) const LEAST_SHARED: f64 = 0.05;

impl PointCore {
    /// The share of the time in which the core of other work was shared, if that may tell in its value; `None` of short work, whose
    /// state is known.
    pub fn whatever_shared(&self) -> Option<f64> {
        self.shared_share.filter(|share| self.state == CoreState::AtEnds && *share >= LEAST_SHARED)
    }

    /// The median of the observations with the core alone, if these are many.
    pub fn alone_of_many(&self) -> Option<f64> {
        let [alone, shared, _] = self.observations;
        let are_many = alone >= FEWEST_ALONE && alone as f64 >= LEAST_ALONE * shared as f64;
        self.alone.filter(|_| are_many)
    }

    /// The value with the core alone, of which this is the estimate, and that with the core shared. Where only one of the two was moved to
    /// the usual frequency of the core, both are `as_observed`.
    pub fn alone_and_shared<'a>(
        &'a self,
        estimate: &'a Estimate,
        as_observed: Option<&'a Estimate>,
    ) -> Option<[&'a Estimate; 2]> {
        let shared = self.shared.as_ref()?;
        Some(match (as_observed, &self.shared_as_observed) {
            (Some(observed), None) => [observed, shared],
            (None, Some(observed)) => [estimate, observed],
            _ => [estimate, shared],
        })
    }

    /// Whether one of the two was moved to the usual frequency of the core, and the other not: both are then `as_observed`, and one is another
    /// value than that which the operation is stated with.
    pub fn is_one_moved(&self, as_observed: Option<&Estimate>) -> bool {
        self.shared.is_some() && as_observed.is_some() != self.shared_as_observed.is_some()
    }

    /// What a neighbour on the core costs an operation of this unit: the time with the core shared over that with the core alone,
    /// for rates the rate alone over that shared; above 1, sharing costs. `None` unless the first is of the core alone.
    pub fn neighbour_cost(&self, unit: Unit, [alone, shared]: [&Estimate; 2]) -> Option<Found> {
        let (alone, shared) = (Found::of(alone, unit), Found::of(shared, unit));
        let ratio = if unit.kind() == Kind::Rate { alone.over(shared) } else { shared.over(alone) };
        (self.state == CoreState::Alone && ratio.value.is_finite()).then_some(ratio)
    }

    /// For the trials of a point; `None` if the state of the core is not known.
    pub fn of(
        run: &Run,
        planned: &PlannedPoint,
        visits: &Visits,
        samples: &[&Sample],
        levels: &Levels,
    ) -> Option<Self> {
        let (state, unit) = (visits.state?, planned.unit);
        let shares: Vec<f64> = samples.iter().filter_map(|sample| shared_share(sample, levels)).collect();
        let (shared, moved) = visits.shared_at_frequency(planned);
        let shared = point_estimate::estimate(run, unit, samples, (&shared, moved.as_ref()));
        Some(PointCore {
            state,
            shared_share: statistics::mean(&shares).map(|mean| mean.value),
            is_told_apart: levels.shared.is_some(),
            alone: visits.median_alone(),
            shared: shared.map(|(estimate, _)| estimate).filter(|shared| is_above_zero(unit, shared)),
            shared_as_observed: moved.and_then(|moved| moved.as_observed),
            observations: [Occupancy::Alone, Occupancy::Shared, Occupancy::Unclear]
                .map(|state| visits.count(state)),
        })
    }
}

/// Whether a time is known to be above zero: a difference that is not has no value.
fn is_above_zero(unit: Unit, estimate: &Estimate) -> bool {
    unit != Unit::Nanoseconds || estimate.interval.is_none_or(|ends| ends.low > 0.0)
}

/// The value of work that waits for the device at the commonest time of a direct read, to which its trials were moved.
#[derive(Debug, Clone, PartialEq)]
pub struct PointAtDevice {
    /// How they were moved.
    pub moved: AtUsual,
    /// The value there.
    pub estimate: Estimate,
}

impl PointAtDevice {
    pub(super) fn of(
        run: &Run,
        planned: &PlannedPoint,
        visits: &Visits,
        samples: &[&Sample],
        states: KnownStates,
    ) -> Option<Self> {
        let mut chosen = visits.chosen.clone();
        let moved = AtUsual::of_device(states.usual_device_ns?, planned, &mut chosen)?;
        let (estimate, _) = point_estimate::estimate(run, planned.unit, samples, (&chosen, Some(&moved)))?;
        Some(PointAtDevice { moved, estimate })
    }
}

/// The distance at which a point's figure was measured, and its value at another.
#[derive(Debug, Clone, PartialEq)]
pub struct PointDistance {
    /// The distance of the figure.
    pub at: CpuDistance,
    /// Whether the CPUs were at others too.
    pub of_several: bool,
    /// The trials at it.
    pub trials: usize,
    /// The other distance with the most trials, its value, and their number; `None` without a trial there.
    pub other: Option<(CpuDistance, Estimate, usize)>,
    /// What is predicted of the value at the other distance, from the figures of the whole run there; `None` where the prediction of the
    /// figure has terms that are not known there.
    pub predicted_there: Option<Prediction>,
    /// The medians of the trials at the figure's distance and at the other one.
    pub medians: [Vec<f64>; 2],
}

impl PointDistance {
    /// The value at a distance; `None` if it was not measured there. `own` is the point's figure.
    pub(crate) fn value_at<'a>(&'a self, line_ns: f64, own: &'a Estimate) -> Option<&'a Estimate> {
        if is_same(self.at.line_ns, line_ns) {
            return Some(own);
        }
        let (at, estimate, _) = self.other.as_ref()?;
        is_same(at.line_ns, line_ns).then_some(estimate)
    }

    /// Whether the figure is of the distance of most of the time.
    pub(super) fn is_usual(&self) -> bool {
        self.at.is_usual
    }

    /// The distances at which it has a value, nanoseconds.
    pub fn lines_ns(&self) -> impl Iterator<Item = f64> {
        std::iter::once(self.at.line_ns).chain(self.other.as_ref().map(|(at, ..)| at.line_ns))
    }

    pub(super) fn of(run: &Run, planned: &PlannedPoint, divided: &ByDistance) -> Self {
        let value = |(at, trials): &(CpuDistance, Vec<&Trial>)| {
            let visits = Visits::of(run, planned, trials, KnownStates::default());
            let headline = Headline::from(run, planned.unit, trials, &visits)?;
            let is_resolved = headline.estimate.value.abs() >= headline.resolution;
            // Of what is not told from zero there is no value, as of what is below the resolution.
            let is_told = |ends: &Interval| ends.low > 0.0 || ends.high < 0.0;
            let is_resolved = is_resolved && headline.estimate.interval.as_ref().is_none_or(is_told);
            is_resolved.then_some((*at, headline.estimate, trials.len()))
        };
        let medians = |trials: &[&Trial]| {
            let visits = Visits::of(run, planned, trials, KnownStates::default());
            visits.by_round().into_iter().map(|(_, median)| median).collect()
        };
        let (at, trials) = &divided.main;
        PointDistance {
            medians: [
                medians(trials),
                divided.other.as_ref().map(|(_, trials)| medians(trials)).unwrap_or_default(),
            ],
            at: *at,
            of_several: divided.of_several,
            trials: trials.len(),
            other: divided.other.as_ref().and_then(value),
            predicted_there: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{PointResult, planted};
    use fathom_core::experiment::CoreUse;

    #[test]
    fn a_neighbours_cost_is_of_values_at_the_usual_frequency_or_as_observed() {
        let at = |value: f64| {
            let interval = Some(Interval { low: 0.99 * value, high: 1.01 * value });
            Estimate { value, interval, level: 0.95, trials: 9, observations: 9, min: None, max: None }
        };
        let cost = |alone_as_observed: Option<f64>, shared_as_observed: Option<f64>| {
            let core = PointCore {
                state: CoreState::Alone,
                shared_share: Some(0.5),
                is_told_apart: true,
                alone: None,
                shared: Some(at(4.5)),
                shared_as_observed: shared_as_observed.map(at),
                observations: [100, 100, 0],
            };
            let (own, observed) = (at(4.5), alone_as_observed.map(at));
            let values = core.alone_and_shared(&own, observed.as_ref()).expect("both are known");
            let is_one_moved = alone_as_observed.is_some() != shared_as_observed.is_some();
            assert_eq!(core.is_one_moved(observed.as_ref()), is_one_moved);
            core.neighbour_cost(Unit::Nanoseconds, values).expect("it is of the core alone").value
        };
        let is = |cost: f64, truth: f64| (cost / truth - 1.0).abs() < 1e-12;
        assert!(
            is(cost(None, None), 1.0) && is(cost(Some(4.0), Some(4.0)), 1.0),
            "both are of one frequency"
        );
        assert!(is(cost(Some(4.0), None), 4.5 / 4.0), "the core shared was not moved");
        assert!(is(cost(None, Some(4.0)), 4.0 / 4.5), "the core alone was not moved");
    }

    /// "1.06 ms, not compared: of another state of the core" beside a fork, in a run that saw one state.
    #[test]
    fn in_a_run_of_one_state_short_work_and_other_work_are_of_no_state() {
        let estimate = statistics::estimate(&vec![vec![10.0; 5]; 5]).expect("five trials");
        let of = |state, is_told_apart| {
            let core = Some(PointCore { is_told_apart, ..planted::core(state) });
            let point = PointResult { core, ..planted::result("a/test", estimate.clone(), None) };
            point.figure().expect("a value").core
        };
        assert_eq!(of(CoreState::Alone, true), Some(CoreUse::Alone));
        assert_eq!(of(CoreState::AtEnds, true), None);
        assert_eq!(of(CoreState::Alone, false), of(CoreState::AtEnds, false));
    }
}
