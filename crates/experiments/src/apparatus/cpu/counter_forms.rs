//! Forms of reading the counter that `cpu/timing_overhead` compares: each a pair of readings, back to back or around work whose
//! instructions depend on each other.

/// A pair of readings; returns their difference in ticks.
pub type Pair = fn() -> i64;

/// A form of reading the counter.
pub struct Form {
    /// The instructions before and after the work.
    pub name: &'static str,
    /// Two readings back to back.
    pub pair: Pair,
    /// Two readings around [`MULTIPLICATIONS`] dependent multiplications.
    pub around: Pair,
}

/// Length of the work between the readings, in dependent multiplications.
pub const MULTIPLICATIONS: u32 = 64;

#[cfg(target_arch = "x86_64")]
pub use x86::ALL;

#[cfg(target_arch = "aarch64")]
pub use aarch64::ALL;

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub use portable::ALL;

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Form, MULTIPLICATIONS};
    use core::arch::asm;

    const fn form(name: &'static str, [pair, around]: [super::Pair; 2]) -> Form {
        Form { name, pair, around }
    }

    /// Every form.
    pub const ALL: &[Form] = &[
        form("rdtsc", [bare::<0>, bare::<MULTIPLICATIONS>]),
        form("rdtscp", [rdtscp::<0>, rdtscp::<MULTIPLICATIONS>]),
        form("lfence-rdtsc-lfence rdtscp-lfence", [fenced::<0>, fenced::<MULTIPLICATIONS>]),
        form(
            "lfence-rdtsc-lfence nop rdtscp-lfence",
            [fenced_with_nop::<0>, fenced_with_nop::<MULTIPLICATIONS>],
        ),
        form("mfence-lfence-rdtsc", [mfence::<0>, mfence::<MULTIPLICATIONS>]),
        form("cpuid-rdtsc rdtscp-cpuid", [paoloni::<0>, paoloni::<MULTIPLICATIONS>]),
        form(
            "cpuid-rdtsc rdtscp",
            [paoloni_without_trailing::<0>, paoloni_without_trailing::<MULTIPLICATIONS>],
        ),
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
        paoloni,
        ["xor eax, eax", "cpuid", "rdtsc"],
        ["rdtscp", "shl rdx, 32", "or rdx, rax", "mov {stop}, rdx", "xor eax, eax", "cpuid"]
    );
    form!(
        paoloni_without_trailing,
        ["xor eax, eax", "cpuid", "rdtsc"],
        ["rdtscp", "shl rdx, 32", "or rdx, rax", "mov {stop}, rdx"]
    );
}

#[cfg(target_arch = "aarch64")]
mod aarch64 {
    use super::{Form, MULTIPLICATIONS};
    use core::arch::asm;

    /// Every form: bare, with barriers that keep it after the work, and as the sampler reads it.
    pub const ALL: &[Form] = &[
        Form { name: "cntvct", pair: bare::<0>, around: bare::<MULTIPLICATIONS> },
        Form { name: "isb-cntvct", pair: behind::<0>, around: behind::<MULTIPLICATIONS> },
        Form { name: "isb-cntvct-isb", pair: between::<0>, around: between::<MULTIPLICATIONS> },
    ];

    macro_rules! form {
        ($name:ident, $before:literal, $after:literal) => {
            /// Two readings around `WORK` multiplications; the difference in ticks.
            fn $name<const WORK: u32>() -> i64 {
                let (start, stop): (u64, u64);
                // SAFETY: Linux lets user space read the virtual counter.
                unsafe {
                    asm!(
                        $before, "mrs {start}, cntvct_el0", $after,
                        ".rept {work}", "mul {factor}, {factor}, {factor}", ".endr",
                        $before, "mrs {stop}, cntvct_el0", $after,
                        start = out(reg) start, stop = out(reg) stop,
                        work = const WORK, factor = inout(reg) 3_u64 => _, options(nostack)
                    );
                }
                stop.wrapping_sub(start) as i64
            }
        };
    }
    form!(bare, "", "");
    form!(behind, "isb", "");
    form!(between, "isb", "isb");
}

/// On other architectures only the counter as the sampler reads it.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod portable {
    use super::{Form, MULTIPLICATIONS};
    use fathom_core::sampling::clock::{Clock, Counter};
    use std::hint::black_box;

    /// The one form.
    pub const ALL: &[Form] = &[Form { name: "counter", pair: pair::<0>, around: pair::<MULTIPLICATIONS> }];

    fn pair<const WORK: u32>() -> i64 {
        let (start, mut factor) = (Counter.start(), 3_u64);
        for _ in 0..WORK {
            factor = black_box(factor.wrapping_mul(factor));
        }
        Counter.stop().since(start).0
    }
}
