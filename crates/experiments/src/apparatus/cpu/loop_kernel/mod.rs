//! Loops for `cpu/loop_overhead`: `n` times sixteen loops of `count` iterations, in assembly.

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod x86_64;

use crate::apparatus::listing;
#[cfg(target_arch = "aarch64")]
pub use aarch64::{memory, memory_and_pointer, register};
#[cfg(target_arch = "x86_64")]
pub use x86_64::{memory, memory_and_pointer, register};

/// Inner loops in one iteration of the outer loop.
pub const LOOPS: u64 = 16;

/// Instructions in one iteration of an inner loop, by disassembly; `None` unless there are sixteen equal ones in an outer loop.
pub fn round(kernel: fn(u64, u64)) -> Option<u64> {
    // SAFETY: a function of this program that returns after some hundred instructions.
    let loops = unsafe { listing::loops(kernel as *const u8) };
    let (_, inner) = loops.split_last()?;
    let alike = inner.len() as u64 == LOOPS && inner.windows(2).all(|two| two[0] == two[1]);
    inner.first().copied().filter(|_| alike)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_in_memory_is_loaded_increased_stored_and_compared_each_time() {
        // x86-64 increments it in one instruction.
        let expected = if cfg!(target_arch = "x86_64") { [2, 4, 6] } else { [2, 6, 8] };
        assert_eq!([register, memory, memory_and_pointer].map(round), expected.map(Some));
        for kernel in [register, memory, memory_and_pointer] {
            kernel(2, 0);
            kernel(2, 3);
        }
    }
}
