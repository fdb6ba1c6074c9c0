//! The forms of reading the counter that `timing_overhead` compares: each a pair of readings with nothing between.

/// A pair of readings with nothing between; its difference in ticks.
pub type Pair = fn() -> i64;

#[cfg(target_arch = "x86_64")]
pub use x86::ALL;

#[cfg(target_arch = "aarch64")]
pub use aarch64::ALL;

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub use portable::ALL;

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Pair;
    use core::arch::asm;

    /// Every form, by the name of its instructions before and after.
    pub const ALL: &[(&str, Pair)] = &[
        ("rdtsc", bare),
        ("rdtscp", rdtscp),
        ("lfence-rdtsc-lfence rdtscp-lfence", fenced),
        ("lfence-rdtsc-lfence nop rdtscp-lfence", fenced_with_nop),
        ("mfence-lfence-rdtsc", mfence),
        ("cpuid-rdtsc rdtscp-cpuid", paoloni),
        ("cpuid-rdtsc rdtscp", paoloni_without_trailing),
    ];

    macro_rules! form {
        ($name:ident, [$($before:literal),*], [$($after:literal),*]) => {
            /// Two readings with nothing between; the difference in ticks.
            fn $name() -> i64 {
                let (start, stop): (u64, u64);
                // SAFETY: registers only; rbx, which the compiler reserves, is saved around CPUID.
                unsafe {
                    asm!(
                        "mov {saved}, rbx",
                        $($before,)*
                        "shl rdx, 32", "or rdx, rax", "mov {start}, rdx",
                        $($after,)*
                        "mov rbx, {saved}",
                        saved = out(reg) _, start = out(reg) start, stop = out(reg) stop,
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
    use super::Pair;
    use core::arch::asm;

    /// Every form, by the name of its instructions: bare, kept behind the work, and as the sampler reads it.
    pub const ALL: &[(&str, Pair)] = &[("cntvct", bare), ("isb-cntvct", behind), ("isb-cntvct-isb", between)];

    macro_rules! form {
        ($name:ident, $before:literal, $after:literal) => {
            /// Two readings with nothing between; the difference in ticks.
            fn $name() -> i64 {
                let (start, stop): (u64, u64);
                // SAFETY: Linux lets user space read the virtual counter.
                unsafe {
                    asm!(
                        $before, "mrs {start}, cntvct_el0", $after, $before, "mrs {stop}, cntvct_el0", $after,
                        start = out(reg) start, stop = out(reg) stop, options(nostack)
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

/// Elsewhere there is the counter as the sampler reads it.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod portable {
    use super::Pair;
    use crate::sampling::clock::{Clock, Counter};

    /// The one form.
    pub const ALL: &[(&str, Pair)] = &[("counter", pair)];

    fn pair() -> i64 {
        let start = Counter.start();
        Counter.stop().since(start).0
    }
}
