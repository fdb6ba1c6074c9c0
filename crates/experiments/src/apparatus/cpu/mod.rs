//! Work of the processor, and what operating systems do for it.

pub mod arithmetic_kernel;
pub(crate) mod call_kernel;
pub mod contenders;
pub mod counters;
pub mod locks;
pub(crate) mod quota_group;
pub(crate) mod busy;
pub(crate) mod loop_kernel;
pub(crate) mod pairs;
pub(crate) mod program;
pub(crate) mod ring;
pub(crate) mod signal;
pub mod thread_checks;
pub(crate) mod user_thread;
pub(crate) mod watched;
