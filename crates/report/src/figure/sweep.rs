//! Medians over a numeric parameter.

use super::Candidate;
use super::curves::{Curve, Curves};
use super::drawn::DrawnFigure;
use super::mark::{mark_among, without_value};
use super::svg::SERIES;
use crate::{cpu_distance, words};
use fathom_core::experiment::{Point, Value};
use fathom_core::sorting;
use fathom_engine::results::{PointResult, Results, TrendResult};

/// Fewer settings than this are variants, not a sweep.
const LEAST: usize = 3;

/// Beside a sweep, a series may have as few settings as this.
const LEAST_BESIDE: usize = 2;

/// Points that differ in one number only.
pub(super) struct Sweep<'run> {
    along: String,
    group: Point,
    points: Vec<(f64, &'run PointResult)>,
}

impl Sweep<'_> {
    fn has_any(&self, points: &[&PointResult]) -> bool {
        self.points.iter().any(|(_, mine)| points.iter().any(|point| std::ptr::eq(*point, *mine)))
    }
}

/// The sweeps among some points of one unit, by the parameter along which they run, and the points that belong to none. A
/// point is in one sweep only: that of the experiment's first trend, then those along the numbers with the most settings.
/// The `few` points that represent the experiment belong to a sweep even if each is alone in its series.
pub(super) fn split<'run>(
    results: &Results,
    points: &[&'run PointResult],
    few: &[&PointResult],
) -> (Vec<Vec<Sweep<'run>>>, Vec<&'run PointResult>) {
    let (mut sweeps, mut rest) = (vec![], points.to_vec());
    for along in swept_parameters(results, points) {
        let (swept, others) = split_along(&rest, &along, few);
        if !swept.is_empty() {
            sweeps.push(swept);
        }
        rest = others;
    }
    (sweeps, rest)
}

fn split_along<'run>(
    points: &[&'run PointResult],
    along: &str,
    few: &[&PointResult],
) -> (Vec<Sweep<'run>>, Vec<&'run PointResult>) {
    let mut series: Vec<Sweep> = vec![];
    for point in points {
        let Some(setting) = number(point, along) else { continue };
        let group = point.point.without(along);
        match series.iter_mut().find(|series| series.group == group) {
            Some(series) => series.points.push((setting, point)),
            None => series.push(Sweep { along: along.to_owned(), group, points: vec![(setting, point)] }),
        }
    }
    if series.iter().all(|series| series.points.len() < LEAST) {
        series.clear();
    }
    series.retain(|series| series.points.len() >= LEAST_BESIDE || series.has_any(few));
    let is_swept = |point: &&&PointResult| {
        series.iter().any(|series| series.points.iter().any(|(_, member)| std::ptr::eq(*member, **point)))
    };
    let rest = points.iter().filter(|point| !is_swept(point)).copied().collect();
    for series in &mut series {
        sorting::by_number(&mut series.points, |(at, _)| *at);
    }
    (series, rest)
}

/// The parameters for the horizontal axis: that of the experiment's first trend, then the numeric ones, those with the most
/// settings first.
fn swept_parameters(results: &Results, points: &[&PointResult]) -> Vec<String> {
    let method = points.first().and_then(|point| results.method(&point.experiment));
    let first_trend =
        method.as_ref().and_then(|method| method.trends.first()).map(|trend| trend.along.as_str());
    let mut names: Vec<&str> = points
        .iter()
        .flat_map(|point| point.point.parameters())
        .filter(|(_, value)| matches!(value, Value::Number(_)))
        .map(|(name, _)| name)
        .collect();
    names.sort_unstable();
    names.dedup();
    names.retain(|name| settings(points, name) >= LEAST);
    sorting::by_key(&mut names, |name| {
        (Some(*name) != first_trend, std::cmp::Reverse(settings(points, name)))
    });
    names.into_iter().map(str::to_owned).collect()
}

fn settings(points: &[&PointResult], name: &str) -> usize {
    let mut values: Vec<u64> =
        points.iter().filter_map(|point| number(point, name)).map(f64::to_bits).collect();
    values.sort_unstable();
    values.dedup();
    values.len()
}

fn number(point: &PointResult, name: &str) -> Option<f64> {
    point.point.number_of(name).map(|number| number as f64)
}

/// The figures, each with as many series as can be distinguished: first those with any of the `few` points.
pub(super) fn figures<'run>(
    results: &Results,
    mut series: Vec<Sweep<'run>>,
    few: &[&PointResult],
) -> Vec<Candidate<'run>> {
    sorting::by_key(&mut series, |series| !series.has_any(few));
    let all = series.len();
    let candidate = |series: &[Sweep<'run>]| Candidate {
        points: points_of(series),
        drawn: figure(results, series, all - series.len()),
    };
    series.chunks(SERIES).map(candidate).collect()
}

fn points_of<'run>(series: &[Sweep<'run>]) -> Vec<&'run PointResult> {
    series.iter().flat_map(|series| series.points.iter().map(|(_, point)| *point)).collect()
}

/// Some curves, of which so many more are in other figures.
fn figure(results: &Results, series: &[Sweep], elsewhere: usize) -> DrawnFigure {
    let (first, along) = (series[0].points[0].1, series[0].along.as_str());
    let named = words::parameter(first, along);
    let declared = first.method().map(|known| (known.about().shown.landmarks)(&results.run.header.machine));
    let shared = shared(series);
    let points = points_of(series);
    let drawn = Curves {
        shared: if shared.is_empty() { String::new() } else { words::shared_label(first, &shared) },
        of: &first.experiment,
        statistic: "",
        along,
        named,
        scale: words::scale(first, along),
        unit: first.unit,
        members: series.iter().map(|series| curve(results, (first, &points), series, &shared)).collect(),
        elsewhere,
        landmarks: declared
            .unwrap_or_default()
            .into_iter()
            .filter(|landmark| landmark.along == along)
            .collect(),
    }
    .figure();
    DrawnFigure { caption: drawn.caption + &cpu_distance::of_picture(&points), ..drawn }
}

/// The parameters that several series share: the caption has them, and so the names have room for what differs.
fn shared(series: &[Sweep]) -> Vec<String> {
    let [first, .., _] = series else { return vec![] };
    let is_shared = |name: &str| series.iter().all(|other| other.group.get(name) == first.group.get(name));
    let names = first.group.parameters().map(|(name, _)| name);
    let shared: Vec<String> = names.filter(|name| is_shared(name)).map(str::to_owned).collect();
    // A series that shares all of its parameters would have no name.
    let has_name =
        |series: &Sweep| series.group.parameters().any(|(name, _)| !shared.iter().any(|of| of == name));
    if series.iter().all(has_name) { shared } else { vec![] }
}

fn curve<'run>(
    results: &'run Results,
    (first, points): (&PointResult, &[&PointResult]),
    series: &Sweep,
    shared: &[String],
) -> Curve<'run> {
    let marks = series.points.iter();
    let marks = marks.filter_map(|(setting, point)| Some((*setting, mark_among(point, points)?)));
    let mine = results
        .of_experiment(&first.experiment)
        .filter(|point| point.point.without(&series.along) == series.group);
    Curve {
        name: words::short_label(
            first,
            &shared.iter().fold(series.group.clone(), |rest, name| rest.without(name)),
        ),
        marks: marks.collect(),
        without_value: without_value(mine, &series.along),
        trend: trend(results, series),
    }
}

fn trend<'run>(results: &'run Results, series: &Sweep) -> Option<&'run TrendResult> {
    let experiment = &series.points[0].1.experiment;
    results.trends.iter().find(|trend| {
        trend.experiment == *experiment && trend.along == series.along && trend.group == series.group
    })
}
