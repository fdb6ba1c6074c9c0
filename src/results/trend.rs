//! Straight lines through a sweep: what one more argument, page or iteration costs.

use super::{Outcome, PointResult};
use crate::experiment::{Point, Trend, Value};
use crate::experiments;
use crate::quantity::Unit;
use crate::statistics::{self, Interval, Line};

/// A line fitted through the points of a sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct TrendResult {
    /// Name of the experiment.
    pub experiment: String,
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
    /// Least squares with intervals, in `unit` per one of the parameter.
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
}

/// Every fit that the experiments ask for and that has at least three points.
pub fn trends(points: &[PointResult]) -> Vec<TrendResult> {
    super::names(points).into_iter().flat_map(|name| of_experiment(name, points)).collect()
}

fn of_experiment(name: &str, points: &[PointResult]) -> Vec<TrendResult> {
    let Some(experiment) = experiments::find(name) else { return vec![] };
    let mine: Vec<&PointResult> = points.iter().filter(|point| point.experiment == name).collect();
    let mut found = vec![];
    for trend in experiment.about().trends {
        for group in groups(&mine, trend.along) {
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

fn fit(trend: &Trend, group: &Point, points: &[&PointResult]) -> Option<TrendResult> {
    let members = points.iter().filter(|point| point.point.without(trend.along) == *group);
    let measured: Vec<(f64, f64)> = members.clone().filter_map(|point| place(point, trend.along)).collect();
    let first = members.clone().next()?;
    let line = statistics::fit_line(&measured).filter(|_| measured.len() >= 3)?;
    Some(TrendResult {
        experiment: first.experiment.clone(),
        group: group.clone(),
        along: trend.along.to_owned(),
        step: trend.step,
        slope_of: trend.slope.to_owned(),
        unit: first.unit,
        points: measured,
        line,
    })
}

fn place(point: &PointResult, along: &str) -> Option<(f64, f64)> {
    match (&point.outcome, point.point.get(along)?, &point.estimate) {
        (Outcome::Value, Value::Number(x), Some(estimate)) => Some((*x as f64, estimate.value)),
        _ => None,
    }
}
