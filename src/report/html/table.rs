//! The tables of results, one for each unit of an experiment: the head has the unit, the cells the numbers.

use crate::experiment::{AXIS_PLACEMENT, Prediction};
use crate::quantity::Unit;
use crate::report::quantities::{self, Measure};
use crate::report::summary;
use crate::report::words;
use crate::results::{Outcome, PointResult};
use crate::statistics::Estimate;
use serde::Serialize;

/// More percentiles than these no column is made for.
const PERCENTILES: [(f64, &str); 4] = [(0.9, "p90"), (0.95, "p95"), (0.99, "p99"), (0.999, "p99.9")];

/// A table of results.
#[derive(Serialize)]
pub(super) struct Results {
    /// The number behind "Table".
    pub number: usize,
    /// What it shows, without the number.
    pub caption: String,
    /// How many of the columns are parameters.
    pub parameters: usize,
    /// Heads, with units.
    pub head: Vec<String>,
    /// The rows.
    pub rows: Vec<Row>,
}

/// One point.
#[derive(Serialize)]
pub(super) struct Row {
    /// Its parameters, then its figures.
    pub cells: Vec<String>,
    /// ✓, ✗ or –.
    pub evidence: &'static str,
    /// What else is to be known about it.
    pub note: String,
}

/// The tables of some points of one experiment, numbered from `first`.
pub(super) fn of(points: &[&PointResult], first: usize) -> Vec<Results> {
    let shown: Vec<&PointResult> =
        points.iter().filter(|point| summary::is_in_table(point)).copied().collect();
    let mut units: Vec<Unit> = vec![];
    for point in &shown {
        if !units.contains(&point.unit) {
            units.push(point.unit);
        }
    }
    let of_unit = |(index, unit): (usize, Unit)| {
        let mine: Vec<&PointResult> = shown.iter().filter(|point| point.unit == unit).copied().collect();
        table(&mine, unit, first + index)
    };
    units.into_iter().enumerate().map(of_unit).collect()
}

fn table(points: &[&PointResult], unit: Unit, number: usize) -> Results {
    let placement = summary::shared_placement(points.iter().copied());
    let names = parameters(points, placement.is_some());
    let shared = Measure::shared(unit, points.iter().filter_map(|point| summary::figure(point)));
    let percentiles = percentiles(points);
    let mut table = Results {
        number,
        caption: caption(unit, placement),
        parameters: names.len(),
        head: head(&names, unit, shared, &percentiles),
        rows: points.iter().map(|point| row(point, &names, shared, &percentiles)).collect(),
    };
    table.drop_empty();
    table
}

impl Results {
    /// Takes away the columns that no row has a figure for, such as the best observed of differences.
    fn drop_empty(&mut self) {
        for column in (self.parameters..self.head.len()).rev() {
            if self.rows.iter().all(|row| row.cells[column] == summary::ABSENT) {
                self.head.remove(column);
                self.rows.iter_mut().for_each(|row| drop(row.cells.remove(column)));
            }
        }
    }
}

fn caption(unit: Unit, placement: Option<&str>) -> String {
    let place = placement.map(|placement| format!(", {placement}")).unwrap_or_default();
    format!(
        "{} of one operation{place}: medians over trials. Outliers are the observations outside Tukey’s fences.",
        capital(words::quantity(unit))
    )
}

fn head(names: &[String], unit: Unit, shared: Option<Measure>, percentiles: &[(f64, &str)]) -> Vec<String> {
    let in_unit = |column: &str| {
        let symbol = shared.map_or("unit in cell", |measure| measure.symbol);
        format!("{column} ({symbol})")
    };
    let mut head = names.to_vec();
    head.push(in_unit(&format!("median {}", words::quantity(unit))));
    head.extend(["95 % interval", "predicted"].map(in_unit));
    head.push("measured / predicted".to_owned());
    head.push(in_unit("best observed"));
    head.extend(percentiles.iter().map(|(_, name)| in_unit(name)));
    head.extend(["outliers", "trials"].map(str::to_owned));
    head
}

fn parameters(points: &[&PointResult], placement_said: bool) -> Vec<String> {
    let mut names: Vec<String> = vec![];
    for point in points {
        for name in words::names(&point.experiment, &point.point) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    if placement_said && names.len() > 1 {
        names.retain(|name| name != AXIS_PLACEMENT.name);
    }
    // The placement closes every point's list, but a later point may have brought another name behind it.
    names.sort_by_key(|name| name == AXIS_PLACEMENT.name);
    names
}

/// The percentiles that at least one point can support.
fn percentiles(points: &[&PointResult]) -> Vec<(f64, &'static str)> {
    let supported = |level: f64| points.iter().any(|point| percentile(point, level).is_some());
    PERCENTILES.into_iter().filter(|(level, _)| supported(*level)).collect()
}

fn percentile(point: &PointResult, level: f64) -> Option<f64> {
    let found = point.percentiles.iter().find(|(supported, _)| (supported - level).abs() < 1e-9);
    found.map(|(_, value)| *value)
}

fn row(point: &PointResult, names: &[String], shared: Option<Measure>, percentiles: &[(f64, &str)]) -> Row {
    let of_parameter = |name: &String| match point.point.get(name) {
        Some(value) => words::value(&point.experiment, name, value),
        None => summary::ABSENT.to_owned(),
    };
    let text =
        |value: Option<f64>| value.map_or(summary::ABSENT.to_owned(), |value| plain(point, shared, value));
    let usable = point.estimate.as_ref().filter(|_| point.outcome == Outcome::Value);
    let mut cells: Vec<String> = names.iter().map(of_parameter).collect();
    cells.push(median(point, shared));
    cells.push(
        usable.and_then(|found| interval(point.unit, shared, found)).unwrap_or(summary::ABSENT.to_owned()),
    );
    cells.push(text(point.prediction.as_ref().map(Prediction::total)));
    cells.push(point.factor().map_or(summary::ABSENT.to_owned(), quantities::factor));
    cells.push(text(point.best()));
    cells.extend(percentiles.iter().map(|(level, _)| text(usable.and(percentile(point, *level)))));
    cells.push(outliers(point).unwrap_or(summary::ABSENT.to_owned()));
    cells.push(point.trials.0.to_string());
    Row { cells, evidence: words::evidence_mark(point), note: note(point) }
}

/// The share of the observations outside Tukey's fences: counted, never removed.
fn outliers(point: &PointResult) -> Option<String> {
    let all: usize = point.samples.iter().map(Vec::len).sum();
    let outside = point.outliers.as_ref()?.count();
    (all > 0).then(|| quantities::percent(outside as f64 / all as f64))
}

fn median(point: &PointResult, shared: Option<Measure>) -> String {
    match (&point.outcome, &point.estimate, shared) {
        (Outcome::BelowResolution { below }, ..) => format!("< {}", plain(point, shared, *below)),
        (_, Some(found), Some(measure)) => measure.number(found.value, quantities::ends(found)),
        (_, Some(found), None) => quantities::estimate(point.unit, found),
        (_, None, _) => summary::ABSENT.to_owned(),
    }
}

fn interval(unit: Unit, shared: Option<Measure>, found: &Estimate) -> Option<String> {
    let (low, high) = quantities::ends(found)?;
    Some(match shared {
        Some(measure) => measure.range(found.value, low, high),
        None => quantities::interval(unit, found)?,
    })
}

/// A figure without an interval of its own.
fn plain(point: &PointResult, shared: Option<Measure>, value: f64) -> String {
    match shared {
        Some(measure) => measure.number(value, None),
        None => quantities::value(point.unit, value),
    }
}

/// More than one mode is reported as such; so is why nothing was predicted.
fn note(point: &PointResult) -> String {
    let mut said: Vec<String> = vec![];
    if point.modes.len() > 1 {
        let modes = point.modes.iter().map(|mode| {
            format!("{} ({})", quantities::value(point.unit, mode.centre), quantities::percent(mode.share))
        });
        let before = if point.baseline.is_some() { ", before the baseline is subtracted" } else { "" };
        said.push(format!("gathers around {}{before}", modes.collect::<Vec<_>>().join(" and ")));
    }
    if let Some(reason) = &point.unpredicted {
        said.push(format!("not predicted: {reason}"));
    }
    said.join("; ")
}

/// With a capital letter.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
