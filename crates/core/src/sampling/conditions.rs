//! Disturbances of a trial: read before and after it, never acted on.

use crate::experiment::Spin;
pub use crate::os::Snapshot;
use crate::os::tick_ns;
use serde::{Deserialize, Serialize};

/// Disturbances around a trial, or around a whole run. Counters that could not be read are absent; files of earlier programs have
/// 0 for these as well.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Conditions {
    /// Time that the hypervisor took from all CPUs of this machine, nanoseconds (the kernel counts in steps of 10 ms).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steal_ns: Option<u64>,
    /// Interrupts served by all CPUs of this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupts: Option<u64>,
    /// Context switches on all CPUs of this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switches: Option<u64>,
    /// Periods in which the cgroup's CPU quota stopped this process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled_periods: Option<u64>,
    /// Time for which the quota stopped this process, nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled_ns: Option<u64>,
    /// Observations that ended on another CPU than the one before.
    pub migrations: u64,
    /// The time that a loop spun before the observations to look for gaps, nanoseconds; 0 around a whole run.
    pub spun_ns: f64,
    /// Time that the loop lost, nanoseconds.
    pub lost_ns: f64,
    /// The longest distance between two readings of that loop, nanoseconds.
    pub longest_gap_ns: f64,
    /// The core's frequency before the observations, hertz; absent where the calibrated chains disagreed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core_hz_before: Option<f64>,
    /// The core's frequency after the observations, hertz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core_hz_after: Option<f64>,
}

impl Conditions {
    /// The mean of the observed frequencies.
    pub fn core_hz(&self) -> Option<f64> {
        match (self.core_hz_before, self.core_hz_after) {
            (Some(before), Some(after)) => Some(f64::midpoint(before, after)),
            (before, after) => before.or(after),
        }
    }

    /// Records the result of a spinning loop.
    pub fn spun(&mut self, spin: &Spin) {
        self.spun_ns = spin.lasted_ns;
        self.lost_ns = spin.lost_ns();
        self.longest_gap_ns = spin.longest_ns;
    }
}

impl Snapshot {
    /// The changes since an earlier reading; unknown for a counter that has gone backwards.
    pub fn since(&self, earlier: &Snapshot) -> Conditions {
        let passed = |now: Option<u64>, then: Option<u64>| now?.checked_sub(then?);
        Conditions {
            steal_ns: passed(self.steal_ticks, earlier.steal_ticks)
                .and_then(|ticks| ticks.checked_mul(tick_ns())),
            interrupts: passed(self.interrupts, earlier.interrupts),
            switches: passed(self.switches, earlier.switches),
            throttled_periods: passed(self.throttled_periods, earlier.throttled_periods),
            throttled_ns: passed(self.throttled_ns, earlier.throttled_ns),
            ..Conditions::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOOTED: &str = "cpu  0 0 0 0 0 0 0 0 0 0\nintr 0\nctxt 0\n";
    const STAT: &str = "cpu  10 0 20 300 4 0 1 7 0 0\ncpu0 5 0 10 150 2 0 1 3 0 0\nintr 1234 5 6\nctxt 999\n";

    #[test]
    fn steal_interrupts_and_throttling_of_both_cgroup_versions_are_read() {
        let earlier = Snapshot::parse(BOOTED, "nr_throttled 0\nthrottled_time 0\n");
        let first =
            Snapshot::parse(STAT, "nr_periods 9\nnr_throttled 2\nthrottled_time 5000\n").since(&earlier);
        assert_eq!(first.steal_ns, Some(7 * tick_ns()));
        assert_eq!((first.interrupts, first.switches), (Some(1234), Some(999)));
        assert_eq!((first.throttled_periods, first.throttled_ns), (Some(2), Some(5000)));
        let second =
            Snapshot::parse(STAT, "usage_usec 4\nnr_throttled 3\nthrottled_usec 6\n").since(&earlier);
        assert_eq!((second.throttled_periods, second.throttled_ns), (Some(3), Some(6000)));
    }

    #[test]
    fn what_cannot_be_read_is_absent_and_not_zero() {
        let garbage = Snapshot::parse("cpu x\nintr\n", "nr_throttled -1");
        let read = Snapshot::parse(STAT, "nr_throttled 2\nthrottled_usec 6\n");
        for difference in [garbage.since(&read), read.since(&garbage), garbage.since(&garbage)] {
            assert_eq!(difference, Conditions::default());
            assert_eq!((difference.steal_ns, difference.throttled_periods), (None, None));
        }
        let later = Snapshot::parse(BOOTED, "nr_throttled 5\n");
        assert_eq!(later.since(&read).steal_ns, None, "it has gone backwards");
        assert_eq!(later.since(&read).throttled_periods, Some(3));
    }
}
