//! Whether the measuring thread had its CPU while it observed: its CPU time and its switches, compared with the elapsed time.

use super::clock::kernel_clock;
use super::counters::rusage;
use serde::{Deserialize, Serialize};

/// The time that a thread had its CPU during the observations of a trial.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OnCpu {
    /// Time that passed, nanoseconds.
    pub wall_ns: u64,
    /// CPU time of the measuring thread, nanoseconds.
    pub cpu_ns: u64,
    /// Switches because the thread waited.
    pub voluntary_switches: u64,
    /// Switches because the scheduler took the CPU away.
    pub involuntary_switches: u64,
}

impl OnCpu {
    /// Begins the measurement for the calling thread.
    pub fn begin() -> Self {
        OnCpu::now()
    }

    /// The changes since then.
    #[must_use]
    pub fn end(self) -> Self {
        OnCpu::now().since(self)
    }

    fn since(self, earlier: OnCpu) -> Self {
        OnCpu {
            wall_ns: self.wall_ns.saturating_sub(earlier.wall_ns),
            cpu_ns: self.cpu_ns.saturating_sub(earlier.cpu_ns),
            voluntary_switches: self.voluntary_switches.saturating_sub(earlier.voluntary_switches),
            involuntary_switches: self.involuntary_switches.saturating_sub(earlier.involuntary_switches),
        }
    }

    fn now() -> Self {
        let usage = rusage(libc::RUSAGE_THREAD);
        OnCpu {
            wall_ns: kernel_clock(libc::CLOCK_MONOTONIC_RAW),
            cpu_ns: kernel_clock(libc::CLOCK_THREAD_CPUTIME_ID),
            voluntary_switches: usage.ru_nvcsw as u64,
            involuntary_switches: usage.ru_nivcsw as u64,
        }
    }

    /// The share of the time in which it had its CPU, 0 to 1.
    pub fn share(&self) -> f64 {
        self.cpu_ns as f64 / self.wall_ns.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(wall_ns: u64, cpu_ns: u64, voluntary_switches: u64, involuntary_switches: u64) -> OnCpu {
        OnCpu { wall_ns, cpu_ns, voluntary_switches, involuntary_switches }
    }

    #[test]
    fn the_share_is_that_of_the_time_since_the_beginning() {
        let begun = counted(1_000, 900, 7, 3);
        let ended = counted(1_400, 1_000, 9, 3).since(begun);
        assert_eq!(ended, counted(400, 100, 2, 0));
        assert!((ended.share() - 0.25).abs() < 1e-12);
    }

    #[test]
    fn no_time_has_no_share_and_a_clock_that_steps_back_no_negative_one() {
        assert!(OnCpu::default().share().abs() < 1e-12);
        assert_eq!(counted(10, 10, 1, 1).since(counted(20, 20, 2, 2)), OnCpu::default());
    }
}
