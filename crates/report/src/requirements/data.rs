//! Assessment requirements for programs: JSON and comma-separated values, with unrounded numbers.

use super::{CheckReport, words};
use crate::csv;
use fathom_core::experiment::Point;
use fathom_core::quantity::Unit;
use fathom_engine::requirements::{Assessment, Demand, ERROR, Publication, RightSide};
use serde::Serialize;

/// A report of requirements.
#[derive(Serialize)]
pub(super) struct CheckEntry<'a> {
    verdict: String,
    decision: &'static str,
    requirements: String,
    started: &'a str,
    run_file: Option<&'a str>,
    took_s: Option<f64>,
    /// The greatest probability that a requirement is said to be met although it is not, and that any is said not to be met although
    /// all are, for a machine that is exactly at the limit.
    error: f64,
    results: Vec<DemandEntry<'a>>,
    sources: Vec<SourceEntry<'a>>,
}

#[derive(Serialize)]
struct DemandEntry<'a> {
    name: &'a str,
    decision: &'static str,
    reason: Option<&'a str>,
    demanded: String,
    experiment: Option<&'a str>,
    point: Option<&'a Point>,
    measures: String,
    unit: Option<Unit>,
    direction: &'static str,
    limit: f64,
    indifference: f64,
    share_needed: f64,
    share: Option<f64>,
    value: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    margin: Option<f64>,
    certain_margin: Option<f64>,
    trials: usize,
    observations: usize,
    fewest_trials: Option<usize>,
    failure_error: Option<f64>,
    decided_after_trials: Option<usize>,
    decided_at_s: Option<f64>,
    bound: Option<BoundEntry<'a>>,
    source: Option<&'a str>,
    note: Option<&'a str>,
}

#[derive(Serialize)]
struct BoundEntry<'a> {
    limit: f64,
    because: &'a str,
}

#[derive(Serialize)]
struct SourceEntry<'a> {
    id: &'a str,
    title: &'a str,
    publisher: &'a str,
    version: &'a str,
    section: &'a str,
    url: &'a str,
}

pub(super) fn entry<'a>(report: &'a CheckReport) -> CheckEntry<'a> {
    let publications = &report.requirements.publications;
    CheckEntry {
        verdict: words::verdict(&report.requirements.demands, report.judged),
        decision: report.judgement().name(),
        requirements: report.requirements.title.clone(),
        started: &report.header.started,
        run_file: report.run_file.as_deref(),
        took_s: report.took_s,
        error: ERROR,
        results: report.pairs().map(|(demand, judged)| of_demand(demand, judged, publications)).collect(),
        sources: publications.iter().map(source).collect(),
    }
}

fn of_demand<'a>(
    demand: &'a Demand,
    judged: &'a Assessment,
    publications: &'a [Publication],
) -> DemandEntry<'a> {
    let estimate = judged.estimate;
    DemandEntry {
        name: &demand.name,
        decision: judged.judgement.name(),
        reason: judged.reason.as_deref(),
        demanded: words::demand(demand),
        experiment: judged.point.as_ref().map(|(experiment, _)| experiment.as_str()),
        point: judged.point.as_ref().map(|(_, point)| point),
        measures: words::measurand(demand, judged),
        unit: judged.unit,
        direction: direction(judged.direction),
        limit: judged.limit,
        indifference: demand.indifference,
        share_needed: demand.share,
        share: judged.share,
        value: estimate.map(|estimate| estimate.value),
        low: estimate.and_then(|estimate| estimate.low),
        high: estimate.and_then(|estimate| estimate.high),
        margin: judged.margin(),
        certain_margin: judged.shown_margin(),
        trials: judged.trials,
        observations: judged.observations,
        fewest_trials: judged.fewest_trials,
        failure_error: judged.failure_error,
        decided_after_trials: judged.after_trials,
        decided_at_s: judged.at_s,
        bound: judged.bound.as_ref().map(|bound| BoundEntry { limit: bound.limit, because: &bound.because }),
        source: demand
            .publication
            .and_then(|index| publications.get(index))
            .map(|publication| publication.id.as_str()),
        note: Some(demand.note.as_str()).filter(|note| !note.is_empty()),
    }
}

fn source(publication: &Publication) -> SourceEntry<'_> {
    let Publication { id, title, publisher, version, section, url } = publication;
    SourceEntry { id, title, publisher, version, section, url }
}

fn direction(direction: RightSide) -> &'static str {
    match direction {
        RightSide::AtMost => "at_most",
        RightSide::AtLeast => "at_least",
    }
}

/// A requirement as comma-separated values.
#[derive(Serialize)]
pub(super) struct DemandCells {
    requirement: String,
    measures: String,
    demanded: String,
    decision: &'static str,
    unit: Option<Unit>,
    limit: f64,
    value: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    margin: Option<f64>,
    trials: usize,
    observations: usize,
    reason: String,
}

impl DemandCells {
    pub(super) fn of(demand: &Demand, judged: &Assessment) -> Self {
        DemandCells {
            requirement: csv::cell(&demand.name),
            measures: csv::cell(&words::measurand(demand, judged)),
            demanded: csv::cell(&words::demand(demand)),
            decision: judged.judgement.name(),
            unit: judged.unit,
            limit: judged.limit,
            value: judged.estimate.map(|estimate| estimate.value),
            low: judged.estimate.and_then(|estimate| estimate.low),
            high: judged.estimate.and_then(|estimate| estimate.high),
            margin: judged.margin(),
            trials: judged.trials,
            observations: judged.observations,
            reason: csv::cell(judged.reason.as_deref().unwrap_or_default()),
        }
    }
}
