//! An architecture for which nothing is written yet. What is written in assembly elsewhere is refused
//! (`super::ensure_assembly`); the rest is written in Rust.

pub mod stream;

use super::{CallKernel, CounterForm, Loop, MULTIPLICATIONS};
use fathom_core::sampling::clock::{Clock, Counter};
use std::hint::black_box;
use std::ptr::NonNull;

pub const ASSEMBLY: bool = false;

/// No program of one page.
pub const EXIT: Option<(u16, &[u8])> = None;

/// Only the counter as the sampler reads it.
pub const FORMS: &[CounterForm] =
    &[CounterForm { name: "counter", pair: pair::<0>, around: pair::<MULTIPLICATIONS> }];

/// No form is known to keep the work between its readings.
pub const KEEPS_WORK: &str = "isb-cntvct-isb";

fn pair<const WORK: u32>() -> i64 {
    let (start, mut factor) = (Counter.start(), 3_u64);
    for _ in 0..WORK {
        factor = black_box(factor.wrapping_mul(factor));
    }
    Counter.stop().since(start).0
}

pub const LOOPS: &[Loop] = &[];

pub const ARGUMENT_REGISTERS: u64 = 0;

pub fn calls() -> Option<&'static [[CallKernel; 5]; 8]> {
    None
}

/// The text of this file, which begins the chase by `pub unsafe fn chase(`.
pub const CHASE_SOURCE: &str = include_str!("mod.rs");

/// As on x86-64, in Rust: volatile loads are not dropped, joined or reordered.
///
/// # Safety
/// Every visited location holds a pointer to another such location.
pub unsafe fn chase(from: NonNull<u8>, turns: u64) -> NonNull<u8> {
    let mut at = from;
    for _ in 0..turns.max(1) * 64 {
        // SAFETY: as the caller guarantees.
        at = unsafe { at.cast::<NonNull<u8>>().as_ptr().read_volatile() };
    }
    at
}

pub mod arithmetic {
    use crate::arch::ArithmeticLoop;

    pub const CHAINS: &[[ArithmeticLoop; 4]] = &[];
    pub const DIVISIONS: &[ArithmeticLoop] = &[];

    /// Refused before.
    pub fn branches(_: u64, _: &mut u64, _: u64) -> u64 {
        unreachable!("there is no such loop on this architecture")
    }
}

pub mod stacks {
    /// None is saved.
    pub const FRAME_WORDS: usize = 2;
    pub const THREAD: usize = 0;
    pub const ENTRY: usize = 1;

    /// Refused before.
    pub unsafe extern "C" fn switch(_: *mut usize) {
        unreachable!("stacks cannot be changed on this architecture")
    }

    /// Refused before.
    pub unsafe extern "C" fn entry() {}
}

pub mod listing {
    use crate::apparatus::listing::Round;

    pub fn count(_: &[u8]) -> Option<u64> {
        None
    }

    pub fn kernel(_: &[u8]) -> Option<()> {
        None
    }

    pub fn loops((): &()) -> Vec<u64> {
        vec![]
    }

    pub fn round((): &()) -> Option<Round> {
        None
    }
}

/// No hint is known.
pub fn prefetch(_: NonNull<u8>) {}
