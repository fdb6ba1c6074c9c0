//! A comparison as comma-separated values: a row per point and per side that is compared with the first.

use crate::csv::{cell, table};
use fathom_core::quantity::Unit;
use fathom_engine::comparison::{Comparison, Row as Compared, Side};
use serde::Serialize;

/// A point. Levels are in `unit`; `ratio` is after over before.
#[derive(Serialize)]
struct Row {
    side: String,
    experiment: String,
    parameters: String,
    unit: Unit,
    before: f64,
    before_low: Option<f64>,
    before_high: Option<f64>,
    after: f64,
    after_low: Option<f64>,
    after_high: Option<f64>,
    ratio: f64,
    ratio_low: f64,
    ratio_high: f64,
    margin: f64,
    verdict: &'static str,
}

/// All rows of all comparisons.
pub(super) fn rows(others: &[(&Side, Comparison)]) -> String {
    table(others.iter().flat_map(|(side, found)| found.rows.iter().map(|compared| row(side, compared))))
}

fn row(side: &Side, compared: &Compared) -> Row {
    let ratio = compared.contrast.interval();
    let (before, after) = (compared.before.interval, compared.after.interval);
    Row {
        side: cell(&side.name),
        experiment: cell(&compared.experiment),
        parameters: cell(&compared.point.to_string()),
        unit: compared.unit,
        before: compared.before.value,
        before_low: before.map(|interval| interval.low),
        before_high: before.map(|interval| interval.high),
        after: compared.after.value,
        after_low: after.map(|interval| interval.low),
        after_high: after.map(|interval| interval.high),
        ratio: compared.contrast.ratio(),
        ratio_low: ratio.low,
        ratio_high: ratio.high,
        margin: compared.margin,
        verdict: compared.verdict.name(),
    }
}
