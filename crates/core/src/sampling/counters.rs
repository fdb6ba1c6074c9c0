//! Counters of the kernel and the processor around the observations of a trial.

use crate::experiment::Counters;
use perf_event::events::Hardware;
use perf_event::{Builder, Counter};

/// Counters of this process, its threads and its reaped children, read at the start of the observations.
pub struct Counting {
    began: Counters,
    instructions: Option<Counter>,
    cycles: Option<Counter>,
}

impl Counting {
    /// Begins to count.
    pub fn begin() -> Self {
        let open = |event| {
            Builder::new(event).build().ok().and_then(|mut counter| counter.enable().ok().map(|()| counter))
        };
        let instructions = open(Hardware::INSTRUCTIONS);
        let cycles = open(Hardware::CPU_CYCLES);
        Counting { began: usage(), instructions, cycles }
    }

    /// The counts since then.
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
    let (own, children) = (rusage(libc::RUSAGE_SELF), rusage(libc::RUSAGE_CHILDREN));
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

/// The kernel's accounting of this process, of its reaped children or of the calling thread.
pub(super) fn rusage(whose: libc::c_int) -> libc::rusage {
    // SAFETY: an rusage is plain integers, and zero is a valid value of each.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is valid for writing.
    unsafe { libc::getrusage(whose, &raw mut usage) };
    usage
}
