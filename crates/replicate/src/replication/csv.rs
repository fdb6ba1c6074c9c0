//! A replication as comma-separated values: one row for each operation of the report.

use crate::table::Compared;
use fathom_core::quantity::Unit;
use fathom_report::csv::{cell, table};
use fathom_report::references::{Figure, Value};
use serde::Serialize;

/// An operation of the report. Numbers are in `unit`, except `theirs`, which is in `their_unit`.
#[derive(Serialize)]
struct CsvRow {
    section: &'static str,
    operation: &'static str,
    unit: Unit,
    per: &'static str,
    theirs: Option<f64>,
    their_unit: Option<String>,
    replicated: Option<f64>,
    replicated_low: Option<f64>,
    replicated_high: Option<f64>,
    statistic: String,
    deviation: Option<f64>,
    trials: Option<usize>,
    not_replicated: Option<String>,
    fathom: Option<f64>,
    fathom_low: Option<f64>,
    fathom_high: Option<f64>,
    ratio: Option<f64>,
    verdict: &'static str,
}

pub(super) fn rows(rows: &[Compared]) -> String {
    table(rows.iter().map(row))
}

fn row(compared: &Compared) -> CsvRow {
    let (row, figure) = (compared.row, compared.theirs);
    let replicated = compared.replicated.as_ref();
    let fathom = compared.fathom.as_ref().ok();
    CsvRow {
        section: row.section,
        operation: row.operation,
        unit: row.unit,
        per: row.per,
        theirs: figure.and_then(Figure::value).map(Value::printed),
        their_unit: figure.map(|figure| cell(figure.unit().label())),
        replicated: replicated.ok().map(|summary| summary.value),
        replicated_low: replicated.ok().and_then(|summary| summary.interval).map(|(low, _)| low),
        replicated_high: replicated.ok().and_then(|summary| summary.interval).map(|(_, high)| high),
        statistic: row.statistic.name(),
        deviation: replicated.ok().and_then(|summary| summary.deviation),
        trials: replicated.ok().map(|summary| summary.trials),
        not_replicated: replicated.err().map(|reason| cell(reason)),
        fathom: fathom.map(|estimate| estimate.value),
        fathom_low: fathom.and_then(|fathom| fathom.ends()).map(|(low, _)| low),
        fathom_high: fathom.and_then(|fathom| fathom.ends()).map(|(_, high)| high),
        ratio: compared.ratio.as_ref().ok().map(|ratio| ratio.value),
        verdict: compared.verdict().name(),
    }
}
