//! The string instructions, repeated by the processor itself: microcode chooses how lines are moved.

macro_rules! string {
    ($name:ident, [$($code:literal),*]) => {
        assembly! {
            fn $name(*mut u64, *const u64, *const u64, usize, u64) -> u64;
            ["shr rcx, 3", $($code,)* "ret"]
        }
    };
}

// Each load overwrites `rax`: only the last word can be checked.
string!(load, ["rep lodsq"]);
string!(store, ["mov rax, r8", "rep stosq", "xor eax, eax"]);
string!(transfer, ["rep movsq", "xor eax, eax"]);
