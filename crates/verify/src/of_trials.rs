//! Quantities that the trials of a point recorded next to their observations.

use super::rig::Wanted;
use super::truth::{Found, Nothing, estimate, result};
use fathom_core::sampling::Sample;
use fathom_core::statistics::{self, Estimate, Interval, quantile, quantile_interval};
use fathom_engine::results::{PointResult, Results};

/// The median of a quantity of each trial, with its interval over trials.
pub fn median(
    results: &Results,
    wanted: &Wanted,
    told: impl Fn(&Sample) -> Option<f64>,
) -> Result<Found, Nothing> {
    estimate(result(results, wanted)?)?;
    let trials: Vec<[f64; 1]> = results.run.samples().filter_map(told).map(|told| [told]).collect();
    let found = statistics::estimate(&trials).ok_or_else(|| Nothing::found("no trial could tell"))?;
    Ok(Found::of(&found, &[]))
}

/// The share of the trials for which `tells` is true, in parts per million.
pub fn share(
    results: &Results,
    wanted: &Wanted,
    tells: impl Fn(&Sample) -> Option<bool>,
) -> Result<Found, Nothing> {
    estimate(result(results, wanted)?)?;
    let told: Vec<bool> = results.run.samples().filter_map(tells).collect();
    let so = told.iter().filter(|told| **told).count() as f64;
    let all = told.len() as f64;
    if all < statistics::MINIMUM_TRIALS as f64 {
        return Err(Nothing::found("too few trials for a result"));
    }
    // All trials were counted, so there is no estimate.
    Ok(Found::exactly(1e6 * so / all))
}

/// A percentile over all observations, for work whose duration does not depend on the trial.
pub fn tail(point: &PointResult, level: f64) -> Result<Found, Nothing> {
    let mut all: Vec<f64> = point.samples.iter().flatten().copied().collect();
    all.sort_by(f64::total_cmp);
    let of = estimate(point)?;
    let value = quantile(&all, level).ok_or_else(|| Nothing::found("there are no observations"))?;
    let interval = quantile_interval(&all, level).map(|(low, high)| Interval { low, high });
    Ok(Found::of(&Estimate { value, interval, ..of.clone() }, &[point]))
}
