//! Dependency chains and branches on x86-64.

use core::arch::asm;

/// `n` times 256 instructions, distributed over the named chains.
macro_rules! integer {
    ($name:ident, $times:literal, $($link:literal),*) => {
        pub fn $name(n: u64) {
            // SAFETY: registers only.
            unsafe {
                asm!(
                    ".p2align 6", "2:", concat!(".rept ", $times), $($link,)* ".endr", "dec {n}", "jnz 2b",
                    n = inout(reg) n.max(1) => _, in("rdx") 3_u64,
                    inout("rax") 1_u64 => _, inout("rcx") 1_u64 => _, inout("rsi") 1_u64 => _,
                    inout("rdi") 1_u64 => _, inout("r8") 1_u64 => _, inout("r9") 1_u64 => _,
                    inout("r10") 1_u64 => _, inout("r11") 1_u64 => _, options(nostack, nomem)
                );
            }
        }
    };
}
integer!(add_1, 256, "add rax, rdx");
integer!(add_2, 128, "add rax, rdx", "add rcx, rdx");
integer!(add_4, 64, "add rax, rdx", "add rcx, rdx", "add rsi, rdx", "add rdi, rdx");
integer!(
    add_8,
    32,
    "add rax, rdx",
    "add rcx, rdx",
    "add rsi, rdx",
    "add rdi, rdx",
    "add r8, rdx",
    "add r9, rdx",
    "add r10, rdx",
    "add r11, rdx"
);
integer!(multiply_1, 256, "imul rax, rdx");
integer!(multiply_2, 128, "imul rax, rdx", "imul rcx, rdx");
integer!(multiply_4, 64, "imul rax, rdx", "imul rcx, rdx", "imul rsi, rdx", "imul rdi, rdx");
integer!(
    multiply_8,
    32,
    "imul rax, rdx",
    "imul rcx, rdx",
    "imul rsi, rdx",
    "imul rdi, rdx",
    "imul r8, rdx",
    "imul r9, rdx",
    "imul r10, rdx",
    "imul r11, rdx"
);

macro_rules! divide {
    ($name:ident, $($link:literal),*) => {
        pub fn $name(n: u64) {
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
    };
}
divide!(divide_dependent, "xor edx, edx /* {number} */", "div {one}");
divide!(divide_independent, "mov rax, {number}", "xor edx, edx", "div {one}");

macro_rules! double {
    ($name:ident, $times:literal, $operand:literal, $($link:literal),*) => {
        pub fn $name(n: u64) {
            // SAFETY: registers only. The operand keeps every chain finite and normal indefinitely.
            unsafe {
                asm!(
                    ".p2align 6", "2:", concat!(".rept ", $times), $($link,)* ".endr", "dec {n}", "jnz 2b",
                    n = inout(reg) n.max(1) => _, in("xmm15") $operand,
                    inout("xmm0") 1.5_f64 => _, inout("xmm1") 1.5_f64 => _, inout("xmm2") 1.5_f64 => _,
                    inout("xmm3") 1.5_f64 => _, inout("xmm4") 1.5_f64 => _, inout("xmm5") 1.5_f64 => _,
                    inout("xmm6") 1.5_f64 => _, inout("xmm7") 1.5_f64 => _, options(nostack, nomem)
                );
            }
        }
    };
}
double!(double_add_1, 256, 0.25_f64, "addsd xmm0, xmm15");
double!(double_add_2, 128, 0.25_f64, "addsd xmm0, xmm15", "addsd xmm1, xmm15");
double!(
    double_add_4,
    64,
    0.25_f64,
    "addsd xmm0, xmm15",
    "addsd xmm1, xmm15",
    "addsd xmm2, xmm15",
    "addsd xmm3, xmm15"
);
double!(
    double_add_8,
    32,
    0.25_f64,
    "addsd xmm0, xmm15",
    "addsd xmm1, xmm15",
    "addsd xmm2, xmm15",
    "addsd xmm3, xmm15",
    "addsd xmm4, xmm15",
    "addsd xmm5, xmm15",
    "addsd xmm6, xmm15",
    "addsd xmm7, xmm15"
);
double!(double_multiply_1, 256, 1.0_f64, "mulsd xmm0, xmm15");
double!(double_multiply_2, 128, 1.0_f64, "mulsd xmm0, xmm15", "mulsd xmm1, xmm15");
double!(
    double_multiply_4,
    64,
    1.0_f64,
    "mulsd xmm0, xmm15",
    "mulsd xmm1, xmm15",
    "mulsd xmm2, xmm15",
    "mulsd xmm3, xmm15"
);
double!(
    double_multiply_8,
    32,
    1.0_f64,
    "mulsd xmm0, xmm15",
    "mulsd xmm1, xmm15",
    "mulsd xmm2, xmm15",
    "mulsd xmm3, xmm15",
    "mulsd xmm4, xmm15",
    "mulsd xmm5, xmm15",
    "mulsd xmm6, xmm15",
    "mulsd xmm7, xmm15"
);
double!(double_divide_1, 256, 1.000_000_1_f64, "divsd xmm0, xmm15");
double!(double_divide_2, 128, 1.000_000_1_f64, "divsd xmm0, xmm15", "divsd xmm1, xmm15");
double!(
    double_divide_4,
    64,
    1.000_000_1_f64,
    "divsd xmm0, xmm15",
    "divsd xmm1, xmm15",
    "divsd xmm2, xmm15",
    "divsd xmm3, xmm15"
);
double!(
    double_divide_8,
    32,
    1.000_000_1_f64,
    "divsd xmm0, xmm15",
    "divsd xmm1, xmm15",
    "divsd xmm2, xmm15",
    "divsd xmm3, xmm15",
    "divsd xmm4, xmm15",
    "divsd xmm5, xmm15",
    "divsd xmm6, xmm15",
    "divsd xmm7, xmm15"
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
