//! Vectors of 16 bytes, available on every x86-64 processor: 512 bytes per iteration of the loop. Arguments as in `word.rs`.

use super::word::stream;

/// `$code` for each of eight registers `\k`, in four blocks that begin at `\at`: 512 bytes.
macro_rules! each {
    ($code:literal) => {
        concat!(".irp at, 0, 128, 256, 384\n.irp k, 0, 1, 2, 3, 4, 5, 6, 7\n", $code, "\n.endr\n.endr")
    };
}

// Eight sums, so that additions do not depend on the one before.
stream!(
    read,
    512,
    [".irp k, 0, 1, 2, 3, 4, 5, 6, 7\npxor xmm\\k, xmm\\k\n.endr"],
    [each!("paddq xmm\\k, [rsi + \\at + \\k*16]"), "add rsi, 512"],
    [
        ".irp k, 1, 2, 3, 4, 5, 6, 7\npaddq xmm0, xmm\\k\n.endr",
        "movdqa xmm1, xmm0",
        "psrldq xmm1, 8",
        "paddq xmm0, xmm1",
        "movq rax, xmm0"
    ]
);
stream!(
    write,
    512,
    ["movq xmm0, r8", "punpcklqdq xmm0, xmm0"],
    [each!("movdqa [rdi + \\at + \\k*16], xmm0"), "add rdi, 512"],
    ["xor eax, eax"]
);
stream!(
    write_non_temporal,
    512,
    ["movq xmm0, r8", "punpcklqdq xmm0, xmm0"],
    [each!("movntdq [rdi + \\at + \\k*16], xmm0"), "add rdi, 512"],
    // Stores have left the core only after the fence.
    ["sfence", "xor eax, eax"]
);
stream!(
    copy,
    512,
    [],
    [
        each!("movdqa xmm\\k, [rsi + \\at + \\k*16]\nmovdqa [rdi + \\at + \\k*16], xmm\\k"),
        "add rsi, 512",
        "add rdi, 512"
    ],
    ["xor eax, eax"]
);
stream!(
    copy_non_temporal,
    512,
    [],
    [
        each!("movdqa xmm\\k, [rsi + \\at + \\k*16]\nmovntdq [rdi + \\at + \\k*16], xmm\\k"),
        "add rsi, 512",
        "add rdi, 512"
    ],
    ["sfence", "xor eax, eax"]
);
stream!(
    scale,
    512,
    ["movq xmm8, r8", "punpcklqdq xmm8, xmm8"],
    [
        each!(
            "movapd xmm\\k, [rsi + \\at + \\k*16]\nmulpd xmm\\k, xmm8\nmovapd [rdi + \\at + \\k*16], xmm\\k"
        ),
        "add rsi, 512",
        "add rdi, 512"
    ],
    ["xor eax, eax"]
);
stream!(
    triad,
    512,
    ["movq xmm8, r8", "punpcklqdq xmm8, xmm8"],
    [
        each!(
            "movapd xmm\\k, [rdx + \\at + \\k*16]\nmulpd xmm\\k, xmm8\naddpd xmm\\k, [rsi + \\at + \\k*16]\n\
             movapd [rdi + \\at + \\k*16], xmm\\k"
        ),
        "add rsi, 512",
        "add rdx, 512",
        "add rdi, 512"
    ],
    ["xor eax, eax"]
);
