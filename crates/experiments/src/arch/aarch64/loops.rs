//! Loops on aarch64.

use crate::arch::Loop;
use core::arch::asm;

/// The loops by the place of their counter.
pub const LOOPS: &[Loop] =
    &[("register", register), ("memory", memory), ("memory-and-pointer", memory_and_pointer)];

macro_rules! nested {
    ($name:ident, $($inner:literal),*) => {
        fn $name(n: u64, count: u64) {
            if n == 0 {
                return;
            }
            let mut counter = [0_u64; 2];
            let pointer = counter.as_mut_ptr();
            // SAFETY: touches registers and the local `counter` alone.
            unsafe {
                asm!(
                    ".p2align 6", "3:", ".rept 16", $($inner,)* ".endr", "subs {n}, {n}, #1", "b.ne 3b",
                    n = inout(reg) n => _, count = in(reg) count, inner = out(reg) _,
                    counter = in(reg) pointer, out("x9") _, out("x10") _, options(nostack)
                );
            }
            std::hint::black_box(&counter);
        }
    };
}
nested!(
    register,
    "mov {inner}, {count} /* {counter} */",
    "cbz {inner}, 4f",
    // The alignment that compilers give their loops.
    ".p2align 5",
    "2:",
    "subs {inner}, {inner}, #1",
    "b.ne 2b",
    "4:"
);
nested!(
    memory,
    "str xzr, [{counter}] /* {inner} */",
    "b 4f",
    "2:",
    "ldr x9, [{counter}]",
    "add x9, x9, #1",
    "str x9, [{counter}]",
    "4:",
    "ldr x9, [{counter}]",
    "cmp x9, {count}",
    "b.lo 2b"
);
nested!(
    memory_and_pointer,
    "add {inner}, {counter}, #8",
    "str xzr, [{counter}]",
    "b 4f",
    "2:",
    "mov x10, #1",
    "str x10, [{inner}]",
    "ldr x9, [{counter}]",
    "add x9, x9, #1",
    "str x9, [{counter}]",
    "4:",
    "ldr x9, [{counter}]",
    "cmp x9, {count}",
    "b.lo 2b"
);
