//! What became of a point.

use super::headline::Headline;
use crate::experiment::Bound;
use crate::quantity::Kind;
use crate::record::{PlannedPoint, Trial, TrialOutcome};
use crate::statistics::Estimate;

/// What became of a point. Nothing is clamped, nothing is silently dropped, no zero stands for "not measured".
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The estimate stands: the median with its interval.
    Value(Estimate),
    /// The cost cannot be told from nothing; at 95 % it is below this, in the point's unit.
    BelowResolution {
        /// The upper end of the interval.
        below: f64,
        /// What came out, which must not be used.
        unusable: Estimate,
    },
    /// It was not attempted.
    Skipped {
        /// What is missing, and what to do about it.
        reason: String,
    },
    /// It was attempted and broke.
    Failed {
        /// How.
        reason: String,
    },
    /// It did not end in time.
    TimedOut {
        /// The limit, seconds.
        after_s: f64,
    },
    /// It was measured, and something else kept its trials from what they measure.
    Disturbed {
        /// By what.
        by: String,
        /// What came out, which must not be used.
        unusable: Estimate,
    },
    /// It was measured and cannot be what its name says.
    Implausible {
        /// The bound that it breaks.
        bound: Bound,
        /// What came out, which must not be used.
        unusable: Estimate,
    },
}

impl Outcome {
    /// The word in JSON and tables.
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

    /// Why it is not a value, in words; `None` for a value.
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

    /// The estimate, if it stands.
    pub fn estimate(&self) -> Option<&Estimate> {
        match self {
            Outcome::Value(estimate) => Some(estimate),
            _ => None,
        }
    }

    /// What came out where it must not be used.
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

    /// What came out, whether it may be used or not; `None` where nothing was measured.
    pub fn observed(&self) -> Option<&Estimate> {
        self.estimate().or(self.unusable())
    }

    /// Whether something went wrong, as against something that was not there.
    pub fn is_failure(&self) -> bool {
        matches!(self, Outcome::Failed { .. } | Outcome::TimedOut { .. } | Outcome::Implausible { .. })
    }

    /// A value that breaks this bound is none; whether it was one.
    pub(super) fn break_a_bound(&mut self, bound: Bound) -> bool {
        let Outcome::Value(estimate) = self else { return false };
        *self = Outcome::Implausible { bound, unusable: estimate.clone() };
        true
    }

    /// Of what was measured: it breaks a bound, is below resolution, or is a value.
    pub(super) fn measured(headline: Headline, bound: Option<Bound>, kind: Kind) -> Outcome {
        let Headline { estimate, baseline, resolution, .. } = headline;
        let has_baseline = baseline.is_some();
        let high = estimate.interval.map_or(estimate.value, |interval| interval.high);
        let low = estimate.interval.map_or(estimate.value, |interval| interval.low);
        // A few trials on a busy machine may well show a negative difference: only an interval tells that it is none.
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

    /// Of a point of which nothing was observed: its trials say why, the last one if they differ.
    pub(super) fn unmeasured(planned: &PlannedPoint, trials: &[&Trial]) -> Outcome {
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
