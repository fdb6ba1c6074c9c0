//! Evidence that the measured operation was the one named.

use super::{TRACED_CALLS, TRACED_OPERATIONS, TRACING_REFUSED};
use crate::quantities::plain;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Counts of the kernel and, if its counters can be opened, of the processor around the observations of one trial, for the
/// measuring process with its threads and reaped children.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Counters {
    /// Page faults that needed no device.
    pub minor_faults: u64,
    /// Page faults that waited for a device.
    pub major_faults: u64,
    /// Switches because the process waited.
    pub voluntary_switches: u64,
    /// Switches because the scheduler took the CPU away.
    pub involuntary_switches: u64,
    /// Time in user mode, nanoseconds.
    pub user_ns: u64,
    /// Time in the kernel, nanoseconds.
    pub system_ns: u64,
    /// Instructions retired, from a hardware counter; absent where none can be opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<u64>,
    /// Core cycles, from a hardware counter; absent where none can be opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycles: Option<u64>,
}

/// Observations around all measurements of a point, summed over its trials.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Observed {
    /// Operations performed while the counters ran.
    pub operations: u64,
    /// Iterations of the baseline performed while the counters ran.
    pub baseline_iterations: u64,
    /// The counts of the kernel and the processor.
    pub counters: Counters,
    /// Counts by the work itself, by name.
    pub witnessed: BTreeMap<String, f64>,
    /// Values found by the preparation, by name: the same in every trial, else the last.
    pub stated: BTreeMap<String, f64>,
    /// Number of trials in the sums.
    pub trials: u64,
}

impl Observed {
    /// A count divided by the operations.
    pub fn per_operation(&self, count: u64) -> f64 {
        count as f64 / self.operations.max(1) as f64
    }

    /// The share per operation of events that do not belong to the operation and occur `in_a_trial` times per trial: a fault of
    /// the measuring process, a timer tick. If operations are slow, a trial has few of them.
    pub fn others_per_operation(&self, in_a_trial: f64) -> f64 {
        in_a_trial * self.trials as f64 / self.operations.max(1) as f64
    }

    /// Switches of either kind. On one CPU a process sleeps in `read` (voluntary) or is preempted by the partner that its own
    /// `write` woke (involuntary); the scheduler chooses which of the two, but their sum is fixed.
    pub fn switches(&self) -> u64 {
        self.counters.voluntary_switches + self.counters.involuntary_switches
    }

    /// The value under this name counted by the work, or found by its preparation; `None` if there is none.
    pub fn witness(&self, name: &str) -> Option<f64> {
        self.witnessed.get(name).or_else(|| self.stated.get(name)).copied()
    }

    /// The mean over trials of what each counted; `None` if it was not counted.
    pub fn per_trial(&self, name: &str) -> Option<f64> {
        Some(self.witness(name)? / self.trials.max(1) as f64)
    }

    /// One witnessed value over another; `None` unless both are known, and the other is above zero.
    pub fn ratio(&self, name: &str, of: &str) -> Option<f64> {
        Some(self.witness(name)? / self.witness(of).filter(|of| *of > 0.0)?)
    }
}

/// A claim about a measurement, with its verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Check {
    /// The claim, which must hold if the operation was the one named.
    pub claim: String,
    /// Whether it holds.
    pub holds: bool,
    /// The observation.
    pub seen: String,
    /// The observed quantity, if it is a number of one.
    #[serde(skip)]
    pub quantity: Option<f64>,
    /// Whether it could not be checked, for the reason in `seen`: then it neither holds nor fails.
    #[serde(skip)]
    pub unasked: bool,
}

/// A greater number is no limit.
const UNBOUNDED: f64 = 1e15;

impl Check {
    /// A claim, whether it holds, and the observation.
    pub fn judged(claim: impl Into<String>, holds: bool, seen: impl Into<String>) -> Self {
        Check { claim: claim.into(), holds, seen: seen.into(), quantity: None, unasked: false }
    }

    /// A claim that could not be checked here, with the reason.
    pub fn unasked(claim: impl Into<String>, reason: String) -> Self {
        Check { unasked: true, ..Check::judged(claim, false, reason) }
    }

    /// Whether it was checked and does not hold.
    pub fn fails(&self) -> bool {
        !self.holds && !self.unasked
    }

    /// A quantity that must lie between two values; one that should have been counted and was not does not hold.
    pub fn within(claim: impl Into<String>, seen: impl Into<Option<f64>>, low: f64, high: f64) -> Self {
        let Some(seen) = seen.into() else { return Check::missing(claim) };
        let holds = (low..=high).contains(&seen);
        let range = if high < UNBOUNDED {
            format!("between {} and {}", plain(low), plain(high))
        } else {
            format!("at least {}", plain(low))
        };
        let judged = Check::judged(claim, holds, format!("{} ({range})", plain(seen)));
        Check { quantity: Some(seen), ..judged }
    }

    /// A quantity that must be exactly this, and counted.
    pub fn equal(claim: impl Into<String>, seen: impl Into<Option<f64>>, expected: f64) -> Self {
        let Some(seen) = seen.into() else { return Check::missing(claim) };
        let holds = (seen - expected).abs() < 1e-9 * expected.abs().max(1.0);
        let judged = Check::judged(claim, holds, format!("{} (expected {})", plain(seen), plain(expected)));
        Check { quantity: Some(seen), ..judged }
    }

    /// A claim about a quantity that should have been counted and was not: it does not hold.
    pub fn missing(claim: impl Into<String>) -> Self {
        Check::judged(claim, false, "not counted")
    }

    /// The system calls per operation, counted by a tracer.
    pub fn system_calls(observed: &Observed, expected: f64) -> Self {
        Check::system_calls_and_readings(observed, expected, 0.0)
    }

    /// The same for work that reads the clock itself, `readings` times per operation: a machine without a steady counter enters
    /// the kernel for that.
    pub fn system_calls_and_readings(observed: &Observed, expected: f64, readings: f64) -> Self {
        let claim = format!("system calls per operation, counted by a tracer: {expected}");
        match (observed.witness(TRACED_CALLS), observed.witness(TRACED_OPERATIONS)) {
            (Some(calls), Some(operations)) if operations > 0.0 => {
                let with_readings = Check::equal(claim.clone(), calls / operations, expected + readings);
                if with_readings.holds {
                    return with_readings;
                }
                Check::equal(claim, calls / operations, expected)
            }
            _ => match observed.witness(TRACING_REFUSED) {
                Some(error) => Check::unasked(claim, refusal(error as i32)),
                None => Check::missing(claim),
            },
        }
    }

    /// A witnessed quantity per operation that must lie between two values.
    pub fn witnessed(claim: &str, observed: &Observed, name: &str, low: f64, high: f64) -> Self {
        let each = observed.witness(name).map(|count| count / observed.operations.max(1) as f64);
        Check::within(claim, each, low, high)
    }
}

/// The reason why no system calls were counted.
fn refusal(error: i32) -> String {
    let reason = match error {
        0 => "a filter of system calls kills the process that asks".to_owned(),
        error => std::io::Error::from_raw_os_error(error).to_string(),
    };
    format!(
        "this process may not trace (ptrace: {reason}); a container's filter of system calls can allow it"
    )
}

/// The limit that a correct result cannot be below (costs) or above (rates).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bound {
    /// The limit, in the point's unit.
    pub limit: f64,
    /// The physical or logical reason.
    pub because: String,
}

impl Bound {
    /// A limit in the point's unit, with its reason.
    pub fn of(limit: f64, because: impl Into<String>) -> Self {
        Bound { limit, because: because.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_evidence_have_three_digits_and_whole_ones_all() {
        let seen = |seen, low, high| Check::within("a claim", seen, low, high).seen;
        assert_eq!(seen(0.0, 0.0, 0.001_016_447_248_192_630_3), "0 (between 0 and 0.00102)");
        assert_eq!(seen(4.48e-7, 0.0, 0.001), "< 0.0001 (between 0 and 0.00100)");
        assert_eq!(seen(262_144.0, 1.0, 134_217_728.0), "262\u{202f}144 (between 1 and 134\u{202f}million)");
        assert_eq!(seen(1.000_000_1, 0.5, 1234.567), "1.00 (between 0.500 and 1\u{202f}230)");
        assert_eq!(Check::equal("a claim", 0.1 + 0.2, 0.3).seen, "0.300 (expected 0.300)");
    }
}
