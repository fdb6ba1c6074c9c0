//! The results that missed their prediction, with the reasons.

use crate::results::PointResult;
use crate::results::accuracy::{FAIR, distance};
use fathom_core::experiment::{Found, Prediction, Term};
use fathom_core::quantity::{Kind, Unit};

/// The reason why a prediction missed.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Reason {
    /// The measurement is in doubt.
    Doubt,
    /// Each of these terms alone exceeds the measured cost.
    TooHigh(Vec<String>),
    /// No term alone exceeds the measured cost, only their sum.
    TogetherTooHigh,
    /// Most of the time neither the program nor the kernel ran for the operation.
    Waiting,
    /// Most of the time the kernel ran.
    Kernel,
    /// Most of the time the program ran.
    Program,
    /// The rate exceeds the sum of these terms, which allow it.
    AllowTooLittle(Vec<String>),
    /// These terms reduce the rate too much.
    TakeTooMuch(Vec<String>),
    /// The prediction has this single term, which is too low or too high.
    Alone(String),
    /// Nothing follows from the known figures.
    Untold,
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
            return Reason::Doubt;
        }
        match (self.result.unit.kind(), self.factor > 1.0) {
            (Kind::Rate, true) => self.why_a_rate_is_higher(),
            (Kind::Rate, false) => self.alone(),
            (_, true) => self.where_it_lacks(),
            (_, false) => self.which_is_too_high(),
        }
    }

    /// The terms below zero if `taking`, otherwise those above zero.
    pub(super) fn terms(&self, taking: bool) -> impl Iterator<Item = &Term> {
        let counts = move |term: &&Term| if taking { term.value() < 0.0 } else { term.value() > 0.0 };
        self.prediction.terms.iter().filter(counts)
    }

    fn names(&self, taking: bool) -> Vec<String> {
        self.terms(taking).map(|term| term.what.clone()).collect()
    }

    fn which_is_too_high(&self) -> Reason {
        let alone = self.terms(false).filter(|term| term.value() > self.most());
        let alone: Vec<String> = alone.map(|term| term.what.clone()).collect();
        let sum_of_costs = self.terms(true).next().is_none();
        match (sum_of_costs, alone.is_empty()) {
            (false, _) => Reason::Untold,
            (true, false) => Reason::TooHigh(alone),
            (true, true) => Reason::TogetherTooHigh,
        }
    }

    /// The greatest measured value within the interval.
    fn most(&self) -> f64 {
        self.measured.interval.map_or(self.measured.value, |ends| ends.high)
    }

    fn why_a_rate_is_higher(&self) -> Reason {
        let allowed: f64 = self.terms(false).map(Term::value).sum();
        let least = self.measured.interval.map_or(self.measured.value, |ends| ends.low);
        if least > allowed {
            Reason::AllowTooLittle(self.names(false))
        } else if self.most() <= allowed {
            Reason::TakeTooMuch(self.names(true))
        } else {
            Reason::Untold
        }
    }

    /// The reason for a prediction with a single term.
    fn alone(&self) -> Reason {
        match self.prediction.terms.as_slice() {
            [only] => Reason::Alone(only.what.clone()),
            _ => Reason::Untold,
        }
    }

    fn where_it_lacks(&self) -> Reason {
        let counted = self.result.processor_time.filter(|_| self.result.unit == Unit::Nanoseconds);
        let Some(spent) = counted else { return self.alone() };
        let half = spent.passed_ns / 2.0;
        // The mean time that passed must be near the measured median; otherwise the two concern different operations.
        if spent.passed_ns > FAIR * self.measured.value || half < self.prediction.total() {
            return Reason::Untold;
        }
        if spent.waited_ns() >= half {
            return Reason::Waiting;
        }
        let split = spent.kernel_interval.filter(|_| spent.is_split_by_ticks());
        let Some(kernel) = split else { return Reason::Untold };
        if kernel.low * spent.ran_ns >= half {
            Reason::Kernel
        } else if (1.0 - kernel.high) * spent.ran_ns >= half {
            Reason::Program
        } else {
            Reason::Untold
        }
    }
}
