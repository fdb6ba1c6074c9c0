//! Both sides of a comparison as curves over a swept parameter.

use super::curves::{Curve, Curves};
use super::drawn::DrawnFigure;
use super::mark::Mark;
use crate::words;
use fathom_core::experiment::Point;
use fathom_core::quantities;
use fathom_core::quantity::Unit;
use fathom_core::sorting;
use fathom_core::statistics::Measured;
use fathom_engine::comparison::Row;

/// Fewer settings than this make no curve.
const LEAST: usize = 5;

/// The sweeps of one experiment, each with a curve per side; the rows are of one experiment.
pub(crate) fn figures(names: [&str; 2], rows: &[&Row]) -> Vec<DrawnFigure> {
    let mut figures = vec![];
    let mut rest: Vec<&Row> = rows.to_vec();
    while let Some(along) = most_swept(&rest) {
        let (sweeps, others) = split(&rest, &along);
        figures.extend(sweeps.iter().map(|(group, rows)| figure(names, &along, group, rows)));
        rest = others;
    }
    figures
}

/// The numeric parameter with the most settings; `None` if none has enough.
fn most_swept(rows: &[&Row]) -> Option<String> {
    let mut names: Vec<&str> =
        rows.iter().flat_map(|row| row.point.parameters().map(|(name, _)| name)).collect();
    names.sort_unstable();
    names.dedup();
    let sweeps = |name: &&str| split(rows, name).0.iter().map(|(_, rows)| rows.len()).max().unwrap_or(0);
    let best = names.into_iter().max_by_key(sweeps)?;
    (sweeps(&best) >= LEAST).then(|| best.to_owned())
}

type SweptRows<'a> = ((Point, Unit), Vec<(f64, &'a Row)>);

/// The rows that belong to a sweep along this parameter, grouped by their other parameters, and the other rows.
fn split<'a>(rows: &[&'a Row], along: &str) -> (Vec<SweptRows<'a>>, Vec<&'a Row>) {
    let mut sweeps: Vec<SweptRows> = vec![];
    let mut rest = vec![];
    for row in rows {
        let Some(setting) = row.point.number_of(along) else {
            rest.push(*row);
            continue;
        };
        let group = (row.point.without(along), row.unit);
        match sweeps.iter_mut().find(|(of, _)| *of == group) {
            Some((_, members)) => members.push((setting as f64, row)),
            None => sweeps.push((group, vec![(setting as f64, row)])),
        }
    }
    let (mut whole, short): (Vec<SweptRows>, Vec<SweptRows>) =
        sweeps.into_iter().partition(|(_, rows)| rows.len() >= LEAST);
    rest.extend(short.into_iter().flat_map(|(_, rows)| rows.into_iter().map(|(_, row)| row)));
    for (_, rows) in &mut whole {
        sorting::by_number(rows, |(at, _)| *at);
    }
    (whole, rest)
}

fn figure(names: [&str; 2], along: &str, (group, unit): &(Point, Unit), rows: &[(f64, &Row)]) -> DrawnFigure {
    let first = rows[0].1;
    let curve = |side: usize| {
        let mark =
            |(setting, row): &(f64, &Row)| (*setting, mark(names[side], row, [row.before, row.after][side]));
        Curve::of(names[side].to_owned(), rows.iter().map(mark).collect())
    };
    let of = words::short_label(first, group);
    let mut figure = Curves {
        shared: String::new(),
        of: &first.experiment,
        statistic: "",
        along,
        named: words::parameter(first, along),
        scale: words::scale(first, along),
        unit: *unit,
        members: vec![curve(0), curve(1)],
        elsewhere: 0,
        landmarks: vec![],
    }
    .figure();
    if !of.is_empty() {
        figure.caption = format!("{of}. {}", figure.caption);
    }
    figure
}

fn mark(side: &str, row: &Row, level: Measured) -> Mark {
    let ends = level.interval.map(|interval| (interval.low, interval.high));
    let value = quantities::rounded(row.unit, level.value, ends);
    let words = format!("{side}: {}: {value}", words::label(row, &row.point));
    Mark::of(level.value, ends, words)
}
