//! The reports' timers: where they put which instructions around what they timed.

#[cfg(target_arch = "x86_64")]
use core::arch::asm;

/// What stands around the work: `CPUID; RDTSC` … `RDTSCP; CPUID`, after Paoloni (Intel white paper 324264-001, 2010), as
/// reports 000 and 003 have it. Ticks; negative where the counter ran backwards, which they took for huge.
///
/// In a virtual machine each CPUID exits to the hypervisor, as it would have for them.
#[inline(always)]
#[allow(clippy::inline_always, reason = "a call would stand inside the timed region")]
pub fn paoloni(work: impl FnOnce()) -> i64 {
    let start = start();
    work();
    stop_with_trailing_cpuid().wrapping_sub(start) as i64
}

/// The same without the CPUID at the end, as report 001 has it.
#[inline(always)]
#[allow(clippy::inline_always, reason = "a call would stand inside the timed region")]
pub fn without_trailing_cpuid(work: impl FnOnce()) -> i64 {
    let start = start();
    work();
    stop().wrapping_sub(start) as i64
}

/// `MFENCE; LFENCE; RDTSC` on both sides, as report 002 has it.
#[inline(always)]
#[allow(clippy::inline_always, reason = "a call would stand inside the timed region")]
pub fn fenced(work: impl FnOnce()) -> i64 {
    let start = after_fences();
    work();
    after_fences().wrapping_sub(start) as i64
}

/// `MFENCE; LFENCE; RDTSC`.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
#[allow(clippy::inline_always, reason = "a call would stand inside the timed region")]
fn after_fences() -> u64 {
    let ticks: u64;
    // SAFETY: registers only.
    unsafe {
        asm!(
            "mfence", "lfence", "rdtsc", "shl rdx, 32", "or rdx, rax", "mov {ticks}, rdx",
            ticks = out(reg) ticks, out("rax") _, out("rdx") _, options(nostack)
        );
    }
    ticks
}

/// `CPUID; RDTSC`.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
#[allow(clippy::inline_always, reason = "a call would stand inside the timed region")]
pub fn start() -> u64 {
    let ticks: u64;
    // SAFETY: registers only; rbx, which the compiler reserves, is saved around CPUID. Memory may be read and written by
    // what is timed, so nothing is promised of it.
    unsafe {
        asm!(
            "mov {saved}, rbx", "xor eax, eax", "cpuid", "rdtsc", "mov rbx, {saved}",
            "shl rdx, 32", "or rdx, rax", "mov {ticks}, rdx",
            saved = out(reg) _, ticks = out(reg) ticks,
            out("rax") _, out("rcx") _, out("rdx") _, options(nostack)
        );
    }
    ticks
}

/// `RDTSCP`.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
#[allow(clippy::inline_always, reason = "a call would stand inside the timed region")]
pub fn stop() -> u64 {
    let ticks: u64;
    // SAFETY: registers only.
    unsafe {
        asm!(
            "rdtscp", "shl rdx, 32", "or rdx, rax", "mov {ticks}, rdx",
            ticks = out(reg) ticks, out("rax") _, out("rcx") _, out("rdx") _, options(nostack)
        );
    }
    ticks
}

/// `RDTSCP; CPUID`.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
#[allow(clippy::inline_always, reason = "a call would stand inside the timed region")]
pub fn stop_with_trailing_cpuid() -> u64 {
    let ticks: u64;
    // SAFETY: registers only; rbx is saved around CPUID.
    unsafe {
        asm!(
            "rdtscp", "shl rdx, 32", "or rdx, rax", "mov {ticks}, rdx",
            "mov {saved}, rbx", "xor eax, eax", "cpuid", "mov rbx, {saved}",
            saved = out(reg) _, ticks = out(reg) ticks,
            out("rax") _, out("rcx") _, out("rdx") _, options(nostack)
        );
    }
    ticks
}

/// Elsewhere than on x86-64 their instructions do not exist: the counter as the instrument reads it.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
#[allow(clippy::inline_always, reason = "a call would stand inside the timed region")]
pub fn start() -> u64 {
    use crate::sampling::clock::{Clock, Counter};
    Counter.start().ticks
}

#[cfg(not(target_arch = "x86_64"))]
pub use {start as stop, start as stop_with_trailing_cpuid, start as after_fences};
