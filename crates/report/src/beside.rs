//! A run next to published machines, for the forms that show it.

pub use super::article::beside::Published;

use super::article;
use super::paper::{Document, Section, plain};
use super::text::Style;
use crate::references::{Beside, Doubt, Figure, Value};
use fathom_core::quantities;
use fathom_engine::results::Results;
use serde::Serialize;

/// The tables for a terminal, with the cited sources.
pub fn text(results: &Results, published: &Published, style: Style) -> String {
    let tables = published.machines.iter().enumerate();
    let tables = tables.map(|(place, machine)| article::beside::table(results, published, machine, place));
    let tables: Vec<_> = tables.collect();
    let mut document = Document::default();
    let section = Section::new(super::paper::Key::of("beside"), "");
    document.sections.push(section.with_all(tables.iter().flatten().cloned().map(Into::into)));
    let numbers = super::paper::Numbers::of(&document);
    let mut text =
        style.title("Beside published figures") + "\n" + &style.wrapped("", article::beside::READING) + "\n";
    for (table, machine) in tables.iter().zip(&published.machines) {
        text += &match table {
            Some(table) => plain::table(table, &numbers, style),
            None => style.wrapped("", &article::beside::nothing(machine)),
        };
        text.push('\n');
    }
    text += &article::beside::not_compared(results)
        .map_or(String::new(), |sentence| style.wrapped("", &sentence));
    for (place, work) in numbers.works().iter().enumerate() {
        text += &style.wrapped(&format!("[{}] ", place + 1), work);
    }
    text
}

/// A row in JSON: numbers are not rounded, and the doubt is a field of the figure's row.
#[derive(Serialize)]
pub(super) struct BesideEntry<'run> {
    machine: &'static str,
    figure: &'static Figure,
    experiment: &'run str,
    parameters: &'run fathom_core::experiment::Point,
    unit: fathom_core::quantity::Unit,
    median: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    times: f64,
    value: f64,
    deviation: Option<f64>,
    doubt: Option<&'static str>,
    corrected: Option<f64>,
    #[serde(rename = "misgiving")]
    doubt_note: Option<&'static str>,
    differs: &'static str,
    ratio: Option<Over>,
}

#[derive(Serialize)]
struct Over {
    value: f64,
    low: Option<f64>,
    high: Option<f64>,
    corrected: bool,
}

pub(super) fn entries<'run>(rows: &[Beside<'run>]) -> Vec<BesideEntry<'run>> {
    rows.iter().map(entry).collect()
}

fn entry<'run>(row: &Beside<'run>) -> BesideEntry<'run> {
    let here = row.here;
    let estimate = here.estimate();
    let ends = estimate.and_then(quantities::ends);
    let corrected = match row.there.value {
        Value::Doubtful { corrected, .. } => corrected,
        Value::AsPrinted(_) => None,
    };
    BesideEntry {
        machine: &row.machine.id,
        figure: row.figure,
        experiment: &here.experiment,
        parameters: &here.point,
        unit: here.unit,
        median: estimate.map(|estimate| estimate.value),
        low: ends.map(|(low, _)| low),
        high: ends.map(|(_, high)| high),
        times: row.there.times,
        value: row.there.value.printed(),
        deviation: row.there.deviation,
        doubt: row.figure.doubt().map(Doubt::name),
        corrected,
        doubt_note: row.figure.doubt_note(),
        differs: row.differs,
        ratio: row.ratio.map(|ratio| Over {
            value: ratio.value,
            low: ratio.interval.map(|interval| interval.low),
            high: ratio.interval.map(|interval| interval.high),
            corrected: ratio.corrected,
        }),
    }
}
