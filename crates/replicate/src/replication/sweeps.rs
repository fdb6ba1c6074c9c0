//! What the report's methods measured at several settings and no figure of the report shows: each as a picture and a table.

use super::drawn;
use super::figures::{self, series_of};
use crate::record::Replication;
use crate::table::Compared;
use crate::{Drawn, FigureShape, Method, Replica, Report, Series, Variants};
use fathom_core::experiment::Scale;
use fathom_core::quantity::Unit;
use fathom_report::paper::{Block, Figure, Key, Section, Text};

/// Fewer settings than this make no sweep.
const LEAST: usize = 3;

/// The section; `None` where every sweep is in a figure of the report.
pub(super) fn section(report: &Report, replication: &Replication, rows: &[Compared]) -> Option<Section> {
    let methods = report.methods().into_iter().filter(|method| !is_drawn(report, method));
    let blocks: Vec<Block> =
        methods.flat_map(|method| one(method, replication, unit(method, rows))).collect();
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

/// The unit of the rows that a method fills.
fn unit(method: &Method, rows: &[Compared]) -> Unit {
    let of_it = |row: &&Compared| matches!(row.row.replica, Replica::By(other) if other.name == method.name);
    rows.iter().find(of_it).map_or(Unit::Nanoseconds, |row| row.row.unit)
}

/// The pictures and the table of one method; none if it was not swept, or not measured.
fn one(method: &'static Method, replication: &Replication, unit: Unit) -> Vec<Block> {
    let Ok(series) = series_of(method.name, replication) else { return vec![] };
    if !is_swept(series) {
        return vec![];
    }
    let shape = FigureShape::Sweep("setting", Scale::Count);
    let table = figures::table(method.name, series, Variants::ALL, unit, shape);
    let numbered = |(place, drawn): (usize, fathom_report::figure::DrawnFigure)| Figure {
        key: Key::of("sweep").within(&format!("{}-{place}", method.name.to_lowercase())),
        caption: Text::plain(format!("{}. {}", method.name, drawn.explained())),
        data: Some(table.key.clone()),
        drawing: drawn.svg,
        otherwise: drawn.otherwise,
        spread: drawn.spread,
    };
    let figures = drawn::figures((method.name, series), Variants::ALL, unit, shape);
    let figures: Vec<Block> = figures.into_iter().enumerate().map(numbered).map(Block::from).collect();
    figures.into_iter().chain([Block::Table(table)]).collect()
}

/// Whether a variant has enough settings.
fn is_swept(series: &Series) -> bool {
    series.variants().iter().any(|(_, settings)| settings.len() >= LEAST)
}
