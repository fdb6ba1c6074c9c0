//! A subject as a table of comma-separated values (RFC 4180), for spreadsheets and data frames.
//!
//! Numbers are not rounded; a missing value is an empty cell, never 0. All numbers of a row are in its `unit`, unless the
//! column's name has another unit. The columns are described in `docs/report-csv.md`.

use super::text::clean;
use super::words;
use csv::Writer;
use fathom_core::experiment::Prediction;
use fathom_core::quantity::Unit;
use fathom_engine::results::{PointResult, Results, ticks_and_cycles};
use serde::Serialize;

#[derive(Serialize)]
struct PointRow<'run> {
    experiment: String,
    method_version: u32,
    parameters: String,
    unit: Unit,
    outcome: &'static str,
    reason: String,
    median: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    trials: usize,
    observations: Option<usize>,
    mean: Option<f64>,
    deviation: Option<f64>,
    trimmed_mean: Option<f64>,
    minimum: Option<f64>,
    maximum: Option<f64>,
    trials_mean: Option<f64>,
    trials_deviation: Option<f64>,
    operations_a_reading: Option<f64>,
    median_ticks: Option<f64>,
    median_core_cycles: Option<f64>,
    core: Option<&'static str>,
    shared_share: Option<f64>,
    predicted: Option<f64>,
    factor: Option<f64>,
    evidence: &'run str,
    shared_median: Option<f64>,
    shared_low: Option<f64>,
    shared_high: Option<f64>,
    neighbour_cost: Option<f64>,
    neighbour_cost_low: Option<f64>,
    neighbour_cost_high: Option<f64>,
    core_cycles: Option<f64>,
    core_cycles_low: Option<f64>,
    core_cycles_high: Option<f64>,
    at_hz: Option<f64>,
    frequency_share: Option<f64>,
    median_as_observed: Option<f64>,
}

/// The least observation; `None` for a time below zero, of which too much was subtracted.
pub(super) fn least(point: &PointResult, minimum: f64) -> Option<f64> {
    (point.unit != Unit::Nanoseconds || minimum >= 0.0).then_some(minimum)
}

/// The points of a run, in the order of its plan.
pub(super) fn points(results: &Results) -> String {
    table(results.points.iter().map(|point| row(results, point)))
}

/// A table of such rows, with a header of their field names.
pub fn table(rows: impl Iterator<Item = impl Serialize>) -> String {
    let mut writer = Writer::from_writer(vec![]);
    for row in rows {
        // Writing into memory cannot fail, and rows are plain structures of numbers and texts.
        let _ = writer.serialize(row);
    }
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

/// Text from the run file, made safe for terminals and spreadsheets: text that begins like a formula is quoted.
pub fn cell(text: &str) -> String {
    let quote = if text.starts_with(['=', '+', '-', '@']) { "'" } else { "" };
    format!("{quote}{}", clean(text))
}

fn row<'run>(results: &Results, point: &'run PointResult) -> PointRow<'run> {
    let estimate = point.estimate();
    let interval = estimate.and_then(|estimate| estimate.interval);
    let shared = point.shared().and_then(|shared| shared.interval);
    let cost = point.neighbour_cost();
    let (published, cycles) = (point.published.as_ref(), point.core_cycles.as_ref());
    let moved = point.at_frequency.as_ref().filter(|_| estimate.is_some());
    let of_observations = published.map(|published| published.observations);
    let in_clock =
        estimate.and_then(|median| ticks_and_cycles(results.run, results.core_hz, point.unit, median.value));
    PointRow {
        experiment: cell(&point.experiment),
        method_version: point.method_version,
        parameters: cell(&point.point.to_string()),
        unit: point.unit,
        outcome: point.outcome.name(),
        reason: cell(&point.outcome.reason().unwrap_or_default()),
        median: estimate.map(|estimate| estimate.value),
        low: interval.map(|interval| interval.low),
        high: interval.map(|interval| interval.high),
        trials: point.trials.0,
        observations: of_observations.map(|summary| summary.observations),
        mean: of_observations.map(|summary| summary.mean),
        deviation: of_observations.and_then(|summary| summary.deviation),
        trimmed_mean: of_observations.map(|summary| summary.trimmed_mean),
        minimum: of_observations.and_then(|summary| least(point, summary.minimum)),
        maximum: of_observations.map(|summary| summary.maximum),
        trials_mean: published.map(|published| published.trials.value),
        trials_deviation: published.and_then(|published| published.trials.deviation),
        operations_a_reading: published.and_then(|published| published.operations),
        median_ticks: in_clock.map(|(ticks, _)| ticks),
        median_core_cycles: in_clock.and_then(|(_, cycles)| cycles),
        core: point.core.as_ref().map(|core| core.state.name()),
        shared_share: point.core.as_ref().and_then(|core| core.shared_share),
        predicted: point.prediction.as_ref().map(Prediction::total),
        factor: point.factor(),
        evidence: words::evidence_sign(point).words(),
        shared_median: point.shared().map(|shared| shared.value),
        shared_low: shared.map(|interval| interval.low),
        shared_high: shared.map(|interval| interval.high),
        neighbour_cost: cost.map(|cost| cost.value),
        neighbour_cost_low: cost.and_then(|cost| cost.interval).map(|interval| interval.low),
        neighbour_cost_high: cost.and_then(|cost| cost.interval).map(|interval| interval.high),
        core_cycles: cycles.map(|cycles| cycles.value),
        core_cycles_low: cycles.and_then(|cycles| cycles.interval).map(|interval| interval.low),
        core_cycles_high: cycles.and_then(|cycles| cycles.interval).map(|interval| interval.high),
        at_hz: moved.map(|moved| moved.usual),
        frequency_share: moved.map(|moved| moved.share),
        median_as_observed: moved.and_then(|moved| Some(moved.as_observed.as_ref()?.value)),
    }
}
