//! What the trials of a point have seen besides their observations.

use super::rig::Wanted;
use super::truth::{Found, Nothing, estimate, result};
use crate::results::{PointResult, Results};
use crate::sampling::Sample;
use crate::statistics::{self, Estimate, Interval, quantile, quantile_interval};

/// The median of what each trial tells, with its interval over trials.
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

/// The share of the trials that tell so, in millionths.
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
    // All trials were counted: there is nothing to estimate.
    Ok(Found::exactly(1e6 * so / all))
}

/// A percentile over all observations, of work whose length is no matter of the trial.
pub fn tail(point: &PointResult, level: f64) -> Result<Found, Nothing> {
    let mut all: Vec<f64> = point.samples.iter().flatten().copied().collect();
    all.sort_by(f64::total_cmp);
    let of = estimate(point)?;
    let value = quantile(&all, level).ok_or_else(|| Nothing::found("there are no observations"))?;
    let interval = quantile_interval(&all, level).map(|(low, high)| Interval { low, high });
    Ok(Found::of(&Estimate { value, interval, ..of.clone() }, &[point]))
}
