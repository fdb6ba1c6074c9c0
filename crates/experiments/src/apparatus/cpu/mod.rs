//! Work of the processor, and what operating systems do for it.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub mod arithmetic_kernel;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) mod call_kernel;
pub(crate) mod counter_forms;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) mod loop_kernel;
pub(crate) mod mode_switch;
pub(crate) mod pairs;
pub(crate) mod program;
pub(crate) mod ring;
pub(crate) mod signal;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) mod user_thread;
pub(crate) mod watched;
