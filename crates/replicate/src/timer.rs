//! The reports' timers: which instructions they place where around the timed work.

#[cfg(target_arch = "x86_64")]
use core::arch::asm;
use fathom_core::experiment::Requirement;

/// The timer of reports 000 and 003: `CPUID; RDTSC` … `RDTSCP; CPUID`, after G. Paoloni (Intel white paper 324264-001, 2010). Ticks;
/// negative where the counter ran backwards, which the reports took for a huge number.
///
/// In a virtual machine each CPUID exits to the hypervisor, as it would have with the reports' programs.
#[inline(always)]
#[allow(clippy::inline_always, reason = "a call would stand inside the timed region")]
pub fn cpuid_rdtsc_rdtscp_cpuid(work: impl FnOnce()) -> i64 {
    let start = start();
    work();
    stop_with_trailing_cpuid().wrapping_sub(start) as i64
}

/// A report's timer, where an operation that several reports time takes it as a parameter.
pub trait Timer {
    /// The ticks that work takes.
    fn ticks(work: impl FnOnce()) -> i64;

    /// The same of work that may fail.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "a call would stand inside the timed region")]
    fn try_ticks<E>(work: impl FnOnce() -> Result<(), E>) -> Result<i64, E> {
        let mut outcome = Ok(());
        let ticks = Self::ticks(|| outcome = work());
        outcome.map(|()| ticks)
    }
}

/// The timer of report 001: the same without the CPUID at the end.
pub struct CpuidRdtscRdtscp;

impl Timer for CpuidRdtscRdtscp {
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "a call would stand inside the timed region")]
    fn ticks(work: impl FnOnce()) -> i64 {
        let start = start();
        work();
        stop().wrapping_sub(start) as i64
    }
}

/// The timer of report 002: `MFENCE; LFENCE; RDTSC` on both sides.
pub struct Fenced;

impl Timer for Fenced {
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "a call would stand inside the timed region")]
    fn ticks(work: impl FnOnce()) -> i64 {
        let start = after_fences();
        work();
        after_fences().wrapping_sub(start) as i64
    }
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
    // what is timed, so the compiler may assume nothing about it.
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

/// What the timers that end with RDTSCP need: [`stop`], [`stop_with_trailing_cpuid`], [`cpuid_rdtsc_rdtscp_cpuid`], [`CpuidRdtscRdtscp`].
#[cfg(target_arch = "x86_64")]
pub const ENDS_WITH_RDTSCP: &[Requirement] = &[Requirement::Instructions("rdtscp")];
/// On other architectures Fathom's own clock is read.
#[cfg(not(target_arch = "x86_64"))]
pub const ENDS_WITH_RDTSCP: &[Requirement] = &[];

#[cfg(target_arch = "x86_64")]
#[inline(always)]
#[allow(clippy::inline_always, reason = "a call would stand inside the timed region")]
pub fn stop() -> u64 {
    let ticks: u64;
    // SAFETY: registers only, and a processor that has the instruction: a report whose timer this is says so
    // (`Report::timer_needs`), and none of its methods is started elsewhere.
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
    // SAFETY: registers only; rbx is saved around CPUID, and RDTSCP exists as in `stop`.
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

/// On other architectures than x86-64 these instructions do not exist; the counter is read as Fathom's own methods read it.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
#[allow(clippy::inline_always, reason = "a call would stand inside the timed region")]
pub fn start() -> u64 {
    use fathom_core::sampling::clock::{Clock, Counter};
    Counter.start().ticks
}

#[cfg(not(target_arch = "x86_64"))]
pub use {start as stop, start as stop_with_trailing_cpuid, start as after_fences};
