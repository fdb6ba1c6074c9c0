//! A comparison as JSON.

use super::rows::because;
use crate::form;
use fathom_core::experiment::Point;
use fathom_core::quantity::Unit;
use fathom_core::statistics::Measured;
use fathom_engine::comparison::{Comparison, Row as Compared, Side};
use serde::Serialize;

#[derive(Serialize)]
struct Document<'a> {
    before: SideEntry<'a>,
    /// The decision of the gate; absent if none was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<&'static str>,
    comparisons: Vec<Entry<'a>>,
}

/// A side with its runs.
#[derive(Serialize)]
struct SideEntry<'a> {
    name: &'a str,
    started: Vec<&'a str>,
}

/// A side compared with the first. The intervals are of 95 %.
#[derive(Serialize)]
struct Entry<'a> {
    after: SideEntry<'a>,
    differences: Vec<DifferenceEntry<'a>>,
    variance_factor: f64,
    points: Vec<PointEntry<'a>>,
    not_compared: Vec<Missing<'a>>,
}

#[derive(Serialize)]
struct DifferenceEntry<'a> {
    what: &'a str,
    before: &'a str,
    after: &'a str,
    doubtful: Option<&'a str>,
}

/// A point. Levels are in `unit`; `ratio` is after over before.
#[derive(Serialize)]
struct PointEntry<'a> {
    experiment: &'a str,
    parameters: &'a Point,
    parameters_after: Option<&'a Point>,
    unit: Unit,
    before: Level,
    after: Level,
    ratio: Level,
    margin: f64,
    verdict: &'static str,
}

#[derive(Serialize)]
struct Level {
    value: f64,
    low: Option<f64>,
    high: Option<f64>,
}

#[derive(Serialize)]
struct Missing<'a> {
    experiment: &'a str,
    parameters: &'a Point,
    because: String,
}

/// All comparisons with the first side.
pub(super) fn pretty(first: &Side, others: &[(&Side, Comparison)], decision: Option<&'static str>) -> String {
    let comparisons = others.iter().map(|(after, found)| entry(after, found)).collect();
    form::pretty(&Document { before: side(first), decision, comparisons })
}

fn side(side: &Side) -> SideEntry<'_> {
    SideEntry { name: &side.name, started: side.runs.iter().map(|run| run.header.started.as_str()).collect() }
}

fn entry<'a>(after: &'a Side, found: &'a Comparison) -> Entry<'a> {
    let differences = found.differences.iter().map(|difference| DifferenceEntry {
        what: difference.what,
        before: &difference.before,
        after: &difference.after,
        doubtful: difference.doubtful,
    });
    let missing = found.not_compared.iter().map(|point| Missing {
        experiment: &point.experiment,
        parameters: &point.point,
        because: because(&point.because),
    });
    Entry {
        after: side(after),
        differences: differences.collect(),
        variance_factor: found.repeatability.overall(),
        points: found.rows.iter().map(point).collect(),
        not_compared: missing.collect(),
    }
}

fn point(row: &Compared) -> PointEntry<'_> {
    let interval = row.contrast.interval();
    PointEntry {
        experiment: &row.experiment,
        parameters: &row.point,
        parameters_after: row.other_point.as_ref(),
        unit: row.unit,
        before: level(row.before),
        after: level(row.after),
        ratio: Level { value: row.contrast.ratio(), low: Some(interval.low), high: Some(interval.high) },
        margin: row.margin,
        verdict: row.verdict.name(),
    }
}

fn level(found: Measured) -> Level {
    let ends = found.interval;
    Level { value: found.value, low: ends.map(|ends| ends.low), high: ends.map(|ends| ends.high) }
}
