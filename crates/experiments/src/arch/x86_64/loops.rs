//! Loops on x86-64.

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
                    ".p2align 6", "3:", ".rept 16", $($inner,)* ".endr", "dec {n}", "jnz 3b",
                    n = inout(reg) n => _, count = in(reg) count, inner = out(reg) _,
                    counter = in(reg) pointer, out("rax") _, options(nostack)
                );
            }
            std::hint::black_box(&counter);
        }
    };
}
nested!(
    register,
    "mov {inner}, {count} /* {counter} */",
    "test {inner}, {inner}",
    "jz 4f",
    // The alignment that compilers give their loops: a loop that straddles two lines of code takes one more cycle per iteration.
    ".p2align 5",
    "2:",
    "dec {inner}",
    "jnz 2b",
    "4:"
);
nested!(
    memory,
    "mov qword ptr [{counter}], 0 /* {inner} */",
    "jmp 4f",
    "2:",
    "add qword ptr [{counter}], 1",
    "4:",
    "mov rax, [{counter}]",
    "cmp rax, {count}",
    "jb 2b"
);
nested!(
    memory_and_pointer,
    "lea {inner}, [{counter} + 8]",
    "mov qword ptr [{counter}], 0",
    "jmp 4f",
    "2:",
    "mov rax, {inner}",
    "mov qword ptr [rax], 1",
    "add qword ptr [{counter}], 1",
    "4:",
    "mov rax, [{counter}]",
    "cmp rax, {count}",
    "jb 2b"
);
