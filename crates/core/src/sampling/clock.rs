//! The clocks for measuring.
//!
//! x86-64: `lfence; rdtsc; lfence` before and `rdtscp; lfence` after. `cpuid`, the classic serialiser (Paoloni 2010), is never
//! used in a timed region: in a virtual machine it exits to the hypervisor. aarch64: `isb; mrs cntvct_el0`. Otherwise, or if the
//! counter does not qualify, `clock_gettime(CLOCK_MONOTONIC_RAW)`.

pub use crate::os::kernel_clock;

use crate::arch;
use crate::quantity::Ticks;
use serde::{Deserialize, Serialize};

/// One reading: a count, and the CPU on which it was read if the clock can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// The counter.
    pub ticks: u64,
    /// The CPU, or [`Reading::ANYWHERE`].
    pub cpu: u32,
}

impl Reading {
    /// The CPU of a reading if the clock cannot tell.
    pub const ANYWHERE: u32 = u32::MAX;

    #[inline(always)]
    #[allow(clippy::inline_always, reason = "stands between the reading and the work")]
    fn of((ticks, cpu): (u64, Option<u32>)) -> Self {
        Reading { ticks, cpu: cpu.unwrap_or(Reading::ANYWHERE) }
    }

    /// Ticks from `earlier` to this reading; negative if the clock ran backwards.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "stands directly behind the second reading")]
    pub fn since(self, earlier: Reading) -> Ticks {
        Ticks(self.ticks.wrapping_sub(earlier.ticks) as i64)
    }
}

/// A clock that can be read just before and just after work.
pub trait Clock {
    /// The reading before the work: none of the work may start before it, and all earlier instructions have ended.
    fn start(&self) -> Reading;
    /// The reading after the work: all of it has ended.
    fn stop(&self) -> Reading;
}

/// The clock that measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ClockKind {
    /// The processor's constant-rate counter, read by an instruction.
    Counter,
    /// `clock_gettime(CLOCK_MONOTONIC_RAW)`.
    MonotonicRaw,
}

/// The processor's constant-rate counter: the TSC of x86-64, the generic timer of aarch64.
#[derive(Debug, Clone, Copy)]
pub struct Counter;

#[allow(clippy::inline_always, reason = "the reading stands directly beside the work")]
impl Clock for Counter {
    #[inline(always)]
    fn start(&self) -> Reading {
        Reading::of(arch::counter_start())
    }

    #[inline(always)]
    fn stop(&self) -> Reading {
        Reading::of(arch::counter_stop())
    }
}

/// `clock_gettime(CLOCK_MONOTONIC_RAW)`: one tick is a nanosecond.
#[derive(Debug, Clone, Copy)]
pub struct MonotonicRaw;

impl Clock for MonotonicRaw {
    #[inline]
    fn start(&self) -> Reading {
        Reading { ticks: kernel_clock(libc::CLOCK_MONOTONIC_RAW), cpu: Reading::ANYWHERE }
    }

    #[inline]
    fn stop(&self) -> Reading {
        self.start()
    }
}

/// Ticks between two readings back to back: the median of a few hundred, after a warm-up that brings the code into the caches
/// (R-TIM-11).
pub fn overhead<C: Clock>(clock: &C) -> f64 {
    let mut pairs = [0_i64; 301];
    for _ in 0..2 {
        for pair in &mut pairs {
            let start = clock.start();
            *pair = clock.stop().since(start).0;
        }
    }
    pairs.sort_unstable();
    pairs[pairs.len() / 2] as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn a_reading_before_its_start_is_negative_and_not_huge() {
        let early = Reading { ticks: 10, cpu: 0 };
        let late = Reading { ticks: 13, cpu: 0 };
        assert_eq!(late.since(early), Ticks(3));
        assert_eq!(early.since(late), Ticks(-3));
    }

    #[test]
    fn the_cost_of_a_clock_is_what_usually_stands_between_two_readings() {
        /// Seven ticks a reading; every tenth reading is interrupted.
        struct Interrupted(Cell<u64>, Cell<u64>);
        impl Clock for Interrupted {
            fn start(&self) -> Reading {
                self.stop()
            }

            fn stop(&self) -> Reading {
                self.1.set(self.1.get() + 1);
                self.0.set(self.0.get() + if self.1.get() % 10 == 0 { 9_000 } else { 7 });
                Reading { ticks: self.0.get(), cpu: Reading::ANYWHERE }
            }
        }
        let cost = overhead(&Interrupted(Cell::new(0), Cell::new(0)));
        assert!((cost - 7.0).abs() < 1e-12, "{cost} ticks");
    }
}
