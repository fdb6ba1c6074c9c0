//! The state of the core at one point.

use super::core_state::{CoreState, shared_share};
use super::point_estimate;
use super::visits::Visits;
use crate::record::{PlannedPoint, Run};
use fathom_core::experiment::Found;
use fathom_core::quantity::{Kind, Unit};
use fathom_core::sampling::Sample;
use fathom_core::statistics::{self, Estimate, Levels, Occupancy};

/// The state of the core at one point.
#[derive(Debug, Clone, PartialEq)]
pub struct PointCore {
    /// The observations on which the point's estimate is based.
    pub state: CoreState,
    /// The share of the observed time in which the core was shared, mean over trials; `None` if its state was never clear.
    pub shared_share: Option<f64>,
    /// The median of all observations made with the core alone, for short work; `None` if there are none, or if a baseline is
    /// subtracted.
    pub alone: Option<f64>,
    /// The same estimate from the observations made while the core was shared, for short work; `None` if there were too few, or
    /// if they do not resolve it from zero.
    pub shared: Option<Estimate>,
    /// The number of observations over all trials with the core alone, shared, and uncertain.
    pub observations: [usize; 3],
}

impl PointCore {
    /// What a neighbour on the core costs an operation of this unit: the time with the core shared over that with the core alone,
    /// for rates the rate alone over that shared; above 1, sharing costs. `None` unless `estimate` is of the core alone.
    pub fn neighbour_cost(&self, unit: Unit, estimate: &Estimate) -> Option<Found> {
        let (alone, shared) = (Found::of(estimate, unit), Found::of(self.shared.as_ref()?, unit));
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
            alone: visits.median_alone(),
            shared: shared.map(|(estimate, _)| estimate).filter(|shared| is_above_zero(unit, shared)),
            observations: [Occupancy::Alone, Occupancy::Shared, Occupancy::Unclear]
                .map(|state| visits.count(state)),
        })
    }
}

/// Whether a time is known to be above zero: a difference that is not has no value.
fn is_above_zero(unit: Unit, estimate: &Estimate) -> bool {
    unit != Unit::Nanoseconds || estimate.interval.is_none_or(|ends| ends.low > 0.0)
}
