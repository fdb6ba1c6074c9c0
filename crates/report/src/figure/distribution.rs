//! Operations observed one by one: the share that ended by a time, which shows tails and modes.

use super::axis::Axis;
use super::drawn::{DrawnFigure, quantity};
use super::placing;
use super::svg::{self, Drawing, SERIES, WIDTH};
use crate::{summary, words};
use fathom_core::quantities;
use fathom_core::quantity::Unit;
use fathom_core::sorting;
use fathom_engine::results::{PointResult, REMAINDER};

/// Fewer observations than this make no distribution.
const LEAST: usize = 30;

/// The number of points of a curve: more are not visible.
const PLACES: usize = 160;

/// The most figures of one experiment; of more curves, evenly chosen ones are drawn.
const MOST_FIGURES: usize = 2;

const PLOT_HEIGHT: f64 = 240.0;

struct ShareCurve {
    name: String,
    /// Ascending, from all trials.
    observations: Vec<f64>,
}

/// The distributions among some points of one unit.
pub(super) fn figures(points: &[&PointResult]) -> Vec<DrawnFigure> {
    let has_placement = summary::shared_placement(points.iter().copied()).is_some();
    let curves: Vec<ShareCurve> = points.iter().filter_map(|point| curve(point, has_placement)).collect();
    let drawn = evenly(&curves, MOST_FIGURES * SERIES);
    let chosen = drawn.len() < curves.len();
    let note = if chosen {
        format!(" {} of {} distributions are shown.", drawn.len(), curves.len())
    } else {
        String::new()
    };
    let figures = drawn.len().div_ceil(SERIES).max(1);
    let chunks = drawn.chunks(drawn.len().div_ceil(figures).max(1));
    chunks
        .map(|curves| {
            let what = ShownShares {
                of: &points[0].experiment,
                unit: points[0].unit,
                each: "single operations",
                note: &note,
            };
            what.figure(curves)
        })
        .collect()
}

/// The distribution of a replicated method's trials, a curve for each variant with enough of them; `None` if none has.
pub fn of_trials(method: &str, unit: Unit, variants: Vec<(String, Vec<f64>)>) -> Option<DrawnFigure> {
    let curves: Vec<ShareCurve> =
        variants.into_iter().filter_map(|(name, values)| ShareCurve::of(name, values)).collect();
    let drawn: Vec<&ShareCurve> = curves.iter().take(SERIES).collect();
    let what = ShownShares { of: method, unit, each: "trials", note: "" };
    (!drawn.is_empty()).then(|| what.figure(&drawn))
}

struct ShownShares<'a> {
    of: &'a str,
    unit: Unit,
    /// The name of the single values: operations, trials.
    each: &'static str,
    /// The sentence at the end of the caption.
    note: &'a str,
}

/// At most `most` of the curves, evenly spaced over the whole list.
fn evenly(curves: &[ShareCurve], most: usize) -> Vec<&ShareCurve> {
    let number = curves.len().min(most);
    (0..number).map(|index| &curves[index * curves.len() / number]).collect()
}

fn curve(point: &PointResult, placement_said: bool) -> Option<ShareCurve> {
    let observations = point.samples.iter().flatten().copied().collect();
    point.each.then(|| ShareCurve::of(summary::operation(point, placement_said), observations))?
}

impl ShareCurve {
    fn of(name: String, mut observations: Vec<f64>) -> Option<Self> {
        observations.retain(|value| value.is_finite());
        // What is left of a subtraction is no place on a logarithmic axis.
        for value in observations.iter_mut().filter(|value| value.abs() <= REMAINDER) {
            *value = 0.0;
        }
        (observations.len() >= LEAST).then_some(())?;
        sorting::numbers(&mut observations);
        // Values that are all equal have no shape.
        (observations.first() < observations.last()).then_some(ShareCurve { name, observations })
    }
}

impl ShownShares<'_> {
    fn figure(&self, curves: &[&ShareCurve]) -> DrawnFigure {
        let unit = self.unit;
        let names: Vec<String> = curves.iter().map(|curve| svg::shortened(&curve.name, 60)).collect();
        let left = 62.0;
        let top = svg::legend_height(left, &names) + 8.0;
        let bottom = top + PLOT_HEIGHT;
        let (ends, beyond) = ends(curves);
        let x = Axis::tight(&ends, unit, left, WIDTH - 34.0);
        let y = |share: f64| bottom - share * PLOT_HEIGHT;
        let mut drawing = Drawing::new(bottom + 46.0);
        drawing.legend(left, 0.0, &names);
        frame(&mut drawing, &x, (left, top, bottom), unit);
        for (index, curve) in curves.iter().enumerate() {
            let place = |(value, share)| (x.place(value), y(share));
            drawing.curve(&names[index], |drawing| {
                drawing.titled(&words_of(curve, unit), |drawing| draw(drawing, index, curve, place));
            });
        }
        let caption = format!(
            "{} of {}: the share of all {} at or below a value. Marks are at 10 %, 50 % and 90 %.{}{}",
            quantity(unit),
            self.each,
            if self.each == "trials" { "of them" } else { "observations" },
            self.note,
            if beyond { " The slowest 1 % lie beyond the axis and are shown at its end." } else { "" }
        );
        let name = format!("{}: distribution of {}", self.of, self.each);
        let description: Vec<String> = curves.iter().map(|curve| words_of(curve, unit)).collect();
        DrawnFigure::of(caption, unit, drawing.finish(&name, &description.join("; ")), &x)
    }
}

/// If a distribution reaches zero, so that its axis is linear, and its maximum exceeds the 99th percentile by this factor, the
/// axis ends at that percentile.
const PRESSED: f64 = 5.0;

/// The range of the axis, and whether the slowest hundredth is beyond it.
fn ends(curves: &[&ShareCurve]) -> (Vec<f64>, bool) {
    let at = |share: f64| {
        curves.iter().map(move |curve| curve.observations[rank(share, curve.observations.len())])
    };
    let all: Vec<f64> = at(0.0).chain(at(1.0)).collect();
    let (low, high) = (at(0.0).fold(f64::INFINITY, f64::min), at(1.0).fold(0.0, f64::max));
    let most = at(0.99).fold(0.0, f64::max);
    if low <= 0.0 && most > 0.0 && high > PRESSED * most {
        (at(0.0).chain(at(0.99)).collect(), true)
    } else {
        (all, false)
    }
}

fn draw(drawing: &mut Drawing, index: usize, curve: &ShareCurve, place: impl Fn((f64, f64)) -> (f64, f64)) {
    drawing.path(&format!("line l{index}"), &thinned(curve).map(&place).collect::<Vec<_>>());
    for share in [0.1, 0.5, 0.9] {
        let value = curve.observations[rank(share, curve.observations.len())];
        drawing.mark(&format!("s{index}"), index, place((value, share)));
    }
}

fn frame(drawing: &mut Drawing, x: &Axis, (left, top, bottom): (f64, f64, f64), unit: Unit) {
    for percent in [0_u8, 25, 50, 75, 100] {
        let y = bottom - f64::from(percent) / 100.0 * PLOT_HEIGHT;
        drawing.line("grid", (left, y), (WIDTH - 12.0, y));
        drawing.text("tick", "end", (left - 6.0, y + 4.0), &format!("{percent} %"));
    }
    for (place, words) in placing::ticks(x, 8, |tick| quantities::tick(unit, tick)) {
        drawing.line("axis", (place, bottom), (place, bottom + 4.0));
        drawing.text("tick", "middle", (place, bottom + 17.0), &words);
    }
    drawing.line("axis", (left, bottom), (WIDTH - 12.0, bottom));
    drawing.text("name", "middle", (f64::midpoint(left, WIDTH), bottom + 38.0), words::quantity(unit));
    drawing.upright((14.0, f64::midpoint(top, bottom)), "share of observations");
}

/// Evenly over the shares, with both ends.
fn thinned(curve: &ShareCurve) -> impl Iterator<Item = (f64, f64)> {
    let places = curve.observations.len().min(PLACES);
    (0..places).map(move |place| {
        let share = place as f64 / (places - 1).max(1) as f64;
        (curve.observations[rank(share, curve.observations.len())], share)
    })
}

/// The index of a share in an ascending list of this length.
fn rank(share: f64, length: usize) -> usize {
    ((length - 1) as f64 * share).round() as usize
}

fn words_of(curve: &ShareCurve, unit: Unit) -> String {
    let at = |share: f64| words::observed(unit, curve.observations[rank(share, curve.observations.len())]);
    format!(
        "{}: {} observations from {} to {}, half of them at or below {}",
        curve.name,
        quantities::count(curve.observations.len()),
        at(0.0),
        at(1.0),
        at(0.5)
    )
}
