//! Expected costs of the parts of a fault.

use crate::cpu::kernel_service;
use crate::memory::minor_fault::{
    NAME, cached_point, cleared_point, with_neighbours_point, written_shared_point,
};
use fathom_core::experiment::{Basis, Known, Prediction};

/// Adds leaving the program and returning to it by an exception.
pub fn trap(prediction: Prediction, known: &Known) -> Prediction {
    let exception =
        known.assumed_cycles(1_000.0, "order of magnitude of an exception and its return on x86-64 cores");
    prediction.hardware("an exception and the return from it", 1.0, exception).hardware(
        "what mitigations add to entering the kernel: at most an empty system call",
        1.0,
        kernel_service::entry(known),
    )
}

/// Adds the kernel's other work, assumed on report 000's machine.
pub fn handling(prediction: Prediction, what: &str, ns: f64, known: &Known) -> Prediction {
    kernel_service::assumed(prediction, what, ns, known)
}

/// The cost of clearing a page without a fault, as measured in this run, else at an assumed bandwidth.
pub fn page_cleared(known: &Known, page_bytes: f64) -> Basis {
    known.measured_or(
        NAME,
        &cleared_point(),
        page_bytes / 10.0,
        "a base page cleared at 10 GB/s, which one core of most machines reaches",
    )
}

/// The cost of a fault on a page in the page cache, as measured in this run, else assumed.
pub fn minor(known: &Known) -> Basis {
    known.measured_or_assumed(
        NAME,
        &cached_point(),
        800.0,
        "a minor fault on a page of a file in about 0.8 µs",
    )
}

/// The cost of a fault on a page in the page cache whose neighbours are mapped with it.
pub fn minor_with_neighbours(known: &Known) -> Basis {
    let (point, citation) = (with_neighbours_point(), "a minor fault on a page of a file in about 0.8 µs");
    known.measured_or(NAME, &point, 800.0, citation)
}

/// The cost of the first write to a page of a shared file, as measured in this run; else that of any fault.
pub fn made_writable(known: &Known) -> Basis {
    let written = known.measured(NAME, &written_shared_point());
    written.unwrap_or_else(|| minor(known))
}

/// Bytes of the page cache that the kernel maps at one fault (`fault_around_bytes` in mm/memory.c).
pub fn mapped_at_once() -> u64 {
    65_536
}
