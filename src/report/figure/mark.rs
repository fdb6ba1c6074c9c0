//! A point as a mark on the value axis.

use crate::experiment::Prediction;
use crate::report::{quantities, words};
use crate::results::{Outcome, PointResult};

/// Points with a median or an upper limit.
pub(super) fn is_drawn(point: &PointResult) -> bool {
    match point.outcome {
        Outcome::Value => point.estimate.as_ref().is_some_and(|estimate| estimate.value.is_finite()),
        Outcome::BelowResolution { below } => below.is_finite(),
        _ => false,
    }
}

/// What stands on the value axis.
pub(super) struct Mark {
    /// The median, or the limit below which it lies.
    pub(super) value: f64,
    /// The interval's ends.
    pub(super) ends: Option<(f64, f64)>,
    /// What was expected.
    pub(super) predicted: Option<f64>,
    /// Whether `value` is an upper limit.
    pub(super) limit: bool,
    /// Everything in words, shown where the pointer rests.
    pub(super) words: String,
}

pub(super) fn mark(point: &PointResult) -> Mark {
    let predicted = point.prediction.as_ref().map(Prediction::total).filter(|value| *value > 0.0);
    let expected = predicted
        .map(|value| format!("; predicted {}", quantities::value(point.unit, value)))
        .unwrap_or_default();
    let label = words::label(&point.experiment, &point.point);
    match (&point.outcome, &point.estimate) {
        (Outcome::BelowResolution { below }, _) => Mark {
            value: *below,
            ends: None,
            predicted,
            limit: true,
            words: format!("{label}: below {}{expected}", quantities::value(point.unit, *below)),
        },
        (_, estimate) => Mark {
            value: estimate.as_ref().map_or(0.0, |estimate| estimate.value),
            ends: estimate.as_ref().and_then(quantities::ends),
            predicted,
            limit: false,
            words: format!(
                "{label}: {}{expected}",
                estimate
                    .as_ref()
                    .map(|found| quantities::with_interval(point.unit, found))
                    .unwrap_or_default()
            ),
        },
    }
}

/// Every number of some marks that must find a place on the axis.
pub(super) fn extent<'a>(marks: impl Iterator<Item = &'a Mark>) -> Vec<f64> {
    let numbers = marks.flat_map(|mark| {
        let (low, high) = mark.ends.unwrap_or((mark.value, mark.value));
        [Some(mark.value), Some(low), Some(high), mark.predicted].into_iter().flatten()
    });
    numbers.collect()
}

/// What the marks mean, for the end of a caption.
pub(super) fn key(marks: &[&Mark]) -> String {
    let mut said = " Bars are 95 % intervals; where none is seen, it is smaller than the mark.".to_owned();
    if marks.iter().any(|mark| mark.predicted.is_some()) {
        said += " Hollow marks are predictions.";
    }
    if marks.iter().any(|mark| mark.limit) {
        said += " Arrows are upper limits of what could not be told from zero.";
    }
    said
}
