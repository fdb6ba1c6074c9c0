//! A point in the statistics of others: those of published reports (mean, deviation, trimmed mean, extremes, clock ticks and core cycles),
//! and the mean over whatever happened, as tools report that know no states: with the core alone and shared, interruptions included.

use super::core_state::CoreShared;
use super::visit::Visit;
use crate::record::{Run, Trial};
use fathom_core::quantity::{Kind, Unit};
use fathom_core::sampling::{Observations, Sample};
use fathom_core::statistics::{self, Mean, Measured, Occupancy, Summary};

/// The statistics that published reports print, in the point's unit. The observations are those of the point's own estimate,
/// each as it was observed, less the median of its trial's baseline if there is one.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedStatistics {
    /// Over the single observations.
    pub observations: Summary,
    /// The mean of the trials' means, with the deviation between trials: the statistic of reports that average within a
    /// trial.
    pub trials: Mean,
    /// Operations between two readings of the clock, median over trials: the divisor of an observation, 1 if every operation
    /// was timed by itself; `None` if no clock was read.
    pub operations: Option<f64>,
}

impl PublishedStatistics {
    /// For a point's trials; `None` if nothing, or no number, was observed.
    pub fn of(visits: &[Visit], measured: &[&Sample]) -> Option<Self> {
        let by_trial: Vec<Vec<f64>> =
            visits.iter().map(|visit| visit.as_observed().less_baseline()).collect();
        let means: Vec<f64> =
            by_trial.iter().filter_map(|trial| Some(statistics::mean(trial)?.value)).collect();
        let operations: Vec<f64> = measured.iter().filter_map(|sample| operations(sample)).collect();
        Some(PublishedStatistics {
            observations: statistics::summary(&by_trial.concat())?,
            trials: statistics::mean(&means)?,
            operations: statistics::median(&operations),
        })
    }
}

fn operations(sample: &Sample) -> Option<f64> {
    match &sample.observations {
        Observations::Ticks { operations, .. } => Some(*operations as f64),
        Observations::Values { .. } => None,
    }
}

/// A time in ticks of the clock and, if the core's frequency was observed, in cycles of the core; `None` if the unit is not
/// time.
pub fn ticks_and_cycles(
    run: &Run,
    core_hz: Option<f64>,
    unit: Unit,
    value: f64,
) -> Option<(f64, Option<f64>)> {
    let seconds = (unit == Unit::Nanoseconds).then_some(value / 1e9)?;
    Some((seconds * run.header.clock.ticks_per_second, core_hz.map(|hz| seconds * hz)))
}

/// The mean of all observations of a point's trials, in the point's unit; of a rate, all work over all time: batches of equal work
/// are weighted by their time, and rates that the work returns itself are of about equal time. Trials are made when the core is
/// as they want it, so where both states were observed each is weighted by its share of the time. `None` without observations.
pub fn mean_over_time(
    run: &Run,
    unit: Unit,
    trials: &[&Trial],
    core: Option<&CoreShared>,
) -> Option<Measured> {
    let levels = core.map(|core| &core.levels);
    let visit = |trial: &&Trial| Some(Visit::of(run, unit, (trial, trial.sample()?), levels));
    let visits: Vec<Visit> = trials.iter().filter_map(visit).collect();
    let mut samples = trials.iter().filter_map(|trial| trial.sample());
    let of_equal_work = samples.all(|sample| matches!(sample.observations, Observations::Ticks { .. }));
    let by_time = unit.kind() == Kind::Rate && of_equal_work;
    let of_both = core.and_then(|core| {
        let [alone, shared] = [Occupancy::Alone, Occupancy::Shared]
            .map(|state| over_trials(by_time, visits.iter().map(|visit| visit.in_state(state))));
        Some(weighted(alone?, shared?, core.share))
    });
    let all = || over_trials(by_time, visits.iter().map(|visit| visit.operation.clone()));
    let mean = of_both.or_else(all)?;
    Some(if by_time { inverse(mean) } else { mean })
}

/// The mean over trials, of two at least, of their means; with `by_time`, of the times of one byte.
fn over_trials(by_time: bool, observed: impl Iterator<Item = Vec<f64>>) -> Option<Measured> {
    let cost = |value: &f64| if by_time { 1.0 / value } else { *value };
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
        let observed = || [vec![1.0], vec![1.0 / 3.0]].into_iter();
        let times = over_trials(true, observed()).unwrap();
        assert!((inverse(times).value - 0.5).abs() < 1e-12, "batches of equal work");
        let rates = over_trials(false, observed()).unwrap();
        assert!((rates.value - 2.0 / 3.0).abs() < 1e-12, "transfers of equal time");
        assert_eq!(over_trials(true, [vec![1.0]].into_iter()), None, "one trial has no interval");
    }
}
