//! Counters of the kernel and the processor around the observations of a trial, and the time that its thread had its CPU meanwhile.

use crate::experiment::Counters;
use crate::os::{self, kernel_clock};
use perf_event::Counter;
use perf_event::events::Hardware;
use serde::{Deserialize, Serialize};

/// Counters of this process, its threads and its reaped children, read at the start of the observations.
pub struct Counting {
    began: Counters,
    instructions: Option<Counter>,
    cycles: Option<Counter>,
}

impl Counting {
    pub fn begin() -> Self {
        let instructions = os::counter(Hardware::INSTRUCTIONS);
        let cycles = os::counter(Hardware::CPU_CYCLES);
        Counting { began: usage(), instructions, cycles }
    }

    pub fn end(mut self) -> Counters {
        let (now, then) = (usage(), &self.began);
        Counters {
            minor_faults: now.minor_faults - then.minor_faults,
            major_faults: now.major_faults - then.major_faults,
            voluntary_switches: now.voluntary_switches - then.voluntary_switches,
            involuntary_switches: now.involuntary_switches - then.involuntary_switches,
            user_ns: now.user_ns - then.user_ns,
            system_ns: now.system_ns - then.system_ns,
            instructions: self.instructions.as_mut().and_then(|counter| counter.read().ok()),
            cycles: self.cycles.as_mut().and_then(|counter| counter.read().ok()),
        }
    }
}

fn usage() -> Counters {
    let (own, children) = (os::usage(libc::RUSAGE_SELF), os::usage(libc::RUSAGE_CHILDREN));
    let sum = |field: fn(&libc::rusage) -> i64| (field(&own) + field(&children)) as u64;
    Counters {
        minor_faults: sum(|usage| usage.ru_minflt),
        major_faults: sum(|usage| usage.ru_majflt),
        voluntary_switches: sum(|usage| usage.ru_nvcsw),
        involuntary_switches: sum(|usage| usage.ru_nivcsw),
        user_ns: sum(|usage| nanoseconds(usage.ru_utime)),
        system_ns: sum(|usage| nanoseconds(usage.ru_stime)),
        instructions: None,
        cycles: None,
    }
}

fn nanoseconds(time: libc::timeval) -> i64 {
    time.tv_sec * 1_000_000_000 + time.tv_usec * 1000
}

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
        let usage = os::usage(libc::RUSAGE_THREAD);
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
