//! One word at a time, in assembly: a plain loop, the eight unrolled words of report 000, and the one word per line of reports
//! 001 and 002.
//!
//! Arguments by the System V calling convention: `rdi` the array written, `rsi` and `rdx` the arrays read, `rcx` their length in
//! bytes, `r8` the word to write or to multiply with.

macro_rules! stream {
    ($name:ident, $step:literal, [$($before:expr),*], [$($round:expr),*], [$($after:expr),*]) => {
        assembly! {
            fn $name(*mut u64, *const u64, *const u64, usize, u64) -> u64;
            [
                $($before,)*
                ".p2align 6", "2:",
                $($round,)*
                concat!("sub rcx, ", $step), "jnz 2b",
                $($after,)*
                "ret"
            ]
        }
    };
}
pub(super) use stream;

stream!(read, 8, ["xor eax, eax"], ["add rax, [rsi]", "add rsi, 8"], []);
stream!(write, 8, [], ["mov [rdi], r8", "add rdi, 8"], ["xor eax, eax"]);
stream!(copy, 8, [], ["mov rax, [rsi]", "mov [rdi], rax", "add rsi, 8", "add rdi, 8"], ["xor eax, eax"]);

// Four sums, so that additions do not depend on the one before.
stream!(
    read_unrolled,
    64,
    ["xor eax, eax", "xor r9d, r9d", "xor r10d, r10d", "xor r11d, r11d"],
    [
        "add rax, [rsi]",
        "add r9, [rsi + 8]",
        "add r10, [rsi + 16]",
        "add r11, [rsi + 24]",
        "add rax, [rsi + 32]",
        "add r9, [rsi + 40]",
        "add r10, [rsi + 48]",
        "add r11, [rsi + 56]",
        "add rsi, 64"
    ],
    ["add rax, r9", "add r10, r11", "add rax, r10"]
);
stream!(
    write_unrolled,
    64,
    [],
    [".irp at, 0, 8, 16, 24, 32, 40, 48, 56", "mov [rdi + \\at], r8", ".endr", "add rdi, 64"],
    ["xor eax, eax"]
);
stream!(
    copy_unrolled,
    64,
    [],
    [
        ".irp at, 0, 8, 16, 24, 32, 40, 48, 56",
        "mov rax, [rsi + \\at]",
        "mov [rdi + \\at], rax",
        ".endr",
        "add rsi, 64",
        "add rdi, 64"
    ],
    ["xor eax, eax"]
);

stream!(
    read_per_line,
    512,
    ["xor eax, eax", "xor r9d, r9d"],
    [
        ".irp at, 0, 128, 256, 384",
        "add rax, [rsi + \\at]",
        "add r9, [rsi + \\at + 64]",
        ".endr",
        "add rsi, 512"
    ],
    ["add rax, r9"]
);
stream!(
    write_per_line,
    512,
    [],
    [".irp at, 0, 64, 128, 192, 256, 320, 384, 448", "mov [rdi + \\at], r8", ".endr", "add rdi, 512"],
    ["xor eax, eax"]
);
