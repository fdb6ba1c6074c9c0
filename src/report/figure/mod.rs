//! Which figure shows which data, and only data that stand in a table beside it (R-FIX-69).
//!
//! - A sweep along a number: medians with interval bars over it, the fitted line where the experiment asks for one,
//!   and lines between points only here, where what lies between them exists (Hoefler & Belli 2015, rule 12).
//!   What the machine declares (the size of a cache) is a dashed line across.
//! - What one setting has given against what it has given of another kind, where the experiment measures such pairs.
//! - Named variants: a row each, with interval bars; logarithmic where they span more than a factor of twenty.
//! - Operations that were observed one by one: the share of them that ended by a time; where their order says
//!   something, each of them in that order.
//!
//! Predictions are hollow marks beside the measured ones; an upper limit (below resolution) is an arrow.
//!
//! The SVG is written by hand. The plotting crates that were looked at write colours into every element, so that no
//! style sheet can turn them for a dark page, and have no axis of powers of two with a place for zero.

mod against;
mod axis;
mod distribution;
mod order;
mod rows;
mod svg;
mod sweep;

use axis::Axis;
pub use svg::Svg;

use super::quantities;
use super::words;
use crate::experiment::Prediction;
use crate::quantity::Unit;
use crate::results::{Outcome, PointResult, Results};

/// A figure with what is said below it.
pub(super) struct Figure {
    /// What is seen, without the number.
    pub caption: String,
    /// The unit of the table that has its numbers.
    pub unit: Unit,
    /// The drawing.
    pub svg: Svg,
    /// The same on an axis that is spread the other way, where that too shows something.
    pub otherwise: Option<Svg>,
    /// How the values of the first are spread: `linear` or `logarithmic`.
    pub spread: &'static str,
}

impl Figure {
    fn of(caption: String, unit: Unit, svg: Svg, axis: &Axis) -> Self {
        Figure { caption, unit, svg, otherwise: None, spread: axis.spread() }
    }
}

/// Values further apart than this factor stand on a logarithmic axis.
const WIDE: f64 = 20.0;

/// Every figure of an experiment.
pub(super) fn of_experiment(results: &Results, experiment: &str) -> Vec<Figure> {
    let points: Vec<&PointResult> =
        results.of_experiment(experiment).filter(|point| is_drawn(point)).collect();
    let mut units: Vec<Unit> = vec![];
    for point in &points {
        if !units.contains(&point.unit) {
            units.push(point.unit);
        }
    }
    let mut figures = against::figures(results, experiment);
    for unit in units {
        let mine: Vec<&PointResult> = points.iter().filter(|point| point.unit == unit).copied().collect();
        let (sweeps, rest) = sweep::split(results, &mine);
        for swept in sweeps {
            figures.extend(sweep::figures(results, &swept));
        }
        figures.extend(rows::figures(&rest));
        figures.extend(order::figures(&mine));
        figures.extend(distribution::figures(&mine));
    }
    figures
}

/// Whether the point has a median or an upper limit.
fn is_drawn(point: &PointResult) -> bool {
    mark(point).is_some()
}

/// What stands on the value axis.
struct Mark {
    /// The median, or the limit below which it lies.
    value: f64,
    /// The interval's ends.
    ends: Option<(f64, f64)>,
    /// What was expected.
    predicted: Option<f64>,
    /// Whether `value` is an upper limit.
    limit: bool,
    /// Everything in words, shown where the pointer rests.
    words: String,
}

/// The mark of a point; `None` where it has neither a median nor an upper limit.
fn mark(point: &PointResult) -> Option<Mark> {
    let (value, ends, limit, found) = match &point.outcome {
        Outcome::Value(found) => {
            let words = quantities::with_interval(point.unit, found);
            (found.value, quantities::ends(found), false, words)
        }
        Outcome::BelowResolution { below, .. } => {
            (*below, None, true, format!("below {}", quantities::value(point.unit, *below)))
        }
        _ => return None,
    };
    let predicted = point.prediction.as_ref().map(Prediction::total).filter(|value| *value > 0.0);
    let expected = predicted
        .map(|value| format!("; predicted {}", quantities::value(point.unit, value)))
        .unwrap_or_default();
    let words = format!("{}: {found}{expected}", words::label(point, &point.point));
    value.is_finite().then_some(Mark { value, ends, predicted, limit, words })
}

/// Every number of some marks that must find a place on the axis.
fn extent<'a>(marks: impl Iterator<Item = &'a Mark>) -> Vec<f64> {
    let numbers = marks.flat_map(|mark| {
        let (low, high) = mark.ends.unwrap_or((mark.value, mark.value));
        [Some(mark.value), Some(low), Some(high), mark.predicted].into_iter().flatten()
    });
    numbers.collect()
}

/// `Time`, `Rate`: how a caption begins.
fn quantity(unit: Unit) -> &'static str {
    match unit {
        Unit::Nanoseconds => "Time",
        Unit::BytesPerSecond => "Rate",
        Unit::Bytes => "Size",
        Unit::PartsPerMillion => "Share of time",
    }
}

/// What the marks mean, for the end of a caption.
fn key(marks: &[&Mark]) -> String {
    let mut said = " Bars are 95 % intervals; where none is seen, it is smaller than the mark.".to_owned();
    if marks.iter().any(|mark| mark.predicted.is_some()) {
        said += " Hollow marks are predictions.";
    }
    if marks.iter().any(|mark| mark.limit) {
        said += " Arrows are upper limits of what could not be told from zero.";
    }
    said
}
