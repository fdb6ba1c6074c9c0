//! aarch64.

use super::LatencyChain;
use core::arch::asm;

/// Every processor has it.
pub const COUNTER_NEEDS: Option<&str> = None;

/// Reads the counter; the barriers keep the reading in its place.
#[inline(always)]
pub fn counter_start() -> (u64, Option<u32>) {
    let ticks: u64;
    // SAFETY: Linux lets user space read the virtual counter.
    unsafe { asm!("isb", "mrs {}, cntvct_el0", "isb", out(reg) ticks, options(nostack)) };
    (ticks, None)
}

/// As before the work.
#[inline(always)]
pub fn counter_stop() -> (u64, Option<u32>) {
    counter_start()
}

/// Chains of 64 dependent instructions per round, with the cycles that each takes. The third is a subtraction: the latency of a
/// multiplication differs between Arm cores.
pub fn latencies() -> Option<[LatencyChain; 3]> {
    Some([(add, 1.0), (exclusive_or, 1.0), (subtract, 1.0)])
}

macro_rules! links {
    ($name:ident, $link:literal) => {
        fn $name(rounds: u64) {
            // SAFETY: registers only; the loop ends after `rounds`, which is at least one.
            unsafe {
                asm!(
                    ".p2align 6", "2:", ".rept 64", $link, ".endr", "subs {n}, {n}, #1", "b.ne 2b",
                    n = inout(reg) rounds.max(1) => _, inout("x9") 3_u64 => _, in("x10") 5_u64,
                    options(nostack, nomem)
                );
            }
        }
    };
}
links!(add, "add x9, x9, x10");
links!(exclusive_or, "eor x9, x9, x10");
links!(subtract, "sub x9, x9, x10");

/// Turns of 64 additions to eight registers in rotation: wider than any core retires in a cycle.
#[inline(never)]
pub fn stream(turns: u64) {
    // SAFETY: registers only; the loop ends after `turns`, of which there is one at least.
    unsafe {
        asm!(
            ".p2align 6", "2:", ".rept 8",
            ".irp sum, {a}, {b}, {c}, {d}, {e}, {f}, {g}, {h}", "add \\sum, \\sum, {step}", ".endr",
            ".endr", "subs {n}, {n}, #1", "b.ne 2b",
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
            ".p2align 6", "2:", ".rept 64", "add {a}, {a}, {step}", ".endr", "subs {n}, {n}, #1", "b.ne 2b",
            a = inout(reg) 1_u64 => _, n = inout(reg) turns => _, step = in(reg) 5_u64,
            options(nostack, nomem)
        );
    }
}

/// There is no such instruction.
pub fn cpuid(_: u32, _: u32) -> Option<[u32; 4]> {
    None
}

/// No instruction tells.
pub fn executes(_: &str) -> Option<bool> {
    None
}

/// `CNTFRQ_EL0`, Hz.
pub fn counter_frequency() -> Option<u64> {
    let frequency: u64;
    // SAFETY: reads a register that Linux lets every process read; touches neither memory nor flags.
    unsafe { asm!("mrs {}, cntfrq_el0", out(reg) frequency, options(nomem, nostack, preserves_flags)) };
    (frequency > 0).then_some(frequency)
}

/// `CTR_EL0`, bytes.
pub fn data_line() -> Option<u64> {
    let register: u64;
    // SAFETY: as above.
    unsafe { asm!("mrs {}, ctr_el0", out(reg) register, options(nomem, nostack, preserves_flags)) };
    // DminLine: the logarithm of the words of four bytes (Arm ARM, D19.2.34).
    Some(4 << (register >> 16 & 0xf))
}
