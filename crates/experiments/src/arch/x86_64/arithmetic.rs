//! Dependency chains and branches on x86-64.

use crate::arch::ArithmeticLoop;
use core::arch::asm;

/// The registers of so many chains, and how often 256 instructions repeat them.
macro_rules! registers {
    (integer 1) => {
        "rax"
    };
    (integer 2) => {
        "rax, rcx"
    };
    (integer 4) => {
        "rax, rcx, rsi, rdi"
    };
    (integer 8) => {
        "rax, rcx, rsi, rdi, r8, r9, r10, r11"
    };
    (double 1) => {
        "xmm0"
    };
    (double 2) => {
        "xmm0, xmm1"
    };
    (double 4) => {
        "xmm0, xmm1, xmm2, xmm3"
    };
    (double 8) => {
        "xmm0, xmm1, xmm2, xmm3, xmm4, xmm5, xmm6, xmm7"
    };
}

/// `n` times 256 instructions, distributed over so many chains.
macro_rules! integer {
    ($chains:tt, $code:literal) => {{
        fn kernel(n: u64) {
            // SAFETY: registers only.
            unsafe {
                asm!(
                    ".p2align 6", "2:", concat!(".rept 256 / ", $chains),
                    concat!(".irp chain, ", registers!(integer $chains)), concat!($code, " \\chain, rdx"), ".endr",
                    ".endr", "dec {n}", "jnz 2b",
                    n = inout(reg) n.max(1) => _, in("rdx") 3_u64,
                    inout("rax") 1_u64 => _, inout("rcx") 1_u64 => _, inout("rsi") 1_u64 => _,
                    inout("rdi") 1_u64 => _, inout("r8") 1_u64 => _, inout("r9") 1_u64 => _,
                    inout("r10") 1_u64 => _, inout("r11") 1_u64 => _, options(nostack, nomem)
                );
            }
        }
        kernel
    }};
}

macro_rules! divide {
    ($($link:literal),*) => {{
        fn kernel(n: u64) {
            let dividend = 0x3fff_ffff_ffff_fff1_u64;
            // SAFETY: registers only; the divisor is 1 and the upper half of the dividend 0, so nothing traps.
            unsafe {
                asm!(
                    ".p2align 6", "2:", ".rept 256", $($link,)* ".endr", "dec {n}", "jnz 2b",
                    n = inout(reg) n.max(1) => _, one = in(reg) 1_u64, number = in(reg) dividend,
                    inout("rax") dividend => _, out("rdx") _, options(nostack, nomem)
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
                    concat!(".irp chain, ", registers!(double $chains)), concat!($code, " \\chain, xmm15"), ".endr",
                    ".endr", "dec {n}", "jnz 2b",
                    n = inout(reg) n.max(1) => _, in("xmm15") $operand,
                    inout("xmm0") 1.5_f64 => _, inout("xmm1") 1.5_f64 => _, inout("xmm2") 1.5_f64 => _,
                    inout("xmm3") 1.5_f64 => _, inout("xmm4") 1.5_f64 => _, inout("xmm5") 1.5_f64 => _,
                    inout("xmm6") 1.5_f64 => _, inout("xmm7") 1.5_f64 => _, options(nostack, nomem)
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

/// Instructions that take two operands.
pub const CHAINS: &[[ArithmeticLoop; 4]] = &[
    chains!("integer-add", integer, "add"),
    chains!("integer-multiply", integer, "imul"),
    chains!("double-add", double, "addsd", 0.25_f64),
    chains!("double-multiply", double, "mulsd", 1.0_f64),
    chains!("double-divide", double, "divsd", 1.000_000_1_f64),
];

/// Divisions of integers by one, whose operands are in fixed registers.
pub const DIVISIONS: &[ArithmeticLoop] = &[
    ("integer-divide", 1, divide!("xor edx, edx /* {number} */", "div {one}")),
    ("integer-divide", 8, divide!("mov rax, {number}", "xor edx, edx", "div {one}")),
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
            "mov {t}, {x}", "shl {t}, 13", "xor {x}, {t}",
            "mov {t}, {x}", "shr {t}, 7", "xor {x}, {t}",
            "mov {t}, {x}", "shl {t}, 17", "xor {x}, {t}",
            "test {x}, {mask}", "jz 3f", "inc {not_taken}", "3:",
            "dec {n}", "jnz 2b",
            n = inout(reg) n.max(1) => _, x = inout(reg) number, t = out(reg) _, mask = in(reg) mask,
            not_taken = inout(reg) not_taken, options(nostack, nomem)
        );
    }
    *state = number;
    not_taken
}
