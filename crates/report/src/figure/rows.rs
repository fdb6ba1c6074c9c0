//! Named variants, one row each.

use super::axis::Axis;
use super::drawn::{DrawnFigure, quantity};
use super::mark::{Mark, extent, mark};
use super::svg::{self, Drawing, WIDTH};
use crate::words;
use fathom_core::quantities;
use fathom_engine::results::PointResult;

/// The most rows of one figure.
const MOST: usize = 40;

/// Longer labels are cut; the tooltip and the table have the rest.
const LONGEST: usize = 44;

const ROW: f64 = 21.0;

/// A figure for every forty points; none for a single point.
pub(super) fn figures(points: &[&PointResult]) -> Vec<DrawnFigure> {
    if points.len() < 2 {
        return vec![];
    }
    points.chunks(MOST).map(figure).collect()
}

fn figure(points: &[&PointResult]) -> DrawnFigure {
    let marks: Vec<Mark> = points.iter().filter_map(|point| mark(point)).collect();
    let shared = words::shared_parameters(points);
    let label = |point: &PointResult| svg::shortened(&words::differing_label(point, &shared), LONGEST);
    let labels: Vec<String> = points.iter().map(|point| label(point)).collect();
    let unit = points[0].unit;
    let left = labels.iter().map(|label| svg::width(label)).fold(40.0, f64::max) + 14.0;
    let bottom = ROW * points.len() as f64 + 6.0;
    let axis = Axis::of_values(&extent(marks.iter()), unit, left, WIDTH - 30.0);
    let mut drawing = Drawing::new(bottom + 44.0);
    for tick in axis.ticks(8) {
        let x = axis.place(tick);
        drawing.line("grid", (x, 0.0), (x, bottom));
        drawing.text("tick", "middle", (x, bottom + 16.0), &quantities::tick(unit, tick));
    }
    drawing.line("axis", (left, bottom), (WIDTH - 12.0, bottom));
    let middle = f64::midpoint(left, WIDTH - 12.0);
    drawing.text("name", "middle", (middle, bottom + 37.0), words::quantity(unit));
    for (index, (mark, label)) in marks.iter().zip(&labels).enumerate() {
        let y = ROW * (index as f64 + 0.5) + 3.0;
        drawing.text("tick", "end", (left - 10.0, y + 4.0), label);
        drawing.told(&mark.words, |drawing| row(drawing, &axis, (left, y), mark));
    }
    let experiment = &points[0].experiment;
    let all = if shared.is_empty() {
        String::new()
    } else {
        format!(" ({}, all of them)", words::shared_label(points[0], &shared))
    };
    let caption = format!("{} of each variant{all}.", quantity(unit));
    let name = format!("{experiment}: {} of each variant", quantity(unit).to_lowercase());
    let description: Vec<&str> = marks.iter().map(|mark| mark.words.as_str()).collect();
    DrawnFigure::of(caption, unit, drawing.finish(&name, &description.join("; ")), &axis)
}

fn row(drawing: &mut Drawing, axis: &Axis, (left, y): (f64, f64), mark: &Mark) {
    let x = axis.place(mark.value);
    drawing.line("guide", (left, y), (x, y));
    if let Some(predicted) = mark.predicted {
        drawing.mark("s0 hollow", 0, (axis.place(predicted), y));
    }
    if mark.limit {
        drawing.line("bar l0", (x, y - 5.0), (x, y + 5.0));
        drawing.line("bar l0", (x - 18.0, y), (x, y));
        drawing.path("bar l0", &[(x - 13.0, y - 4.0), (x - 18.0, y), (x - 13.0, y + 4.0)]);
        return;
    }
    if let Some((low, high)) = mark.ends {
        let (low, high) = (axis.place(low), axis.place(high));
        drawing.line("bar l0", (low, y), (high, y));
    }
    drawing.mark("s0", 0, (x, y));
}
