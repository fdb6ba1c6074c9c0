//! A result that missed its prediction.

use crate::results::accuracy::{FAIR, distance};
use crate::results::{CoreState, PointResult};
use fathom_core::experiment::{CoreUse, Found, Known, Point, Prediction, Source, Statement, statement};
use fathom_core::machine::Machine;

/// A result that missed, with its prediction.
pub(super) struct Missed<'run> {
    pub(super) result: &'run PointResult,
    pub(super) prediction: &'run Prediction,
    pub(super) measured: Found,
    pub(super) factor: f64,
}

impl<'run> Missed<'run> {
    /// For a point, if its distance from the prediction exceeds the fair factor.
    pub(super) fn of(result: &'run PointResult) -> Option<Self> {
        let factor = result.factor().filter(|factor| distance(*factor) > FAIR)?;
        let measured = result.figure()?;
        Some(Missed { result, prediction: result.prediction.as_ref()?, measured, factor })
    }

    pub(super) fn distance(&self) -> f64 {
        distance(self.factor)
    }

    /// Whether the whole interval of the result is further than the fair factor from the prediction.
    pub(super) fn is_certain(&self) -> bool {
        if self.has_a_state_near() {
            return false;
        }
        let predicted = self.prediction.total();
        let is_far = |(low, high): (f64, f64)| low > FAIR * predicted || high < predicted / FAIR;
        // The interval of a median over two states is of neither.
        match self.measured.states {
            Some(states) => {
                states.iter().all(|state| is_far(state.ends().unwrap_or((state.value, state.value))))
            }
            None => self.measured.ends().is_none_or(is_far),
        }
    }

    /// Whether the machine was as predicted in one of its states.
    pub(super) fn has_a_state_near(&self) -> bool {
        let is_near = |value: f64| distance(value / self.prediction.total()) <= FAIR;
        self.result.mixture.as_ref().is_some_and(|mixture| mixture.values().into_iter().any(is_near))
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

    /// The prediction with all figures of the run.
    pub(super) fn predicted_again(&self, known: &Known) -> Option<Prediction> {
        self.result.method().ok()?.predict(&self.result.point, known).ok()
    }

    /// What the experiment knows to make such results exceed their predictions, if this one does.
    pub(super) fn exceeded_for(&self, machine: &Machine) -> Option<String> {
        let method = self.result.method().ok().filter(|_| self.factor > 1.0)?;
        method.exceeded_for(&self.result.point, machine)
    }

    /// A certain value of the result's unit.
    pub(super) fn figure(&self, value: f64) -> Found {
        Found::exact(value, self.measured.dimension)
    }

    /// The measured value less the prediction.
    pub(super) fn missing(&self) -> Found {
        self.measured.minus(self.figure(self.prediction.total()))
    }

    /// `point: measured, predicted`.
    pub(super) fn summary(&self) -> Statement {
        statement!(
            "{point}: {measured} measured, {predicted} predicted",
            point = Statement::point(&self.result.experiment, &self.result.point),
            measured = self.measured.named("measured"),
            predicted = self.figure(self.prediction.total()).named("predicted")
        )
    }
}
