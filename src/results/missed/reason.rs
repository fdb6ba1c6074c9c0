//! Which results missed, and why.

use crate::experiment::{Found, Prediction, Term};
use crate::quantity::{Kind, Unit};
use crate::results::PointResult;
use crate::results::accuracy::{FAIR, distance};

/// Why a prediction missed.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Reason {
    /// The measurement is in doubt.
    Doubt,
    /// These terms alone are each more than what was measured.
    TooHigh(Vec<String>),
    /// No term alone is.
    TogetherTooHigh,
    /// Most of the time neither the program nor the kernel ran for it.
    Waiting,
    /// Most of the time the kernel ran.
    Kernel,
    /// Most of the time the program ran.
    Program,
    /// A rate above all that these terms allow.
    AllowTooLittle(Vec<String>),
    /// A rate from which these terms take too much.
    TakeTooMuch(Vec<String>),
    /// A single term, which is too low or too high by itself.
    Alone(String),
    /// Nothing follows from what is known.
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
    /// The point, if it is further from its prediction than is fair.
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

    /// The terms that add something, or those that take.
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

    /// All that it may have been, by its interval.
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

    /// The only term there is, or nothing.
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
        // The mean of few must be what the median is of: where it is not, the two speak of different operations.
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
