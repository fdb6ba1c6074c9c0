//! Calls of procedures with an empty body and no to seven arguments, and the loop around them.

use core::arch::{asm, global_asm};

/// `for (i = 0; i < 1000; i++);`
pub fn empty_loop() {
    fathom_plain_loops[8]();
}

/// The same loop with one call of a procedure of so many arguments, at most seven.
pub fn call(arguments: usize) {
    fathom_plain_loops[arguments.min(7)]();
}

unsafe extern "C" {
    safe static fathom_plain_loops: [extern "C" fn(); 9];
}

global_asm!(
    // The constants 1 to k, as the System V ABI passes them; the stack stays aligned at the call.
    ".macro fathom_plain_place k",
    ".if \\k > 6; sub rsp, 8; push 7; .endif",
    pass_in_registers!(),
    ".endm",
    // Arguments in registers are stored to the frame, though nothing reads them.
    ".macro fathom_plain_procedure k",
    ".p2align 4",
    "fathom_plain_procedure_\\k:",
    store_arguments!(),
    "nop",
    "pop rbp",
    "ret",
    ".endm",
    // A loop whose counter is in the frame; `calls` says whether its body is a call or empty.
    ".macro fathom_plain_loop name, k, calls",
    ".p2align 4",
    "fathom_plain_\\name:",
    "push rbp",
    "mov rbp, rsp",
    "sub rsp, 16",
    "mov dword ptr [rbp - 4], 0",
    "jmp 3f",
    "2:",
    ".if \\calls",
    "fathom_plain_place \\k",
    "call fathom_plain_procedure_\\k",
    ".if \\k > 6; add rsp, 16; .endif",
    ".endif",
    "add dword ptr [rbp - 4], 1",
    "3:",
    "cmp dword ptr [rbp - 4], 999",
    "jle 2b",
    "leave",
    "ret",
    ".endm",
    ".text",
    ".irp k, 0, 1, 2, 3, 4, 5, 6, 7",
    "fathom_plain_procedure \\k",
    "fathom_plain_loop loop_\\k, \\k, 1",
    ".endr",
    "fathom_plain_loop empty_loop, 0, 0",
    ".section .data.rel.ro.fathom_plain_loops, \"aw\"",
    ".p2align 3",
    ".globl fathom_plain_loops",
    "fathom_plain_loops:",
    ".irp k, 0, 1, 2, 3, 4, 5, 6, 7",
    ".quad fathom_plain_loop_\\k",
    ".endr",
    ".quad fathom_plain_empty_loop",
    ".text",
    // Separate names for the single calls, which the compiler may place in another code unit.
    ".irp k, 0, 1, 2, 3, 4, 5, 6, 7",
    ".globl fathom_plain_once_\\k",
    ".set fathom_plain_once_\\k, fathom_plain_procedure_\\k",
    ".endr",
);

/// One call with so many arguments, at most seven, inlined where this stands.
#[inline(always)]
pub fn call_once(arguments: usize) {
    match arguments {
        0 => of::<0>(),
        1 => of::<1>(),
        2 => of::<2>(),
        3 => of::<3>(),
        4 => of::<4>(),
        5 => of::<5>(),
        6 => of::<6>(),
        _ => of::<7>(),
    }
}

#[inline(always)]
fn of<const K: usize>() {
    // SAFETY: a procedure of the C ABI that keeps what it must; the stack is as it was at the end.
    unsafe {
        asm!(
            ".if {k} > 6", "push 7", ".endif",
            ".irp k, {k}", pass_in_registers!(), ".endr",
            "call fathom_plain_once_{k}",
            ".if {k} > 6", "add rsp, 8", ".endif",
            k = const K, clobber_abi("C")
        );
    }
}
