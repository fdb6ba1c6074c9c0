//! One result plotted against another at the same setting: the time of a load against the bandwidth of background traffic.

use super::Candidate;
use super::axis::Axis;
use super::drawn::{DrawnFigure, quantity};
use super::mark::{Mark, extent, is_drawn, mark};
use super::placing;
use super::svg::{self, Drawing, SERIES, WIDTH};
use crate::words;
use fathom_core::quantities;
use fathom_core::sorting;
use fathom_engine::results::{PointResult, Results};

const PLOT_HEIGHT: f64 = 280.0;

/// A result and the one against which it is plotted.
struct ResultPair {
    across: Mark,
    up: Mark,
}

/// Points whose settings differ in numbers only.
struct PairCurve {
    name: String,
    places: Vec<ResultPair>,
}

pub(super) fn figures<'run>(results: &'run Results, experiment: &'run str) -> Vec<Candidate<'run>> {
    let pairs: Vec<(&PointResult, &PointResult)> = results
        .of_experiment(experiment)
        .filter_map(|point| Some((point, partner(results, point)?)))
        .collect();
    let curves = curves(&pairs);
    let enough = curves.iter().any(|curve| curve.places.len() >= 2);
    let points = pairs.iter().flat_map(|(point, partner)| [*point, *partner]).collect();
    if enough { vec![Candidate { points, drawn: figure(&pairs, &curves) }] } else { vec![] }
}

/// The measured result against which this one is plotted.
fn partner<'run>(results: &'run Results, point: &'run PointResult) -> Option<&'run PointResult> {
    let point_against = (point.method().ok()?.about().shown.against)(&point.point)?;
    let partner = results.of_experiment(&point.experiment).find(|other| other.point == point_against)?;
    (is_drawn(point) && is_drawn(partner)).then_some(partner)
}

fn curves(pairs: &[(&PointResult, &PointResult)]) -> Vec<PairCurve> {
    let mut curves: Vec<PairCurve> = vec![];
    for (point, partner) in pairs {
        let name = words::short_label(*point, &point.point.names_only());
        let Some((across, up)) = mark(partner).zip(mark(point)) else { continue };
        let place = ResultPair { across, up };
        match curves.iter_mut().find(|curve| curve.name == name) {
            Some(curve) => curve.places.push(place),
            None => curves.push(PairCurve { name, places: vec![place] }),
        }
    }
    for curve in &mut curves {
        sorting::by_number(&mut curve.places, |place| place.across.value);
    }
    curves.truncate(SERIES);
    curves
}

fn figure(pairs: &[(&PointResult, &PointResult)], curves: &[PairCurve]) -> DrawnFigure {
    let (point, partner) = pairs[0];
    let names: Vec<String> = curves.iter().map(|curve| curve.name.clone()).collect();
    let places = || curves.iter().flat_map(|curve| &curve.places);
    let (left, top) = (74.0, svg::legend_height(74.0, &names) + 8.0);
    let bottom = top + PLOT_HEIGHT;
    let across = extent(places().map(|place| &place.across));
    let x = Axis::of_values(&across, partner.unit, left, WIDTH - 40.0);
    let y = Axis::of_values(&extent(places().map(|place| &place.up)), point.unit, bottom, top);
    let mut drawing = Drawing::new(bottom + 46.0);
    drawing.legend(left, 0.0, &names);
    frame(&mut drawing, (&x, partner), (&y, point), (left, top, bottom));
    for (index, curve) in curves.iter().enumerate() {
        drawing.curve(&curve.name, |drawing| draw(drawing, (&x, &y), index, curve));
    }
    let marks: Vec<&Mark> = places().map(|place| &place.up).collect();
    let caption = format!(
        "{} against {}. Each mark is one setting.",
        quantity(point.unit),
        words::quantity(partner.unit)
    );
    let name = format!(
        "{}: {} against {}",
        point.experiment,
        words::quantity(point.unit),
        words::quantity(partner.unit)
    );
    let words: Vec<&str> = marks.iter().map(|mark| mark.words.as_str()).collect();
    DrawnFigure::of(caption, point.unit, drawing.finish(&name, &words.join("; ")), &y)
}

type AxisOfPoint<'run> = (&'run Axis, &'run PointResult);

fn frame(
    drawing: &mut Drawing,
    (x, partner): AxisOfPoint,
    (y, point): AxisOfPoint,
    (left, top, bottom): (f64, f64, f64),
) {
    for tick in y.ticks(7) {
        let place = y.place(tick);
        drawing.line("grid", (left, place), (WIDTH - 12.0, place));
        drawing.text("tick", "end", (left - 6.0, place + 4.0), &quantities::tick(point.unit, tick));
    }
    for (place, words) in placing::ticks(x, 7, |tick| quantities::tick(partner.unit, tick)) {
        drawing.line("axis", (place, bottom), (place, bottom + 4.0));
        drawing.text("tick", "middle", (place, bottom + 17.0), &words);
    }
    drawing.line("axis", (left, bottom), (WIDTH - 12.0, bottom));
    let label = words::short_label(partner, &partner.point.names_only());
    let middle = f64::midpoint(left, WIDTH);
    drawing.text(
        "name",
        "middle",
        (middle, bottom + 38.0),
        &format!("{} ({label})", words::quantity(partner.unit)),
    );
    drawing.upright((14.0, f64::midpoint(top, bottom)), words::quantity(point.unit));
}

fn draw(drawing: &mut Drawing, (x, y): (&Axis, &Axis), index: usize, curve: &PairCurve) {
    let at = |place: &ResultPair| (x.place(place.across.value), y.place(place.up.value));
    drawing.path(&format!("line thin l{index}"), &curve.places.iter().map(at).collect::<Vec<_>>());
    for place in &curve.places {
        let (across, up) = at(place);
        let words = format!("{}; {}", place.up.words, place.across.words);
        drawing.titled(&words, |drawing| {
            if let Some((low, high)) = place.up.ends {
                drawing.line(&format!("bar l{index}"), (across, y.place(low)), (across, y.place(high)));
            }
            if let Some((low, high)) = place.across.ends {
                drawing.line(&format!("bar l{index}"), (x.place(low), up), (x.place(high), up));
            }
            drawing.mark(&format!("s{index}"), index, (across, up));
        });
    }
}
