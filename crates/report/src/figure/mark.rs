//! A point as a mark on the plot.

use crate::{cpu_distance, occupancy, states, words};
use fathom_core::experiment::Prediction;
use fathom_core::quantities;
use fathom_core::statistics::ModeList;
use fathom_engine::results::{Outcome, PointResult};

/// Whether the point has a median or an upper limit.
pub(super) fn is_drawn(point: &PointResult) -> bool {
    mark(point).is_some()
}

pub struct Mark {
    /// The median, or the upper limit.
    pub value: f64,
    pub ends: Option<(f64, f64)>,
    /// The values of the machine's states with the ends of their intervals, that with the most first; empty for one state, whose value is
    /// the median.
    pub states: Vec<(f64, Option<(f64, f64)>)>,
    /// The values far apart around which its observations gather, though its median is of one of them.
    pub modes: ModeList,
    pub predicted: Option<f64>,
    /// The state of the core of short work.
    pub core: Option<&'static str>,
    /// Whether it is of another distance of the two CPUs than most marks of the figure.
    pub is_apart: bool,
    /// Whether it must not be used, and is no end of what a caption names.
    pub is_doubtful: bool,
    /// Whether `value` is an upper limit.
    pub limit: bool,
    /// All numbers in words, as a tooltip.
    pub words: String,
}

impl Mark {
    /// The mark of a value by itself: of one state, without a prediction.
    pub fn of(value: f64, ends: Option<(f64, f64)>, words: String) -> Self {
        Mark {
            value,
            ends,
            states: vec![],
            modes: ModeList::default(),
            predicted: None,
            core: None,
            is_apart: false,
            is_doubtful: false,
            limit: false,
            words,
        }
    }
}

/// The mark of a point; `None` if it has neither a median nor an upper limit.
pub(super) fn mark(point: &PointResult) -> Option<Mark> {
    let (value, ends, limit, number) = match &point.outcome {
        Outcome::Value(estimate) => {
            let words =
                states::written(point).unwrap_or_else(|| quantities::with_interval(point.unit, estimate));
            (estimate.value, quantities::ends(estimate), false, words)
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
    let doubt = if point.is_doubtful() { "; ✗ not to be used, a check fails" } else { "" };
    let words = format!("{}: {number}{expected}{doubt}", words::label(point, &point.point));
    value.is_finite().then(|| Mark {
        value,
        ends,
        states: states::with_ends(point),
        modes: ModeList::of(&point.modes),
        predicted,
        core: occupancy::state(point),
        is_apart: false,
        is_doubtful: point.is_doubtful(),
        limit,
        words,
    })
}

/// The mark of a point among those of a figure.
pub(super) fn mark_among(point: &PointResult, points: &[&PointResult]) -> Option<Mark> {
    Some(Mark { is_apart: cpu_distance::is_apart_from_most(point, points), ..mark(point)? })
}

/// The settings along a parameter of some points that were tried and have no value.
pub(super) fn without_value<'run>(points: impl Iterator<Item = &'run PointResult>, along: &str) -> Vec<f64> {
    let is_without = |point: &&PointResult| !is_drawn(point) && !point.samples.is_empty();
    points.filter(is_without).filter_map(|point| Some(point.point.number_of(along)? as f64)).collect()
}

/// All numbers of some marks that the axis must cover.
pub(super) fn extent<'a>(marks: impl Iterator<Item = &'a Mark>) -> Vec<f64> {
    let numbers = marks.flat_map(|mark| {
        let (low, high) = mark.ends.unwrap_or((mark.value, mark.value));
        let ends = [Some(mark.value), Some(low), Some(high), mark.predicted].into_iter().flatten();
        let of_states = mark.states.iter().flat_map(|(value, ends)| {
            let (low, high) = ends.unwrap_or((*value, *value));
            [*value, low, high]
        });
        ends.chain(of_states)
    });
    numbers.collect()
}

/// The meaning of all kinds of marks, for a document that explains it once.
pub(crate) const KEY: &str = "Bars are 95 % intervals; where none is seen, it is smaller than the mark. Hollow marks are \
     predictions. Two marks in a row are the values of a machine in two states, each with \
     its own bar. Arrows mark upper limits for values indistinguishable from zero. Lines only join neighbours of a sweep, unless they \
     are said to be fitted.";

/// The meaning of the marks in one figure, for a document that does not explain it elsewhere.
pub(super) fn key(marks: &[&Mark]) -> String {
    let mut text =
        " Bars are 95 % intervals; where no bar is visible, the interval is smaller than the mark."
            .to_owned();
    if marks.iter().any(|mark| mark.predicted.is_some()) {
        text += " Hollow marks are predictions.";
    }
    if marks.iter().any(|mark| mark.limit) {
        text += " Arrows are upper limits of values below resolution.";
    }
    text
}
