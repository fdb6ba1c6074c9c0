//! The outcome of a point; of those that did not fit into the budget with their cost, and the budget that would measure them.

use super::headline::Headline;
use crate::record::{LeftOut, PlannedPoint, Run, Settled, Trial, TrialOutcome};
use fathom_core::experiment::Bound;
use fathom_core::quantities;
use fathom_core::quantity::{Kind, Unit};
use fathom_core::statistics::{Estimate, MINIMUM_TRIALS};
use std::time::Duration;

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

/// An estimate of what was never observed to be zero or less, whose interval does not say that it could be.
fn above_zero(mut estimate: Estimate) -> Estimate {
    let least = estimate.min.filter(|min| *min > 0.0);
    if let (Some(interval), Some(least)) = (&mut estimate.interval, least) {
        if interval.low <= 0.0 {
            interval.low = least;
        }
    }
    estimate
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
    pub(super) fn measured(headline: Headline, bound: Option<Bound>, unit: Unit) -> Outcome {
        let Headline { estimate, baseline, resolution, .. } = headline;
        // A time that was read as zero is shorter than the clock's step, whether or not a baseline was subtracted.
        let may_be_zero =
            baseline.is_some() || unit == Unit::Nanoseconds && estimate.min.is_none_or(|min| min <= 0.0);
        let has_baseline = baseline.is_some();
        let high = estimate.interval.map_or(estimate.value, |interval| interval.high);
        let low = estimate.interval.map_or(estimate.value, |interval| interval.low);
        // A few trials on a busy machine may well give a negative difference: only an interval shows that it is significant.
        if has_baseline && estimate.interval.is_some() && high < 0.0 {
            let because = "the operation took less time than the same work without it".to_owned();
            return Outcome::Implausible { bound: Bound { limit: 0.0, because }, unusable: estimate };
        }
        if let Some(bound) = bound {
            let broken = match unit.kind() {
                Kind::Cost => high < bound.limit,
                Kind::Rate => low > bound.limit,
                Kind::Size => false,
            };
            if broken {
                return Outcome::Implausible { bound, unusable: estimate };
            }
        }
        if (may_be_zero && low <= 0.0) || estimate.value.abs() < resolution {
            return Outcome::BelowResolution { below: high.max(resolution), unusable: estimate };
        }
        Outcome::Value(above_zero(estimate))
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

/// The reason why a point is left out; `None` if it is not left out, has its interval nevertheless, or has only ever failed,
/// which is the better reason.
pub(super) fn reason(run: &Run, planned: &PlannedPoint, trials: &[&Trial]) -> Option<String> {
    let settled = run.settled.as_ref()?;
    let mine = |point: &&LeftOut| point.experiment == planned.experiment && point.point == planned.point;
    let price = settled.left_out.iter().find(mine)?;
    let observed = trials.iter().filter(|trial| trial.observed()).count();
    let only_failed = observed == 0 && !trials.is_empty();
    (observed < MINIMUM_TRIALS && !only_failed).then(|| wording(settled, price, observed))
}

/// The same reason for all points of about the same cost of which as many trials were made, so that a table can group them.
fn wording(settled: &Settled, price: &LeftOut, observed: usize) -> String {
    // What was ended before it was made costs more than is known.
    let (about, would) = if price.more { ("more than", "may") } else { ("about", "would") };
    let cost = rounded(Duration::from_secs_f64(price.cost_s.clamp(0.0, MOST_S)));
    let enough = budget(Duration::from_secs_f64(settled.enough_budget_s.clamp(0.0, MOST_S)));
    let include = format!("`--budget {enough}` {would} include all such");
    let trials = match observed {
        0 => {
            return format!("does not fit into the budget: its trials would take {about} {cost}; {include}");
        }
        1 => "1 trial was made".to_owned(),
        number => format!("{number} trials were made"),
    };
    format!(
        "{trials} of the {MINIMUM_TRIALS} that an interval needs; more would take {about} {cost} and do not fit into the budget; {include}"
    )
}

/// More seconds than any run lasts, and fewer than a [`Duration`] holds: a run file may have been edited.
const MOST_S: f64 = 1e12;

/// A time in words, to one decimal below ten seconds and in whole seconds above.
pub fn rounded(time: Duration) -> String {
    quantities::roughly(time.as_secs_f64())
}

/// A budget in the form of the command line.
pub fn budget(time: Duration) -> String {
    match time.as_secs() {
        hours if hours >= 3600 && hours % 3600 == 0 => format!("{}h", hours / 3600),
        minutes if minutes >= 60 && minutes % 60 == 0 => format!("{}m", minutes / 60),
        seconds => format!("{seconds}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::experiment::Point;
    use fathom_core::statistics::Interval;

    fn headline(min: f64, low: f64) -> Headline {
        let interval = Some(Interval { low, high: 354.0 });
        let level = 0.95;
        let (min, max) = (Some(min), Some(3e4));
        let estimate = Estimate { value: 140.0, interval, level, min, max, trials: 6, observations: 600 };
        Headline { estimate, baseline: None, resolution: 0.0, core: None }
    }

    #[test]
    fn a_time_that_may_be_zero_is_below_resolution_and_one_that_was_never_zero_has_an_interval_above_it() {
        let of = |min, low| Outcome::measured(headline(min, low), None, Unit::Nanoseconds);
        assert!(
            matches!(of(-1e-9, -41.0), Outcome::BelowResolution { below, .. } if (below - 354.0).abs() < 1e-9)
        );
        let low = |outcome: &Outcome| outcome.estimate().and_then(|estimate| Some(estimate.interval?.low));
        assert_eq!(low(&of(9.0, -41.0)), Some(9.0));
        assert_eq!(low(&of(-1e-9, 30.0)), Some(30.0));
        let share = Outcome::measured(headline(0.0, 0.0), None, Unit::PartsPerMillion);
        assert_eq!(low(&share), Some(0.0), "a share may well be none");
    }

    #[test]
    fn budgets_are_words_that_the_command_line_reads_back() {
        for (seconds, word) in [(90, "90s"), (180, "3m"), (7200, "2h"), (5400, "90m")] {
            let time = Duration::from_secs(seconds);
            assert_eq!(budget(time), word);
            assert_eq!(humantime::parse_duration(word), Ok(time));
        }
    }

    #[test]
    fn prices_are_rounded_so_that_alike_ones_read_alike() {
        let said = |seconds: f64| rounded(Duration::from_secs_f64(seconds));
        let read = [0.02, 0.31, 3.4, 38.0, 43.0, 119.0, 300.0].map(said);
        assert_eq!(read, ["0.1 s", "0.3 s", "3 s", "40 s", "40 s", "2 min", "5 min"]);
    }

    #[test]
    fn of_what_was_begun_it_is_said_what_more_would_take() {
        let settled = Settled {
            at_s: 0.0,
            budget_s: 60.0,
            points: 1,
            trials: 4,
            least_trials: 4,
            most_trials: 4,
            trial_ns: 1,
            end_s: 60.0,
            left_out: vec![],
            enough_budget_s: 540.0,
        };
        let price =
            LeftOut { experiment: "a/test".to_owned(), point: Point::new(), cost_s: 0.3, more: false };
        assert_eq!(
            wording(&settled, &price, 1),
            "1 trial was made of the 4 that an interval needs; more would take about 0.3 s and do not fit into the budget; `--budget 9m` would include all such"
        );
        assert_eq!(
            wording(&settled, &price, 0),
            "does not fit into the budget: its trials would take about 0.3 s; `--budget 9m` would include all such"
        );
    }
}
