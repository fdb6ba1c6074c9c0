//! An architecture for which nothing is written yet: the counter is the kernel's clock, and no instruction has a known latency.

use super::LatencyChain;
use crate::os::kernel_clock;

/// The kernel's clock needs nothing.
pub const COUNTER_NEEDS: Option<&str> = None;

/// Reads the kernel's clock.
pub fn counter_start() -> (u64, Option<u32>) {
    (kernel_clock(libc::CLOCK_MONOTONIC_RAW), None)
}

/// As before the work.
pub fn counter_stop() -> (u64, Option<u32>) {
    counter_start()
}

/// None yet.
pub fn latencies() -> Option<[LatencyChain; 3]> {
    None
}

/// No stream yet.
pub fn stream(_: u64) {}

/// No chain yet.
pub fn chain(_: u64) {}

/// There is no such instruction.
pub fn cpuid(_: u32, _: u32) -> Option<[u32; 4]> {
    None
}

/// No instruction tells.
pub fn executes(_: &str) -> Option<bool> {
    None
}

/// No instruction tells.
pub fn counter_frequency() -> Option<u64> {
    None
}

/// No instruction tells.
pub fn data_line() -> Option<u64> {
    None
}
