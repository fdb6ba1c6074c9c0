//! The clocks for measuring.
//!
//! x86-64: `lfence; rdtsc; lfence` before and `rdtscp; lfence` after. `cpuid`, the classic serialiser (Paoloni 2010), is never
//! used in a timed region: in a virtual machine it exits to the hypervisor. aarch64: `isb; mrs cntvct_el0`. Otherwise, or if the
//! counter does not qualify, `clock_gettime(CLOCK_MONOTONIC_RAW)`.

pub use crate::os::{kernel_clock, kernel_clock_step};

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

/// Ticks between two readings back to back: the mean of a thousand, after a warm-up that brings the code into the caches
/// (R-TIM-11). Readings that were interrupted are left out: those farther above the median than the median itself, or than the
/// smallest step.
///
/// The mean, because a counter may advance in steps as long as a reading (26 ticks of some Zen cores, 40 ns of many Arm timers): the
/// median is then one step or the next, and the mean of readings begun at changing distances from a step is the time between them.
pub fn overhead<C: Clock>(clock: &C) -> f64 {
    warm_up(clock);
    let mut pairs: [i64; PAIRS] = std::array::from_fn(|count| pair(clock, count as u32));
    pairs.sort_unstable();
    let median = pairs[pairs.len() / 2];
    let step = pairs.iter().copied().find(|pair| *pair > 0).unwrap_or(0);
    let usual = || pairs.iter().filter(|pair| **pair <= median + median.max(step));
    usual().sum::<i64>() as f64 / usual().count() as f64
}

/// Brings the code of a clock's readings into the caches.
pub fn warm_up<C: Clock>(clock: &C) {
    for count in 0..WARM_UP {
        pair(clock, count);
    }
}

/// Ticks between two readings back to back, begun at a distance from a step that `count` varies.
fn pair<C: Clock>(clock: &C, count: u32) -> i64 {
    leave_the_step(count);
    let start = clock.start();
    clock.stop().since(start).0
}

/// Pairs of readings that bring their code into the caches.
const WARM_UP: u32 = 300;

/// Pairs of readings whose mean is the clock's cost.
const PAIRS: usize = 1_001;

/// Waits for up to some 250 cycles, differently after each `count`: what follows begins at any distance from a step of the counter.
#[inline]
pub fn leave_the_step(count: u32) {
    // The golden ratio of 32 bits (Knuth, The Art of Computer Programming, 6.4): neighbours are spread over the whole range.
    for _ in 0..count.wrapping_mul(0x9E37_79B9) >> 24 {
        std::hint::black_box(());
    }
}

/// The smallest step of a counter among differences of its readings, ticks; `None` if none is above zero.
///
/// Some counters advance by many ticks, and add one where a reading would otherwise equal the last (the TSC of some Zen cores). That
/// tick is no step: where all differences are a multiple of one step, or a tick from it, and most are the multiple, the step it is.
pub fn smallest_step(differences: &[i64]) -> Option<u64> {
    let above = || differences.iter().copied().filter(|difference| *difference > 0);
    let least = above().min()?;
    let Some(long) = above().filter(|difference| *difference > 2).min() else { return Some(least as u64) };
    let is_step = |step: &i64| {
        let off = |difference: i64| (difference + 1) % step;
        above().all(|difference| off(difference) <= 2)
            && 2 * above().filter(|difference| off(*difference) == 1).count() > above().count()
    };
    let step = [long, long + 1].into_iter().filter(|_| long >= SHORTEST_STEP).find(is_step);
    Some(step.unwrap_or(least) as u64)
}

/// Differences by fewer ticks are a tick from a multiple too often for that to mean a step.
const SHORTEST_STEP: i64 = 8;

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

    /// A reading takes 44 ticks of a counter that advances by 26, or 10 of one that advances by 40; every tenth is interrupted. The
    /// readings begin everywhere between two steps.
    #[test]
    fn a_clock_of_long_steps_costs_what_it_takes_and_not_a_step() {
        struct Steps {
            step: u64,
            cost: u64,
            now: Cell<u64>,
            count: Cell<u64>,
        }
        impl Steps {
            fn read(&self, since_last: u64) -> Reading {
                self.now.set(self.now.get() + since_last);
                Reading { ticks: self.now.get() / self.step * self.step, cpu: Reading::ANYWHERE }
            }
        }
        impl Clock for Steps {
            fn start(&self) -> Reading {
                self.count.set(self.count.get() + 1);
                self.read(u64::from((self.count.get() as u32).wrapping_mul(0x9E37_79B9) >> 24))
            }

            fn stop(&self) -> Reading {
                self.read(if self.count.get() % 10 == 0 { 9_000 } else { self.cost })
            }
        }
        for (step, cost) in [(26, 44), (40, 10), (1, 23)] {
            let clock = Steps { step, cost, now: Cell::new(0), count: Cell::new(0) };
            let found = overhead(&clock);
            assert!((found - cost as f64).abs() < 0.05 * step as f64, "{found} of {cost}, steps of {step}");
        }
    }

    #[test]
    fn a_tick_that_keeps_readings_apart_is_no_step() {
        assert_eq!(smallest_step(&[26, 1, 52, 26, 25, 78, 1, 26]), Some(26));
        assert_eq!(smallest_step(&[1, 26, 26, 52]), Some(26));
        // Counters that advance by a tick, by two, and one whose ticks last longer than a reading.
        assert_eq!(smallest_step(&[20, 21, 24, 27]), Some(20));
        assert_eq!(smallest_step(&[22, 20, 20, 24, 36]), Some(20));
        assert_eq!(smallest_step(&[0, 1, 0, 1, 1, 40]), Some(1));
        assert_eq!(smallest_step(&[0, -3]), None);
    }
}
