//! The mean over whatever happened, as tools report that know no states: with the core alone and shared, interruptions included.

use super::core_state::CoreShared;
use super::visits::Visit;
use crate::record::{Run, Trial};
use fathom_core::quantity::{Kind, Unit};
use fathom_core::statistics::{self, Measured, Occupancy};

/// The mean of all observations of a point's trials, in the point's unit; of a rate, all work over all time. Trials are made when
/// the core is as they want it, so where both states were observed each is weighted by its share of the time. `None` without
/// observations.
pub fn mean_over_time(
    run: &Run,
    unit: Unit,
    trials: &[&Trial],
    core: Option<&CoreShared>,
) -> Option<Measured> {
    let levels = core.map(|core| &core.levels);
    let visit = |trial: &&Trial| Some(Visit::of(run, unit, (trial, trial.sample()?), levels));
    let visits: Vec<Visit> = trials.iter().filter_map(visit).collect();
    let of_both = core.and_then(|core| {
        let [alone, shared] = [Occupancy::Alone, Occupancy::Shared]
            .map(|state| over_trials(unit, visits.iter().map(|visit| visit.in_state(state))));
        Some(weighted(alone?, shared?, core.share))
    });
    let all = || over_trials(unit, visits.iter().map(|visit| visit.operation.clone()));
    let mean = of_both.or_else(all)?;
    Some(if unit.kind() == Kind::Rate { inverse(mean) } else { mean })
}

/// The mean over trials, of two at least, of their mean costs; of a rate, the time of one byte.
fn over_trials(unit: Unit, observed: impl Iterator<Item = Vec<f64>>) -> Option<Measured> {
    let cost = |value: &f64| if unit.kind() == Kind::Rate { 1.0 / value } else { *value };
    let mean_cost = |values: Vec<f64>| statistics::mean(&values.iter().map(cost).collect::<Vec<_>>());
    let means: Vec<f64> = observed.filter_map(mean_cost).map(|mean| mean.value).collect();
    let mean = statistics::mean(&means)?;
    mean.interval.map(|interval| Measured { value: mean.value, interval: Some(interval) })
}

fn weighted(alone: Measured, shared: Measured, share: f64) -> Measured {
    alone.scaled(1.0 - share).plus(shared.scaled(share))
}

fn inverse(mean: Measured) -> Measured {
    Measured::exact(1.0).over(mean)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::statistics::Interval;

    fn measured(value: f64, off: f64) -> Measured {
        Measured { value, interval: Some(Interval { low: value - off, high: value + off }) }
    }

    #[test]
    fn states_count_by_their_share_of_the_time() {
        let mean = weighted(measured(100.0, 3.0), measured(200.0, 4.0), 0.25);
        assert!((mean.value - 125.0).abs() < 1e-9, "{mean:?}");
        let below = mean.value - mean.interval.unwrap().low;
        assert!((below - 2.25_f64.hypot(1.0)).abs() < 1e-9, "{below}");
    }

    #[test]
    fn a_mean_rate_is_all_work_over_all_time() {
        let times = over_trials(Unit::BytesPerSecond, [vec![1.0], vec![1.0 / 3.0]].into_iter()).unwrap();
        assert!((inverse(times).value - 0.5).abs() < 1e-12);
        assert_eq!(
            over_trials(Unit::BytesPerSecond, [vec![1.0]].into_iter()),
            None,
            "one trial has no interval"
        );
    }
}
