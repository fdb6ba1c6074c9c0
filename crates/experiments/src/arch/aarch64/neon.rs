//! Words, and vectors of 16 bytes in pairs, on aarch64. Arguments by the procedure call standard (AAPCS64): `x0` the array
//! written, `x1` and `x2` the arrays read, `x3` their length in bytes, `x4` the word to write or to multiply with.
//!
//! A pair is the widest access on every such processor, and the only one that can request to bypass the caches (`stnp`, which is
//! a hint by the architecture: Arm ARM, C3.2.4).

macro_rules! stream {
    ($name:ident, $step:literal, [$($before:expr),*], [$($round:expr),*], [$($after:expr),*]) => {
        assembly! {
            fn $name(*mut u64, *const u64, *const u64, usize, u64) -> u64;
            [
                $($before,)*
                ".p2align 6", "2:",
                $($round,)*
                concat!("subs x3, x3, #", $step), "b.ne 2b",
                $($after,)*
                "ret"
            ]
        }
    };
}

stream!(read_words, 8, ["mov x0, #0"], ["ldr x9, [x1], #8", "add x0, x0, x9"], []);
stream!(write_words, 8, [], ["str x4, [x0], #8"], ["mov x0, #0"]);
stream!(copy_words, 8, [], ["ldr x9, [x1], #8", "str x9, [x0], #8"], ["mov x0, #0"]);

// Four sums, so that additions do not depend on the one before.
stream!(
    read_unrolled,
    64,
    ["mov x0, #0", "mov x5, #0", "mov x6, #0", "mov x7, #0"],
    [
        ".irp at, 0, 32",
        "ldr x9, [x1, #\\at]\nldr x10, [x1, #\\at + 8]\nldr x11, [x1, #\\at + 16]\nldr x12, [x1, #\\at + 24]",
        "add x0, x0, x9\nadd x5, x5, x10\nadd x6, x6, x11\nadd x7, x7, x12",
        ".endr",
        "add x1, x1, #64"
    ],
    ["add x0, x0, x5", "add x6, x6, x7", "add x0, x0, x6"]
);
stream!(
    write_unrolled,
    64,
    [],
    [".irp at, 0, 8, 16, 24, 32, 40, 48, 56", "str x4, [x0, #\\at]", ".endr", "add x0, x0, #64"],
    ["mov x0, #0"]
);
stream!(
    copy_unrolled,
    64,
    [],
    [
        ".irp at, 0, 8, 16, 24, 32, 40, 48, 56",
        "ldr x9, [x1, #\\at]",
        "str x9, [x0, #\\at]",
        ".endr",
        "add x1, x1, #64",
        "add x0, x0, #64"
    ],
    ["mov x0, #0"]
);

stream!(
    read_per_line,
    512,
    ["mov x0, #0", "mov x5, #0"],
    [
        ".irp at, 0, 128, 256, 384",
        "ldr x9, [x1, #\\at]\nldr x10, [x1, #\\at + 64]",
        "add x0, x0, x9\nadd x5, x5, x10",
        ".endr",
        "add x1, x1, #512"
    ],
    ["add x0, x0, x5"]
);
stream!(
    write_per_line,
    512,
    [],
    [".irp at, 0, 64, 128, 192, 256, 320, 384, 448", "str x4, [x0, #\\at]", ".endr", "add x0, x0, #512"],
    ["mov x0, #0"]
);

/// `$pair` for sixteen pairs of registers, 512 bytes: the store instruction, the offset in the arrays, the registers, and one of
/// eight sums. Registers 8 to 15 are callee-saved.
macro_rules! pairs {
    ($pair:ident, $store:literal) => {
        concat!(
            $pair!($store, 0, 16, 17, 0),
            $pair!($store, 32, 18, 19, 1),
            $pair!($store, 64, 20, 21, 2),
            $pair!($store, 96, 22, 23, 3),
            $pair!($store, 128, 24, 25, 4),
            $pair!($store, 160, 26, 27, 5),
            $pair!($store, 192, 28, 29, 6),
            $pair!($store, 224, 30, 31, 7),
            $pair!($store, 256, 16, 17, 0),
            $pair!($store, 288, 18, 19, 1),
            $pair!($store, 320, 20, 21, 2),
            $pair!($store, 352, 22, 23, 3),
            $pair!($store, 384, 24, 25, 4),
            $pair!($store, 416, 26, 27, 5),
            $pair!($store, 448, 28, 29, 6),
            $pair!($store, 480, 30, 31, 7),
        )
    };
}

/// Loads or stores a pair of the array that `$array` points to.
macro_rules! moved {
    ($how:literal, $at:literal, $a:literal, $b:literal, $array:literal) => {
        concat!($how, " q", $a, ", q", $b, ", [", $array, ", #", $at, "]\n")
    };
}

/// `a = a $how b`, of two lanes.
macro_rules! lanes {
    ($how:literal, $a:literal, $b:literal) => {
        concat!($how, " v", $a, ".2d, v", $a, ".2d, v", $b, ".2d\n")
    };
}

macro_rules! summed {
    ($load:literal, $at:literal, $a:literal, $b:literal, $sum:literal) => {
        concat!(moved!($load, $at, $a, $b, "x1"), lanes!("add", $sum, $a), lanes!("add", $sum, $b))
    };
}

macro_rules! written {
    ($store:literal, $at:literal, $a:literal, $b:literal, $sum:literal) => {
        moved!($store, $at, 0, 0, "x0")
    };
}

macro_rules! copied {
    ($store:literal, $at:literal, $a:literal, $b:literal, $sum:literal) => {
        concat!(moved!("ldp", $at, $a, $b, "x1"), moved!($store, $at, $a, $b, "x0"))
    };
}

macro_rules! scaled {
    ($store:literal, $at:literal, $a:literal, $b:literal, $sum:literal) => {
        concat!(
            moved!("ldp", $at, $a, $b, "x1"),
            lanes!("fmul", $a, 0),
            lanes!("fmul", $b, 0),
            moved!($store, $at, $a, $b, "x0")
        )
    };
}

macro_rules! added_to_scaled {
    ($store:literal, $at:literal, $a:literal, $b:literal, $sum:literal) => {
        concat!(
            moved!("ldp", $at, $a, $b, "x2"),
            lanes!("fmul", $a, 0),
            lanes!("fmul", $b, 0),
            moved!("ldp", $at, 2, 3, "x1"),
            lanes!("fadd", $a, 2),
            lanes!("fadd", $b, 3),
            moved!($store, $at, $a, $b, "x0")
        )
    };
}

/// Prefetches each line read, a KiB ahead.
macro_rules! prefetch {
    () => {
        ".irp at, 0, 64, 128, 192, 256, 320, 384, 448\nprfm pldl1keep, [x1, #\\at + 1024]\n.endr"
    };
}

macro_rules! read {
    ($name:ident, [$($ahead:expr),*]) => {
        stream!(
            $name,
            512,
            [".irp k, 0, 1, 2, 3, 4, 5, 6, 7\nmovi v\\k\\().2d, #0\n.endr"],
            [$($ahead,)* pairs!(summed, "ldp"), "add x1, x1, #512"],
            [
                ".irp k, 1, 2, 3, 4, 5, 6, 7\nadd v0.2d, v0.2d, v\\k\\().2d\n.endr",
                "addp d0, v0.2d",
                "fmov x0, d0"
            ]
        );
    };
}
read!(read, []);
read!(read_prefetching, [prefetch!()]);

macro_rules! copy {
    ($name:ident, $store:literal, [$($ahead:expr),*]) => {
        stream!(
            $name,
            512,
            [],
            [$($ahead,)* pairs!(copied, $store), "add x1, x1, #512", "add x0, x0, #512"],
            ["mov x0, #0"]
        );
    };
}
copy!(copy, "stp", []);
copy!(copy_prefetching, "stp", [prefetch!()]);
copy!(copy_non_temporal, "stnp", []);

macro_rules! write {
    ($name:ident, $store:literal) => {
        stream!($name, 512, ["dup v0.2d, x4"], [pairs!(written, $store), "add x0, x0, #512"], ["mov x0, #0"]);
    };
}
write!(write, "stp");
write!(write_non_temporal, "stnp");

macro_rules! computed {
    ($name:ident, $pair:ident, $store:literal) => {
        stream!(
            $name,
            512,
            ["dup v0.2d, x4"],
            [pairs!($pair, $store), "add x1, x1, #512", "add x2, x2, #512", "add x0, x0, #512"],
            ["mov x0, #0"]
        );
    };
}
computed!(scale, scaled, "stp");
computed!(scale_non_temporal, scaled, "stnp");
computed!(triad, added_to_scaled, "stp");
computed!(triad_non_temporal, added_to_scaled, "stnp");
