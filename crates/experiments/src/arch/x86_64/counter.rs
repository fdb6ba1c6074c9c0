//! Forms of reading the counter on x86-64: each a pair of readings, back to back or around work whose instructions depend on each
//! other.

use crate::arch::{CounterForm, MULTIPLICATIONS, Pair};
use core::arch::asm;

const fn form(name: &'static str, [pair, around]: [Pair; 2]) -> CounterForm {
    CounterForm { name, pair, around }
}

pub const FORMS: &[CounterForm] = &[
    form("rdtsc", [bare::<0>, bare::<MULTIPLICATIONS>]),
    form("rdtscp", [rdtscp::<0>, rdtscp::<MULTIPLICATIONS>]),
    form("lfence-rdtsc-lfence rdtscp-lfence", [fenced::<0>, fenced::<MULTIPLICATIONS>]),
    form("lfence-rdtsc-lfence nop rdtscp-lfence", [fenced_with_nop::<0>, fenced_with_nop::<MULTIPLICATIONS>]),
    form("mfence-lfence-rdtsc", [mfence::<0>, mfence::<MULTIPLICATIONS>]),
    form(
        "cpuid-rdtsc rdtscp-cpuid",
        [cpuid_rdtsc_rdtscp_cpuid::<0>, cpuid_rdtsc_rdtscp_cpuid::<MULTIPLICATIONS>],
    ),
    form("cpuid-rdtsc rdtscp", [paoloni_without_trailing::<0>, paoloni_without_trailing::<MULTIPLICATIONS>]),
];

macro_rules! form {
    ($name:ident, [$($before:literal),*], [$($after:literal),*]) => {
        /// Two readings around `WORK` multiplications; the difference in ticks.
        fn $name<const WORK: u32>() -> i64 {
            let (start, stop): (u64, u64);
            // SAFETY: registers only; rbx, which the compiler reserves, is saved around CPUID.
            unsafe {
                asm!(
                    "mov {saved}, rbx",
                    $($before,)*
                    "shl rdx, 32", "or rdx, rax", "mov {start}, rdx",
                    ".rept {work}", "imul {factor}, {factor}", ".endr",
                    $($after,)*
                    "mov rbx, {saved}",
                    saved = out(reg) _, start = out(reg) start, stop = out(reg) stop,
                    work = const WORK, factor = inout(reg) 3_u64 => _,
                    out("rax") _, out("rcx") _, out("rdx") _, options(nostack)
                );
            }
            stop.wrapping_sub(start) as i64
        }
    };
}
form!(bare, ["rdtsc"], ["rdtsc", "shl rdx, 32", "or rdx, rax", "mov {stop}, rdx"]);
form!(rdtscp, ["rdtscp"], ["rdtscp", "shl rdx, 32", "or rdx, rax", "mov {stop}, rdx"]);
form!(
    fenced,
    ["lfence", "rdtsc", "lfence"],
    ["rdtscp", "lfence", "shl rdx, 32", "or rdx, rax", "mov {stop}, rdx"]
);
form!(
    fenced_with_nop,
    ["lfence", "rdtsc", "lfence"],
    ["nop", "rdtscp", "lfence", "shl rdx, 32", "or rdx, rax", "mov {stop}, rdx"]
);
form!(
    mfence,
    ["mfence", "lfence", "rdtsc"],
    ["mfence", "lfence", "rdtsc", "shl rdx, 32", "or rdx, rax", "mov {stop}, rdx"]
);
form!(
    cpuid_rdtsc_rdtscp_cpuid,
    ["xor eax, eax", "cpuid", "rdtsc"],
    ["rdtscp", "shl rdx, 32", "or rdx, rax", "mov {stop}, rdx", "xor eax, eax", "cpuid"]
);
form!(
    paoloni_without_trailing,
    ["xor eax, eax", "cpuid", "rdtsc"],
    ["rdtscp", "shl rdx, 32", "or rdx, rax", "mov {stop}, rdx"]
);

/// The form that keeps the work between its readings.
pub const KEEPS_WORK: &str = "lfence-rdtsc-lfence rdtscp-lfence";
