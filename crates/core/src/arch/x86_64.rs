//! x86-64.

use super::LatencyChain;
use core::arch::asm;
use core::arch::x86_64::{__rdtscp, _mm_lfence, _rdtsc};

/// The extension without which reading the counter ends the process.
pub const COUNTER_NEEDS: Option<&str> = Some("rdtscp");

/// Reads the counter before the work.
#[inline(always)]
pub fn counter_start() -> (u64, Option<u32>) {
    // SAFETY: both instructions exist on every x86-64 processor and touch no memory.
    let ticks = unsafe {
        _mm_lfence(); // earlier instructions have ended before the counter is read
        let ticks = _rdtsc();
        _mm_lfence(); // and none of the work begins before that
        ticks
    };
    (ticks, None)
}

/// Reads the counter after the work, and the CPU on which it was read.
#[inline(always)]
pub fn counter_stop() -> (u64, Option<u32>) {
    let mut auxiliary = 0;
    // SAFETY: `Qualification` reads this clock, and permits its use, only if `rdtscp` exists.
    let ticks = unsafe {
        let ticks = __rdtscp(&raw mut auxiliary); // waits until the work has ended
        _mm_lfence(); // and nothing later begins before it is read
        ticks
    };
    // Linux keeps the CPU number in the low twelve bits of TSC_AUX, the NUMA node above.
    (ticks, Some(auxiliary & 0xfff))
}

/// Chains of 64 dependent instructions per round, with the cycles that each takes. `imul r64, r64` takes three on every x86-64
/// core since Nehalem and Zen (Fog, Instruction tables).
pub fn latencies() -> Option<[LatencyChain; 3]> {
    Some([(add, 1.0), (exclusive_or, 1.0), (multiply, 3.0)])
}

macro_rules! links {
    ($name:ident, $link:literal) => {
        fn $name(rounds: u64) {
            // SAFETY: registers only; the loop ends after `rounds`, which is at least one.
            unsafe {
                asm!(
                    ".p2align 6", "2:", ".rept 64", $link, ".endr", "dec {n}", "jnz 2b",
                    n = inout(reg) rounds.max(1) => _, inout("rax") 3_u64 => _, in("rdx") 5_u64,
                    options(nostack, nomem)
                );
            }
        }
    };
}
links!(add, "add rax, rdx");
links!(exclusive_or, "xor rax, rdx");
links!(multiply, "imul rax, rdx");

/// Turns of 64 additions to eight registers in rotation: wider than any core retires in a cycle.
#[inline(never)]
pub fn stream(turns: u64) {
    // SAFETY: registers only; the loop ends after `turns`, of which there is one at least.
    unsafe {
        asm!(
            ".p2align 6", "2:", ".rept 8",
            ".irp sum, {a}, {b}, {c}, {d}, {e}, {f}, {g}, {h}", "add \\sum, {step}", ".endr",
            ".endr", "dec {n}", "jnz 2b",
            a = inout(reg) 1_u64 => _, b = inout(reg) 2_u64 => _, c = inout(reg) 3_u64 => _,
            d = inout(reg) 4_u64 => _, e = inout(reg) 5_u64 => _, f = inout(reg) 6_u64 => _,
            g = inout(reg) 7_u64 => _, h = inout(reg) 8_u64 => _, n = inout(reg) turns => _,
            step = in(reg) 5_u64, options(nostack, nomem)
        );
    }
}

/// Turns of 64 additions, each to the result of the one before.
#[inline(never)]
pub fn chain(turns: u64) {
    // SAFETY: registers only; the loop ends after `turns`, of which there is one at least.
    unsafe {
        asm!(
            ".p2align 6", "2:", ".rept 64", "add {a}, {step}", ".endr", "dec {n}", "jnz 2b",
            a = inout(reg) 1_u64 => _, n = inout(reg) turns => _, step = in(reg) 5_u64,
            options(nostack, nomem)
        );
    }
}

/// CPUID: EAX, EBX, ECX, EDX.
pub fn cpuid(leaf: u32, subleaf: u32) -> Option<[u32; 4]> {
    let answer = raw_cpuid::cpuid!(leaf, subleaf);
    Some([answer.eax, answer.ebx, answer.ecx, answer.edx])
}

/// Whether programs can execute an extension, by its name in Linux.
pub fn executes(extension: &str) -> Option<bool> {
    Some(match extension {
        "rdtscp" => cpuid(0x8000_0001, 0)?[3] >> 27 & 1 == 1,
        "avx" => is_x86_feature_detected!("avx"),
        "avx2" => is_x86_feature_detected!("avx2"),
        "avx512f" => is_x86_feature_detected!("avx512f"),
        _ => return None,
    })
}

/// No instruction tells.
pub fn counter_frequency() -> Option<u64> {
    None
}

/// CPUID tells, by way of the kernel.
pub fn data_line() -> Option<u64> {
    None
}
