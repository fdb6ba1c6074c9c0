//! Sentences and the numbers in them, as JSON.

use crate::finding;
use fathom_core::experiment::{Figure, Finding, Statement};
use fathom_engine::results::{CrossCheck, Mechanism, MechanismKind};
use serde::Serialize;

/// A finding, and the question that it answers.
#[derive(Serialize)]
pub(super) struct StatementReport<'run> {
    question: &'static str,
    #[serde(rename = "asked")]
    question_text: &'static str,
    pub(super) text: String,
    figures: Vec<FigureReport<'run>>,
}

/// What a rule concludes from figures of the run.
#[derive(Serialize)]
pub(super) struct MechanismReport<'run> {
    name: &'static str,
    is_cause: bool,
    is_of_several_experiments: bool,
    condition: &'static str,
    headline: String,
    because: String,
    figures: Vec<FigureReport<'run>>,
}

/// Figures of several experiments that should agree.
#[derive(Serialize)]
pub(super) struct CrossCheckReport<'run> {
    what: &'static str,
    agreement: &'static str,
    text: String,
    figures: Vec<FigureReport<'run>>,
}

#[derive(Serialize)]
struct FigureReport<'run> {
    name: &'run str,
    value: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    states: Option<[f64; 2]>,
    unit: &'static str,
}

impl<'run> StatementReport<'run> {
    pub(super) fn of(finding: &'run Finding) -> Self {
        StatementReport {
            question: finding.question.name(),
            question_text: finding.question.text(),
            text: finding::text(&finding.statement),
            figures: figures(&finding.statement).collect(),
        }
    }
}

impl<'run> MechanismReport<'run> {
    pub(super) fn of(mechanism: &'run Mechanism) -> Self {
        MechanismReport {
            name: mechanism.name,
            is_cause: mechanism.kind == MechanismKind::Effect,
            is_of_several_experiments: mechanism.is_of_several,
            condition: mechanism.condition,
            headline: finding::text(&mechanism.headline),
            because: finding::text(&mechanism.because),
            figures: figures(&mechanism.headline).chain(figures(&mechanism.because)).collect(),
        }
    }
}

impl<'run> CrossCheckReport<'run> {
    pub(super) fn of(check: &'run CrossCheck) -> Self {
        CrossCheckReport {
            what: check.what,
            agreement: check.agreement.name(),
            text: finding::text(&check.statement),
            figures: figures(&check.statement).collect(),
        }
    }
}

fn figures(statement: &Statement) -> impl Iterator<Item = FigureReport<'_>> {
    statement.figures().map(figure)
}

fn figure(figure: &Figure) -> FigureReport<'_> {
    let interval = figure.found.interval;
    let finite = |number: f64| Some(number).filter(|number| number.is_finite());
    FigureReport {
        name: &figure.name,
        value: finite(figure.found.value),
        low: interval.and_then(|interval| finite(interval.low)),
        high: interval.and_then(|interval| finite(interval.high)),
        states: figure.found.states.map(|states| states.map(|state| state.value)),
        unit: finding::unit(figure.found.dimension),
    }
}
