//! The outcome of a point.

use super::headline::Headline;
use crate::record::{PlannedPoint, Trial, TrialOutcome};
use fathom_core::experiment::Bound;
use fathom_core::quantity::Kind;
use fathom_core::statistics::Estimate;

/// The outcome of a point. Nothing is clamped, nothing is silently dropped, no zero stands for "not measured".
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The estimate is valid: the median with its interval.
    Value(Estimate),
    /// The cost is not distinguishable from zero; at 95 % it is below this, in the point's unit.
    BelowResolution {
        /// The upper end of the interval.
        below: f64,
        /// The estimate, which must not be used.
        unusable: Estimate,
    },
    /// The point was not attempted.
    Skipped {
        /// What is missing, with the remedy.
        reason: String,
    },
    /// The point was attempted and failed.
    Failed {
        /// The reason.
        reason: String,
    },
    /// The point did not end in time.
    TimedOut {
        /// The limit, seconds.
        after_s: f64,
    },
    /// The point was measured, but something disturbed its trials.
    Disturbed {
        /// The cause.
        by: String,
        /// The estimate, which must not be used.
        unusable: Estimate,
    },
    /// The point was measured, but its value is impossible for the operation.
    Implausible {
        /// The bound that it breaks.
        bound: Bound,
        /// The estimate, which must not be used.
        unusable: Estimate,
    },
}

impl Outcome {
    /// The name in JSON and tables.
    pub fn name(&self) -> &'static str {
        match self {
            Outcome::Value(_) => "value",
            Outcome::BelowResolution { .. } => "below_resolution",
            Outcome::Skipped { .. } => "skipped",
            Outcome::Failed { .. } => "failed",
            Outcome::TimedOut { .. } => "timed_out",
            Outcome::Disturbed { .. } => "disturbed",
            Outcome::Implausible { .. } => "implausible",
        }
    }

    /// The reason why the outcome is not a value; `None` for a value.
    pub fn reason(&self) -> Option<String> {
        match self {
            Outcome::Value(_) => None,
            Outcome::BelowResolution { .. } => Some("not distinguishable from zero in this run".to_owned()),
            Outcome::Skipped { reason } | Outcome::Failed { reason } => Some(reason.clone()),
            Outcome::TimedOut { after_s } => Some(format!("did not end within {after_s} s")),
            Outcome::Disturbed { by, .. } => Some(by.clone()),
            Outcome::Implausible { bound, .. } => Some(format!("breaks a bound: {}", bound.because)),
        }
    }

    /// The estimate, if it is valid.
    pub fn estimate(&self) -> Option<&Estimate> {
        match self {
            Outcome::Value(estimate) => Some(estimate),
            _ => None,
        }
    }

    /// The estimate, if it must not be used.
    pub fn unusable(&self) -> Option<&Estimate> {
        match self {
            Outcome::BelowResolution { unusable, .. }
            | Outcome::Disturbed { unusable, .. }
            | Outcome::Implausible { unusable, .. } => Some(unusable),
            Outcome::Value(_)
            | Outcome::Skipped { .. }
            | Outcome::Failed { .. }
            | Outcome::TimedOut { .. } => None,
        }
    }

    /// The estimate, whether it may be used or not; `None` if nothing was measured.
    pub fn observed(&self) -> Option<&Estimate> {
        self.estimate().or(self.unusable())
    }

    /// Whether something went wrong; something that was absent is not a failure.
    pub fn is_failure(&self) -> bool {
        matches!(self, Outcome::Failed { .. } | Outcome::TimedOut { .. } | Outcome::Implausible { .. })
    }

    /// Makes a value that breaks this bound implausible; whether it was a value.
    pub(super) fn break_a_bound(&mut self, bound: Bound) -> bool {
        let Outcome::Value(estimate) = self else { return false };
        *self = Outcome::Implausible { bound, unusable: estimate.clone() };
        true
    }

    /// The outcome of a measured point: it breaks a bound, is below resolution, or is a value.
    pub(super) fn measured(headline: Headline, bound: Option<Bound>, kind: Kind) -> Outcome {
        let Headline { estimate, baseline, resolution, .. } = headline;
        let has_baseline = baseline.is_some();
        let high = estimate.interval.map_or(estimate.value, |interval| interval.high);
        let low = estimate.interval.map_or(estimate.value, |interval| interval.low);
        // A few trials on a busy machine may well give a negative difference: only an interval shows that it is significant.
        if has_baseline && estimate.interval.is_some() && high < 0.0 {
            let because = "the operation took less time than the same work without it".to_owned();
            return Outcome::Implausible { bound: Bound { limit: 0.0, because }, unusable: estimate };
        }
        if let Some(bound) = bound {
            let broken = match kind {
                Kind::Cost => high < bound.limit,
                Kind::Rate => low > bound.limit,
                Kind::Size => false,
            };
            if broken {
                return Outcome::Implausible { bound, unusable: estimate };
            }
        }
        if (has_baseline && low <= 0.0) || estimate.value.abs() < resolution {
            return Outcome::BelowResolution { below: high.max(resolution), unusable: estimate };
        }
        Outcome::Value(estimate)
    }

    /// The outcome of a point without observations: the reason is that of its trials, the last one if they differ.
    pub(crate) fn unmeasured(planned: &PlannedPoint, trials: &[&Trial]) -> Outcome {
        if let Some(reason) = &planned.skip {
            return Outcome::Skipped { reason: reason.clone() };
        }
        match trials.last().map(|trial| &trial.outcome) {
            None => Outcome::Skipped {
                reason: "the run ended before its first trial: allow a larger --budget".to_owned(),
            },
            Some(TrialOutcome::Skipped { reason }) => Outcome::Skipped { reason: reason.clone() },
            Some(TrialOutcome::Failed { reason }) => Outcome::Failed { reason: reason.clone() },
            Some(TrialOutcome::TimedOut { after_s }) => Outcome::TimedOut { after_s: *after_s },
            Some(TrialOutcome::Measured { .. }) => {
                Outcome::Failed { reason: "the trial ended without an observation".to_owned() }
            }
        }
    }
}
