//! Whether the core was used by the measured work alone. Most cores run two hardware threads, which share its execution units. A
//! guest cannot see what runs on the other one, and its kernel does not count it, but the units show it: a stream of independent
//! additions fills the core's width when it is alone and gets about half of it when the other thread works, while a dependent
//! chain of additions uses one unit in every cycle and is not affected. The quotient of the two is independent of the core's
//! frequency.
//!
//! A reading takes about half a microsecond and is taken before the first observation of a trial and after each.

use super::clock::Clock;
use serde::{Deserialize, Serialize};

/// Readings of stream and chain, in ticks of the trial's clock: the first before the first observation, then one after each batch
/// or single operation that was timed. Without a baseline, observation `i` is between the readings `i` and `i + 1`; with one,
/// operation `i` is between `2 i` and `2 i + 1`, and its baseline between `2 i + 1` and `2 i + 2`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CoreReadings {
    /// Ticks of 3,968 independent additions.
    pub stream: Vec<u32>,
    /// Ticks of 512 dependent additions.
    pub chain: Vec<u32>,
    /// The reading at the start of the trial, before it prepared or waited for anything: at a moment that was not chosen, so the
    /// share of such readings is a share of time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrived: Option<[u32; 2]>,
    /// The time that the trial waited for the core to be alone before it observed, nanoseconds.
    #[serde(default)]
    pub waited_ns: u64,
}

/// Limits on the time that short work may wait for its core to be alone.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CoreWait {
    /// The quotient of stream over chain up to which the core is alone.
    pub alone_up_to: f64,
    /// Maximum time that a trial may wait, and observe beyond its duration, nanoseconds.
    pub most_ns: u64,
}

/// One reading: ticks of the stream and of the chain.
pub type CoreReading = [u32; 2];

/// Additions in a stream.
pub const ADDITIONS: f64 = STREAM_TURNS as f64 * 64.0;

/// Instructions in a stream: its additions, and two of the loop per turn.
pub const INSTRUCTIONS: f64 = ADDITIONS + 2.0 * STREAM_TURNS as f64;

/// Additions in a chain, each taking a cycle.
pub const LINKS: f64 = CHAIN_TURNS as f64 * 64.0;

/// Turns of 64 additions in a stream and in a chain: short compared with the states of a core, long compared with the clock.
const STREAM_TURNS: u64 = 62;
const CHAIN_TURNS: u64 = 8;

/// Turns before each reading: earlier code has left other instructions in the core's front end.
const WARM_UP_TURNS: u64 = 2;

/// Reads the occupancy of the core; both times are nearly zero on architectures without a stream.
#[inline]
pub fn read<C: Clock>(clock: &C) -> CoreReading {
    kernel::stream(WARM_UP_TURNS);
    let began = clock.start();
    kernel::stream(STREAM_TURNS);
    let between = clock.start();
    kernel::chain(CHAIN_TURNS);
    let ended = clock.stop();
    let ticks = |ticks: i64| u32::try_from(ticks).unwrap_or(u32::MAX);
    [ticks(between.since(began).0), ticks(ended.since(between).0)]
}

/// Fills the core's width for a moment, as a busy neighbour does.
pub fn fill() {
    kernel::stream(STREAM_TURNS);
}

/// The quotient of a reading, which does not depend on the core's frequency.
pub fn quotient([stream, chain]: CoreReading) -> f64 {
    f64::from(stream) / f64::from(chain)
}

impl CoreReadings {
    /// Capacity for this many readings: nothing is allocated between them.
    pub(super) fn with_capacity(readings: usize) -> Self {
        CoreReadings {
            stream: Vec::with_capacity(readings),
            chain: Vec::with_capacity(readings),
            ..CoreReadings::default()
        }
    }

    /// Takes a reading, and returns its quotient.
    #[inline]
    pub(super) fn take<C: Clock>(&mut self, clock: &C) -> f64 {
        let reading = read(clock);
        self.stream.push(reading[0]);
        self.chain.push(reading[1]);
        quotient(reading)
    }

    /// The quotients of the readings, in their order.
    pub fn quotients(&self) -> impl Iterator<Item = f64> {
        self.stream.iter().zip(&self.chain).map(|(stream, chain)| quotient([*stream, *chain]))
    }
}

#[cfg(target_arch = "x86_64")]
mod kernel {
    use core::arch::asm;

    /// Turns of 64 additions to eight registers in rotation: wider than any core retires in a cycle.
    #[inline(never)]
    pub fn stream(turns: u64) {
        // SAFETY: registers only; the loop ends after `turns`, of which there is one at least.
        unsafe {
            asm!(
                ".p2align 6", "2:", ".rept 8",
                "add {a}, {step}", "add {b}, {step}", "add {c}, {step}", "add {d}, {step}",
                "add {e}, {step}", "add {f}, {step}", "add {g}, {step}", "add {h}, {step}",
                ".endr", "dec {n}", "jnz 2b",
                a = inout(reg) 1_u64 => _, b = inout(reg) 2_u64 => _, c = inout(reg) 3_u64 => _,
                d = inout(reg) 4_u64 => _, e = inout(reg) 5_u64 => _, f = inout(reg) 6_u64 => _,
                g = inout(reg) 7_u64 => _, h = inout(reg) 8_u64 => _, n = inout(reg) turns => _,
                step = in(reg) 5_u64, options(nostack, nomem)
            );
        }
    }

    /// Turns of 64 additions, each to the result of the one before.
    #[inline(never)]
    pub fn chain(turns: u64) {
        // SAFETY: registers only; the loop ends after `turns`, of which there is one at least.
        unsafe {
            asm!(
                ".p2align 6", "2:", ".rept 64", "add {a}, {step}", ".endr", "dec {n}", "jnz 2b",
                a = inout(reg) 1_u64 => _, n = inout(reg) turns => _, step = in(reg) 5_u64,
                options(nostack, nomem)
            );
        }
    }
}

#[cfg(target_arch = "aarch64")]
mod kernel {
    use core::arch::asm;

    /// As on x86-64.
    #[inline(never)]
    pub fn stream(turns: u64) {
        // SAFETY: registers only; the loop ends after `turns`, of which there is one at least.
        unsafe {
            asm!(
                ".p2align 6", "2:", ".rept 8",
                "add {a}, {a}, {step}", "add {b}, {b}, {step}", "add {c}, {c}, {step}", "add {d}, {d}, {step}",
                "add {e}, {e}, {step}", "add {f}, {f}, {step}", "add {g}, {g}, {step}", "add {h}, {h}, {step}",
                ".endr", "subs {n}, {n}, #1", "b.ne 2b",
                a = inout(reg) 1_u64 => _, b = inout(reg) 2_u64 => _, c = inout(reg) 3_u64 => _,
                d = inout(reg) 4_u64 => _, e = inout(reg) 5_u64 => _, f = inout(reg) 6_u64 => _,
                g = inout(reg) 7_u64 => _, h = inout(reg) 8_u64 => _, n = inout(reg) turns => _,
                step = in(reg) 5_u64, options(nostack, nomem)
            );
        }
    }

    /// As on x86-64.
    #[inline(never)]
    pub fn chain(turns: u64) {
        // SAFETY: registers only; the loop ends after `turns`, of which there is one at least.
        unsafe {
            asm!(
                ".p2align 6", "2:", ".rept 64", "add {a}, {a}, {step}", ".endr", "subs {n}, {n}, #1", "b.ne 2b",
                a = inout(reg) 1_u64 => _, n = inout(reg) turns => _, step = in(reg) 5_u64,
                options(nostack, nomem)
            );
        }
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod kernel {
    pub fn stream(_: u64) {}
    pub fn chain(_: u64) {}
}
