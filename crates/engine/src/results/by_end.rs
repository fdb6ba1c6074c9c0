//! The predictions with what the whole run gave for their inputs, in place of what was known before a point's first trial.

use super::PointResult;
use super::accuracy::{CLOSE, distance};
use fathom_core::experiment::{Known, Prediction, Source, Term};

/// Adds to every point what its prediction would be with the figures of the whole run. The judged prediction stays the one that was made
/// before.
pub(super) fn mark(points: &mut [PointResult], known: &Known) {
    for point in points {
        point.by_end = of_whole_run(point, known);
    }
}

/// `None` if the prediction takes nothing from the run, or nothing that the predictor of this program takes as well.
fn of_whole_run(point: &PointResult, known: &Known) -> Option<Prediction> {
    let made = point.prediction.as_ref()?;
    let is_of_the_run = |term: &&Term| matches!(term.source, Source::Measured { .. });
    made.terms.iter().find(is_of_the_run)?;
    let again = point.method().ok()?.predict(&point.point, known).ok()?;
    let now = |then: &Term| {
        let mut terms = again.terms.iter().filter(is_of_the_run);
        terms.find(|term| term.what == then.what && term.source == then.source)
    };
    let terms: Vec<Term> = made.terms.iter().map(|then| now(then).unwrap_or(then).clone()).collect();
    (terms != made.terms).then_some(Prediction { terms })
}

impl PointResult {
    /// The median over the prediction with the figures of the whole run, where these make it another by more than [`CLOSE`]: then the
    /// machine was in another state when the prediction was made than for most of the run, and the ratio to it says little of the operation.
    pub fn factor_by_end(&self) -> Option<f64> {
        let (made, by_end) = (self.prediction.as_ref()?.total(), self.by_end.as_ref()?.total());
        let factor = self.factor()?;
        (by_end > 0.0 && distance(by_end / made) > CLOSE).then(|| factor * made / by_end)
    }
}
