//! A result that missed its prediction.

use super::Figures;
use crate::results::accuracy::{FAIR, distance};
use crate::results::by_end::{self, WholeRun};
use crate::results::{CoreState, PointResult, PredictionNearness};
use fathom_core::experiment::{
    CoreUse, Dimension, Excess, Found, Known, Point, Prediction, Source, Statement, statement,
};
use fathom_core::quantity::Unit;

/// A result that missed, with its prediction.
pub(super) struct Missed<'run> {
    pub(super) result: &'run PointResult,
    pub(super) prediction: &'run Prediction,
    pub(super) measured: Found,
    pub(super) factor: f64,
}

impl<'run> Missed<'run> {
    /// For a point, if its distance from the prediction exceeds the fair factor, of a machine in several states in each.
    pub(super) fn of(result: &'run PointResult) -> Option<Self> {
        let factor = result.factor().filter(|_| result.nearness(FAIR) == Some(PredictionNearness::Beyond))?;
        let measured = result.figure()?;
        Some(Missed { result, prediction: result.prediction.as_ref()?, measured, factor })
    }

    /// What is judged: the measured value, of a machine in several states that of the one with the most.
    pub(super) fn judged(&self) -> Found {
        Found { measured: self.measured.leading(), is_mixture: false, states: None, ..self.measured }
    }

    /// Whether it lies, with its interval, in the range of the published values behind its prediction.
    pub(super) fn is_in_range(&self) -> bool {
        self.measured.states.is_none() && self.prediction.spans(&self.measured)
    }

    pub(super) fn distance(&self) -> f64 {
        distance(self.factor)
    }

    /// Whether the whole interval of the result is further than the fair factor from the prediction.
    pub(super) fn is_certain(&self) -> bool {
        self.is_far_from(self.prediction.total())
    }

    /// Whether the whole interval of the result, of one in two states that of either, is further than the fair factor from a prediction.
    fn is_far_from(&self, predicted: f64) -> bool {
        let is_far = |(low, high): (f64, f64)| low > FAIR * predicted || high < predicted / FAIR;
        // The interval of a median over two states is of neither.
        match self.measured.states {
            Some(states) => {
                states.iter().all(|state| is_far(state.ends().unwrap_or((state.value, state.value))))
            }
            None => self.measured.ends().is_none_or(is_far),
        }
    }

    /// What a result with the core shared takes with it alone, if that is near a prediction of which no input is of the core shared: like
    /// beside like it is no miss.
    pub(super) fn alone_near(&self, known: &Known) -> Option<Found> {
        let core = self.result.core.as_ref().filter(|core| core.state == CoreState::Shared)?;
        let alone = self.figure(core.alone_of_many()?);
        let is_shared = |source: &Source| match source {
            Source::Measured { experiment, point } => {
                known.found(experiment, point).is_some_and(|input| input.core == Some(CoreUse::Shared))
            }
            _ => false,
        };
        let is_near = distance(alone.value / self.prediction.total()) <= FAIR;
        let is_like = !self.prediction.terms.iter().any(|term| is_shared(&term.source));
        (is_near && is_like).then_some(alone)
    }

    pub(super) fn place(&self) -> (&'run str, &'run Point) {
        (&self.result.experiment, &self.result.point)
    }

    /// The prediction with all figures of the run, with the core as it was for the result.
    pub(super) fn predicted_again(&self, whole: &WholeRun) -> Option<Prediction> {
        self.result.method().ok()?.predict(&self.result.point, whole.like(self.result)).ok()
    }

    /// The prediction with what the inputs that it took from the run are by its end, with the core as it was for the result.
    pub(super) fn by_end(&self, whole: &WholeRun) -> Option<Prediction> {
        by_end::again(self.result, whole)
    }

    /// Whether the result, or its interval, is near what is so predicted: then it is no miss for certain, even where no input is shown to have
    /// become another.
    pub(super) fn is_near_by_end(&self, whole: &WholeRun) -> bool {
        let is_near = |predicted| self.is_near(predicted) || !self.is_far_from(predicted);
        self.by_end(whole).is_some_and(|by_end| is_near(by_end.total()))
    }

    /// Whether the result is within the fair factor of a value, of a machine in several states that of the one with the most.
    pub(super) fn is_near(&self, value: f64) -> bool {
        distance(self.factor * self.prediction.total() / value) <= FAIR
    }

    /// What the experiment knows to make such results exceed their predictions, if this one does.
    /// By figures on which conclusions may rest, and told with those in the state of the core of the result.
    pub(super) fn exceeded_for(&self, figures: Figures) -> Option<Excess> {
        let method = self.result.method().ok().filter(|_| self.factor > 1.0)?;
        method.exceeded_for(&self.result.point, figures.supported)?;
        method.exceeded_for(&self.result.point, figures.whole.like(self.result))
    }

    /// A certain value of the result's unit.
    pub(super) fn figure(&self, value: f64) -> Found {
        Found::exact(value, self.measured.dimension)
    }

    /// The measured value less the prediction.
    pub(super) fn missing(&self) -> Found {
        self.measured.minus(self.figure(self.prediction.total()))
    }

    /// At which distance of the CPUs it was measured, if that is not the one of which sentences speak.
    fn apart(&self) -> Option<Statement> {
        let distance = self.result.cpu_distance.as_ref().filter(|_| self.result.is_elsewhere())?;
        let line = Found::bare(distance.at.line_ns, Dimension::Of(Unit::Nanoseconds));
        Some(statement!(" (CPUs {line} apart)", line = line.named("a line while it was measured")))
    }

    /// `point: measured, predicted`.
    pub(super) fn summary(&self) -> Statement {
        statement!(
            "{point}{apart}: {measured} measured, {predicted} predicted",
            apart = self.apart(),
            point = Statement::point(&self.result.experiment, &self.result.point),
            measured = self.measured.named("measured"),
            predicted = self.figure(self.prediction.total()).named("predicted")
        )
    }
}
