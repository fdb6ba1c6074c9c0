//! Dependency chains and branches on aarch64.

use core::arch::asm;

/// `n` times 256 instructions, distributed over the named chains.
macro_rules! integer {
    ($name:ident, $times:literal, $operand:literal, $($link:literal),*) => {
        pub fn $name(n: u64) {
            // SAFETY: registers only.
            unsafe {
                asm!(
                    ".p2align 6", "2:", concat!(".rept ", $times), $($link,)* ".endr", "subs {n}, {n}, #1", "b.ne 2b",
                    n = inout(reg) n.max(1) => _, in("x9") $operand, in("x10") 0x3fff_ffff_ffff_fff1_u64,
                    inout("x0") 0x3fff_ffff_ffff_fff1_u64 => _, inout("x1") 1_u64 => _, inout("x2") 1_u64 => _,
                    inout("x3") 1_u64 => _, inout("x4") 1_u64 => _, inout("x5") 1_u64 => _,
                    inout("x6") 1_u64 => _, inout("x7") 1_u64 => _, options(nostack, nomem)
                );
            }
        }
    };
}
integer!(add_1, 256, 3_u64, "add x0, x0, x9");
integer!(add_2, 128, 3_u64, "add x0, x0, x9", "add x1, x1, x9");
integer!(add_4, 64, 3_u64, "add x0, x0, x9", "add x1, x1, x9", "add x2, x2, x9", "add x3, x3, x9");
integer!(
    add_8,
    32,
    3_u64,
    "add x0, x0, x9",
    "add x1, x1, x9",
    "add x2, x2, x9",
    "add x3, x3, x9",
    "add x4, x4, x9",
    "add x5, x5, x9",
    "add x6, x6, x9",
    "add x7, x7, x9"
);
integer!(multiply_1, 256, 3_u64, "mul x0, x0, x9");
integer!(multiply_2, 128, 3_u64, "mul x0, x0, x9", "mul x1, x1, x9");
integer!(multiply_4, 64, 3_u64, "mul x0, x0, x9", "mul x1, x1, x9", "mul x2, x2, x9", "mul x3, x3, x9");
integer!(
    multiply_8,
    32,
    3_u64,
    "mul x0, x0, x9",
    "mul x1, x1, x9",
    "mul x2, x2, x9",
    "mul x3, x3, x9",
    "mul x4, x4, x9",
    "mul x5, x5, x9",
    "mul x6, x6, x9",
    "mul x7, x7, x9"
);
// Division by 1: the quotient keeps all bits of the dividend.
integer!(divide_dependent, 256, 1_u64, "udiv x0, x0, x9");
integer!(
    divide_independent,
    32,
    1_u64,
    "udiv x0, x10, x9",
    "udiv x1, x10, x9",
    "udiv x2, x10, x9",
    "udiv x3, x10, x9",
    "udiv x4, x10, x9",
    "udiv x5, x10, x9",
    "udiv x6, x10, x9",
    "udiv x7, x10, x9"
);

macro_rules! double {
    ($name:ident, $times:literal, $operand:literal, $($link:literal),*) => {
        pub fn $name(n: u64) {
            // SAFETY: registers only. The operand keeps every chain finite and normal indefinitely.
            unsafe {
                asm!(
                    ".p2align 6", "2:", concat!(".rept ", $times), $($link,)* ".endr", "subs {n}, {n}, #1", "b.ne 2b",
                    n = inout(reg) n.max(1) => _, in("v16") $operand,
                    inout("v0") 1.5_f64 => _, inout("v1") 1.5_f64 => _, inout("v2") 1.5_f64 => _,
                    inout("v3") 1.5_f64 => _, inout("v4") 1.5_f64 => _, inout("v5") 1.5_f64 => _,
                    inout("v6") 1.5_f64 => _, inout("v7") 1.5_f64 => _, options(nostack, nomem)
                );
            }
        }
    };
}
double!(double_add_1, 256, 0.25_f64, "fadd d0, d0, d16");
double!(double_add_2, 128, 0.25_f64, "fadd d0, d0, d16", "fadd d1, d1, d16");
double!(
    double_add_4,
    64,
    0.25_f64,
    "fadd d0, d0, d16",
    "fadd d1, d1, d16",
    "fadd d2, d2, d16",
    "fadd d3, d3, d16"
);
double!(
    double_add_8,
    32,
    0.25_f64,
    "fadd d0, d0, d16",
    "fadd d1, d1, d16",
    "fadd d2, d2, d16",
    "fadd d3, d3, d16",
    "fadd d4, d4, d16",
    "fadd d5, d5, d16",
    "fadd d6, d6, d16",
    "fadd d7, d7, d16"
);
double!(double_multiply_1, 256, 1.0_f64, "fmul d0, d0, d16");
double!(double_multiply_2, 128, 1.0_f64, "fmul d0, d0, d16", "fmul d1, d1, d16");
double!(
    double_multiply_4,
    64,
    1.0_f64,
    "fmul d0, d0, d16",
    "fmul d1, d1, d16",
    "fmul d2, d2, d16",
    "fmul d3, d3, d16"
);
double!(
    double_multiply_8,
    32,
    1.0_f64,
    "fmul d0, d0, d16",
    "fmul d1, d1, d16",
    "fmul d2, d2, d16",
    "fmul d3, d3, d16",
    "fmul d4, d4, d16",
    "fmul d5, d5, d16",
    "fmul d6, d6, d16",
    "fmul d7, d7, d16"
);
double!(double_divide_1, 256, 1.000_000_1_f64, "fdiv d0, d0, d16");
double!(double_divide_2, 128, 1.000_000_1_f64, "fdiv d0, d0, d16", "fdiv d1, d1, d16");
double!(
    double_divide_4,
    64,
    1.000_000_1_f64,
    "fdiv d0, d0, d16",
    "fdiv d1, d1, d16",
    "fdiv d2, d2, d16",
    "fdiv d3, d3, d16"
);
double!(
    double_divide_8,
    32,
    1.000_000_1_f64,
    "fdiv d0, d0, d16",
    "fdiv d1, d1, d16",
    "fdiv d2, d2, d16",
    "fdiv d3, d3, d16",
    "fdiv d4, d4, d16",
    "fdiv d5, d5, d16",
    "fdiv d6, d6, d16",
    "fdiv d7, d7, d16"
);

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
