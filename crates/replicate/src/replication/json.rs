//! A replication for programs. Its shape is typed here and described in `docs/replicate.md`; it only grows. Numbers are
//! not rounded, and an absent one is `null`.

use super::cells::prediction;
use crate::record::{Header, MethodLine, Replication};
use crate::table::{Compared, NoRatio};
use crate::{Replica, Report, Series, Theirs, Trials};
use fathom_core::quantity::Unit;
use fathom_core::statistics::{self, Ratio};
use fathom_engine::record::TrialOutcome;
use fathom_report::form;
use fathom_report::references::{Doubt, Figure, Value};
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize)]
struct ReplicationDocument<'a> {
    report: &'a str,
    machine: &'a str,
    title: &'a str,
    methodology: &'a str,
    header: &'a Header,
    /// Methods that failed or did not end, with what happened.
    broken: BTreeMap<&'a str, String>,
    rows: Vec<JsonRow<'a>>,
    /// The results of every method at every setting.
    sweeps: Vec<TrialsAtSetting<'a>>,
}

/// The trials of a method at one setting, in the unit of its rows.
#[derive(Serialize)]
struct TrialsAtSetting<'a> {
    method: &'a str,
    variant: &'a str,
    at: f64,
    trials: usize,
    mean: Option<f64>,
    deviation: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    minimum: Option<f64>,
    maximum: Option<f64>,
}

#[derive(Serialize)]
struct JsonRow<'a> {
    section: &'a str,
    operation: &'a str,
    unit: Unit,
    per: &'a str,
    theirs: TheirFigure<'a>,
    method: Option<&'a str>,
    differs: Option<&'a str>,
    statistic: String,
    replicated: Cell<'a>,
    deviation: Option<f64>,
    trials: Option<usize>,
    fathom: Cell<'a>,
    ratio: Option<Ratio>,
    /// Why there is no ratio of two figures; absent where there is one, or a figure is missing.
    no_ratio: Option<&'static str>,
    verdict: &'a str,
    misleads: &'a str,
    #[serde(rename = "seen")]
    notes: &'a [String],
}

#[derive(Serialize)]
struct TheirFigure<'a> {
    figure: Option<&'a str>,
    printed: Option<String>,
    value: Option<f64>,
    predicted: Option<f64>,
    deviation: Option<f64>,
    unit: Option<&'a str>,
    doubt: Option<&'a str>,
    #[serde(rename = "misgiving")]
    doubt_note: Option<&'a str>,
    corrected: Option<f64>,
    reason: Option<&'a str>,
}

/// A value with its 95 % interval, or why there is none.
#[derive(Serialize)]
struct Cell<'a> {
    value: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    reason: Option<&'a str>,
}

pub(super) fn pretty(report: &Report, replication: &Replication, rows: &[Compared]) -> String {
    let document = ReplicationDocument {
        report: report.id,
        machine: report.machine,
        title: report.title,
        methodology: report.methodology,
        header: &replication.header,
        broken: broken(replication),
        rows: rows.iter().map(row).collect(),
        sweeps: sweeps(replication),
    };
    form::pretty(&document)
}

fn sweeps<'a>(replication: &'a Replication) -> Vec<TrialsAtSetting<'a>> {
    let settings = |line: &'a MethodLine| {
        let points = line.outcome.sample().into_iter().flat_map(|series| &series.points);
        points.map(|trials| setting(&line.method, trials))
    };
    replication.methods.iter().flat_map(settings).collect()
}

fn setting<'a>(method: &'a str, trials: &'a Trials) -> TrialsAtSetting<'a> {
    let mean = statistics::mean(&trials.values);
    let (low, high) = mean.as_ref().and_then(|mean| mean.interval).map(|ends| (ends.low, ends.high)).unzip();
    let values = || trials.values.iter().copied();
    TrialsAtSetting {
        method,
        variant: &trials.variant,
        at: trials.at,
        trials: trials.values.len(),
        mean: mean.as_ref().map(|mean| mean.value),
        deviation: mean.and_then(|mean| mean.deviation),
        low,
        high,
        minimum: values().reduce(f64::min),
        maximum: values().reduce(f64::max),
    }
}

fn broken(replication: &Replication) -> BTreeMap<&str, String> {
    let reason = |outcome: &TrialOutcome<Series>| match outcome {
        TrialOutcome::Failed { reason } => Some(reason.clone()),
        TrialOutcome::TimedOut { after_s } => Some(format!("did not end within {after_s} s")),
        TrialOutcome::Measured { .. } | TrialOutcome::Skipped { .. } => None,
    };
    let methods = replication.methods.iter();
    methods.filter_map(|line| Some((line.method.as_str(), reason(&line.outcome)?))).collect()
}

fn row(compared: &Compared) -> JsonRow<'_> {
    let row = compared.row;
    let method = match row.replica {
        Replica::By(method) => Some(method),
        Replica::NotHere(_) => None,
    };
    let summary = compared.replicated.as_ref().ok();
    JsonRow {
        section: row.section,
        operation: row.operation,
        unit: row.unit,
        per: row.per,
        theirs: printed(compared),
        method: method.map(|method| method.text),
        differs: method.map(|method| method.differs).filter(|differs| !differs.is_empty()),
        statistic: row.statistic.name(),
        replicated: value(&compared.replicated, |summary| (summary.value, summary.interval)),
        deviation: summary.and_then(|summary| summary.deviation),
        trials: summary.map(|summary| summary.trials),
        fathom: value(&compared.fathom, |estimate| (estimate.value, estimate.ends())),
        ratio: compared.ratio.ok().map(Ratio::from),
        no_ratio: compared.ratio.err().filter(|why| *why != NoRatio::Missing).map(NoRatio::reason),
        verdict: compared.verdict().name(),
        misleads: row.misleads,
        notes: &compared.notes,
    }
}

fn printed(compared: &Compared) -> TheirFigure<'_> {
    let figure = compared.theirs;
    let reason = match compared.row.theirs {
        Theirs::Printed(_) => None,
        Theirs::NotPrinted(reason) => Some(reason),
    };
    TheirFigure {
        figure: figure.map(Figure::id),
        printed: figure.map(|figure| figure.printed().to_string()),
        value: figure.and_then(Figure::value).map(Value::printed),
        predicted: figure.and_then(prediction),
        deviation: figure.and_then(Figure::deviation),
        unit: figure.map(|figure| figure.unit().label()),
        doubt: figure.and_then(Figure::doubt).map(Doubt::name),
        doubt_note: figure.and_then(Figure::doubt_note),
        corrected: figure.and_then(Figure::corrected),
        reason,
    }
}

fn value<T>(result: &Result<T, String>, of: impl Fn(&T) -> (f64, Option<(f64, f64)>)) -> Cell<'_> {
    match result {
        Ok(result) => {
            let (value, interval) = of(result);
            let (low, high) = interval.unzip();
            Cell { value: Some(value), low, high, reason: None }
        }
        Err(reason) => Cell { value: None, low: None, high: None, reason: Some(reason) },
    }
}
