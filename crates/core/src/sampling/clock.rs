//! The clocks for measuring.
//!
//! x86-64: `lfence; rdtsc; lfence` before and `rdtscp; lfence` after. `cpuid`, the classic serialiser (Paoloni 2010), is never
//! used in a timed region: in a virtual machine it exits to the hypervisor. aarch64: `isb; mrs cntvct_el0`. Otherwise, or if the
//! counter does not qualify, `clock_gettime(CLOCK_MONOTONIC_RAW)`.

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

#[cfg(target_arch = "x86_64")]
impl Clock for Counter {
    #[inline(always)]
    fn start(&self) -> Reading {
        use core::arch::x86_64::{_mm_lfence, _rdtsc};
        // SAFETY: both instructions exist on every x86-64 processor and touch no memory.
        let ticks = unsafe {
            _mm_lfence(); // earlier instructions have ended before the counter is read
            let ticks = _rdtsc();
            _mm_lfence(); // and none of the work begins before that
            ticks
        };
        Reading { ticks, cpu: Reading::ANYWHERE }
    }

    #[inline(always)]
    fn stop(&self) -> Reading {
        use core::arch::x86_64::{__rdtscp, _mm_lfence};
        let mut auxiliary = 0;
        // SAFETY: `Qualification` reads this clock, and permits its use, only if `rdtscp` exists.
        let ticks = unsafe {
            let ticks = __rdtscp(&raw mut auxiliary); // waits until the work has ended
            _mm_lfence(); // and nothing later begins before it is read
            ticks
        };
        // Linux keeps the CPU number in the low twelve bits of TSC_AUX, the NUMA node above.
        Reading { ticks, cpu: auxiliary & 0xfff }
    }
}

#[cfg(target_arch = "aarch64")]
impl Counter {
    #[inline(always)]
    fn read() -> Reading {
        let ticks: u64;
        // SAFETY: Linux lets user space read the virtual counter; the barriers keep the reading in its place.
        unsafe {
            core::arch::asm!("isb", "mrs {}, cntvct_el0", "isb", out(reg) ticks, options(nostack));
        }
        Reading { ticks, cpu: Reading::ANYWHERE }
    }
}

#[cfg(target_arch = "aarch64")]
impl Clock for Counter {
    #[inline(always)]
    fn start(&self) -> Reading {
        Self::read()
    }

    #[inline(always)]
    fn stop(&self) -> Reading {
        Self::read()
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
impl Clock for Counter {
    fn start(&self) -> Reading {
        MonotonicRaw.start()
    }

    fn stop(&self) -> Reading {
        MonotonicRaw.stop()
    }
}

/// `clock_gettime(CLOCK_MONOTONIC_RAW)`: one tick is a nanosecond.
#[derive(Debug, Clone, Copy)]
pub struct MonotonicRaw;

/// Reads a kernel clock, in nanoseconds. Safe in a freshly forked child.
#[inline]
pub fn kernel_clock(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec; a clock that does not exist leaves it zero.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

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
                self.0.set(self.0.get() + if self.1.get().is_multiple_of(10) { 9_000 } else { 7 });
                Reading { ticks: self.0.get(), cpu: Reading::ANYWHERE }
            }
        }
        let cost = overhead(&Interrupted(Cell::new(0), Cell::new(0)));
        assert!((cost - 7.0).abs() < 1e-12, "{cost} ticks");
    }
}
