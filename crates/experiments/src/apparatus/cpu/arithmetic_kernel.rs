//! Unrolled chains of instructions for `cpu/arithmetic`, in assembly, so that nothing is folded or reordered away.

pub use crate::arch::arithmetic::branches;

use crate::apparatus::listing;
use crate::arch::ArithmeticLoop;
use crate::arch::arithmetic::{CHAINS, DIVISIONS};

/// Instructions in one iteration of the loop.
pub const UNROLLED: u64 = 256;

/// The kernel for an instruction with this many chains in flight.
pub fn find(name: &str, chains: u64) -> Option<fn(u64)> {
    all().find(|(known, count, _)| *known == name && *count == chains).map(|(.., kernel)| *kernel)
}

/// Instructions in a kernel's loop for each one that it is made of, by disassembly.
pub fn instructions_each(kernel: fn(u64)) -> Option<f64> {
    instructions(kernel).map(|count| count as f64 / UNROLLED as f64)
}

/// Instructions in one iteration of a kernel's loop, including the loop's own two; `None` unless it has exactly one loop.
fn instructions(kernel: fn(u64)) -> Option<u64> {
    // SAFETY: a function of this program that returns after 256 instructions of a few bytes.
    match unsafe { listing::loops(kernel as *const u8) }[..] {
        [only] => Some(only),
        _ => None,
    }
}

fn all() -> impl Iterator<Item = &'static ArithmeticLoop> {
    CHAINS.iter().flatten().chain(DIVISIONS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_has_one_loop_of_the_instructions_that_are_counted() {
        for (name, chains, kernel) in all() {
            let each = match (*name, chains) {
                // The operands are in fixed registers: before each division one is cleared, and for independent ones another is
                // set.
                ("integer-divide", 1) if std::env::consts::ARCH == "x86_64" => 2,
                ("integer-divide", _) if std::env::consts::ARCH == "x86_64" => 3,
                _ => 1,
            };
            assert_eq!(instructions(*kernel), Some(each * UNROLLED + 2), "{name} in {chains} chains");
            kernel(3);
        }
    }

    #[test]
    fn half_of_the_random_branches_are_taken_and_none_without_a_mask() {
        let mut state = 88_172_645_463_325_252;
        let taken = branches(100_000, &mut state, 1 << 40);
        assert!((48_000..52_000).contains(&taken), "{taken}");
        assert_eq!(branches(1000, &mut state, 0), 0);
        // The first number of xorshift64 (Marsaglia 2003) from this seed.
        let mut state = 88_172_645_463_325_252;
        branches(1, &mut state, 0);
        assert_eq!(state, 8_748_534_153_485_358_512);
    }
}
