//! Section 3: CPU, scheduling and services of the operating system.

#[cfg(not(target_arch = "x86_64"))]
#[path = "compiled.rs"]
mod unoptimised;
#[cfg(target_arch = "x86_64")]
mod unoptimised;

mod call;
mod switch;
mod task;
mod timing;

pub use call::{ARGUMENT, NO_ARGUMENT, SEVEN_ARGUMENTS, SYSTEM_CALL};
pub use switch::{PIPE, PROCESS_SWITCH, PROCESS_SWITCH_LESS_PIPE, THREAD_SWITCH, THREAD_SWITCH_LESS_PIPE};
pub use task::{PROCESS, THREAD};
pub use timing::{LOOP, MEASUREMENT, TIMER, TIMER_AROUND, TIMER_WHOLE};

/// What is different of every loop here.
const ASSEMBLY: &str = "What gcc makes of their loops without optimisation is written here in assembly, with the same \
                        loads and stores. Counts are reduced where they would take longer than 15 s.";

/// What is different of loops of system calls.
const COMPILED: &str = "The loop is compiled with optimisation: of what it costs the calls leave nothing to be seen. Counts \
                        are reduced where they would take longer than 15 s.";
