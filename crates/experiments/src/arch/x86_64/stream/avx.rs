//! Vectors of 32 bytes (AVX2) and of 64 bytes (AVX-512): 512 bytes per iteration of the loop. Arguments as in `word.rs`.
//!
//! Both instruction sets are written alike; they differ in the names of the registers, their size, and the number of blocks of
//! eight registers in 512 bytes.

/// `$code` for each of eight registers `\k`, in blocks that begin at `\at`: 512 bytes.
macro_rules! each {
    ($blocks:literal, $($code:literal),*) => {
        concat!(".irp at, ", $blocks, "\n.irp k, 0, 1, 2, 3, 4, 5, 6, 7\n", $($code,)* "\n.endr\n.endr")
    };
}

/// Prefetches each line read, a KiB ahead.
macro_rules! prefetch {
    () => {
        ".irp at, 0, 64, 128, 192, 256, 320, 384, 448\nprefetcht0 [rsi + \\at + 1024]\n.endr"
    };
}

/// Broadcasts the word in `r8` to every lane of `\$register`.
macro_rules! broadcast {
    ($register:literal) => {
        concat!("vmovq xmm8, r8\nvpbroadcastq ", $register, "8, xmm8")
    };
}

/// Eight sums, so that additions do not depend on the one before; `$halve` reduces a sum of 64 bytes to 32.
macro_rules! read {
    ($name:ident, $r:literal, $s:literal, $blocks:literal, [$($halve:literal),*], [$($ahead:expr),*]) => {
        stream!(
            $name,
            512,
            [".irp k, 0, 1, 2, 3, 4, 5, 6, 7\nvpxor xmm\\k, xmm\\k, xmm\\k\n.endr"],
            [
                $($ahead,)*
                each!($blocks, "vpaddq ", $r, "\\k, ", $r, "\\k, [rsi + \\at + \\k*", $s, "]"),
                "add rsi, 512"
            ],
            [
                concat!(".irp k, 1, 2, 3, 4, 5, 6, 7\nvpaddq ", $r, "0, ", $r, "0, ", $r, "\\k\n.endr"),
                $($halve,)*
                "vextracti128 xmm1, ymm0, 1",
                "vpaddq xmm0, xmm0, xmm1",
                "vpsrldq xmm1, xmm0, 8",
                "vpaddq xmm0, xmm0, xmm1",
                "vmovq rax, xmm0",
                "vzeroupper"
            ]
        );
    };
}

macro_rules! write {
    ($name:ident, $r:literal, $s:literal, $blocks:literal, $store:literal, [$($fence:literal),*]) => {
        stream!(
            $name,
            512,
            [broadcast!($r)],
            [each!($blocks, $store, " [rdi + \\at + \\k*", $s, "], ", $r, "8"), "add rdi, 512"],
            [$($fence,)* "vzeroupper", "xor eax, eax"]
        );
    };
}

macro_rules! copy {
    ($name:ident, $r:literal, $s:literal, $blocks:literal, $store:literal, [$($fence:literal),*], [$($ahead:expr),*]) => {
        stream!(
            $name,
            512,
            [],
            [
                $($ahead,)*
                each!(
                    $blocks,
                    "vmovapd ", $r, "\\k, [rsi + \\at + \\k*", $s, "]\n",
                    $store, " [rdi + \\at + \\k*", $s, "], ", $r, "\\k"
                ),
                "add rsi, 512",
                "add rdi, 512"
            ],
            [$($fence,)* "vzeroupper", "xor eax, eax"]
        );
    };
}

/// Copies 256 bytes past the caches.
macro_rules! moved_past_caches {
    ($r:literal, $s:literal, $registers:literal, $from:literal, $to:literal) => {
        concat!(
            concat!(".irp k, ", $registers, "\nvmovapd ", $r, "\\k, [", $from, " + \\k*", $s, "]\n"),
            concat!("vmovntpd [", $to, " + \\k*", $s, "], ", $r, "\\k\n.endr")
        )
    };
}

/// Copies both halves of the arrays concurrently past the caches: memory has twice as many pages open, and is faster.
macro_rules! copy_halves {
    ($name:ident, $r:literal, $s:literal, $registers:literal) => {
        stream!(
            $name,
            512,
            ["mov r9, rcx", "shr r9, 1", "lea r10, [rdi + r9]", "add r9, rsi"],
            [
                moved_past_caches!($r, $s, $registers, "rsi", "rdi"),
                moved_past_caches!($r, $s, $registers, "r9", "r10"),
                "add rsi, 256",
                "add r9, 256",
                "add rdi, 256",
                "add r10, 256"
            ],
            ["sfence", "vzeroupper", "xor eax, eax"]
        );
    };
}

macro_rules! scale {
    ($name:ident, $r:literal, $s:literal, $blocks:literal, $store:literal, [$($fence:literal),*]) => {
        stream!(
            $name,
            512,
            [broadcast!($r)],
            [
                each!(
                    $blocks,
                    "vmulpd ", $r, "\\k, ", $r, "8, [rsi + \\at + \\k*", $s, "]\n",
                    $store, " [rdi + \\at + \\k*", $s, "], ", $r, "\\k"
                ),
                "add rsi, 512",
                "add rdi, 512"
            ],
            [$($fence,)* "vzeroupper", "xor eax, eax"]
        );
    };
}

macro_rules! triad {
    ($name:ident, $r:literal, $s:literal, $blocks:literal, $store:literal, [$($fence:literal),*]) => {
        stream!(
            $name,
            512,
            [broadcast!($r)],
            [
                each!(
                    $blocks,
                    "vmulpd ", $r, "\\k, ", $r, "8, [rdx + \\at + \\k*", $s, "]\n",
                    "vaddpd ", $r, "\\k, ", $r, "\\k, [rsi + \\at + \\k*", $s, "]\n",
                    $store, " [rdi + \\at + \\k*", $s, "], ", $r, "\\k"
                ),
                "add rsi, 512",
                "add rdx, 512",
                "add rdi, 512"
            ],
            [$($fence,)* "vzeroupper", "xor eax, eax"]
        );
    };
}

/// The kernels of one vector width, in a module of its own: `$r` is the name of its registers, `$s` their size in bytes, and
/// `$registers` of them hold 256 bytes.
macro_rules! width {
    ($name:ident, $r:literal, $s:literal, $blocks:literal, $registers:literal, [$($halve:literal),*]) => {
        pub mod $name {
            use super::super::word::stream;

            read!(read, $r, $s, $blocks, [$($halve),*], []);
            read!(read_prefetching, $r, $s, $blocks, [$($halve),*], [prefetch!()]);
            write!(write, $r, $s, $blocks, "vmovapd", []);
            // Stores have left the core only after the fence.
            write!(write_non_temporal, $r, $s, $blocks, "vmovntpd", ["sfence"]);
            copy!(copy, $r, $s, $blocks, "vmovapd", [], []);
            copy!(copy_prefetching, $r, $s, $blocks, "vmovapd", [], [prefetch!()]);
            copy!(copy_non_temporal, $r, $s, $blocks, "vmovntpd", ["sfence"], []);
            copy_halves!(copy_halves_non_temporal, $r, $s, $registers);
            scale!(scale, $r, $s, $blocks, "vmovapd", []);
            scale!(scale_non_temporal, $r, $s, $blocks, "vmovntpd", ["sfence"]);
            triad!(triad, $r, $s, $blocks, "vmovapd", []);
            triad!(triad_non_temporal, $r, $s, $blocks, "vmovntpd", ["sfence"]);
        }
    };
}
width!(avx2, "ymm", 32, "0, 256", "0, 1, 2, 3, 4, 5, 6, 7", []);
width!(avx512, "zmm", 64, "0", "0, 1, 2, 3", ["vextracti64x4 ymm1, zmm0, 1", "vpaddq ymm0, ymm0, ymm1"]);
