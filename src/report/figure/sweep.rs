//! Medians over a parameter that is a number.

use super::axis::Axis;
use super::drawn::{Figure, quantity};
use super::mark::{Mark, extent, key, mark};
use super::svg::{self, Drawing, SERIES, Svg, WIDTH};
use crate::experiment::{Landmark, Point, Scale, Value};
use crate::quantity::Unit;
use crate::report::{quantities, words};
use crate::results::{PointResult, Results, TrendResult};

/// Fewer settings than this are variants, not a sweep.
const LEAST: usize = 3;

const PLOT_HEIGHT: f64 = 300.0;

/// Points that differ in one number alone.
pub(super) struct Series<'run> {
    along: String,
    group: Point,
    points: Vec<(f64, &'run PointResult)>,
}

/// The sweeps among some points of one unit, by the parameter that they run along, and the points that belong to none. A
/// point stands in one sweep only: that of the experiment's first trend, then those along the numbers with most settings.
pub(super) fn split<'run>(
    results: &Results,
    points: &[&'run PointResult],
) -> (Vec<Vec<Series<'run>>>, Vec<&'run PointResult>) {
    let (mut sweeps, mut rest) = (vec![], points.to_vec());
    for along in swept_parameters(results, points) {
        let (swept, left) = split_along(&rest, &along);
        if !swept.is_empty() {
            sweeps.push(swept);
        }
        rest = left;
    }
    (sweeps, rest)
}

fn split_along<'run>(
    points: &[&'run PointResult],
    along: &str,
) -> (Vec<Series<'run>>, Vec<&'run PointResult>) {
    let mut series: Vec<Series> = vec![];
    for point in points {
        let Some(setting) = number(point, along) else { continue };
        let group = point.point.without(along);
        match series.iter_mut().find(|series| series.group == group) {
            Some(series) => series.points.push((setting, point)),
            None => series.push(Series { along: along.to_owned(), group, points: vec![(setting, point)] }),
        }
    }
    series.retain(|series| series.points.len() >= LEAST);
    let is_swept = |point: &&&PointResult| {
        series.iter().any(|series| series.points.iter().any(|(_, member)| std::ptr::eq(*member, **point)))
    };
    let rest = points.iter().filter(|point| !is_swept(point)).copied().collect();
    for series in &mut series {
        series.points.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    }
    (series, rest)
}

/// The parameters that may be on the horizontal axis: that of the experiment's first trend, then the numbers, those with
/// most settings first.
fn swept_parameters(results: &Results, points: &[&PointResult]) -> Vec<String> {
    let method = points.first().and_then(|point| results.method(&point.experiment));
    let asked = method.as_ref().and_then(|method| method.trends.first()).map(|trend| trend.along.as_str());
    let mut names: Vec<&str> = points
        .iter()
        .flat_map(|point| point.point.parameters())
        .filter(|(_, value)| matches!(value, Value::Number(_)))
        .map(|(name, _)| name)
        .collect();
    names.sort_unstable();
    names.dedup();
    names.retain(|name| settings(points, name) >= LEAST);
    names.sort_by_key(|name| (Some(*name) != asked, std::cmp::Reverse(settings(points, name))));
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
    match point.point.get(name) {
        Some(Value::Number(number)) => Some(*number as f64),
        _ => None,
    }
}

/// As many series in a figure as can be told apart.
pub(super) fn figures(results: &Results, series: &[Series]) -> Vec<Figure> {
    series.chunks(SERIES).map(|series| figure(results, series)).collect()
}

/// What a figure shows, however its values are spread.
struct Content<'run> {
    results: &'run Results<'run>,
    series: &'run [Series<'run>],
    marks: Vec<Vec<Mark>>,
    names: Vec<String>,
    first: &'run PointResult,
    along: &'run str,
    unit: Unit,
}

struct Plot {
    x: Axis,
    y: Axis,
    left: f64,
    bottom: f64,
    unit: Unit,
}

fn figure(results: &Results, series: &[Series]) -> Figure {
    let first = series[0].points[0].1;
    let content = Content {
        results,
        series,
        marks: series
            .iter()
            .map(|series| series.points.iter().filter_map(|(_, point)| mark(point)).collect())
            .collect(),
        names: series.iter().map(|series| words::short_label(first, &series.group)).collect(),
        first,
        along: &series[0].along,
        unit: first.unit,
    };
    let suited = content.plot(Axis::of_values);
    let otherwise = content.other_plot().map(|plot| content.drawn(&plot));
    let drawn = content.drawn(&suited);
    Figure { otherwise, ..Figure::of(content.caption(&suited), first.unit, drawn, &suited.y) }
}

impl Content<'_> {
    fn values(&self) -> Vec<f64> {
        extent(self.marks.iter().flatten())
    }

    fn other_plot(&self) -> Option<Plot> {
        Axis::of_values_otherwise(&self.values(), self.unit, 0.0, 1.0)?;
        let otherwise = |values: &[f64], unit, from, to| {
            Axis::of_values_otherwise(values, unit, from, to)
                .unwrap_or_else(|| Axis::of_values(values, unit, from, to))
        };
        Some(self.plot(otherwise))
    }

    fn plot(&self, axis: impl Fn(&[f64], Unit, f64, f64) -> Axis) -> Plot {
        let values = self.values();
        let ticks = axis(&values, self.unit, 0.0, 1.0).ticks(7);
        let widest =
            ticks.iter().map(|tick| svg::width(&quantities::tick(self.unit, *tick))).fold(20.0, f64::max);
        let left = widest + 30.0;
        let top = svg::legend_height(left, &self.names) + 8.0;
        let bottom = top + PLOT_HEIGHT;
        let settings: Vec<f64> =
            self.series.iter().flat_map(|series| series.points.iter().map(|(setting, _)| *setting)).collect();
        Plot {
            x: Axis::of_settings(&settings, left, WIDTH - 12.0),
            y: axis(&values, self.unit, bottom, top),
            left,
            bottom,
            unit: self.unit,
        }
    }

    fn drawn(&self, plot: &Plot) -> Svg {
        let mut drawing = Drawing::new(plot.bottom + 46.0);
        drawing.legend(plot.left, 0.0, &self.names);
        frame(&mut drawing, plot, self.first, self.along);
        for (index, landmark) in self.landmarks(plot).iter().enumerate() {
            draw_landmark(&mut drawing, plot, index, landmark);
        }
        for (index, (series, marks)) in self.series.iter().zip(&self.marks).enumerate() {
            let trend = trend(self.results, series);
            drawing.curve(&self.names[index], |drawing| draw(drawing, plot, (index, series, marks), trend));
        }
        let along = words::parameter(self.first, self.along);
        let name = format!("{}: {} by {along}", self.first.experiment, quantity(self.unit).to_lowercase());
        drawing.finish(&name, &description(self.unit, self.along, self.series, &self.names))
    }

    fn caption(&self, plot: &Plot) -> String {
        let along = words::parameter(self.first, self.along);
        let mut caption = format!("{} by {along}.", quantity(self.unit));
        caption += &key(&self.marks.iter().flatten().collect::<Vec<_>>());
        let fitted = self.series.iter().any(|series| trend(self.results, series).is_some());
        caption +=
            if fitted { " Lines are least-squares fits." } else { " Lines only join neighbours of a sweep." };
        if !self.landmarks(plot).is_empty() {
            caption += " Dashed lines stand where the machine declares a limit.";
        }
        caption
    }

    /// What the machine declares along this parameter, as far as the axis reaches.
    fn landmarks(&self, plot: &Plot) -> Vec<Landmark> {
        let Ok(known) = self.first.method() else { return vec![] };
        let declared = (known.about().shown.landmarks)(&self.results.run.header.machine).into_iter();
        declared.filter(|landmark| landmark.along == self.along && plot.x.shows(landmark.at)).collect()
    }
}

fn frame(drawing: &mut Drawing, plot: &Plot, first: &PointResult, along: &str) {
    for tick in plot.y.ticks(7) {
        let y = plot.y.place(tick);
        drawing.line("grid", (plot.left, y), (WIDTH - 12.0, y));
        drawing.text("tick", "end", (plot.left - 6.0, y + 4.0), &quantities::tick(plot.unit, tick));
    }
    for tick in plot.x.ticks(10) {
        let x = plot.x.place(tick);
        drawing.line("axis", (x, plot.bottom), (x, plot.bottom + 4.0));
        drawing.text("tick", "middle", (x, plot.bottom + 17.0), &setting(first, along, tick));
    }
    drawing.line("axis", (plot.left, plot.bottom), (WIDTH - 12.0, plot.bottom));
    let middle = f64::midpoint(plot.left, WIDTH - 12.0);
    drawing.text("name", "middle", (middle, plot.bottom + 38.0), &words::parameter(first, along));
    drawing.upright((14.0, plot.bottom - PLOT_HEIGHT / 2.0), words::quantity(plot.unit));
}

/// A dashed line with its name; names of neighbours stand on two lines, so that they do not meet.
fn draw_landmark(drawing: &mut Drawing, plot: &Plot, index: usize, landmark: &Landmark) {
    let x = plot.x.place(landmark.at);
    let top = plot.bottom - PLOT_HEIGHT;
    drawing.line("landmark", (x, top), (x, plot.bottom));
    let (anchor, beside) =
        if x + svg::width(&landmark.name) > WIDTH { ("end", -4.0) } else { ("start", 4.0) };
    let y = top + 12.0 + 15.0 * (index % 2) as f64;
    drawing.text("tick", anchor, (x + beside, y), &landmark.name);
}

/// A setting at the axis: only sizes and times have a unit, and only whole numbers are settings.
fn setting(of: &PointResult, along: &str, tick: f64) -> String {
    match words::scale(of, along) {
        Scale::Bytes | Scale::Nanoseconds if tick >= 0.0 && tick.fract() == 0.0 => {
            words::value(of, along, &Value::Number(tick as u64))
        }
        _ if tick.fract() == 0.0 => format!("{tick:.0}"),
        _ => String::new(),
    }
}

fn trend<'run>(results: &'run Results, series: &Series) -> Option<&'run TrendResult> {
    let experiment = &series.points[0].1.experiment;
    results.trends.iter().find(|trend| {
        trend.experiment == *experiment && trend.along == series.along && trend.group == series.group
    })
}

fn draw(drawing: &mut Drawing, plot: &Plot, line: (usize, &Series, &[Mark]), trend: Option<&TrendResult>) {
    let (index, series, marks) = line;
    let places: Vec<f64> = series.points.iter().map(|(setting, _)| plot.x.place(*setting)).collect();
    if let Some(trend) = trend {
        drawing.path(&format!("line l{index}"), &fit(plot, trend));
    } else {
        let joined = places.iter().zip(marks).map(|(x, mark)| (*x, plot.y.place(mark.value)));
        drawing.path(&format!("line thin l{index}"), &joined.collect::<Vec<_>>());
    }
    for (x, mark) in places.into_iter().zip(marks) {
        drawing.told(&mark.words, |drawing| point(drawing, plot, index, x, mark));
    }
}

/// The line where it has a place: on logarithmic axes not at or below zero.
fn fit(plot: &Plot, trend: &TrendResult) -> Vec<(f64, f64)> {
    let settings =
        || trend.points.iter().map(|(setting, _)| *setting).filter(|setting| plot.x.shows(*setting));
    let (low, high) = (settings().fold(f64::INFINITY, f64::min), settings().fold(0.0, f64::max));
    let steps = plot.x.steps(low, high).into_iter();
    let values =
        steps.map(|setting| (setting, trend.line.at(setting))).filter(|(_, value)| plot.y.shows(*value));
    values.map(|(setting, value)| (plot.x.place(setting), plot.y.place(value))).collect()
}

fn point(drawing: &mut Drawing, plot: &Plot, index: usize, x: f64, mark: &Mark) {
    let place = |value: f64| plot.y.place(value);
    if let Some(predicted) = mark.predicted {
        drawing.mark(&format!("s{index} hollow"), index, (x, place(predicted)));
    }
    if let Some((low, high)) = mark.ends {
        drawing.line(&format!("bar l{index}"), (x, place(low)), (x, place(high)));
    }
    if mark.limit {
        let y = place(mark.value);
        let end = (y + 16.0).min(plot.bottom - 4.0);
        drawing.line(&format!("bar l{index}"), (x - 4.0, y), (x + 4.0, y));
        drawing.line(&format!("bar l{index}"), (x, y), (x, end));
        drawing.mark(&format!("s{index}"), 4, (x, end));
    } else {
        drawing.mark(&format!("s{index}"), index, (x, place(mark.value)));
    }
}

/// For those who do not see the figure: the ends of every series.
fn description(unit: Unit, along: &str, series: &[Series], names: &[String]) -> String {
    let ends = series.iter().zip(names).filter_map(|(series, name)| {
        let ((first, start), (last, end)) = (series.points.first()?, series.points.last()?);
        let value = |point: &PointResult| Some(quantities::value(unit, mark(point)?.value));
        Some(format!("{name}: {} at {along} {first}, {} at {last}", value(start)?, value(end)?))
    });
    ends.collect::<Vec<_>>().join("; ") + "."
}
