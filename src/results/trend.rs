//! Straight lines through a sweep: what one more argument, page or iteration costs.

use super::method::method;
use super::point::{PointResult, first_of_each};
use crate::experiment::{Dimension, Found, Known, Point, Value};
use crate::quantity::Unit;
use crate::record::{MethodParameter, MethodTrend, Run};
use crate::statistics::{self, Interval, Line};
use std::collections::BTreeMap;

/// A line fitted through the points of a sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct TrendResult {
    /// Name of the experiment.
    pub experiment: String,
    /// The parameters that its method declares.
    pub parameters: Vec<MethodParameter>,
    /// The parameters held.
    pub group: Point,
    /// The parameter along which it was fitted.
    pub along: String,
    /// How much of the parameter one step of the slope is.
    pub step: f64,
    /// What one step is called: "per argument".
    pub slope_of: String,
    /// The unit of the values.
    pub unit: Unit,
    /// The points (parameter, median).
    pub points: Vec<(f64, f64)>,
    /// The line with intervals over the rounds in which the points were visited, in `unit` per one of the parameter.
    pub line: Line,
}

impl TrendResult {
    /// What one step costs, in `unit`.
    pub fn slope(&self) -> f64 {
        self.line.slope * self.step
    }

    /// The interval of what one step costs.
    pub fn slope_interval(&self) -> Option<Interval> {
        let ends = self.line.slope_interval?;
        Some(Interval { low: ends.low * self.step, high: ends.high * self.step })
    }

    /// Where a point is furthest from the line, and by how much, in `unit`.
    pub fn largest_residual(&self) -> Option<(f64, f64)> {
        let left = statistics::residuals(&self.line, &self.points);
        let placed = self.points.iter().map(|(x, _)| *x).zip(left);
        placed.max_by(|(_, one), (_, other)| one.abs().total_cmp(&other.abs()))
    }

    /// What one step costs by the median of the slopes between all pairs of points (Theil and Sen), which a few points out of
    /// line do not move: far from [`TrendResult::slope`] the line is not straight. In `unit`.
    pub fn robust_slope(&self) -> Option<f64> {
        statistics::theil_sen(&self.points).map(|line| line.slope * self.step)
    }

    /// Tells experiments of the line, by their own name of its group.
    pub fn teach(&self, known: &mut Known, group: &Point) {
        let found = |value, interval| Found { value, interval, dimension: Dimension::Of(self.unit) };
        let slope = found(self.line.slope, self.line.slope_interval);
        let intercept = found(self.line.intercept, self.line.intercept_interval);
        known.learn_line(&self.experiment, group, &self.along, (slope, intercept));
    }
}

/// Every fit that the experiments ask for and that has at least three points which count.
pub fn trends(run: &Run, points: &[PointResult], counts: fn(&PointResult) -> bool) -> Vec<TrendResult> {
    let of = |first| of_experiment(run, first, points, counts);
    first_of_each(points).flat_map(of).collect()
}

/// The fits of the experiment of this point, as the method that measured it asks for them.
fn of_experiment(
    run: &Run,
    first: &PointResult,
    points: &[PointResult],
    counts: fn(&PointResult) -> bool,
) -> Vec<TrendResult> {
    let Some(method) = method(run, &first.experiment, first.method_version) else { return vec![] };
    let mine = points.iter().filter(|point| point.experiment == first.experiment && counts(point));
    let mine: Vec<&PointResult> = mine.collect();
    let mut found = vec![];
    for trend in &method.trends {
        for group in groups(&mine, &trend.along) {
            found.extend(fit(trend, &group, &mine));
        }
    }
    found
}

/// The distinct settings of all other parameters, in the order of the table.
fn groups(points: &[&PointResult], along: &str) -> Vec<Point> {
    let mut groups: Vec<Point> = vec![];
    for point in points.iter().filter(|point| point.point.get(along).is_some()) {
        let group = point.point.without(along);
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    groups
}

fn fit(trend: &MethodTrend, group: &Point, points: &[&PointResult]) -> Option<TrendResult> {
    let members = points.iter().copied().filter(|point| point.point.without(&trend.along) == *group);
    let members: Vec<(&PointResult, (f64, f64))> =
        members.filter_map(|point| Some((point, place(point, &trend.along)?))).collect();
    let (first, _) = members.first()?;
    let measured: Vec<(f64, f64)> = members.iter().map(|(_, place)| *place).collect();
    let rounds = rounds(&members.iter().map(|(point, _)| *point).collect::<Vec<_>>());
    let line = statistics::line_over_rounds(&measured, &rounds).filter(|_| measured.len() >= 3)?;
    Some(TrendResult {
        experiment: first.experiment.clone(),
        parameters: first.parameters.clone(),
        group: group.clone(),
        along: trend.along.clone(),
        step: trend.step,
        slope_of: trend.slope.clone(),
        unit: first.unit,
        points: measured,
        line,
    })
}

fn place(point: &PointResult, along: &str) -> Option<(f64, f64)> {
    match point.point.get(along)? {
        Value::Number(x) => Some((*x as f64, point.estimate()?.value)),
        Value::Name(_) => None,
    }
}

/// What each round has found at each of some points.
fn rounds(points: &[&PointResult]) -> Vec<Vec<Option<f64>>> {
    let mut rounds: BTreeMap<u32, Vec<Option<f64>>> = BTreeMap::new();
    for (place, point) in points.iter().enumerate() {
        for (round, found) in &point.by_round {
            rounds.entry(*round).or_insert_with(|| vec![None; points.len()])[place] = Some(*found);
        }
    }
    rounds.into_values().collect()
}
