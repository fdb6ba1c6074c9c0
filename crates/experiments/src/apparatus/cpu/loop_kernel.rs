//! Loops for `cpu/loop_overhead`: `n` times sixteen loops of `count` iterations, in assembly.

use crate::apparatus::listing;
use crate::arch::LOOPS;

/// Inner loops in one iteration of the outer loop.
pub const INNER_LOOPS: u64 = 16;

/// The loop whose counter is in this place.
pub fn find(name: &str) -> Option<fn(u64, u64)> {
    LOOPS.iter().find(|(known, _)| *known == name).map(|(_, run)| *run)
}

/// Instructions in one iteration of an inner loop, by disassembly; `None` unless there are sixteen equal ones in an outer loop.
pub fn round(kernel: fn(u64, u64)) -> Option<u64> {
    // SAFETY: a function of this program that returns after some hundred instructions.
    let loops = unsafe { listing::loops(kernel as *const u8) };
    let (_, inner) = loops.split_last()?;
    let alike = inner.len() as u64 == INNER_LOOPS && inner.windows(2).all(|two| two[0] == two[1]);
    inner.first().copied().filter(|_| alike)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_in_memory_is_loaded_increased_stored_and_compared_each_time() {
        // x86-64 increments it in one instruction.
        let expected = if std::env::consts::ARCH == "x86_64" { [2, 4, 6] } else { [2, 6, 8] };
        for ((name, kernel), expected) in LOOPS.iter().zip(expected) {
            assert_eq!(round(*kernel), Some(expected), "{name}");
            kernel(2, 0);
            kernel(2, 3);
        }
    }
}
