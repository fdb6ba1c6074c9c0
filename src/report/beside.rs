//! A run beside published machines: the cells and the notes that every form shows. A doubtful figure has its doubt in a
//! note, and there is no row without its notes.

use super::summary::ABSENT;
use super::text::{Style, clean, lines};
use super::{published, quantities, words};
use crate::references::{Beside, Figure, Machine, Ratio, Value};
use crate::results::Outcome;
use serde::Serialize;

/// The figures of one machine beside those of the run.
pub struct Table {
    /// The machine.
    pub machine: &'static Machine,
    /// Its name, what it is and where it is described.
    pub title: String,
    /// One row a figure, in the order of the run.
    pub rows: Vec<Row>,
    /// The notes that rows refer to by their place, from 0.
    pub notes: Vec<String>,
}

/// One figure. Every text has its unit; an absent figure is `–`.
pub struct Row {
    /// The experiment.
    pub experiment: String,
    /// The point.
    pub operation: String,
    /// The median here.
    pub here: String,
    /// Its 95 % interval.
    pub interval: String,
    /// The figure there, for one of our operations.
    pub there: String,
    /// The standard deviation that is printed with it.
    pub deviation: String,
    /// Here over there.
    pub ratio: String,
    /// The id of the figure.
    pub figure: &'static str,
    /// The note that says how the methods differ.
    pub differs: usize,
    /// The note that tells the doubt.
    pub doubt: Option<usize>,
}

/// What stands above such tables in every form.
pub const LEGEND: &str = "here/there: above 1 a time is longer here, a rate or a size larger. Published figures come without \
                          an interval, so that a ratio is no surer than they are.";

/// One table a machine that has figures beside the run's, in the order in which they were asked for.
pub fn tables(rows: &[Beside]) -> Vec<Table> {
    let mut tables: Vec<Table> = vec![];
    for row in rows {
        let place = tables.iter().position(|table| table.machine.id == row.machine.id).unwrap_or_else(|| {
            tables.push(Table::of(row.machine));
            tables.len() - 1
        });
        tables[place].take(row);
    }
    tables
}

impl Table {
    fn of(machine: &'static Machine) -> Self {
        Table { machine, title: published::title(machine), rows: vec![], notes: vec![] }
    }

    fn take(&mut self, row: &Beside) {
        let differs = self.note(row.differs.to_owned());
        let doubt = doubt(row).map(|text| self.note(text));
        let estimate = row.here.estimate.as_ref().filter(|_| row.here.outcome == Outcome::Value);
        let unit = row.here.unit;
        let absent = || ABSENT.to_owned();
        self.rows.push(Row {
            experiment: row.here.experiment.clone(),
            operation: words::label(&row.here.experiment, &row.here.point),
            here: estimate.map_or_else(
                || words::outcome(&row.here.outcome).to_owned(),
                |estimate| quantities::estimate(unit, estimate),
            ),
            interval: estimate
                .and_then(|estimate| quantities::interval(unit, estimate))
                .unwrap_or_else(absent),
            there: quantities::value(unit, row.there.value.printed()),
            deviation: row.there.deviation.map_or_else(absent, |sd| quantities::value(unit, sd)),
            ratio: row.ratio.map_or_else(absent, |ratio| quantities::factor(ratio.value)),
            figure: row.figure.id(),
            differs,
            doubt,
        });
    }

    /// The place of a note, which is added where it is new.
    fn note(&mut self, text: String) -> usize {
        let known = self.notes.iter().position(|note| *note == text);
        known.unwrap_or_else(|| {
            self.notes.push(text);
            self.notes.len() - 1
        })
    }
}

/// The doubt told: what is wrong, what is right instead, and what the ratio is formed with.
fn doubt(row: &Beside) -> Option<String> {
    let Value::Doubtful { doubt, corrected, .. } = row.there.value else { return None };
    let mut text = format!("Doubtful ({}): {}", doubt.name(), misgiving(row.figure));
    if let Some(corrected) = corrected {
        text += &format!(" Corrected: {}.", quantities::value(row.here.unit, corrected));
    }
    text += match row.ratio {
        Some(Ratio { corrected: true, .. }) => " The ratio is formed with the corrected figure.",
        Some(_) => " The ratio is formed with the printed figure.",
        None if doubt.forbids_reckoning() => " No ratio is formed with it.",
        None => "",
    };
    Some(text)
}

fn misgiving(figure: &Figure) -> String {
    let said = figure.misgiving().unwrap_or_default();
    if said.ends_with('.') { said.to_owned() } else { format!("{said}.") }
}

/// The tables for a terminal.
pub fn text(rows: &[Beside], machines: &[&Machine], style: Style) -> String {
    let tables = tables(rows);
    let mut text = String::new();
    for machine in machines {
        match tables.iter().find(|table| table.machine.id == machine.id) {
            Some(table) => text += &one(table, style),
            None => {
                let nothing = format!("No figure of {} measures what this run has measured.", machine.id);
                text += &style.wrapped("", &nothing);
            }
        }
        text.push('\n');
    }
    text + &style.wrapped("", LEGEND)
}

const HEAD: [&str; 6] = ["operation", "here", "95 % interval", "there", "± sd", "here/there"];

/// Between two columns.
const GAP: usize = 2;

/// The narrowest and the widest that an operation is.
const ROOM: (usize, usize) = (24, 60);

fn one(table: &Table, style: Style) -> String {
    let cells: Vec<[String; 6]> = table.rows.iter().map(cells).collect();
    let widest = |column: usize| {
        cells.iter().map(|row| row[column].chars().count()).chain([HEAD[column].chars().count()]).max()
    };
    let widths: Vec<usize> = (1..6).filter_map(widest).collect();
    let others: usize = widths.iter().map(|width| width + GAP).sum();
    let longest = cells.iter().map(|row| row[0].chars().count() + 2).max().unwrap_or(0);
    let room = style.width.saturating_sub(others).clamp(ROOM.0, ROOM.1).min(longest.max(ROOM.0));
    let mut text = style.title(style.wrapped("", &format!("Beside {}", table.title)).trim_end()) + "\n";
    text += &line(&HEAD.map(str::to_owned), room, &widths);
    let mut above = "";
    for (row, cells) in table.rows.iter().zip(&cells) {
        if row.experiment != above {
            text += &(style.title(&clean(&row.experiment)) + "\n");
            above = &row.experiment;
        }
        text += &line(cells, room, &widths);
    }
    for (place, note) in table.notes.iter().enumerate() {
        text += &style.wrapped(&format!("{:>5} ", mark(place)), note);
    }
    text
}

fn cells(row: &Row) -> [String; 6] {
    let doubt = row.doubt.map(|place| format!(" {}", mark(place))).unwrap_or_default();
    [
        // A mark stays on the line of the last word.
        format!("{}\u{a0}{}", clean(&row.operation), mark(row.differs)),
        row.here.clone(),
        row.interval.clone(),
        format!("{}{doubt}", row.there),
        row.deviation.clone(),
        row.ratio.clone(),
    ]
}

fn mark(place: usize) -> String {
    format!("[{}]", place + 1)
}

/// One row: the operation in as many lines as it needs, the figures beside the last of them.
fn line(cells: &[String; 6], room: usize, widths: &[usize]) -> String {
    let indent = if cells[0] == HEAD[0] { "" } else { "  " };
    let mut operation = lines(&cells[0], room - indent.len());
    let last = operation.pop().unwrap_or_default();
    let mut text: String = operation.iter().map(|line| format!("{indent}{line}\n")).collect();
    let mut figures = format!("{:room$}", format!("{indent}{last}"));
    for (cell, width) in cells[1..].iter().zip(widths) {
        figures += &format!("{}{cell:>width$}", " ".repeat(GAP));
    }
    text += figures.trim_end();
    text + "\n"
}

/// A row for programs: numbers are not rounded, and the doubt stands beside the figure.
#[derive(Serialize)]
pub(super) struct Entry<'run> {
    machine: &'static str,
    figure: &'static Figure,
    experiment: &'run str,
    parameters: &'run crate::experiment::Point,
    unit: crate::quantity::Unit,
    median: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    times: f64,
    value: f64,
    deviation: Option<f64>,
    doubt: Option<&'static str>,
    corrected: Option<f64>,
    misgiving: Option<&'static str>,
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

/// The rows for programs.
pub(super) fn entries<'run>(rows: &[Beside<'run>]) -> Vec<Entry<'run>> {
    rows.iter().map(entry).collect()
}

fn entry<'run>(row: &Beside<'run>) -> Entry<'run> {
    let here = row.here;
    let estimate = here.estimate.as_ref().filter(|_| here.outcome == Outcome::Value);
    let ends = estimate.and_then(quantities::ends);
    let corrected = match row.there.value {
        Value::Doubtful { corrected, .. } => corrected,
        Value::Sound(_) => None,
    };
    Entry {
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
        doubt: row.figure.doubt().map(crate::references::Doubt::name),
        corrected,
        misgiving: row.figure.misgiving(),
        differs: row.differs,
        ratio: row.ratio.map(|ratio| Over {
            value: ratio.value,
            low: ratio.interval.map(|interval| interval.low),
            high: ratio.interval.map(|interval| interval.high),
            corrected: ratio.corrected,
        }),
    }
}
