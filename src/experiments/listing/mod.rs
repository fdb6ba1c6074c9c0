//! Disassembly of our own kernels in the running binary, so that claims about them are about the instructions executed
//! (R-CPU-11).

#[cfg(target_arch = "aarch64")]
mod aarch64;
mod moved;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
use aarch64 as decoded;
#[cfg(target_arch = "x86_64")]
use x86_64 as decoded;

use moved::LONGEST_KERNEL;
pub use moved::Round;

/// The number of instructions between two labels of this program; `None` if the code does not end with a whole instruction.
pub fn instructions(start: *const u8, end: *const u8) -> Option<u64> {
    let length = (end as usize).checked_sub(start as usize)?;
    // SAFETY: both labels are in one kernel of this program's text, which is readable.
    decoded::count(unsafe { std::slice::from_raw_parts(start, length) })
}

/// One iteration of the only loop of a kernel that begins at `start` and counts its bytes down: from the target of the backward
/// jump to that jump. `None` if there is no such loop.
///
/// # Safety
///
/// `start` is the first instruction of a function of this program that returns within 4096 bytes, and calls nothing.
pub unsafe fn round(start: *const u8) -> Option<Round> {
    // SAFETY: as promised; decoding ends where the function returns.
    decoded::round(unsafe { &*start.cast::<[u8; LONGEST_KERNEL]>() })
}

/// The number of instructions of each loop of a function that ends with a conditional backward jump, including that jump, in the
/// order of the jumps.
///
/// # Safety
///
/// As of [`round`]; it may call other functions.
pub unsafe fn loops(start: *const u8) -> Vec<u64> {
    // SAFETY: as promised; decoding ends where the function returns.
    decoded::loops(unsafe { &*start.cast::<[u8; LONGEST_KERNEL]>() })
}
