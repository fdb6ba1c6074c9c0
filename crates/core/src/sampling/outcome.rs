//! The outcome of a trial: the answer of its process, or the reason if there is none.

use super::child::End;
use super::sample::Sample;
use crate::experiment::Failure;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The outcome of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "TrialOutcome", !try_from))]
#[serde(tag = "outcome", rename_all = "snake_case", try_from = "OutcomeFields<T>")]
pub enum TrialOutcome<T = Sample> {
    /// It has observations.
    Measured {
        /// The raw observations, with what was counted around them.
        sample: T,
    },
    /// The preparation found that this machine or user cannot do it.
    Skipped {
        /// What is missing.
        reason: String,
    },
    /// It was attempted and failed.
    Failed {
        /// The reason.
        reason: String,
    },
    /// It did not end in time and was killed.
    TimedOut {
        /// The limit, seconds.
        after_s: f64,
    },
}

/// The fields of an outcome as they are read. serde would keep a copy of the whole sample until it has met the tag, which takes
/// longer than all other reading of a run file.
#[derive(Deserialize)]
struct OutcomeFields<T> {
    outcome: OutcomeKind,
    #[serde(alias = "series")] // in files of replications of schema 1
    sample: Option<T>,
    reason: Option<String>,
    after_s: Option<f64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum OutcomeKind {
    Measured,
    Skipped,
    Failed,
    TimedOut,
}

impl<T> TryFrom<OutcomeFields<T>> for TrialOutcome<T> {
    type Error = &'static str;

    fn try_from(fields: OutcomeFields<T>) -> Result<Self, Self::Error> {
        let reason = fields.reason.ok_or("missing field `reason`");
        Ok(match fields.outcome {
            OutcomeKind::Measured => {
                Self::Measured { sample: fields.sample.ok_or("missing field `sample`")? }
            }
            OutcomeKind::Skipped => Self::Skipped { reason: reason? },
            OutcomeKind::Failed => Self::Failed { reason: reason? },
            OutcomeKind::TimedOut => {
                Self::TimedOut { after_s: fields.after_s.ok_or("missing field `after_s`")? }
            }
        })
    }
}

impl<T> TrialOutcome<T> {
    /// The answer of a process with this time limit, or the outcome of a trial without an answer; `None` if it was interrupted.
    pub fn answer<A>(end: End<A>, limit: Duration) -> Option<Result<A, Self>> {
        match end {
            End::Answered(answer) => Some(Ok(answer)),
            End::Died(reason) => Some(Err(TrialOutcome::Failed { reason })),
            End::TimedOut => Some(Err(TrialOutcome::TimedOut { after_s: limit.as_secs_f64() })),
            End::Interrupted => None,
        }
    }

    /// The sample; `None` if there is none.
    pub fn sample(&self) -> Option<&T> {
        if let TrialOutcome::Measured { sample } = self { Some(sample) } else { None }
    }
}

impl<T> From<Result<T, Failure>> for TrialOutcome<T> {
    fn from(result: Result<T, Failure>) -> Self {
        match result {
            Ok(sample) => TrialOutcome::Measured { sample },
            Err(Failure::Unsupported(reason)) => TrialOutcome::Skipped { reason },
            Err(Failure::Broke(reason)) => TrialOutcome::Failed { reason },
            Err(failure @ (Failure::TooLong(_) | Failure::CoreShared)) => {
                TrialOutcome::Skipped { reason: failure.to_string() }
            }
        }
    }
}
