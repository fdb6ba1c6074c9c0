//! The main figures of a run: those by which its experiments are told where there is room for few.

use super::summary;
use super::words;
use crate::experiment::{Landmark, MainFigure, PEER, Point, Shown, VIRTUAL_PEER, Value};
use crate::results::{PointResult, Results, TrendResult};

/// A main figure that the run has.
pub(super) struct Main<'run> {
    /// What it is of, in a few words beside the experiment's name.
    pub words: String,
    /// Whether it is one of the dozen by which a machine is told.
    pub leads: bool,
    /// Where it comes from.
    pub source: Source<'run>,
}

/// Where a main figure comes from.
#[derive(Clone, Copy)]
pub(super) enum Source<'run> {
    /// The figure of a point, which may be an upper limit.
    Point(&'run PointResult),
    /// The slope of a line through a sweep.
    Slope(&'run TrendResult),
}

/// Those of one experiment: the ones that it names, else its first point; empty where no point has a figure. Of several
/// names for one point, as where there are fewer caches than names, the last stands.
pub(super) fn of<'run>(found: &'run Results, name: &'run str) -> Vec<Main<'run>> {
    let shown = found.experiment(name).map_or(Shown::by(&[]), |known| known.about().shown);
    let landmarks = (shown.landmarks)(&found.run.header.machine);
    let measured: Vec<&PointResult> =
        found.of_experiment(name).filter(|point| summary::is_in_table(point)).collect();
    let named = shown.main_figures.iter();
    let chosen: Vec<Main> =
        named.filter_map(|figure| choose(found, name, figure, &measured, &landmarks)).collect();
    match (chosen.is_empty(), measured.first()) {
        (true, Some(point)) => {
            let words = words::short_label(*point, &point.point);
            vec![Main { words, leads: false, source: Source::Point(point) }]
        }
        _ => distinct(chosen),
    }
}

fn choose<'run>(
    found: &'run Results,
    name: &str,
    figure: &MainFigure,
    measured: &[&'run PointResult],
    landmarks: &[Landmark],
) -> Option<Main<'run>> {
    if figure.slope {
        let groups = || found.trends.iter().filter(|trend| trend.experiment == name);
        let group = figure.choose(groups().map(|trend| &trend.group), landmarks)?;
        let trend = groups().find(|trend| trend.group == *group)?;
        let words = figure.words.to_owned();
        return Some(Main { words, leads: figure.leads, source: Source::Slope(trend) });
    }
    let of = |point: &Point| measured.iter().copied().find(|found| found.point == *point);
    let merit = |point: &Point| of(point).and_then(PointResult::merit).unwrap_or(f64::NEG_INFINITY);
    let points = measured.iter().map(|point| &point.point);
    let point = of(figure.choose_best(points, landmarks, merit)?)?;
    let words = figure.said(&point.point, |name, value| words::value(point, name, value));
    Some(Main { words: said(&words, &point.point), leads: figure.leads, source: Source::Point(point) })
}

/// A virtual peer is never shown as a real one.
fn said(words: &str, point: &Point) -> String {
    let is_virtual =
        point.parameters().any(|(_, value)| matches!(value, Value::Name(name) if name == VIRTUAL_PEER));
    if is_virtual { words.replace(PEER, VIRTUAL_PEER) } else { words.to_owned() }
}

fn distinct(chosen: Vec<Main>) -> Vec<Main> {
    let mut kept: Vec<Main> = vec![];
    for figure in chosen {
        kept.retain(|earlier| !is_same(&earlier.source, &figure.source));
        kept.push(figure);
    }
    kept
}

fn is_same(one: &Source, other: &Source) -> bool {
    match (one, other) {
        (Source::Point(one), Source::Point(other)) => std::ptr::eq(*one, *other),
        (Source::Slope(one), Source::Slope(other)) => std::ptr::eq(*one, *other),
        _ => false,
    }
}
