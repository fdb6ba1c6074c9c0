//! Quantities computed from several points that were measured in the same processes, round by round.

use super::truth::{Found, Nothing, estimate};
use fathom_core::statistics;
use fathom_engine::results::PointResult;
use std::collections::BTreeMap;

/// The quantity computed from the points' medians in each round, with its interval over rounds.
pub fn of<const N: usize>(
    points: [&PointResult; N],
    follows: impl Fn([f64; N]) -> f64,
) -> Result<Found, Nothing> {
    for point in points {
        estimate(point)?;
    }
    let rounds = points.map(|point| point.by_round.iter().copied().collect::<BTreeMap<u32, f64>>());
    let in_round = |round: &u32| {
        let medians: Option<Vec<f64>> = rounds.iter().map(|of_point| of_point.get(round).copied()).collect();
        medians?.try_into().ok().map(|medians| [follows(medians)])
    };
    let trials: Vec<[f64; 1]> = rounds[0].keys().filter_map(in_round).collect();
    let estimate =
        statistics::estimate(&trials).ok_or_else(|| Nothing::found("no round has all of its points"))?;
    Ok(Found::of(&estimate, &points))
}
