//! Whether the measuring thread had its CPU while it observed: its CPU time and its switches, compared with the elapsed time.

use super::clock::kernel_clock;
use super::counters::rusage;
use serde::{Deserialize, Serialize};

/// The time that a thread had its CPU during the observations of a trial.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    pub(super) fn begin() -> Self {
        OnCpu::now()
    }

    /// The changes since then.
    pub(super) fn end(self) -> Self {
        let now = OnCpu::now();
        OnCpu {
            wall_ns: now.wall_ns.saturating_sub(self.wall_ns),
            cpu_ns: now.cpu_ns.saturating_sub(self.cpu_ns),
            voluntary_switches: now.voluntary_switches.saturating_sub(self.voluntary_switches),
            involuntary_switches: now.involuntary_switches.saturating_sub(self.involuntary_switches),
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
    use std::time::{Duration, Instant};

    #[test]
    fn a_thread_that_sleeps_has_no_cpu_and_tells_it_by_its_switches() {
        let watched = OnCpu::begin();
        std::thread::sleep(Duration::from_millis(20));
        let slept = watched.end();
        assert!(slept.share() < 0.5 && slept.voluntary_switches > 0, "{slept:?}");
    }

    #[test]
    fn a_thread_that_works_has_as_much_cpu_as_it_was_not_kept_from() {
        let watched = OnCpu::begin();
        let began = Instant::now();
        while began.elapsed() < Duration::from_millis(20) {}
        let worked = watched.end();
        assert!(worked.share() > 0.9 || worked.involuntary_switches > 0, "{worked:?}");
    }
}
