//! Change of stacks on x86-64.

use crate::arch::State;

/// Words that `switch` saves on a stack: six registers and the address at which execution resumes.
pub const FRAME_WORDS: usize = 7;
/// Index of the word that becomes `rbx`, where `entry` finds its state.
pub const THREAD: usize = 5;
/// Index of the address at which execution resumes.
pub const ENTRY: usize = 6;

assembly! {
    /// Changes stacks: saves the callee-saved registers of the System V ABI and exchanges the stack pointer with `*other`. Either
    /// stack has a copy: of one jump that leads to two places by turns, whether it is predicted depends on where the linker puts it and
    /// its caller (builds of this program took 5.1, 8.4 and 9.7 ns).
    fn switch(*mut usize);
    [
        ".globl fathom_switch_back",
        ".hidden fathom_switch_back",
        ".irp copy, fathom_switch_there, fathom_switch_back",
        ".p2align 6",
        "\\copy:",
        "push rbx",
        "push rbp",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        // Not `xchg` with memory, which locks the bus.
        "mov rax, rsp",
        "mov rsp, [rdi]",
        "mov [rdi], rax",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbp",
        "pop rbx",
        // Not `ret`, whose predicted target would come from calls made on the other stack.
        "pop rcx",
        "jmp rcx",
        ".endr"
    ]
}

assembly! {
    /// The code of the second stack: counts its turns and switches back, in an endless loop. Its state is in rbx.
    fn entry();
    [
        "2:",
        "add qword ptr [rbx + {turns}], 1",
        "lea rdi, [rbx + {other}]",
        "call fathom_switch_back",
        "jmp 2b"
    ],
    turns = const core::mem::offset_of!(State, turns),
    other = const core::mem::offset_of!(State, other)
}
