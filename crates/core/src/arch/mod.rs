//! What is written for an architecture in this crate: its counter, its chains and streams of instructions, and what its own
//! instructions tell of it. Every file below offers the same; another architecture is one more of them.

#[allow(clippy::inline_always, reason = "a reading stands directly beside the work")]
#[cfg_attr(target_arch = "x86_64", path = "x86_64.rs")]
#[cfg_attr(target_arch = "aarch64", path = "aarch64.rs")]
#[cfg_attr(not(any(target_arch = "x86_64", target_arch = "aarch64")), path = "portable.rs")]
mod selected;

pub use selected::{
    COUNTER_NEEDS, chain, counter_frequency, counter_start, counter_stop, cpuid, data_line, executes,
    latencies, stream,
};

/// A chain of 64 dependent instructions per round, and the cycles that each takes.
pub type LatencyChain = (fn(u64), f64);
