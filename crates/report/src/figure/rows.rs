//! Named variants, one row each.

use super::Candidate;
use super::axis::Axis;
use super::drawn::{DrawnFigure, quantity};
use super::mark::{Mark, extent, mark_among};
use super::placing;
use super::svg::{self, Drawing, WIDTH};
use crate::{cpu_distance, states, text, words};
use fathom_core::experiment::Value;
use fathom_core::quantities::{self, Measure};
use fathom_core::sorting;
use fathom_engine::results::{FAIR, PointResult, PredictionNearness, REMAINDER};

/// The most rows of one figure.
const MOST: usize = 24;

/// Longer labels are cut; the tooltip and the table have the rest.
const LONGEST: usize = 40;

const ROW: f64 = 15.0;

/// Fewer rows than this say nothing that their table does not.
const LEAST: usize = 3;

/// A figure of all points, or of as many as fit, by their variants; none for one or two points.
pub(super) fn figures<'run>(points: &[&'run PointResult]) -> Vec<Candidate<'run>> {
    if points.len() < LEAST {
        return vec![];
    }
    let groups = groups(points);
    let parts = groups.iter().flat_map(|all| all.chunks(MOST).map(|part| (part, all.len())));
    parts.map(|(part, all)| Candidate { points: part.to_vec(), drawn: figure(part, all) }).collect()
}

/// The points by the name of which there are fewest, if there are too many for a figure.
fn groups<'run>(points: &[&'run PointResult]) -> Vec<Vec<&'run PointResult>> {
    let names = points[0].point.parameters().filter(|(_, value)| matches!(value, Value::Name(_)));
    let by = names
        .map(|(name, _)| grouped(points, name))
        .filter(|groups| groups.len() > 1 && groups.iter().all(|group| group.len() >= LEAST))
        .min_by_key(Vec::len);
    match by {
        Some(groups) if points.len() > MOST => groups,
        _ => vec![points.to_vec()],
    }
}

fn grouped<'run>(points: &[&'run PointResult], name: &str) -> Vec<Vec<&'run PointResult>> {
    let mut groups: Vec<Vec<&PointResult>> = vec![];
    for point in points {
        match groups.iter_mut().find(|group| group[0].point.get(name) == point.point.get(name)) {
            Some(group) => group.push(point),
            None => groups.push(vec![point]),
        }
    }
    groups
}

/// Some of so many variants, which are all or as many as fit into a figure.
fn figure(points: &[&PointResult], of_all: usize) -> DrawnFigure {
    let marks: Vec<Mark> = points.iter().filter_map(|point| mark_among(point, points)).collect();
    let shared = words::shared_parameters(points);
    let labels: Vec<String> = points.iter().map(|point| words::differing_label(point, &shared)).collect();
    let labels = text::distinct_names(&labels, LONGEST);
    let unit = points[0].unit;
    let left = labels.iter().map(|label| svg::width(label)).fold(40.0, f64::max) + 14.0;
    let bottom = ROW * points.len() as f64 + 6.0;
    let axis = Axis::of_values(&extent(marks.iter()), unit, left, WIDTH - 30.0);
    let mut drawing = Drawing::new(bottom + 44.0);
    for (x, words) in placing::ticks(&axis, 8, |tick| quantities::tick(unit, tick)) {
        drawing.line("grid", (x, 0.0), (x, bottom));
        drawing.text("tick", "middle", (x, bottom + 16.0), &words);
    }
    drawing.line("axis", (left, bottom), (WIDTH - 12.0, bottom));
    let middle = f64::midpoint(left, WIDTH - 12.0);
    drawing.text("name", "middle", (middle, bottom + 37.0), words::quantity(unit));
    for (index, (mark, label)) in marks.iter().zip(&labels).enumerate() {
        let y = ROW * (index as f64 + 0.5) + 3.0;
        drawing.text("tick", "end", (left - 10.0, y + 4.0), label);
        drawing.titled(&mark.words, |drawing| draw(drawing, &axis, (left, y), mark));
    }
    let experiment = &points[0].experiment;
    let all = if shared.is_empty() {
        String::new()
    } else {
        format!(" (each: {})", words::shared_label(points[0], &shared))
    };
    let content = visible(points, &shared);
    let number = match points.len() {
        some if some < of_all => format!("{some} of {of_all}"),
        all => all.to_string(),
    };
    let apart = cpu_distance::of_picture(points);
    let caption = format!("{} of {number} variants{all}{content}.{apart}", quantity(unit));
    let name = format!("{experiment}: {} of each variant", quantity(unit).to_lowercase());
    let description: Vec<&str> = marks.iter().map(|mark| mark.words.as_str()).collect();
    DrawnFigure::of(caption, unit, drawing.finish(&name, &description.join("; ")), &axis)
}

/// The ratio of the greatest to the least below which no variant stands out.
const ALIKE: f64 = 1.02;

/// What a figure of variants shows: its ends, and how many predictions are far from their marks.
fn visible(points: &[&PointResult], shared: &[String]) -> String {
    let of = |point: &PointResult| match states::of(point) {
        states if states.is_empty() => {
            point.estimate().map(|estimate| vec![estimate.value]).unwrap_or_default()
        }
        states => states,
    };
    let mut values: Vec<(f64, &PointResult)> =
        points.iter().flat_map(|point| of(point).into_iter().map(move |value| (value, *point))).collect();
    // What a subtraction leaves of nothing is no end, nor is what may be of another operation, or of CPUs at another distance.
    let is_apart = |point: &PointResult| cpu_distance::is_apart_from_most(point, points);
    values.retain(|(value, point)| *value > REMAINDER && !point.is_doubtful() && !is_apart(point));
    let without = if points.iter().any(|point| is_apart(point)) { "without the crosses " } else { "" };
    sorting::by_number(&mut values, |(value, _)| *value);
    let Some(((least, first), (most, last))) = values.first().zip(values.last()) else {
        return String::new();
    };
    let rates = Measure::of_rates([(first.unit, *least), (last.unit, *most)]);
    let end = |value: f64, point: &PointResult| {
        let value = rates.map_or_else(
            || quantities::value(point.unit, value),
            |measure| format!("{} {}", measure.number(value, None), measure.symbol),
        );
        format!("{value} ({})", words::differing_label(point, shared))
    };
    let near: Vec<PredictionNearness> = points.iter().filter_map(|point| point.nearness(FAIR)).collect();
    let counted = |how: PredictionNearness| near.iter().filter(|near| **near == how).count();
    let in_one_state = match (counted(PredictionNearness::InOneState), near.len()) {
        (0, _) => String::new(),
        (_, 1) => format!(
            "; its prediction (hollow) is within a factor of {FAIR} in one state of the machine, and not in another"
        ),
        (some, _) => format!("; {some} within a factor of {FAIR} in one state of the machine only"),
    };
    let far = counted(PredictionNearness::Beyond);
    let predictions = match (far, near.len()) {
        (_, 0) => String::new(),
        (0, 1) if !in_one_state.is_empty() => String::new(),
        (0, all) if !in_one_state.is_empty() => {
            format!(
                "; {} of {all} predictions (hollow) are within a factor of {FAIR}",
                counted(PredictionNearness::Within)
            )
        }
        (0, 1) => format!("; its prediction (hollow) is within a factor of {FAIR}"),
        (0, _) => format!("; all predictions (hollow) are within a factor of {FAIR}"),
        (far, all) => {
            let are = if far == 1 { "is" } else { "are" };
            format!("; {far} of {all} predictions (hollow) {are} further away than a factor of {FAIR}")
        }
    };
    let predictions = predictions + &in_one_state;
    if *most < ALIKE * *least {
        return format!(
            ": {without}all within {} of each other{predictions}",
            quantities::percent(ALIKE - 1.0)
        );
    }
    format!(": {without}from {} to {}{predictions}", end(*least, first), end(*most, last))
}

/// Draws the marks of a row that begins at `left`.
pub(super) fn draw(drawing: &mut Drawing, axis: &Axis, (left, y): (f64, f64), mark: &Mark) {
    let x = axis.place(mark.states.iter().map(|(value, _)| *value).fold(mark.value, f64::max));
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
    let of_one = [(mark.value, mark.ends)];
    let shown = if mark.states.is_empty() { &of_one[..] } else { &mark.states[..] };
    for (low, high) in shown.iter().filter_map(|(_, ends)| *ends) {
        drawing.line("bar l0", (axis.place(low), y), (axis.place(high), y));
    }
    for (value, _) in shown {
        if mark.is_apart {
            drawing.cross("bar l0", (axis.place(*value), y));
        } else {
            drawing.mark("s0", 0, (axis.place(*value), y));
        }
    }
}
