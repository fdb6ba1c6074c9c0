//! The loops of report 000 as a compiler writes them without optimisation: every variable is in the frame, loaded before and
//! stored after each use. They are in assembly, so that no optimiser changes them.

use crate::unoptimised::{pass_in_registers, store_arguments};
use core::arch::global_asm;

unsafe extern "C" {
    safe static fathom_000_calls: [extern "C" fn(u64) -> u64; 8];
    safe fn fathom_000_empty(n: u64);
    safe fn fathom_000_store(n: u64);
}

/// The largest number of iterations for a signed counter of 32 bits.
const MOST: u64 = i32::MAX as u64;

/// Calls a procedure of up to seven arguments `n` times, and returns the last sum of its arguments.
pub fn calls(arguments: usize, n: u64) -> u64 {
    fathom_000_calls[arguments.min(7)](n.min(MOST)) & 0xffff_ffff
}

pub fn empty(n: u64) {
    fathom_000_empty(n.min(MOST));
}

/// Runs a loop that stores through a pointer.
pub fn store(n: u64) {
    fathom_000_store(n.min(MOST));
}

global_asm!(
    // A loop: the counter at rbp - 4, its limit at rbp - 8, a pointer at rbp - 16 to a number at rbp - 20.
    ".macro fathom_000_begin name",
    ".p2align 4",
    "\\name:",
    "push rbp",
    "mov rbp, rsp",
    "sub rsp, 32",
    "mov dword ptr [rbp - 8], edi",
    "lea rcx, [rbp - 20]",
    "mov qword ptr [rbp - 16], rcx",
    "mov dword ptr [rbp - 4], 0",
    "jmp 3f",
    "2:",
    ".endm",
    ".macro fathom_000_end",
    "add dword ptr [rbp - 4], 1",
    "3:",
    "mov ecx, dword ptr [rbp - 4]",
    "cmp ecx, dword ptr [rbp - 8]",
    "jl 2b",
    "leave",
    "ret",
    ".endm",
    // Section 3.3.1 shows the instructions of the procedures with none, one and two arguments.
    ".macro fathom_000_procedure k",
    ".p2align 4",
    "fathom_000_procedure_\\k:",
    "endbr64",
    store_arguments!(),
    ".if \\k > 0; mov eax, dword ptr [rbp - 4]; .else; mov eax, 0; .endif",
    ".if \\k > 1; mov edx, dword ptr [rbp - 8]; add eax, edx; .endif",
    ".if \\k > 2; mov edx, dword ptr [rbp - 12]; add eax, edx; .endif",
    ".if \\k > 3; mov edx, dword ptr [rbp - 16]; add eax, edx; .endif",
    ".if \\k > 4; mov edx, dword ptr [rbp - 20]; add eax, edx; .endif",
    ".if \\k > 5; mov edx, dword ptr [rbp - 24]; add eax, edx; .endif",
    ".if \\k > 6; mov edx, dword ptr [rbp + 16]; add eax, edx; .endif",
    "pop rbp",
    "ret",
    ".endm",
    ".macro fathom_000_caller k",
    "fathom_000_begin fathom_000_calls_\\k",
    ".if \\k > 6; sub rsp, 8; push 7; .endif",
    pass_in_registers!(),
    "call fathom_000_procedure_\\k",
    ".if \\k > 6; add rsp, 16; .endif",
    "fathom_000_end",
    ".endm",
    ".text",
    ".irp k, 0, 1, 2, 3, 4, 5, 6, 7",
    "fathom_000_procedure \\k",
    "fathom_000_caller \\k",
    ".endr",
    ".globl fathom_000_empty",
    "fathom_000_begin fathom_000_empty",
    "fathom_000_end",
    ".globl fathom_000_store",
    "fathom_000_begin fathom_000_store",
    "mov rax, qword ptr [rbp - 16]",
    "mov dword ptr [rax], 1",
    "fathom_000_end",
    ".section .data.rel.ro.fathom_000_calls, \"aw\"",
    ".p2align 3",
    ".globl fathom_000_calls",
    "fathom_000_calls:",
    ".irp k, 0, 1, 2, 3, 4, 5, 6, 7",
    ".quad fathom_000_calls_\\k",
    ".endr",
    ".text",
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn procedures_add_up_their_arguments_and_are_called() {
        for arguments in 0..8 {
            assert_eq!(calls(arguments, 3), (arguments * (arguments + 1) / 2) as u64);
        }
    }
}
