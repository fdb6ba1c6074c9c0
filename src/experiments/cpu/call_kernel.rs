//! The loops of calls that `procedure_call` times: written in assembly so that it is known what runs, and listed in a
//! table of addresses so that they can be disassembled where they stand.
//!
//! A loop around one call could not be subtracted from it: what the processor does beside a dependent chain costs
//! nothing there, and a whole cycle alone. Sixteen calls a time round make it too small to matter.

use crate::experiments::listing;
use core::arch::global_asm;

/// One loop of calls, and where its code stands; laid out as the assembly below writes it.
#[repr(C)]
pub struct Kernel {
    run: extern "C" fn(u64) -> u64,
    call: [*const u8; 2],
    callee: [*const u8; 2],
}

// SAFETY: addresses of code, which never changes.
unsafe impl Sync for Kernel {}

/// Calls in one time round the loop; the assembly below repeats as often.
pub const CALLS: u64 = 16;

impl Kernel {
    /// Goes round `n` times, at least once, and returns the last sum.
    pub fn run(&self, n: u64) -> u64 {
        (self.run)(n.max(1))
    }

    /// The instructions of one of `calls` calls, on both sides, by disassembly; not whole where they are not all alike.
    pub fn instructions(&self, calls: u64) -> Option<f64> {
        let count = |[start, end]: [*const u8; 2]| Some(listing::instructions(start, end)? as f64);
        Some(count(self.call)? / calls as f64 + count(self.callee)?)
    }
}

/// The kernel of a form (abi, chained, indirect, spilled, single) and a number of arguments up to seven.
pub fn kernel(form: usize, arguments: usize) -> &'static Kernel {
    &fathom_calls[arguments.min(7)][form.min(4)]
}

unsafe extern "C" {
    safe static fathom_calls: [[Kernel; 5]; 8];
}

global_asm!(
    // Emits `line` when there are more than `least` arguments.
    ".macro fathom_if k, least, line:vararg",
    ".if \\k > \\least",
    "\\line",
    ".endif",
    ".endm",
    // The constants 1 to k into the places of the System V ABI; `first` stands for the first.
    ".macro fathom_place k, first",
    "fathom_if \\k, 6, push 7",
    "fathom_if \\k, 5, mov r9d, 6",
    "fathom_if \\k, 4, mov r8d, 5",
    "fathom_if \\k, 3, mov ecx, 4",
    "fathom_if \\k, 2, mov edx, 3",
    "fathom_if \\k, 1, mov esi, 2",
    "fathom_if \\k, 0, mov edi, \\first",
    ".endm",
    // One loop: n in rdi, constants or the last result as first argument, called by name or through r12.
    ".macro fathom_loop name, k, first, target:vararg",
    "fathom_\\name\\()_\\k:",
    "push rbx",
    "push r12",
    "mov rbx, rdi",
    "xor eax, eax",
    "lea r12, [rip + fathom_callee_\\k]",
    ".p2align 6",
    "fathom_\\name\\()_call_\\k:",
    ".rept 16",
    "fathom_place \\k, \\first",
    "call \\target",
    "fathom_if \\k, 6, add rsp, 8",
    ".endr",
    "fathom_\\name\\()_call_end_\\k:",
    "dec rbx",
    "jnz fathom_\\name\\()_call_\\k",
    "pop r12",
    "pop rbx",
    "ret",
    ".endm",
    ".macro fathom_callee k",
    ".p2align 6",
    "fathom_callee_\\k:",
    ".if \\k > 0",
    "mov eax, edi",
    ".else",
    "xor eax, eax",
    ".endif",
    "fathom_if \\k, 1, add eax, esi",
    "fathom_if \\k, 2, add eax, edx",
    "fathom_if \\k, 3, add eax, ecx",
    "fathom_if \\k, 4, add eax, r8d",
    "fathom_if \\k, 5, add eax, r9d",
    "fathom_if \\k, 6, add eax, dword ptr [rsp + 8]",
    "ret",
    "fathom_callee_end_\\k:",
    ".endm",
    // One call, n times where n is always one.
    ".macro fathom_single_loop k",
    "fathom_single_\\k:",
    "push rbx",
    "mov rbx, rdi",
    "fathom_single_call_\\k:",
    "fathom_place \\k, 1",
    "call fathom_callee_\\k",
    "fathom_if \\k, 6, add rsp, 8",
    "fathom_single_call_end_\\k:",
    "dec rbx",
    "jnz fathom_single_call_\\k",
    "pop rbx",
    "ret",
    ".endm",
    // As a compiler writes it without optimisation: arguments are spilled to the frame and loaded again.
    ".macro fathom_spilled_callee k",
    ".p2align 6",
    "fathom_spilled_callee_\\k:",
    "push rbp",
    "mov rbp, rsp",
    "fathom_if \\k, 0, mov dword ptr [rbp - 4], edi",
    "fathom_if \\k, 1, mov dword ptr [rbp - 8], esi",
    "fathom_if \\k, 2, mov dword ptr [rbp - 12], edx",
    "fathom_if \\k, 3, mov dword ptr [rbp - 16], ecx",
    "fathom_if \\k, 4, mov dword ptr [rbp - 20], r8d",
    "fathom_if \\k, 5, mov dword ptr [rbp - 24], r9d",
    ".if \\k > 0",
    "mov eax, dword ptr [rbp - 4]",
    ".else",
    "xor eax, eax",
    ".endif",
    "fathom_if \\k, 1, add eax, dword ptr [rbp - 8]",
    "fathom_if \\k, 2, add eax, dword ptr [rbp - 12]",
    "fathom_if \\k, 3, add eax, dword ptr [rbp - 16]",
    "fathom_if \\k, 4, add eax, dword ptr [rbp - 20]",
    "fathom_if \\k, 5, add eax, dword ptr [rbp - 24]",
    "fathom_if \\k, 6, add eax, dword ptr [rbp + 16]",
    "pop rbp",
    "ret",
    "fathom_spilled_callee_end_\\k:",
    ".endm",
    ".macro fathom_spilled_loop k",
    "fathom_spilled_\\k:",
    "push rbx",
    "push rbp",
    "mov rbp, rsp",
    "sub rsp, 48",
    "mov rbx, rdi",
    "mov dword ptr [rbp - 4], 1",
    "mov dword ptr [rbp - 8], 2",
    "mov dword ptr [rbp - 12], 3",
    "mov dword ptr [rbp - 16], 4",
    "mov dword ptr [rbp - 20], 5",
    "mov dword ptr [rbp - 24], 6",
    "mov qword ptr [rbp - 32], 7",
    ".p2align 6",
    "fathom_spilled_call_\\k:",
    ".rept 16",
    "fathom_if \\k, 6, push qword ptr [rbp - 32]",
    "fathom_if \\k, 5, mov r9d, dword ptr [rbp - 24]",
    "fathom_if \\k, 4, mov r8d, dword ptr [rbp - 20]",
    "fathom_if \\k, 3, mov ecx, dword ptr [rbp - 16]",
    "fathom_if \\k, 2, mov edx, dword ptr [rbp - 12]",
    "fathom_if \\k, 1, mov esi, dword ptr [rbp - 8]",
    "fathom_if \\k, 0, mov edi, dword ptr [rbp - 4]",
    "call fathom_spilled_callee_\\k",
    "fathom_if \\k, 6, add rsp, 8",
    ".endr",
    "fathom_spilled_call_end_\\k:",
    "dec rbx",
    "jnz fathom_spilled_call_\\k",
    "mov rsp, rbp",
    "pop rbp",
    "pop rbx",
    "ret",
    ".endm",
    // A row of the table: run, the call from and to, the callee from and to.
    ".macro fathom_row name, callee, k",
    ".quad fathom_\\name\\()_\\k, fathom_\\name\\()_call_\\k, fathom_\\name\\()_call_end_\\k",
    ".quad fathom_\\callee\\()_\\k, fathom_\\callee\\()_end_\\k",
    ".endm",
    ".text",
    ".irp k, 0, 1, 2, 3, 4, 5, 6, 7",
    "fathom_callee \\k",
    "fathom_loop abi, \\k, 1, fathom_callee_\\k",
    "fathom_loop chained, \\k, eax, fathom_callee_\\k",
    "fathom_loop indirect, \\k, 1, r12",
    "fathom_spilled_callee \\k",
    "fathom_spilled_loop \\k",
    "fathom_single_loop \\k",
    ".endr",
    ".section .data.rel.ro.fathom_calls, \"aw\"",
    ".p2align 3",
    ".globl fathom_calls",
    "fathom_calls:",
    ".irp k, 0, 1, 2, 3, 4, 5, 6, 7",
    "fathom_row abi, callee, \\k",
    "fathom_row chained, callee, \\k",
    "fathom_row indirect, callee, \\k",
    "fathom_row spilled, spilled_callee, \\k",
    "fathom_row single, callee, \\k",
    ".endr",
    ".text",
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_calls_as_often_as_asked_and_adds_its_arguments() {
        for arguments in 0..8 {
            let sum = (arguments * (arguments + 1) / 2) as u64;
            for form in [0, 2, 3, 4] {
                assert_eq!(kernel(form, arguments).run(3), sum, "form {form}, {arguments} arguments");
            }
        }
        assert_eq!(
            kernel(1, 3).run(1000),
            5 * 1000 * CALLS,
            "chained: 2 + 3 added to the last result each time"
        );
    }
}
