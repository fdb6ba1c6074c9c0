//! What the report's methods measured at several settings and no figure of the report shows: each as a picture and a table.

use super::cells::prediction;
use super::drawn;
use super::figures::{self, series_of};
use crate::record::Replication;
use crate::table::Compared;
use crate::{Drawn, FigureForm, FigureShape, Method, Report, Series, Variants};
use fathom_core::experiment::Scale;
use fathom_core::quantities;
use fathom_core::quantity::Unit;
use fathom_report::paper::{Block, Column, Key, Section, Table, Text};
use fathom_report::references::{self, Figure, Kind, Value};
use fathom_report::words;
use fathom_report::words::ABSENT;

/// Fewer settings than this make no sweep.
const LEAST: usize = 3;

/// The section; `None` where every sweep is in a figure of the report.
pub(super) fn section(report: &Report, replication: &Replication, rows: &[Compared]) -> Option<Section> {
    let methods = report.methods().into_iter().filter(|method| !is_drawn(report, method));
    let blocks: Vec<Block> = methods.flat_map(|method| one(method, replication, rows)).collect();
    (!blocks.is_empty()).then(|| {
        Section::new(Key::of("sweeps"), "Sweeps without a figure in the report")
            .say("What the report's methods give here at each of their settings, where the report has a table or a sentence only.")
            .with_all(blocks)
    })
}

fn is_drawn(report: &Report, method: &Method) -> bool {
    report
        .figures
        .iter()
        .any(|picture| matches!(picture.drawn, Drawn::By { method: of, .. } if of == method.name))
}

/// The rows that a method fills.
fn rows_of<'rows>(method: &Method, rows: &'rows [Compared]) -> impl Iterator<Item = &'rows Compared> {
    rows.iter().filter(|row| row.row.method() == Some(method.name))
}

/// The pictures and the table of one method; none if it was not swept, or not measured.
fn one(method: &'static Method, replication: &Replication, rows: &[Compared]) -> Vec<Block> {
    let unit = rows_of(method, rows).next().map_or(Unit::Nanoseconds, |row| row.row.unit);
    let Ok(series) = series_of(method.name, replication) else { return vec![] };
    if !is_swept(series) {
        return vec![];
    }
    let shape = FigureShape::Sweep("setting", Scale::Count);
    let form = FigureForm { variants: Variants::ALL, unit, shape };
    let table = beside_theirs(figures::table(method.name, series, form), method, rows);
    let mut blocks = drawn::figures((method.name, series), form, &table.key, |place| {
        let key = Key::of("sweep").within(&format!("{}-{place}", method.name.to_lowercase()));
        (key, format!("{}.", method.name))
    });
    blocks.push(table.into());
    blocks
}

/// The table with what the report predicted and printed at each setting: its instructions, cycles and times.
fn beside_theirs(mut table: Table, method: &Method, rows: &[Compared]) -> Table {
    let Some(first) = rows_of(method, rows).find_map(|row| row.theirs) else { return table };
    let at = |setting: &str| -> Vec<&'static Figure> {
        let is_it = |figure: &&Figure| {
            let is_at = |(_, at): (&str, u64)| words::number(Scale::Count, at) == setting;
            figure.operation() == first.operation() && figure.parameter().is_some_and(is_at)
        };
        references::of_report(first.source()).filter(is_it).collect()
    };
    table.columns.extend([
        Column::count("report, instructions"),
        Column::mixed("report, predicted"),
        Column::mixed("report, measured"),
        Column::number("report, measured", "cycles"),
    ]);
    for row in table.groups.iter_mut().flat_map(|group| &mut group.rows) {
        let figures = at(&row.cells[0].words());
        row.cells.extend(their_cells(&figures).map(Text::plain));
    }
    table.without_empty_columns(ABSENT)
}

/// Instructions, prediction, result and cycles of the report's figures at one setting.
fn their_cells(figures: &[&'static Figure]) -> [String; 4] {
    let measured = || figures.iter().copied().find(|figure| figure.kind() == Kind::Measured);
    let time = |value: Option<f64>| {
        let unit = figures.first().and_then(|figure| figure.unit().quantity());
        value.zip(unit).map(|(value, unit)| quantities::value(unit, value))
    };
    let number = |key: &str| figures.iter().find_map(|figure| figure.number(key)).map(quantities::number);
    let cycles = measured().and_then(|figure| figure.number("cycles")).map(quantities::number);
    let printed = measured().and_then(Figure::value).map(Value::printed);
    let all = [number("instructions"), time(measured().and_then(prediction)), time(printed), cycles];
    all.map(|cell| cell.unwrap_or_else(|| ABSENT.to_owned()))
}

/// Whether a variant has enough settings.
fn is_swept(series: &Series) -> bool {
    series.variants().iter().any(|(_, settings)| settings.len() >= LEAST)
}
