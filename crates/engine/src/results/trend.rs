//! Straight lines through a sweep: the cost of one more argument, page or iteration.

use super::CpuDistance;
use super::point::{PointResult, first_of_each, method};
use crate::record::{MethodParameter, MethodTrend, Run};
use fathom_core::experiment::{Bend, CoreUse, Dimension, Found, Ground, Known, Part, Point, Prediction};
use fathom_core::quantity::Unit;
use fathom_core::statistics::{self, Interval, Line, Measured, SegmentsOverRounds};
use std::collections::BTreeMap;

/// A line fitted through the points of a sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct TrendResult {
    /// Name of the experiment.
    pub experiment: String,
    /// The parameters declared by its method.
    pub parameters: Vec<MethodParameter>,
    /// The fixed parameters.
    pub group: Point,
    /// The parameter along which the line was fitted.
    pub along: String,
    /// The length of one step of the slope, in the parameter's unit.
    pub step: f64,
    /// The name of one step: "per argument".
    pub slope_of: String,
    /// The unit of the values.
    pub unit: Unit,
    /// The points (parameter, median).
    pub points: Vec<(f64, f64)>,
    /// Whether one of them lies nearer to the place of its neighbour on the line than to its own, and that is certain: then the points lie on
    /// steps, and a slope that every round finds again is none of theirs.
    pub is_uneven: bool,
    /// The line with intervals over the rounds in which the points were visited, in `unit` per unit of the parameter.
    pub line: Line,
    /// The cost of one step by the predictions of the same points; `None` if one of them has none.
    pub predicted: Option<PredictedStep>,
    /// Two lines that meet, with intervals over rounds, if they fit better than one.
    pub two_lines: Option<SegmentsOverRounds>,
    /// The state of the core that all its points have; `None` if they have none, or not one.
    pub core: Option<CoreUse>,
    /// The one frequency of the core at which all its points are stated, hertz ([`Found::at_hz`]).
    pub at_hz: Option<f64>,
}

/// The cost of one step of a sweep as the predictions of its points have it: the slope of the line through them.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictedStep {
    /// In the unit of the values.
    pub total: f64,
    /// What the bare machine costs, in the same unit; `None` if no point has such a term.
    pub hardware: Option<f64>,
    /// What operating system and libraries add, in the same unit; `None` if no point has such a term, or it adds nothing.
    pub software: Option<f64>,
    /// What the weakest of the predictions rests on.
    pub ground: Ground,
}

/// The share of the variance of the points that a line explains at least, if it tells what a step costs.
const STRAIGHT: f64 = 0.9;

impl TrendResult {
    /// The cost of one step, in `unit`.
    pub fn slope(&self) -> f64 {
        self.line.slope * self.step
    }

    /// The interval of the cost of one step.
    pub fn slope_interval(&self) -> Option<Interval> {
        let ends = self.line.slope_interval?;
        Some(Interval { low: ends.low * self.step, high: ends.high * self.step })
    }

    /// Whether the line tells something: its points lie near it, or it shows no significant slope.
    pub fn is_line(&self) -> bool {
        let is_level = self.line.slope_interval.is_some_and(|ends| ends.contains(0.0));
        is_level || !self.is_uneven && self.line.r_squared.is_none_or(|share| share >= STRAIGHT)
    }

    /// The point furthest from the line: its parameter and its residual, in `unit`.
    pub fn largest_residual(&self) -> Option<(f64, f64)> {
        let residuals = statistics::residuals(&self.line, &self.points);
        let placed = self.points.iter().map(|(x, _)| *x).zip(residuals);
        placed.max_by(|(_, one), (_, other)| one.abs().total_cmp(&other.abs()))
    }

    /// The cost of one step by the median of the slopes between all pairs of points (Theil and Sen), which is robust to a
    /// few outlying points: if it differs much from [`TrendResult::slope`], the line is not straight. In `unit`.
    pub fn robust_slope(&self) -> Option<f64> {
        statistics::theil_sen(&self.points).map(|line| line.slope * self.step)
    }

    /// Adds the line to the known figures, with the experiments' own name of its group; that there is none if its points lie on none.
    pub fn teach(&self, known: &mut Known, group: &Point) {
        let of = |measured: Measured| {
            let of_points = Found::measured(measured, Dimension::Of(self.unit));
            Found { core: self.core, at_hz: self.at_hz, ..of_points }
        };
        let slope = of(Measured { value: self.line.slope, interval: self.line.slope_interval });
        let intercept = of(Measured { value: self.line.intercept, interval: self.line.intercept_interval });
        let line = self.is_line().then_some((slope, intercept));
        known.learn_line(&self.experiment, group, &self.along, line);
        if let Some(two) = &self.two_lines {
            let at = Found::measured(two.break_at, Dimension::Count);
            let bend = Bend { at, before: of(two.slope_before), after: of(two.slope_after) };
            known.learn_bend(&self.experiment, group, &self.along, bend);
        }
    }
}

/// Every fit that the experiments request and that has at least three points for which `counts` holds.
pub fn trends(run: &Run, points: &[PointResult], counts: fn(&PointResult) -> bool) -> Vec<TrendResult> {
    let of = |first| of_experiment(run, first, points, counts);
    first_of_each(points).flat_map(of).collect()
}

/// The fits of the experiment of this point, as requested by the method that measured it.
fn of_experiment(
    run: &Run,
    first: &PointResult,
    points: &[PointResult],
    counts: fn(&PointResult) -> bool,
) -> Vec<TrendResult> {
    let Some(method) = method(run, &first.experiment, first.method_version) else { return vec![] };
    let mine = points.iter().filter(|point| point.experiment == first.experiment && counts(point));
    let mine: Vec<&PointResult> = mine.collect();
    let mut results = vec![];
    for trend in &method.trends {
        for group in groups(&mine, &trend.along) {
            results.extend(fit(trend, &group, &mine));
        }
    }
    results
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
    let members = of_one_distance(of_one_core_state(members));
    let (first, _) = members.first()?;
    let measured: Vec<(f64, f64)> = members.iter().map(|(_, place)| *place).collect();
    let rounds = rounds(&members.iter().map(|(point, _)| *point).collect::<Vec<_>>());
    let line = statistics::line_over_rounds(&measured, &rounds).filter(|_| measured.len() >= 3)?;
    let two_lines = statistics::segments_over_rounds(&measured, &rounds);
    let ends: Vec<Option<Interval>> =
        members.iter().map(|(point, _)| point.estimate().and_then(|estimate| estimate.interval)).collect();
    let predicted = predicted_step(trend, &members);
    let figures: Vec<Found> = members.iter().filter_map(|(point, _)| point.figure()).collect();
    Some(TrendResult {
        experiment: first.experiment.clone(),
        parameters: first.parameters.clone(),
        group: group.clone(),
        along: trend.along.clone(),
        step: trend.step,
        slope_of: trend.slope.clone(),
        unit: first.unit,
        is_uneven: is_uneven(&line, &measured, &ends),
        points: measured,
        line,
        predicted,
        two_lines,
        core: in_common(&figures, |figure| figure.core),
        at_hz: in_common(&figures, |figure| figure.at_hz),
    })
}

/// Whether a point is certain to lie further from a line than half of what this rises to the nearest other point, or, where points lie close
/// together, in the mean from one to the next.
fn is_uneven(line: &Line, points: &[(f64, f64)], ends: &[Option<Interval>]) -> bool {
    let places = || points.iter().map(|(x, _)| *x);
    let (first, last) = (places().fold(f64::INFINITY, f64::min), places().fold(f64::NEG_INFINITY, f64::max));
    let mean = (last - first) / (points.len() as f64 - 1.0);
    let nearest =
        |x: f64| places().map(|other| (other - x).abs()).filter(|by| *by > 0.0).fold(f64::INFINITY, f64::min);
    let is_off = |((x, value), ends): (&(f64, f64), &Option<Interval>)| {
        let on_the_line = line.at(*x);
        let half = line.slope.abs() * nearest(*x).max(mean) / 2.0;
        (value - on_the_line).abs() > half && ends.is_some_and(|ends| !ends.contains(on_the_line))
    };
    points.iter().zip(ends).any(is_off)
}

/// What all figures have in common; `None` if they have none of it.
fn in_common<T: PartialEq>(figures: &[Found], of: fn(&Found) -> Option<T>) -> Option<T> {
    let first = of(figures.first()?);
    first.filter(|first| figures.iter().all(|figure| of(figure).as_ref() == Some(first)))
}

/// The points with the core alone, if those with the core shared are fewer; else the latter: a line through both, or through mixtures
/// of both, has the slope of neither. Points whose work does not depend on it, or shows no state, stay.
fn of_one_core_state<T>(members: Vec<(&PointResult, T)>) -> Vec<(&PointResult, T)> {
    let number = |of| members.iter().filter(|(point, _)| point.core_use() == Some(of)).count();
    let (alone, shared) = (number(CoreUse::Alone), number(CoreUse::Shared));
    if alone + shared == 0 {
        return members;
    }
    let main = if alone >= shared { CoreUse::Alone } else { CoreUse::Shared };
    members.into_iter().filter(|(point, _)| point.core_use().is_none_or(|state| state == main)).collect()
}

/// Of work on two CPUs at several distances the points at the one that most of them are of, of as many that of most of the time: a line
/// through two distances has the slope of neither. Points of other work, or of no known distance, stay.
fn of_one_distance<T>(members: Vec<(&PointResult, T)>) -> Vec<(&PointResult, T)> {
    let of = |point: &PointResult| {
        point.cpu_distance.as_ref().filter(|distance| distance.of_several).map(|distance| distance.at)
    };
    let is_at = |one: &CpuDistance, other: &CpuDistance| one.line_ns.total_cmp(&other.line_ns).is_eq();
    let all: Vec<CpuDistance> = members.iter().filter_map(|(point, _)| of(point)).collect();
    let number = |at: &CpuDistance| all.iter().filter(|other| is_at(other, at)).count();
    let Some(main) = all.iter().max_by_key(|at| (number(at), at.is_usual)) else { return members };
    members.into_iter().filter(|(point, _)| of(point).is_none_or(|at| is_at(&at, main))).collect()
}

fn predicted_step(trend: &MethodTrend, members: &[(&PointResult, (f64, f64))]) -> Option<PredictedStep> {
    let placed = members.iter().map(|(point, (along, _))| Some((*along, point.prediction.as_ref()?)));
    let placed: Vec<(f64, &Prediction)> = placed.collect::<Option<_>>()?;
    let slope = |of: &dyn Fn(&Prediction) -> f64| {
        let points: Vec<(f64, f64)> = placed.iter().map(|(along, of_it)| (*along, of(of_it))).collect();
        statistics::line_over_rounds(&points, &[]).map(|line| line.slope * trend.step)
    };
    let total = slope(&Prediction::total)?;
    let part = |part: Part| {
        let has_it = placed.iter().any(|(_, prediction)| prediction.part(part).is_some());
        let step = slope(&|prediction| prediction.part(part).unwrap_or(0.0)).filter(|_| has_it)?;
        (step.abs() > total.abs() * NOTHING).then_some(step)
    };
    let grounds = || placed.iter().map(|(_, prediction)| prediction.ground());
    let weakest =
        [Ground::Scaled, Ground::ThisRun].into_iter().find(|weak| grounds().any(|ground| ground == *weak));
    Some(PredictedStep {
        total,
        hardware: part(Part::Hardware),
        software: part(Part::Software),
        ground: weakest.unwrap_or(Ground::Independent),
    })
}

/// A part below this share of a predicted step adds nothing to it: what is left is rounding.
const NOTHING: f64 = 1e-6;

fn place(point: &PointResult, along: &str) -> Option<(f64, f64)> {
    Some((point.point.number_of(along)? as f64, point.estimate()?.value))
}

/// The median of each round at each of some points.
fn rounds(points: &[&PointResult]) -> Vec<Vec<Option<f64>>> {
    let mut rounds: BTreeMap<u32, Vec<Option<f64>>> = BTreeMap::new();
    for (place, point) in points.iter().enumerate() {
        for (round, median) in &point.by_round {
            rounds.entry(*round).or_insert_with(|| vec![None; points.len()])[place] = Some(*median);
        }
    }
    rounds.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::planted;

    /// Whether points with these values, one apart, and intervals of this half width lie unevenly about their line.
    fn uneven(values: &[f64], half: f64) -> bool {
        let points: Vec<(f64, f64)> =
            values.iter().enumerate().map(|(x, value)| (x as f64, *value)).collect();
        let ends: Vec<Option<Interval>> =
            values.iter().map(|value| Some(Interval { low: value - half, high: value + half })).collect();
        let line = statistics::line_over_rounds(&points, &[]).expect("a line");
        is_uneven(&line, &points, &ends)
    }

    /// Calls with none to seven arguments of a guest, nanoseconds: steps of one and two clocks of the instructions that fit, or of none.
    #[test]
    fn points_on_steps_lie_on_no_line_however_well_each_is_known() {
        let calls = [1.116, 1.133, 1.150, 1.167, 1.201, 1.218, 1.252, 1.253];
        assert!(uneven(&calls, 0.001));
        assert!(!uneven(&calls, 0.02), "that it does is not certain");
        let straight: Vec<f64> = (0..8).map(|n| 1.116 + 0.02 * f64::from(n)).collect();
        assert!(!uneven(&straight, 0.001));
    }

    #[test]
    fn a_line_passes_through_points_of_one_distance_of_the_cpus() {
        let point = |line_ns: Option<f64>| {
            let estimate = statistics::estimate(&vec![vec![1.0; 5]; 5]).expect("five trials");
            let cpu_distance = line_ns.and_then(|line_ns| planted::at_distances(line_ns, None));
            PointResult { cpu_distance, ..planted::result("a/test", estimate, None) }
        };
        let kept = |lines: &[Option<f64>]| {
            let points: Vec<PointResult> = lines.iter().map(|line_ns| point(*line_ns)).collect();
            let members = points.iter().enumerate().map(|(place, point)| (point, place)).collect();
            of_one_distance(members).into_iter().map(|(_, place)| place).collect::<Vec<_>>()
        };
        let (near, far) = (Some(32.9), Some(160.0));
        assert_eq!(kept(&[far, near, far, None]), [0, 2, 3]);
        assert_eq!(kept(&[far, near]), [1], "of as many those of most of the time");
        assert_eq!(kept(&[None, None]), [0, 1]);
    }

    /// What the first few iterations take is little beside the thousands that make the line.
    #[test]
    fn points_close_together_at_the_beginning_bend_no_long_line() {
        let points = [(0.0, 1.5), (1.0, 1.0), (2.0, 1.3), (512.0, 138.8), (8192.0, 2222.0)];
        let ends = points.map(|(_, value)| Some(Interval { low: 0.999 * value, high: 1.001 * value }));
        let line = statistics::line_over_rounds(&points, &[]).expect("a line");
        assert!(!is_uneven(&line, &points, &ends));
    }
}
