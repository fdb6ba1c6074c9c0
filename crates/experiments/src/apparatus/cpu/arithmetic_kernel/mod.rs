//! Unrolled chains of instructions for `cpu/arithmetic`, in assembly, so that nothing is folded or reordered away.

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
use aarch64 as chains;
#[cfg(target_arch = "x86_64")]
use x86_64 as chains;

use crate::apparatus::listing;
pub use chains::branches;

/// Instructions in one iteration of the loop.
pub const UNROLLED: u64 = 256;

/// The kernel for an instruction with this many chains in flight.
pub fn find(name: &str, chains: u64) -> Option<fn(u64)> {
    TABLE.iter().find(|(known, count, _)| *known == name && *count == chains).map(|(.., kernel)| *kernel)
}

/// Instructions in one iteration of a kernel's loop, by disassembly, including the loop's own two; `None` unless it has exactly
/// one loop.
pub fn instructions(kernel: fn(u64)) -> Option<u64> {
    // SAFETY: a function of this program that returns after 256 instructions of a few bytes.
    match unsafe { listing::loops(kernel as *const u8) }[..] {
        [only] => Some(only),
        _ => None,
    }
}

/// An instruction, its number of chains, and its loop.
type Row = (&'static str, u64, fn(u64));

const TABLE: &[Row] = &[
    ("integer-add", 1, chains::add_1),
    ("integer-add", 2, chains::add_2),
    ("integer-add", 4, chains::add_4),
    ("integer-add", 8, chains::add_8),
    ("integer-multiply", 1, chains::multiply_1),
    ("integer-multiply", 2, chains::multiply_2),
    ("integer-multiply", 4, chains::multiply_4),
    ("integer-multiply", 8, chains::multiply_8),
    ("integer-divide", 1, chains::divide_dependent),
    ("integer-divide", 8, chains::divide_independent),
    ("double-add", 1, chains::double_add_1),
    ("double-add", 2, chains::double_add_2),
    ("double-add", 4, chains::double_add_4),
    ("double-add", 8, chains::double_add_8),
    ("double-multiply", 1, chains::double_multiply_1),
    ("double-multiply", 2, chains::double_multiply_2),
    ("double-multiply", 4, chains::double_multiply_4),
    ("double-multiply", 8, chains::double_multiply_8),
    ("double-divide", 1, chains::double_divide_1),
    ("double-divide", 2, chains::double_divide_2),
    ("double-divide", 4, chains::double_divide_4),
    ("double-divide", 8, chains::double_divide_8),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_has_one_loop_of_the_instructions_that_are_counted() {
        for (name, chains, kernel) in TABLE {
            let each = match (*name, chains) {
                // The operands are in fixed registers: before each division one is cleared, and for independent ones another is
                // set.
                ("integer-divide", 1) if cfg!(target_arch = "x86_64") => 2,
                ("integer-divide", _) if cfg!(target_arch = "x86_64") => 3,
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
