//! x86-64.

pub mod arithmetic;
mod call_loops;
mod counter;
pub mod listing;
mod loops;
pub mod stacks;
pub mod stream;

pub use call_loops::{ARGUMENT_REGISTERS, calls};
pub use counter::{FORMS, KEEPS_WORK};
pub use loops::LOOPS;

use std::ptr::NonNull;

pub const ASSEMBLY: bool = true;

/// `exit(0)` as machine code, and the number of the architecture in an ELF header.
pub const EXIT: Option<(u16, &[u8])> = Some((62, &[0xb8, 60, 0, 0, 0, 0x31, 0xff, 0x0f, 0x05])); // mov eax, 60; xor edi, edi; syscall

/// The text of this file, which begins the chase by `pub unsafe fn chase(`.
pub const CHASE_SOURCE: &str = include_str!("mod.rs");

/// Follows pointers for `turns` × 64 loads and returns the final address; the result is used, so nothing can be dropped
/// (R-MEM-08).
///
/// # Safety
/// Every visited location holds a pointer to another such location.
pub unsafe fn chase(from: NonNull<u8>, turns: u64) -> NonNull<u8> {
    let mut at = from.as_ptr();
    // SAFETY: loads along the pointers that the caller guarantees.
    unsafe {
        core::arch::asm!(
            ".p2align 6", "2:", ".rept 64", "mov {at}, [{at}]", ".endr", "dec {turns}", "jnz 2b",
            at = inout(reg) at, turns = inout(reg) turns.max(1) => _, options(nostack, readonly)
        );
        NonNull::new_unchecked(at)
    }
}

/// Requests the line of an address for reading, and does not wait for it. Nothing is read, so any address will do.
#[inline]
pub fn prefetch(address: NonNull<u8>) {
    // SAFETY: a hint, which faults nowhere.
    unsafe {
        core::arch::asm!("prefetcht0 [{}]", in(reg) address.as_ptr(), options(nostack, readonly, preserves_flags));
    }
}
