//! What a device of each kind usually needs for a block: for predictions made before anything was measured. The kind is a
//! fact of the machine; the figures are those of data sheets, rounded, and wrong by a factor of two for many devices.

use crate::experiment::{Basis, Known};

/// A kind of device: the beginning of its name in the description of the machine, nanoseconds of a small random read, of a
/// small read in sequence, bytes per second of large reads, and where the figures come from.
struct Kind {
    begins: &'static str,
    random_ns: f64,
    sequential_ns: f64,
    bytes_per_second: f64,
    source: &'static str,
}

const fn kind(
    begins: &'static str,
    random_ns: f64,
    sequential_ns: f64,
    bytes_per_second: f64,
    source: &'static str,
) -> Kind {
    Kind { begins, random_ns, sequential_ns, bytes_per_second, source }
}

const KINDS: &[Kind] = &[
    kind(
        "NVMe",
        80e3,
        20e3,
        3e9,
        "a flash drive on PCI Express: 80 µs for 4 KiB at queue depth 1, 3 GB/s (data sheets)",
    ),
    kind(
        "solid state",
        120e3,
        60e3,
        0.5e9,
        "a flash drive on SATA: 0.12 ms for 4 KiB, 0.5 GB/s (data sheets)",
    ),
    kind(
        "rotating disk",
        12.7e6,
        100e3,
        0.15e9,
        "a disk of 7200 turns a minute: half a turn of 4.2 ms and a seek of 8.5 ms, 150 MB/s (data sheets)",
    ),
    kind("flash card", 500e3, 300e3, 0.09e9, "a flash card: 0.5 ms for 4 KiB, 90 MB/s (data sheets)"),
    kind(
        "network block device",
        500e3,
        500e3,
        0.3e9,
        "a disk over a network: some 0.5 ms a request (cloud providers)",
    ),
    kind("memory", 3e3, 3e3, 5e9, "a disk in memory: a copy and the block layer's work"),
    kind(
        "compressed memory",
        6e3,
        6e3,
        2e9,
        "a disk in compressed memory: decompression of a page in some µs",
    ),
    kind(
        "persistent memory",
        3e3,
        3e3,
        5e9,
        "a disk of persistent memory: a copy and the block layer's work",
    ),
    kind(
        "loop device",
        100e3,
        40e3,
        1e9,
        "a file that serves as a disk: its own device's time, assumed a flash drive's",
    ),
];

/// A virtual disk, and any of which nothing is known.
const UNKNOWN: Kind = kind(
    "",
    100e3,
    50e3,
    1e9,
    "flash behind a hypervisor: 80 µs of the drive and some 20 µs of the way there; 1 GB/s (assumed)",
);

fn facts(known: &Known) -> &'static Kind {
    let device = known.machine.storage.device.value();
    let named = |kind: &&Kind| device.is_some_and(|device| device.kind.starts_with(kind.begins));
    KINDS.iter().find(named).unwrap_or(&UNKNOWN)
}

/// What a small random read of the device needs, nanoseconds, with one request at a time: synchronous reads never see the
/// rate that a data sheet gives for a deep queue (R-FIX-58).
pub fn random_read(known: &Known) -> Basis {
    let facts = facts(known);
    Basis::published(facts.random_ns, facts.source)
}

/// What a small read of the device needs, nanoseconds, when the one before it was of the block before.
pub fn sequential_read(known: &Known) -> Basis {
    let facts = facts(known);
    Basis::published(facts.sequential_ns, facts.source)
}

/// Moving one byte at the rate of large reads, nanoseconds.
pub fn byte(known: &Known) -> Basis {
    let facts = facts(known);
    Basis::published(1e9 / facts.bytes_per_second, facts.source)
}

/// Below this no answer of the device can lie, nanoseconds, with the reason; `None` where the device may be memory.
pub fn soonest_answer(known: &Known) -> Option<(f64, &'static str)> {
    let kind = known.machine.storage.device.value().map(|device| device.kind.as_str())?;
    let on_a_bus = ["NVMe", "solid state", "rotating", "flash card", "network", "virtual disk"];
    on_a_bus.iter().any(|begins| kind.starts_with(begins)).then_some((
        500.0,
        "a request and its answer cross PCI Express, or leave the virtual machine: half a microsecond at least",
    ))
}
