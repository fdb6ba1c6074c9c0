//! The results that missed their prediction, with the reasons.

use crate::results::PointResult;
use crate::results::accuracy::{FAIR, distance};
use fathom_core::experiment::{Found, Known, Point, Prediction, Statement, Term, statement};
use fathom_core::quantity::{Kind, Unit};

/// The reason why a prediction missed. Misses of one experiment with the same reason are reported together.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Reason {
    /// Nothing beyond this sentence is known about it.
    Stated(String),
    /// Each of these terms alone exceeds the measured cost; without terms, only their sum does.
    TooHigh(Vec<String>),
    /// The time that the prediction lacks was spent there.
    MissingTime(Spender),
    /// The prediction has this single term, which is too low or too high.
    Single(String),
    /// Nothing follows from the known figures.
    Unknown,
}

/// What took most of the time of an operation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Spender {
    /// Neither the program nor the kernel: it waited.
    Waiting,
    Kernel,
    Program,
}

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
        let measured = Found::of(result.estimate()?, result.unit);
        Some(Missed { result, prediction: result.prediction.as_ref()?, measured, factor })
    }

    pub(super) fn reason(&self) -> Reason {
        if self.result.evidence.fails() {
            let sentence = "The measurement is in doubt, not the prediction: its evidence does not hold.";
            return Reason::Stated(sentence.to_owned());
        }
        match (self.result.unit.kind(), self.factor > 1.0) {
            (Kind::Rate, true) => self.rate_too_low(),
            (Kind::Rate, false) => self.single_term(),
            (_, true) => self.cost_too_low(),
            (_, false) => self.cost_too_high(),
        }
    }

    pub(super) fn distance(&self) -> f64 {
        distance(self.factor)
    }

    pub(super) fn place(&self) -> (&'run str, &'run Point) {
        (&self.result.experiment, &self.result.point)
    }

    /// The prediction with all figures of the run.
    pub(super) fn predicted_again(&self, known: &Known) -> Option<Prediction> {
        self.result.method().ok()?.predict(&self.result.point, known).ok()
    }

    pub(super) fn figure(&self, value: f64) -> Found {
        Found::exact(value, self.measured.dimension)
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

    /// The terms below zero, which reduce a rate, or those above zero.
    pub(super) fn terms(&self, negative: bool) -> impl Iterator<Item = &Term> {
        let counts = move |term: &&Term| if negative { term.value() < 0.0 } else { term.value() > 0.0 };
        self.prediction.terms.iter().filter(counts)
    }

    fn names(&self, negative: bool) -> String {
        self.terms(negative).map(|term| term.what.as_str()).collect::<Vec<_>>().join("; ")
    }

    fn cost_too_high(&self) -> Reason {
        if self.terms(true).next().is_some() {
            return Reason::Unknown;
        }
        let alone = self.terms(false).filter(|term| term.value() > self.most());
        Reason::TooHigh(alone.map(|term| term.what.clone()).collect())
    }

    /// The greatest measured value within the interval.
    fn most(&self) -> f64 {
        self.measured.interval.map_or(self.measured.value, |ends| ends.high)
    }

    fn rate_too_low(&self) -> Reason {
        let allowed: f64 = self.terms(false).map(Term::value).sum();
        let least = self.measured.interval.map_or(self.measured.value, |ends| ends.low);
        if least > allowed {
            Reason::Stated(format!(
                "The measured value exceeds the prediction even before its deductions. These terms are too low: {}.",
                self.names(false)
            ))
        } else if self.most() <= allowed {
            Reason::Stated(format!("The deductions of the prediction are too large: {}.", self.names(true)))
        } else {
            Reason::Unknown
        }
    }

    fn single_term(&self) -> Reason {
        match self.prediction.terms.as_slice() {
            [only] => Reason::Single(only.what.clone()),
            _ => Reason::Unknown,
        }
    }

    fn cost_too_low(&self) -> Reason {
        let counted = self.result.processor_time.filter(|_| self.result.unit == Unit::Nanoseconds);
        let Some(spent) = counted else { return self.single_term() };
        let half = spent.passed_ns / 2.0;
        // The mean time that passed must be near the measured median; otherwise the two concern different operations.
        if spent.passed_ns > FAIR * self.measured.value || half < self.prediction.total() {
            return Reason::Unknown;
        }
        if spent.waited_ns() >= half {
            return Reason::MissingTime(Spender::Waiting);
        }
        let split = spent.kernel_interval.filter(|_| spent.is_split_by_ticks());
        match split {
            Some(kernel) if kernel.low * spent.ran_ns >= half => Reason::MissingTime(Spender::Kernel),
            Some(kernel) if (1.0 - kernel.high) * spent.ran_ns >= half => {
                Reason::MissingTime(Spender::Program)
            }
            _ => Reason::Unknown,
        }
    }
}
