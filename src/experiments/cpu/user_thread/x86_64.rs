//! The change of stacks on x86-64.

use super::state::State;

/// Words that `switch` leaves on a stack: six registers and the address to go on at.
pub const FRAME_WORDS: usize = 7;
/// Which of them becomes `rbx`, where `entry` finds its state.
pub const THREAD: usize = 5;
/// Which of them is the address to go on at.
pub const ENTRY: usize = 6;

/// Changes stacks: saves what the System V ABI lets a callee keep, exchanges the stack pointer with `*other`.
#[unsafe(naked)]
pub unsafe extern "sysv64" fn switch(_other: *mut usize) {
    core::arch::naked_asm!(
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
        // Not `ret`, whose target the processor would predict from calls made on the other stack.
        "pop rcx",
        "jmp rcx",
    )
}

/// What runs on the second stack: counts its turns and gives back, for ever. Its state is in rbx.
#[unsafe(naked)]
pub unsafe extern "sysv64" fn entry() {
    core::arch::naked_asm!(
        "2:",
        "add qword ptr [rbx + {turns}], 1",
        "lea rdi, [rbx + {other}]",
        "call {switch}",
        "jmp 2b",
        turns = const core::mem::offset_of!(State, turns),
        other = const core::mem::offset_of!(State, other),
        switch = sym switch,
    )
}
