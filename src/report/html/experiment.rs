//! The section of one experiment: question, method, prediction, results, evidence, what it means, what to be careful of.

use super::page::Numbers;
use super::references::{Cited, References};
use super::table;
use crate::experiment::{Part, Term};
use crate::report::figure;
use crate::report::finding;
use crate::report::quantities;
use crate::report::run;
use crate::report::summary;
use crate::report::words;
use crate::results::{PointResult, Results};
use serde::Serialize;

/// Everything in the section of one experiment.
#[derive(Serialize)]
pub(super) struct Section {
    /// `5.2`
    pub number: String,
    /// The name of the place to link to.
    pub anchor: String,
    pub name: String,
    pub version: u32,
    pub question: String,
    pub operation: String,
    pub method: Vec<String>,
    pub caveats: Vec<String>,
    pub tables: Vec<table::Results>,
    pub figures: Vec<Figure>,
    pub trends: Vec<Trend>,
    pub derivation: Option<Derivation>,
    pub evidence: Evidence,
    pub findings: Vec<String>,
    pub without: Vec<Without>,
}

#[derive(Serialize)]
pub(super) struct Figure {
    pub number: usize,
    pub caption: String,
    pub svg: String,
    pub otherwise: Option<String>,
    pub spread: &'static str,
}

#[derive(Serialize)]
pub(super) struct Trend {
    pub name: String,
    pub text: String,
}

/// The predictions, term by term.
#[derive(Serialize)]
pub(super) struct Derivation {
    pub number: usize,
    pub rows: Vec<Derived>,
}

/// Operations that were predicted alike, or one.
#[derive(Serialize)]
pub(super) struct Derived {
    pub operation: String,
    pub total: String,
    pub terms: Vec<TermRow>,
}

#[derive(Serialize)]
pub(super) struct TermRow {
    pub part: &'static str,
    pub what: String,
    pub times: String,
    pub each: String,
    pub value: String,
    pub source: Cited,
}

#[derive(Serialize)]
pub(super) struct Evidence {
    /// Claims that were judged, and those that hold.
    pub judged: usize,
    pub holding: usize,
    pub number: usize,
    pub rows: Vec<Claim>,
}

#[derive(Serialize)]
pub(super) struct Claim {
    pub operation: String,
    pub said: String,
    pub seen: String,
    pub holds: bool,
}

/// Points without a value, for one reason.
#[derive(Serialize)]
pub(super) struct Without {
    pub experiment: String,
    pub outcome: &'static str,
    pub failure: bool,
    pub reason: String,
    pub points: Vec<String>,
}

impl Section {
    /// The section of the experiment at this place among all.
    pub(super) fn of(
        results: &Results,
        name: &str,
        place: usize,
        numbers: &mut Numbers,
        references: &mut References,
    ) -> Self {
        let points: Vec<&PointResult> = results.of_experiment(name).collect();
        let about = words::about(name);
        let text = |of: fn(&crate::experiment::About) -> &'static str| about.map(of).unwrap_or_default();
        let tables = table::of(&points, numbers.tables + 1);
        numbers.tables += tables.len();
        Section {
            number: format!("5.{place}"),
            anchor: anchor(place),
            name: name.to_owned(),
            version: points.first().map_or(0, |point| point.method_version),
            question: match about {
                Some(about) => about.question.to_owned(),
                None => {
                    "This program does not know the experiment: its method is not described here.".to_owned()
                }
            },
            operation: text(|about| about.operation).to_owned(),
            method: paragraphs(text(|about| about.method)),
            caveats: paragraphs(text(|about| about.caveats)),
            tables,
            figures: figures(results, name, numbers),
            trends: trends(results, name),
            derivation: derivation(&points, numbers, references),
            evidence: evidence(&points, numbers),
            findings: results.findings_of(name).iter().map(|said| finding::text(&said.statement)).collect(),
            without: without(results, Some(name)),
        }
    }
}

/// The place of the section of an experiment, by its number: a name in a run file may be anything.
pub(super) fn anchor(place: usize) -> String {
    format!("experiment-{place}")
}

/// Points without a value, of one experiment or of all.
pub(super) fn without(results: &Results, experiment: Option<&str>) -> Vec<Without> {
    let groups = summary::unmeasured(results).into_iter();
    let mine = groups.filter(|group| experiment.is_none_or(|name| group.experiment == name));
    mine.map(|group| Without {
        experiment: group.experiment.to_owned(),
        outcome: group.outcome,
        failure: group.failure,
        reason: group.reason,
        points: group.points,
    })
    .collect()
}

fn paragraphs(text: &str) -> Vec<String> {
    text.split("\n\n").filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

fn figures(results: &Results, name: &str, numbers: &mut Numbers) -> Vec<Figure> {
    let drawn = figure::of_experiment(results, name, numbers.figures + 1);
    let numbered = |drawn: figure::Figure| {
        numbers.figures += 1;
        Figure {
            number: numbers.figures,
            caption: drawn.caption,
            svg: drawn.svg,
            otherwise: drawn.otherwise,
            spread: drawn.spread,
        }
    };
    drawn.into_iter().map(numbered).collect()
}

fn trends(results: &Results, name: &str) -> Vec<Trend> {
    let mine = results.trends.iter().filter(|trend| trend.experiment == name);
    mine.map(|trend| Trend { name: run::trend_label(name, &trend.group), text: run::trend(trend) }).collect()
}

fn derivation(
    points: &[&PointResult],
    numbers: &mut Numbers,
    references: &mut References,
) -> Option<Derivation> {
    let rows: Vec<Derived> = points.iter().filter_map(|point| derived(point, references)).collect();
    if rows.is_empty() {
        return None;
    }
    numbers.tables += 1;
    Some(Derivation { number: numbers.tables, rows })
}

fn derived(point: &PointResult, references: &mut References) -> Option<Derived> {
    let prediction = point.prediction.as_ref()?;
    let row = |term: &Term| TermRow {
        part: match term.part {
            Part::Hardware => "hardware",
            Part::Software => "software",
        },
        what: term.what.clone(),
        times: quantities::times(term.times),
        each: quantities::value(point.unit, term.each),
        value: quantities::value(point.unit, term.value()),
        source: references.cite(&term.source),
    };
    Some(Derived {
        operation: words::short_label(&point.experiment, &point.point),
        total: quantities::value(point.unit, prediction.total()),
        terms: prediction.terms.iter().map(row).collect(),
    })
}

fn evidence(points: &[&PointResult], numbers: &mut Numbers) -> Evidence {
    let rows: Vec<Claim> = points.iter().flat_map(|point| claims(point)).collect();
    if !rows.is_empty() {
        numbers.tables += 1;
    }
    let holding = rows.iter().filter(|claim| claim.holds).count();
    Evidence { judged: rows.len(), holding, number: numbers.tables, rows }
}

fn claims(point: &PointResult) -> impl Iterator<Item = Claim> {
    point.evidence.iter().map(|check| Claim {
        operation: words::short_label(&point.experiment, &point.point),
        said: check.claim.clone(),
        seen: check.seen.clone(),
        holds: check.holds,
    })
}
