//! Evidence for readings of the kernel's clocks: that they advanced as they should, and by system calls or without.

use super::enters_the_kernel;
use fathom_core::prelude::*;

/// How many of its steps a coarse clock may be behind at either end of a trial: it advances by a tick of the kernel, which is late
/// where a host holds the CPU that counts ticks.
const STEPS_BEHIND: f64 = 2.0;

/// The longest tick of a kernel (100 Hz), nanoseconds: the step of a coarse clock in runs that did not record it.
const LONGEST_TICK_NS: f64 = 1e7;

/// That a clock advanced as it should. Clocks of CPU time stand still while other tasks run, a coarse one advances by ticks, of which
/// a trial may see few; the others are slewed by at most 500 ppm.
pub(super) fn advanced(reading: &str, observed: &Observed) -> Check {
    let advanced = observed.witness("clock_advanced_ns");
    let real = observed.witness("raw_advanced_ns");
    if reading.contains("cputime") {
        let counted = (observed.counters.user_ns + observed.counters.system_ns).max(1) as f64;
        let ratio = advanced.map(|advanced| advanced / counted);
        return Check::within("the clock advanced as the kernel counted CPU time: ratio", ratio, 0.7, 1.3);
    }
    let of_trials = advanced.zip(real);
    if reading.contains("coarse") {
        let step = observed.witness("step_ns").unwrap_or(LONGEST_TICK_NS);
        let steps =
            of_trials.map(|(advanced, real)| (advanced - real) / observed.trials.max(1) as f64 / step);
        let claim = "the clock advanced as CLOCK_MONOTONIC_RAW did: steps of the clock that it was ahead by in a trial";
        return Check::within(claim, steps, -STEPS_BEHIND, STEPS_BEHIND);
    }
    let ratio = of_trials.map(|(advanced, real)| advanced / real);
    Check::within("the clock advanced as CLOCK_MONOTONIC_RAW did: ratio", ratio, 0.99, 1.01)
}

/// The system calls of a reading: the library asks the kernel for CPU time, and reads the other clocks from the vDSO if it can.
pub(super) fn calls(reading: &str, observed: &Observed) -> Check {
    if enters_the_kernel(reading) { Check::system_calls(observed, 1.0) } else { none_or_one_call(observed) }
}

/// A reading by the library is no system call, or always one if programs cannot read the kernel's clock.
fn none_or_one_call(observed: &Observed) -> Check {
    let none = Check::system_calls(observed, 0.0);
    let one = Check::system_calls(observed, 1.0);
    Check {
        claim: "system calls per operation, counted by a tracer: none, or one where the kernel alone can read the clock"
            .to_owned(),
        holds: none.holds || one.holds,
        seen: one.seen.replace("expected 1", "expected 0 or 1"),
        ..one
    }
}

#[cfg(test)]
mod tests {
    use super::super::{COST, MEASURE, READING, TimingOverhead};
    use super::*;
    use fathom_core::experiment::{TRACED_CALLS, TRACED_OPERATIONS};

    #[test]
    fn the_library_may_ask_the_kernel_for_every_reading_or_for_none() {
        let holds = |reading: &str, calls: f64| {
            let counted = [
                (TRACED_CALLS, calls),
                (TRACED_OPERATIONS, 100.0),
                ("clock_advanced_ns", 1e6),
                ("raw_advanced_ns", 1e6),
            ];
            let seen = fathom_described::observed(0, counted);
            let point = Point::new().named(&READING, reading).named(&MEASURE, COST);
            TimingOverhead.evidence(&point, &seen).iter().all(|check| check.holds)
        };
        assert!(holds("monotonic by library", 0.0) && holds("monotonic by library", 100.0));
        assert!(!holds("monotonic by library", 50.0) && !holds("monotonic by library", 200.0));
        assert!(holds("monotonic by syscall", 100.0) && !holds("monotonic by syscall", 0.0));
    }

    #[test]
    fn a_coarse_clock_may_show_one_step_or_two_of_a_trial_that_lasts_one() {
        let holds = |reading: &str, advanced_ms: f64, real_ms: f64| {
            let witnessed = [
                ("clock_advanced_ns", advanced_ms * 1e6),
                ("raw_advanced_ns", real_ms * 1e6),
                ("step_ns", 4e6),
            ];
            advanced(reading, &fathom_described::observed(0, witnessed)).holds
        };
        assert!(
            holds("monotonic-coarse by library", 8.0, 4.4) && holds("monotonic-coarse by library", 0.0, 4.4)
        );
        assert!(
            !holds("monotonic-coarse by library", 32.0, 4.4)
                && !holds("monotonic-coarse by library", 0.0, 44.0)
        );
        assert!(holds("monotonic by library", 4.4, 4.4) && !holds("monotonic by library", 8.0, 4.4));
    }

    #[test]
    fn a_clock_of_cpu_time_is_held_beside_the_time_that_the_kernel_counted() {
        let mut observed =
            fathom_described::observed(0, [("clock_advanced_ns", 1e6), ("raw_advanced_ns", 1e8)]);
        observed.counters.user_ns = 1_000_000;
        assert!(advanced("thread-cputime by library", &observed).holds);
        observed.counters.system_ns = 9_000_000;
        assert!(!advanced("thread-cputime by library", &observed).holds);
    }
}
