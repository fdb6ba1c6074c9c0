//! Forms of reading the counter on aarch64: each a pair of readings, back to back or around work whose instructions depend on each
//! other.

use crate::arch::{CounterForm, MULTIPLICATIONS};
use core::arch::asm;

/// Every form: bare, with barriers that keep it after the work, and as the sampler reads it.
pub const FORMS: &[CounterForm] = &[
    CounterForm { name: "cntvct", pair: bare::<0>, around: bare::<MULTIPLICATIONS> },
    CounterForm { name: "isb-cntvct", pair: behind::<0>, around: behind::<MULTIPLICATIONS> },
    CounterForm { name: "isb-cntvct-isb", pair: between::<0>, around: between::<MULTIPLICATIONS> },
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

/// The form that keeps the work between its readings.
pub const KEEPS_WORK: &str = "isb-cntvct-isb";
