//! Runs compared with a published machine. Published figures have no interval, so nothing here is a verdict: the ratios are
//! shown with their doubts, and counted.

use super::super::article::{self, beside as tables};
use super::super::beside::{BesideEntry, Published, entries};
use super::super::form::{self, Facts, Subject};
use super::super::paper::{Document, Key, Section, Text, Tone, plain};
use super::super::text::Style;
use super::super::words::plural;
use super::super::{published, run};
use crate::csv::{cell, table};
use crate::references::{Beside, Machine, Value};
use fathom_core::quantities;
use fathom_core::quantity::{Kind, Unit};
use fathom_engine::comparison::Margins;
use fathom_engine::results::Results;
use serde::Serialize;

/// Runs, each compared with the figures of published machines.
pub struct PublishedComparison<'a> {
    runs: Vec<(&'a str, &'a Results<'a>, Published<'a>)>,
    margins: &'a Margins,
}

impl<'a> PublishedComparison<'a> {
    /// Compares named runs with these machines.
    pub fn of(
        machines: &[&'static Machine],
        runs: &'a [(String, Results<'a>)],
        margins: &'a Margins,
    ) -> Self {
        let beside = |(name, results): &'a (String, Results<'a>)| {
            (name.as_str(), results, Published::beside(results, machines))
        };
        PublishedComparison { runs: runs.iter().map(beside).collect(), margins }
    }

    fn section(&self, place: usize) -> Section {
        let (name, results, published) = &self.runs[place];
        let mut section = Section::new(Key::numbered("against", place + 1), *name).say(
            Text::strong("Here").and(format!(": {name}: {}.", run::machine(&results.run.header.machine))),
        );
        for (machine_place, machine) in published.machines.iter().enumerate() {
            section = section
                .say(Text::strong("There").and(format!(": {}.", published::title(machine))))
                .say(self.counted(published, machine));
            section = match tables::table(
                results,
                published,
                machine,
                place * published.machines.len() + machine_place,
            ) {
                Some(table) => section.with(table),
                None => section.say(tables::nothing(machine)),
            };
        }
        match tables::not_compared(results) {
            Some(sentence) => section.say(sentence),
            None => section,
        }
    }

    /// The number of figures that are better here and the number that are worse, without regard to uncertainty.
    fn counted(&self, published: &Published, machine: &Machine) -> Text {
        let rows: Vec<&Beside> = published.rows.iter().filter(|row| row.machine.id == machine.id).collect();
        let directions: Vec<Direction> = rows.iter().filter_map(|row| self.direction(row)).collect();
        let count = |counted: Direction| {
            quantities::count(directions.iter().filter(|direction| **direction == counted).count())
        };
        let doubtful = rows.iter().filter(|row| matches!(row.there.value, Value::Doubtful { .. })).count();
        let doubts = match doubtful {
            0 => String::new(),
            some => format!(
                " {} of the published figures are doubtful; the notes say why.",
                quantities::count(some)
            ),
        };
        Text::plain(format!(
            "Of {} measured by the same methods, {} are better here, {} worse, {} within the margin, and {} have no \
             ratio.{doubts} ",
            plural(rows.len(), "figure"),
            count(Direction::Better),
            count(Direction::Worse),
            count(Direction::Neither),
            quantities::count(rows.len() - directions.len()),
        ))
        .and(Text::toned(Tone::Careful, "These are counts, not verdicts: published figures have no intervals."))
    }

    fn direction(&self, row: &Beside) -> Option<Direction> {
        let ratio = row.ratio?.value;
        let margin = self.margins.of(&row.here.experiment);
        Some(match row.here.unit.kind() {
            _ if ratio.ln().abs() <= margin.ln_1p() => Direction::Neither,
            Kind::Size => Direction::Neither,
            kind if (ratio > 1.0) == (kind == Kind::Rate) => Direction::Better,
            _ => Direction::Worse,
        })
    }
}

/// Whether a figure is better or worse here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Better,
    Worse,
    Neither,
}

/// The comparison of one run, for JSON.
#[derive(Serialize)]
struct AgainstPublished<'a> {
    run: &'a str,
    started: &'a str,
    figures: Vec<BesideEntry<'a>>,
}

/// A figure. Levels are in `unit`; `ratio` is here over there.
#[derive(Serialize)]
struct PublishedRow {
    run: String,
    machine: &'static str,
    figure: &'static str,
    experiment: String,
    parameters: String,
    unit: Unit,
    here: Option<f64>,
    here_low: Option<f64>,
    here_high: Option<f64>,
    there: f64,
    doubt: Option<&'static str>,
    corrected: Option<f64>,
    ratio: Option<f64>,
}

fn row(name: &str, row: &Beside) -> PublishedRow {
    let estimate = row.here.estimate();
    let ends = estimate.and_then(quantities::ends);
    let (doubt, corrected) = match row.there.value {
        Value::Doubtful { doubt, corrected, .. } => (Some(doubt.name()), corrected),
        Value::AsPrinted(_) => (None, None),
    };
    PublishedRow {
        run: cell(name),
        machine: &row.machine.id,
        figure: row.figure.id(),
        experiment: cell(&row.here.experiment),
        parameters: cell(&row.here.point.to_string()),
        unit: row.here.unit,
        here: estimate.map(|estimate| estimate.value),
        here_low: ends.map(|(low, _)| low),
        here_high: ends.map(|(_, high)| high),
        there: row.there.value.printed(),
        doubt,
        corrected,
        ratio: row.ratio.map(|ratio| ratio.value),
    }
}

impl Facts for PublishedComparison<'_> {
    fn text(&self, style: Style) -> String {
        plain::render(&self.document(), style.width)
    }

    fn json(&self) -> String {
        let runs = self.runs.iter().map(|(name, results, published)| AgainstPublished {
            run: name,
            started: &results.run.header.started,
            figures: entries(&published.rows),
        });
        form::pretty(&serde_json::json!({ "published": runs.collect::<Vec<_>>() }))
    }
}

impl Subject for PublishedComparison<'_> {
    fn document(&self) -> Document {
        let names: Vec<&str> = self.runs.iter().map(|(name, ..)| *name).collect();
        let mut document = Document::new(format!("{} against published machines", names.join(", ")));
        "Comparison".clone_into(&mut document.kind);
        "Made by Fathom from the run files and published figures.".clone_into(&mut document.foot);
        document.date =
            self.runs.first().map_or(String::new(), |(_, results, _)| results.run.header.started.clone());
        document.sections.push(Section::new(Key::of("reading"), "How to read it").say(tables::READING));
        document.sections.extend((0..self.runs.len()).map(|place| self.section(place)));
        document.sections.push(article::references());
        document
    }

    fn rows(&self) -> String {
        table(
            self.runs
                .iter()
                .flat_map(|(name, _, published)| published.rows.iter().map(|figure| row(name, figure))),
        )
    }
}
