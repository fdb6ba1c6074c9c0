//! The string instructions, repeated by the processor itself: microcode chooses how lines are moved.

use core::arch::naked_asm;

macro_rules! string {
    ($name:ident, [$($code:literal),*]) => {
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name(_: *mut u64, _: *const u64, _: *const u64, _: usize, _: u64) -> u64 {
            naked_asm!("shr rcx, 3", $($code,)* "ret")
        }
    };
}

// Each load overwrites `rax`: only the last word can be checked.
string!(load, ["rep lodsq"]);
string!(store, ["mov rax, r8", "rep stosq", "xor eax, eax"]);
string!(transfer, ["rep movsq", "xor eax, eax"]);
