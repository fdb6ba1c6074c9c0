//! Section 3: CPU, scheduling and operating-system services.

#[cfg(not(target_arch = "x86_64"))]
#[path = "compiled.rs"]
pub mod unoptimised;
#[cfg(target_arch = "x86_64")]
pub mod unoptimised;

mod call;
mod switch;
mod task;
mod timing;

pub use call::{ARGUMENT, NO_ARGUMENT, SEVEN_ARGUMENTS, SYSTEM_CALL};
pub use switch::{PIPE, PROCESS_SWITCH, PROCESS_SWITCH_LESS_PIPE, THREAD_SWITCH, THREAD_SWITCH_LESS_PIPE};
pub use task::{PROCESS, THREAD};
pub use timing::{LOOP, MEASUREMENT, TIMER, TIMER_AROUND, TIMER_WHOLE};

/// How every loop here differs from the report's.
const ASSEMBLY: &str = "The loops are written in assembly, with the loads and stores that gcc generates for the report's loops without \
                        optimisation. Counts are reduced where they would take longer than 15 s.";

/// How loops of system calls differ from the report's.
const COMPILED: &str = "The loop is compiled with optimisation; its cost is negligible beside the calls. Counts are reduced where they \
                        would take longer than 15 s.";
