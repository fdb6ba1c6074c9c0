//! Expected costs of the parts of a fault.

use super::kernel_service;
use fathom_core::experiment::{Known, Prediction, TermEvent};

/// Adds leaving the program and returning to it by an exception.
pub fn trap(prediction: Prediction, known: &Known) -> Prediction {
    let exception =
        known.assumed_cycles(1_000.0, "order of magnitude of an exception and its return on x86-64 cores");
    prediction
        .hardware("an exception and the return from it", 1.0, exception)
        .hardware(
            "what mitigations add to entering the kernel: at most an empty system call",
            1.0,
            kernel_service::entry(known),
        )
        .being(TermEvent::KernelEntry)
}

/// Bytes of the page cache that the kernel maps at one fault (`fault_around_bytes` in mm/memory.c).
pub const MAPPED_AT_ONCE: u64 = 65_536;
