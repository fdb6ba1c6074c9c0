//! Change of stacks on aarch64.

use crate::arch::State;

/// Words that `switch` saves on a stack: `x19` to `x30`, and the lower halves of `v8` to `v15`.
pub const FRAME_WORDS: usize = 20;
/// Index of the word that becomes `x19`, where `entry` finds its state.
pub const THREAD: usize = 0;
/// Index of the word that becomes `x30`, the address at which execution resumes.
pub const ENTRY: usize = 11;

assembly! {
    /// Changes stacks: saves the callee-saved registers of the procedure call standard (AAPCS64) and exchanges the stack pointer with
    /// `*other`. Either stack has a copy: of one jump that leads to two places by turns, whether it is predicted depends on where the
    /// linker puts it.
    fn switch(*mut usize);
    [
        ".globl fathom_switch_back",
        ".hidden fathom_switch_back",
        ".irp copy, fathom_switch_there, fathom_switch_back",
        ".p2align 6",
        "\\copy:",
        "sub sp, sp, #160",
        "stp x19, x20, [sp]",
        "stp x21, x22, [sp, #16]",
        "stp x23, x24, [sp, #32]",
        "stp x25, x26, [sp, #48]",
        "stp x27, x28, [sp, #64]",
        "stp x29, x30, [sp, #80]",
        "stp d8, d9, [sp, #96]",
        "stp d10, d11, [sp, #112]",
        "stp d12, d13, [sp, #128]",
        "stp d14, d15, [sp, #144]",
        "mov x9, sp",
        "ldr x10, [x0]",
        "str x9, [x0]",
        "mov sp, x10",
        "ldp x19, x20, [sp]",
        "ldp x21, x22, [sp, #16]",
        "ldp x23, x24, [sp, #32]",
        "ldp x25, x26, [sp, #48]",
        "ldp x27, x28, [sp, #64]",
        "ldp x29, x30, [sp, #80]",
        "ldp d8, d9, [sp, #96]",
        "ldp d10, d11, [sp, #112]",
        "ldp d12, d13, [sp, #128]",
        "ldp d14, d15, [sp, #144]",
        "add sp, sp, #160",
        // Not `ret`, whose predicted target would come from calls made on the other stack.
        "br x30",
        ".endr"
    ]
}

assembly! {
    /// The code of the second stack: counts its turns and switches back, in an endless loop. Its state is in `x19`.
    fn entry();
    [
        "2:",
        "ldr x9, [x19, {turns}]",
        "add x9, x9, #1",
        "str x9, [x19, {turns}]",
        "add x0, x19, {other}",
        "bl fathom_switch_back",
        "b 2b"
    ],
    turns = const core::mem::offset_of!(State, turns),
    other = const core::mem::offset_of!(State, other)
}
