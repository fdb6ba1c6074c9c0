//! Dependency chains and branches on aarch64.

use crate::arch::ArithmeticLoop;
use core::arch::asm;

/// The registers of so many chains.
macro_rules! registers {
    (1) => {
        "0"
    };
    (2) => {
        "0, 1"
    };
    (4) => {
        "0, 1, 2, 3"
    };
    (8) => {
        "0, 1, 2, 3, 4, 5, 6, 7"
    };
}

/// `n` times 256 instructions, distributed over so many chains `\k`.
macro_rules! integer {
    ($chains:tt, $link:literal, $operand:literal) => {{
        fn kernel(n: u64) {
            // SAFETY: registers only.
            unsafe {
                asm!(
                    ".p2align 6", "2:", concat!(".rept 256 / ", $chains),
                    concat!(".irp k, ", registers!($chains)), $link, ".endr",
                    ".endr", "subs {n}, {n}, #1", "b.ne 2b",
                    n = inout(reg) n.max(1) => _, in("x9") $operand, in("x10") 0x3fff_ffff_ffff_fff1_u64,
                    inout("x0") 0x3fff_ffff_ffff_fff1_u64 => _, inout("x1") 1_u64 => _, inout("x2") 1_u64 => _,
                    inout("x3") 1_u64 => _, inout("x4") 1_u64 => _, inout("x5") 1_u64 => _,
                    inout("x6") 1_u64 => _, inout("x7") 1_u64 => _, options(nostack, nomem)
                );
            }
        }
        kernel
    }};
}

macro_rules! double {
    ($chains:tt, $code:literal, $operand:literal) => {{
        fn kernel(n: u64) {
            // SAFETY: registers only. The operand keeps every chain finite and normal indefinitely.
            unsafe {
                asm!(
                    ".p2align 6", "2:", concat!(".rept 256 / ", $chains),
                    concat!(".irp k, ", registers!($chains)), concat!($code, " d\\k, d\\k, d16"), ".endr",
                    ".endr", "subs {n}, {n}, #1", "b.ne 2b",
                    n = inout(reg) n.max(1) => _, in("v16") $operand,
                    inout("v0") 1.5_f64 => _, inout("v1") 1.5_f64 => _, inout("v2") 1.5_f64 => _,
                    inout("v3") 1.5_f64 => _, inout("v4") 1.5_f64 => _, inout("v5") 1.5_f64 => _,
                    inout("v6") 1.5_f64 => _, inout("v7") 1.5_f64 => _, options(nostack, nomem)
                );
            }
        }
        kernel
    }};
}

/// An instruction in one, two, four and eight chains.
macro_rules! chains {
    ($name:literal, $kind:ident, $($code:literal),*) => {
        [
            ($name, 1, $kind!(1, $($code),*)),
            ($name, 2, $kind!(2, $($code),*)),
            ($name, 4, $kind!(4, $($code),*)),
            ($name, 8, $kind!(8, $($code),*)),
        ]
    };
}

/// Instructions that take any two operands.
pub const CHAINS: &[[ArithmeticLoop; 4]] = &[
    chains!("integer-add", integer, "add x\\k, x\\k, x9", 3_u64),
    chains!("integer-multiply", integer, "mul x\\k, x\\k, x9", 3_u64),
    chains!("double-add", double, "fadd", 0.25_f64),
    chains!("double-multiply", double, "fmul", 1.0_f64),
    chains!("double-divide", double, "fdiv", 1.000_000_1_f64),
];

/// Divisions by one: the quotient keeps all bits of the dividend.
pub const DIVISIONS: &[ArithmeticLoop] = &[
    ("integer-divide", 1, integer!(1, "udiv x\\k, x\\k, x9", 1_u64)),
    ("integer-divide", 8, integer!(8, "udiv x\\k, x10, x9", 1_u64)),
];

/// `n` branches, each taken if the next pseudo-random number (xorshift64, Marsaglia 2003) has no bit of `mask`; returns the
/// number of branches not taken.
pub fn branches(n: u64, state: &mut u64, mask: u64) -> u64 {
    let mut not_taken = 0_u64;
    let mut number = *state;
    // SAFETY: registers only.
    unsafe {
        asm!(
            ".p2align 6", "2:",
            "eor {x}, {x}, {x}, lsl #13", "eor {x}, {x}, {x}, lsr #7", "eor {x}, {x}, {x}, lsl #17",
            "tst {x}, {mask}", "b.eq 3f", "add {not_taken}, {not_taken}, #1", "3:",
            "subs {n}, {n}, #1", "b.ne 2b",
            n = inout(reg) n.max(1) => _, x = inout(reg) number, mask = in(reg) mask,
            not_taken = inout(reg) not_taken, options(nostack, nomem)
        );
    }
    *state = number;
    not_taken
}
