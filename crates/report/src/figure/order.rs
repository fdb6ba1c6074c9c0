//! Observations in the order in which they were made, if the order is meaningful: which of the accesses to a cold file had
//! to wait, how the rate of a stream rises.

use super::axis::Axis;
use super::drawn::{DrawnFigure, quantity};
use super::placing;
use super::svg::{self, Drawing, WIDTH};
use crate::words;
use fathom_core::quantities;
use fathom_core::quantity::Unit;
use fathom_engine::results::PointResult;

/// The most points in one figure: more would cover each other.
const CURVES: usize = 2;

/// The fewest observations that are drawn in order.
const LEAST: usize = 8;

const PLOT_HEIGHT: f64 = 220.0;

/// The greatest of the times over the least that is drawn where it is. What is left of a time that equals the cost of reading the clock is
/// the rounding error of a difference (4e-12 ns), which a logarithmic axis would have to reach; it is drawn at the axis's end.
const SPAN: f64 = 1e7;

/// The observations of the first trial of every point whose experiment requests their order.
pub(super) fn figures(points: &[&PointResult]) -> Vec<DrawnFigure> {
    let drawn: Vec<&PointResult> = points.iter().copied().filter(|point| is_wanted(point)).collect();
    drawn.chunks(CURVES).map(figure).collect()
}

fn is_wanted(point: &PointResult) -> bool {
    let is_in_order =
        point.method().is_ok_and(|experiment| (experiment.about().shown.in_order)(&point.point));
    is_in_order
        && first_trial(point).len() >= LEAST
        && first_trial(point).iter().all(|value| value.is_finite())
}

fn first_trial(point: &PointResult) -> &[f64] {
    point.samples.first().map_or(&[], Vec::as_slice)
}

fn figure(points: &[&PointResult]) -> DrawnFigure {
    let (experiment, unit) = (&points[0].experiment, points[0].unit);
    let names: Vec<String> = points.iter().map(|point| words::short_label(*point, &point.point)).collect();
    let values: Vec<f64> = points.iter().flat_map(|point| first_trial(point)).copied().collect();
    let least = values.iter().copied().fold(0.0, f64::max) / SPAN;
    let drawn = |value: f64| if value > 0.0 { value.max(least) } else { value };
    let values: Vec<f64> = values.into_iter().map(drawn).collect();
    let most = points.iter().map(|point| first_trial(point).len()).max().unwrap_or(1);
    let (left, top) = (74.0, svg::legend_height(74.0, &names) + 8.0);
    let bottom = top + PLOT_HEIGHT;
    let y = Axis::of_values(&values, unit, bottom, top);
    let x = Axis::linear(1.0, most as f64, left + 4.0, WIDTH - 16.0);
    let mut drawing = Drawing::new(bottom + 46.0);
    drawing.legend(left, 0.0, &names);
    frame(&mut drawing, (&x, &y), (left, top, bottom), unit);
    for (index, point) in points.iter().enumerate() {
        drawing.curve(&names[index], |drawing| {
            for (place, value) in first_trial(point).iter().enumerate() {
                drawing.dot(index, (x.place(place as f64 + 1.0), y.place(drawn(*value))));
            }
        });
    }
    let caption = format!("{} of every observation of the first trial, in order of time.", quantity(unit));
    let name = format!("{experiment}: observations in order");
    DrawnFigure::of(caption, unit, drawing.finish(&name, &description(points, &names)), &y)
}

fn frame(drawing: &mut Drawing, (x, y): (&Axis, &Axis), (left, top, bottom): (f64, f64, f64), unit: Unit) {
    for tick in y.ticks(6) {
        let place = y.place(tick);
        drawing.line("grid", (left, place), (WIDTH - 12.0, place));
        drawing.text("tick", "end", (left - 6.0, place + 4.0), &quantities::tick(unit, tick));
    }
    let number = |tick: f64| if tick.fract() == 0.0 { quantities::plain(tick) } else { String::new() };
    for (place, words) in placing::ticks(x, 8, number) {
        drawing.line("axis", (place, bottom), (place, bottom + 4.0));
        drawing.text("tick", "middle", (place, bottom + 17.0), &words);
    }
    drawing.line("axis", (left, bottom), (WIDTH - 12.0, bottom));
    drawing.text("name", "middle", (f64::midpoint(left, WIDTH), bottom + 38.0), "number of the observation");
    drawing.upright((14.0, f64::midpoint(top, bottom)), words::quantity(unit));
}

/// The text alternative: the number of observations and their range.
fn description(points: &[&PointResult], names: &[String]) -> String {
    let each = points.iter().zip(names).map(|(point, name)| {
        let values = first_trial(point);
        let (low, high) =
            values.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), one| (low.min(*one), high.max(*one)));
        let value = |value| words::observed(point.unit, value);
        format!("{name}: {} observations from {} to {}", values.len(), value(low), value(high))
    });
    each.collect::<Vec<_>>().join("; ") + "."
}
