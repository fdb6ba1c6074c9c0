//! The mean over whatever happened, as tools report that know no states: with the core alone and shared, interruptions included.

use super::core_state::{CoreShared, states};
use crate::record::{Run, Trial};
use fathom_core::quantity::{Kind, Unit};
use fathom_core::sampling::Sample;
use fathom_core::statistics::{self, Interval, Measured, Occupancy};

/// The mean of all observations of a point's trials, in the point's unit; of a rate, all work over all time. Trials are made when
/// the core is as they want it, so where both states were observed each is weighted by its share of the time. `None` without
/// observations.
pub fn mean_over_time(
    run: &Run,
    unit: Unit,
    trials: &[&Trial],
    core: Option<&CoreShared>,
) -> Option<Measured> {
    let means = |occupancy: Option<Occupancy>| -> Vec<f64> {
        let samples = trials.iter().filter_map(|trial| trial.sample());
        samples.filter_map(|sample| mean_of(run, unit, sample, core, occupancy)).collect()
    };
    let of_both = core.and_then(|core| {
        let [alone, shared] =
            [Occupancy::Alone, Occupancy::Shared].map(|state| over_trials(&means(Some(state))));
        Some(weighted(alone?, shared?, core.share))
    });
    let mean = of_both.or_else(|| over_trials(&means(None)))?;
    Some(if unit.kind() == Kind::Rate { inverse(mean) } else { mean })
}

/// A trial's mean cost: of all observations, or of those in one state of the core. Of a rate, the time of one byte.
fn mean_of(
    run: &Run,
    unit: Unit,
    sample: &Sample,
    core: Option<&CoreShared>,
    occupancy: Option<Occupancy>,
) -> Option<f64> {
    let observed = sample.observations.operation(unit, run.header.clock.ticks_per_second);
    let every = if sample.observations.baseline(1.0).is_empty() { 1 } else { 2 };
    let costs = observed.iter().map(|value| if unit.kind() == Kind::Rate { 1.0 / value } else { *value });
    let costs: Vec<f64> = match occupancy {
        None => costs.collect(),
        Some(occupancy) => {
            let states = states(sample, &core?.levels)?;
            let own = states.iter().step_by(every);
            costs.zip(own).filter(|(_, state)| **state == occupancy).map(|(cost, _)| cost).collect()
        }
    };
    statistics::mean(&costs).map(|mean| mean.value)
}

/// The mean over trials, of two at least.
fn over_trials(means: &[f64]) -> Option<Measured> {
    let mean = statistics::mean(means)?;
    mean.interval.map(|interval| Measured { value: mean.value, interval: Some(interval) })
}

fn weighted(alone: Measured, shared: Measured, share: f64) -> Measured {
    let mix = |alone: f64, shared: f64| (1.0 - share) * alone + share * shared;
    let value = mix(alone.value, shared.value);
    let interval = alone.interval.zip(shared.interval).map(|(one, other)| {
        let below = (1.0 - share) * (alone.value - one.low);
        let above = (1.0 - share) * (one.high - alone.value);
        Interval {
            low: value - below.hypot(share * (shared.value - other.low)),
            high: value + above.hypot(share * (other.high - shared.value)),
        }
    });
    Measured { value, interval }
}

fn inverse(mean: Measured) -> Measured {
    let interval = mean.interval.filter(|interval| interval.low > 0.0);
    let interval = interval.map(|ends| Interval { low: 1.0 / ends.high, high: 1.0 / ends.low });
    Measured { value: 1.0 / mean.value, interval }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let times = over_trials(&[1.0, 3.0]).unwrap();
        assert!((inverse(times).value - 0.5).abs() < 1e-12);
        assert_eq!(over_trials(&[1.0]), None, "one trial has no interval");
    }
}
