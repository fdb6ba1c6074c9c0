//! The tables of results, one for each unit of an experiment: the head has the unit, the cells the numbers.

use crate::paper::{Column, Key, Row, Table, Text};
use crate::states;
use crate::summary;
use crate::words;
use crate::{cpu_distance, occupancy};
use fathom_core::experiment::{AXIS_PLACEMENT, Prediction};
use fathom_core::quantities::{self, Measure};
use fathom_core::quantity::Unit;
use fathom_core::sorting;
use fathom_core::statistics::Estimate;
use fathom_engine::results::{Outcome, PointResult};

const PERCENTILES: [(f64, &str); 4] = [(0.9, "p90"), (0.95, "p95"), (0.99, "p99"), (0.999, "p99.9")];

/// The tables of some points of one experiment, each with the unit of its numbers.
pub(super) fn tables(points: &[&PointResult], key: &Key) -> Vec<(Unit, Table)> {
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
        (unit, table(&mine, unit, key.within(&format!("results-{}", index + 1))))
    };
    units.into_iter().enumerate().map(of_unit).collect()
}

fn table(points: &[&PointResult], unit: Unit, key: Key) -> Table {
    let placement = summary::shared_placement(points.iter().copied());
    let names = parameters(points, placement.is_some());
    let shared = Measure::shared(unit, points.iter().filter_map(|point| summary::figure(point)));
    let percentiles = percentiles(points);
    let mut table = Table::new(key, caption(&points[0].experiment, unit, placement))
        .columns(columns(&names, unit, shared, &percentiles))
        .rows(points.iter().map(|point| row(point, &names, shared, &percentiles)));
    drop_empty(&mut table, names.len());
    each(&mut table, points, unit, names.len());
    table
}

/// Adds the medians divided by the parameter by which the experiment has them divided (R-CPU-05).
fn each(table: &mut Table, points: &[&PointResult], unit: Unit, parameters: usize) {
    let by = points[0].method().ok().and_then(|experiment| experiment.about().shown.divided_by);
    let Some(by) = by else { return };
    let quotient = |point: &&PointResult| {
        let number = point.point.number_of(by).filter(|number| *number > 0)?;
        Some(summary::figure(point)? / number as f64)
    };
    let Some(measure) = Measure::shared(unit, points.iter().filter_map(quotient)) else { return };
    let column = Column::number(format!("median / {}", words::spelt(by)), measure.symbol);
    table.columns.insert(parameters + 1, column);
    let rows = table.groups.iter_mut().flat_map(|group| &mut group.rows);
    for (row, point) in rows.zip(points) {
        let each = quotient(point).map(|each| measure.number(each, None));
        row.cells.insert(parameters + 1, each.unwrap_or_else(|| words::ABSENT.to_owned()).into());
    }
}

/// Removes the columns that no row has a figure for, such as the best observation of differences.
fn drop_empty(table: &mut Table, parameters: usize) {
    let absent = Text::plain(words::ABSENT);
    for column in (parameters..table.columns.len()).rev() {
        let mut rows = table.groups.iter_mut().flat_map(|group| &mut group.rows);
        if rows.all(|row| row.cells[column] == absent) {
            table.columns.remove(column);
            table
                .groups
                .iter_mut()
                .flat_map(|group| &mut group.rows)
                .for_each(|row| drop(row.cells.remove(column)));
        }
    }
}

fn caption(experiment: &str, unit: Unit, placement: Option<&str>) -> Text {
    let place = placement.map(|placement| format!(", {placement}")).unwrap_or_default();
    Text::code(experiment).and(format!(
        ": {} of one operation{place}: medians over trials. Outliers are the observations outside Tukey’s fences.",
        words::quantity(unit)
    ))
}

fn columns(
    names: &[String],
    unit: Unit,
    shared: Option<Measure>,
    percentiles: &[(f64, &str)],
) -> Vec<Column> {
    let in_unit = |head: &str| match shared {
        Some(measure) => Column::number(head, measure.symbol),
        None => Column::mixed(head),
    };
    // The values of parameters have their units, if any, in the cells.
    let mut columns: Vec<Column> = names.iter().map(|name| Column::words(words::spelt(name))).collect();
    columns.push(in_unit(&format!("median {}", words::quantity(unit))));
    columns.extend(["95 % interval", "predicted"].map(in_unit));
    columns.push(Column::ratio("measured / predicted"));
    columns.push(in_unit("core shared"));
    columns.push(in_unit("best observed").optional());
    columns.extend(percentiles.iter().map(|(_, name)| in_unit(name).optional()));
    columns.push(Column::number("outliers", "% of observations").optional());
    columns.push(Column::count("trials").optional());
    columns.push(Column::signs("operation checked"));
    columns
}

fn parameters(points: &[&PointResult], placement_said: bool) -> Vec<String> {
    let mut names: Vec<String> = vec![];
    for point in points {
        for name in words::names(*point, &point.point) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    if placement_said && names.len() > 1 {
        names.retain(|name| name != AXIS_PLACEMENT.name);
    }
    // The placement is last at every point, but a later point may have added another name after it.
    sorting::by_key(&mut names, |name| name == AXIS_PLACEMENT.name);
    names
}

/// The percentiles that at least one point can support.
fn percentiles(points: &[&PointResult]) -> Vec<(f64, &'static str)> {
    let supported = |level: f64| points.iter().any(|point| percentile(point, level).is_some());
    PERCENTILES.into_iter().filter(|(level, _)| supported(*level)).collect()
}

fn percentile(point: &PointResult, level: f64) -> Option<f64> {
    let percentile = point.percentiles.iter().find(|(supported, _)| (supported - level).abs() < 1e-9);
    percentile.map(|(_, value)| *value)
}

fn row(point: &PointResult, names: &[String], shared: Option<Measure>, percentiles: &[(f64, &str)]) -> Row {
    let of_parameter = |name: &String| match point.point.get(name) {
        Some(value) => words::value(point, name, value),
        None => words::ABSENT.to_owned(),
    };
    let text =
        |value: Option<f64>| value.map_or(words::ABSENT.to_owned(), |value| plain(point, shared, value));
    let usable = point.estimate();
    let interval = usable.and_then(|estimate| interval(point.unit, shared, estimate));
    let interval = of_states(point, shared).or(interval);
    let mut cells: Vec<Text> = names.iter().map(|name| of_parameter(name).into()).collect();
    cells.push(remarked(point, of_core(point, Text::strong(median(point, shared)))));
    cells.push(interval.unwrap_or(words::ABSENT.to_owned()).into());
    cells.push(text(point.prediction.as_ref().map(Prediction::total)).into());
    cells.push(summary::factor(point).into());
    cells.push(of_shared(point, shared).unwrap_or(words::ABSENT.to_owned()).into());
    cells.push(text(point.best()).into());
    cells.extend(percentiles.iter().map(|(level, _)| text(usable.and(percentile(point, *level))).into()));
    cells.push(outliers(point).unwrap_or(words::ABSENT.to_owned()).into());
    cells.push(point.trials.0.to_string().into());
    cells.push(Text::sign(words::evidence_sign(point)));
    Row::of(cells)
}

/// The share of the observations outside Tukey's fences, which are counted but never removed.
fn outliers(point: &PointResult) -> Option<String> {
    let all: usize = point.samples.iter().map(Vec::len).sum();
    let outside = point.outliers.as_ref()?.count();
    (all > 0).then(|| quantities::number(outside as f64 / all as f64 * 100.0))
}

fn median(point: &PointResult, shared: Option<Measure>) -> String {
    let own = shared.unwrap_or_else(|| states::measure(point, summary::figure(point).unwrap_or(0.0)));
    if let Some(values) = states::values(point, own) {
        return if shared.is_some() { values } else { format!("{values} {}", own.symbol) };
    }
    match (&point.outcome, shared) {
        (Outcome::Value(estimate), Some(measure)) => {
            measure.number(estimate.value, quantities::ends(estimate))
        }
        (Outcome::Value(estimate), None) => quantities::estimate(point.unit, estimate),
        (Outcome::BelowResolution { below, .. }, _) => format!("< {}", plain(point, shared, *below)),
        _ => words::ABSENT.to_owned(),
    }
}

/// The value while the core was shared, with its interval.
fn of_shared(point: &PointResult, shared: Option<Measure>) -> Option<String> {
    let estimate = point.shared()?;
    let measure =
        shared.unwrap_or_else(|| Measure::of(point.unit, point.estimate().map_or(0.0, |all| all.value)));
    let unit = if shared.is_some() { String::new() } else { format!(" {}", measure.symbol) };
    let ends = quantities::ends(estimate);
    let range = ends.map(|(low, high)| format!(" ({})", measure.range(estimate.value, low, high)));
    Some(measure.number(estimate.value, ends) + &unit + &range.unwrap_or_default())
}

/// The interval of each state of the machine; `None` for a point of one state.
fn of_states(point: &PointResult, shared: Option<Measure>) -> Option<String> {
    let own = || states::measure(point, summary::figure(point).unwrap_or(0.0));
    let measure = shared.unwrap_or_else(own);
    if shared.is_some() {
        states::intervals(point, measure)
    } else {
        states::intervals_with_unit(point, measure)
    }
}

fn interval(unit: Unit, shared: Option<Measure>, estimate: &Estimate) -> Option<String> {
    let (low, high) = quantities::ends(estimate)?;
    Some(match shared {
        Some(measure) => measure.range(estimate.value, low, high),
        None => quantities::interval(unit, estimate)?,
    })
}

/// A figure without an interval of its own.
fn plain(point: &PointResult, shared: Option<Measure>, value: f64) -> String {
    match shared {
        Some(measure) => measure.number(value, None),
        None => quantities::value(point.unit, value),
    }
}

/// A median with its remarks: trials left out, observations below zero, and several modes.
fn remarked(point: &PointResult, median: Text) -> Text {
    let mut median = gathered(point, median);
    if let Some(counts) = states::counts(point) {
        median = median.noted(format!(
            "Several states: {counts}, each with its own interval where enough trials were in it."
        ));
    }
    if point.left_out > 0 {
        let left_out = words::plural(point.left_out, "trial");
        median = median.noted(format!("Without {left_out} discarded by their own checks."));
    }
    if point.negative > 0 {
        let (negative, all) = (point.negative, point.samples.iter().map(Vec::len).sum::<usize>());
        median = median.noted(format!(
            "{negative} of {all} observations are below zero, because what is subtracted from a reading was larger at \
             that moment. They stay in the median, and no best observation is given."
        ));
    }
    median
}

/// Adds whether the core was shared, if that was observed.
fn of_core(point: &PointResult, median: Text) -> Text {
    let notes = occupancy::note(point).into_iter().chain(cpu_distance::note(point));
    notes.fold(median, Text::noted)
}

/// Adds the modes if there is more than one.
fn gathered(point: &PointResult, median: Text) -> Text {
    if point.modes.len() < 2 {
        return median;
    }
    let before = if point.baseline.is_some() { ", before the baseline is subtracted" } else { "" };
    // What stands in one value though it has modes is said to.
    let stands = if point.baseline.is_none() && point.mixture.is_none() {
        " One value: the median does not lie between them where few observations are."
    } else {
        ""
    };
    median.noted(format!("Modes: {}{before}.{stands}", words::modes(point)))
}
