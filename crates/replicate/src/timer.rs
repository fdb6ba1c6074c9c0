//! The reports' timers: which instructions they place where around the timed work.

#[cfg(target_arch = "x86_64")]
use core::arch::asm;
use fathom_core::experiment::Requirement;

pub trait Timer {
    /// The ticks that work takes; negative where the counter ran backwards.
    fn ticks(work: impl FnOnce()) -> i64;

    /// The same of work that may fail.
    #[inline(always)]
    fn try_ticks<E>(work: impl FnOnce() -> Result<(), E>) -> Result<i64, E> {
        let mut outcome = Ok(());
        let ticks = Self::ticks(|| outcome = work());
        outcome.map(|()| ticks)
    }
}

macro_rules! timers {
    ($($(#[$text:meta])* $name:ident: $start:ident, $stop:ident;)*) => { $(
        $(#[$text])*
        pub struct $name;

        impl Timer for $name {
            #[inline(always)]
            fn ticks(work: impl FnOnce()) -> i64 {
                let start = $start();
                work();
                $stop().wrapping_sub(start) as i64
            }
        }
    )* };
}

timers! {
    /// The timer of reports 000 and 003: `CPUID; RDTSC` … `RDTSCP; CPUID`, after G. Paoloni (Intel white paper 324264-001, 2010). The
    /// reports took a negative difference for a huge number.
    ///
    /// In a virtual machine each CPUID exits to the hypervisor, as it would have with the reports' programs.
    CpuidRdtscRdtscpCpuid: start, stop_with_trailing_cpuid;
    /// The timer of report 001: the same without the CPUID at the end.
    CpuidRdtscRdtscp: start, stop;
    /// The timer of report 002: `MFENCE; LFENCE; RDTSC` on both sides.
    Fenced: after_fences, after_fences;
}

/// What the timers that end with RDTSCP need: [`stop`], [`stop_with_trailing_cpuid`], [`CpuidRdtscRdtscpCpuid`], [`CpuidRdtscRdtscp`].
#[cfg(target_arch = "x86_64")]
pub const ENDS_WITH_RDTSCP: &[Requirement] = &[Requirement::Instructions("rdtscp")];
/// On other architectures Fathom's own clock is read.
#[cfg(not(target_arch = "x86_64"))]
pub const ENDS_WITH_RDTSCP: &[Requirement] = &[];

/// Functions that read the counter: the instructions up to the one that reads it, and those behind the reading.
#[cfg(target_arch = "x86_64")]
macro_rules! readings {
    ($($(#[$text:meta])* $name:ident: [$($before:literal),*], [$($behind:literal),*];)*) => { $(
        $(#[$text])*
        #[inline(always)]
        pub fn $name() -> u64 {
            let ticks: u64;
            // SAFETY: registers only; rbx, which the compiler reserves, is saved around CPUID. A processor that has RDTSCP: a report whose
            // timer uses it says so (`Report::timer_needs`), and none of its methods is started elsewhere. Memory may be read and written
            // by what is timed, so the compiler may assume nothing about it.
            unsafe {
                asm!(
                    $($before,)* "shl rdx, 32", "or rdx, rax", "mov {ticks}, rdx", $($behind,)*
                    ticks = out(reg) ticks,
                    out("rax") _, out("rcx") _, out("rdx") _, out("rsi") _, options(nostack)
                );
            }
            ticks
        }
    )* };
}

#[cfg(target_arch = "x86_64")]
readings! {
    /// `MFENCE; LFENCE; RDTSC`.
    after_fences: ["mfence", "lfence", "rdtsc"], [];
    /// `CPUID; RDTSC`.
    start: ["mov rsi, rbx", "xor eax, eax", "cpuid", "rdtsc", "mov rbx, rsi"], [];
    /// `RDTSCP`.
    stop: ["rdtscp"], [];
    /// `RDTSCP; CPUID`.
    stop_with_trailing_cpuid: ["rdtscp"], ["mov rsi, rbx", "xor eax, eax", "cpuid", "mov rbx, rsi"];
}

/// On other architectures than x86-64 these instructions do not exist; the counter is read as Fathom's own methods read it.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub fn start() -> u64 {
    use fathom_core::sampling::clock::{Clock, Counter};
    Counter.start().ticks
}

#[cfg(not(target_arch = "x86_64"))]
pub use {start as stop, start as stop_with_trailing_cpuid, start as after_fences};
