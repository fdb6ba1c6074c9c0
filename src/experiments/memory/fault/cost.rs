//! What the parts of a fault are expected to cost.

use crate::experiment::{Basis, Known, Prediction};
use crate::experiments::cpu::null_write;
use crate::experiments::memory::minor_fault;
use crate::machine::Machine;

/// Leaving the program and returning to it by an exception.
pub fn trap(prediction: Prediction, known: &Known) -> Prediction {
    let exception = known.cycles(1_000.0, "order of an exception taken and returned from on x86-64 cores");
    prediction.hardware("an exception and the return from it", 1.0, exception).hardware(
        "what mitigations add to entering the kernel: at most a bare system call",
        1.0,
        null_write::entry(known),
    )
}

/// What the kernel does besides, assumed on report 000's machine.
pub fn handling(prediction: Prediction, what: &str, ns: f64, known: &Known) -> Prediction {
    null_write::assumed(prediction, what, ns, known)
}

/// A page written through once: as this run has found it in the program, else at an assumed bandwidth.
pub fn page_cleared(known: &Known, page_bytes: f64) -> Basis {
    known.measured_or(
        minor_fault::NAME,
        &minor_fault::cleared_point(),
        page_bytes / 10.0,
        "a base page cleared at 10 GB/s, which one core of most machines reaches",
    )
}

/// The cost of a fault on a page that is in the page cache, as this run has found it.
pub fn minor(known: &Known) -> Basis {
    known.measured_or(
        minor_fault::NAME,
        &minor_fault::cached_point(),
        800.0,
        "a minor fault on a page of a file in about 0.8 µs",
    )
}

/// What a kind of device usually takes for a page, and in a stream.
struct Class {
    what: &'static str,
    read_ns: f64,
    citation: &'static str,
    bytes_per_second: f64,
    usual_us: (f64, f64),
}

const NVME: Class = Class {
    what: "an NVMe solid-state disk",
    read_ns: 78_769.0,
    citation: "report 000: 4 KiB at the rated 52 MB/s of one request at a time",
    bytes_per_second: 2e9,
    // Report 000, section 4.3.
    usual_us: (10.0, 100.0),
};
const SOLID_STATE: Class = Class {
    what: "a solid-state disk",
    read_ns: 120_000.0,
    citation: "report 002: a solid-state disk takes 80 to 160 µs",
    bytes_per_second: 4e8,
    usual_us: (50.0, 200.0),
};
const ROTATING: Class = Class {
    what: "a rotating disk",
    read_ns: 8_050_000.0,
    citation: "report 001: rotation, seek and transfer in 8.05 ms",
    bytes_per_second: 1.2e8,
    usual_us: (4_000.0, 15_000.0),
};
const VIRTUAL: Class = Class {
    what: "a virtual disk",
    read_ns: 100_000.0,
    citation: "assumed: a solid-state disk behind a hypervisor takes about 100 µs",
    bytes_per_second: 1e9,
    usual_us: (10.0, 1_000.0),
};
const UNKNOWN: Class = Class {
    what: "a disk of unknown kind",
    read_ns: 100_000.0,
    citation: "assumed: a solid-state disk of unknown kind takes about 100 µs",
    bytes_per_second: 5e8,
    usual_us: (10.0, 15_000.0),
};

fn class(machine: &Machine) -> &'static Class {
    let kind = machine.storage.device.value().map_or("", |device| device.kind.as_str());
    match kind {
        _ if kind.starts_with("NVMe") => &NVME,
        _ if kind.starts_with("solid state") => &SOLID_STATE,
        _ if kind.starts_with("rotating") => &ROTATING,
        _ if kind.starts_with("virtual") => &VIRTUAL,
        _ => &UNKNOWN,
    }
}

/// One page read by itself: at the rate of single pages, not of a stream (R-FIX-41).
pub fn device_read(machine: &Machine) -> Basis {
    let class = class(machine);
    Basis::published(class.read_ns, class.citation)
}

/// One page of a stream.
pub fn device_page(machine: &Machine, page_bytes: f64) -> Basis {
    let class = class(machine);
    let citation = format!("assumed: {} streams {:.1} GB/s", class.what, class.bytes_per_second / 1e9);
    Basis::published(page_bytes / class.bytes_per_second * 1e9, &citation)
}

/// Where a fault that waited stands in the usual range of its device's class (R-MEM-32).
pub fn against_its_class(major_ns: f64, machine: &Machine) -> String {
    let class = class(machine);
    let ((low, high), us) = (class.usual_us, major_ns / 1e3);
    let place = match () {
        () if us < low => "below",
        () if us > high => "above",
        () => "within",
    };
    format!(
        "A fault that reads one page takes {us:.1} µs, {place} the usual {low:.0} to {high:.0} µs of {}.",
        class.what
    )
}

/// What the kernel reads for one fault on a file, bytes.
pub fn read_ahead(machine: &Machine) -> Basis {
    let declared = machine.storage.device.value().and_then(|device| device.read_ahead_bytes.value().copied());
    match declared {
        Some(bytes) if bytes > 0 => Basis::fact(bytes as f64, "the device's read-ahead (read_ahead_kb)"),
        _ => Basis::published(131_072.0, "the kernel reads 128 KiB ahead by default (VM_READAHEAD_PAGES)"),
    }
}

/// What the kernel maps at one fault of what the page cache holds, bytes (`fault_around_bytes` in mm/memory.c).
pub fn mapped_at_once() -> u64 {
    65_536
}
