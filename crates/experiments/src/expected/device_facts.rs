//! Typical times per block for each kind of device, for predictions made before any measurement. The kind is a fact of the
//! machine; the figures are rounded from data sheets, and wrong by a factor of two for many devices.

use super::rule_of_thumb::place;
use fathom_core::prelude::*;
use fathom_core::quantities;

struct DeviceKind {
    /// The beginning of its name in the description of the machine.
    begins: &'static str,
    /// Time of a small random read, nanoseconds.
    random_ns: f64,
    /// Time of a small read of the block after the one before, nanoseconds.
    sequential_ns: f64,
    /// Rate of large reads.
    bytes_per_second: f64,
    /// The usual range of a small random read, microseconds; `None` if none is published.
    usual_us: Option<(f64, f64)>,
    /// The kind, and the source of the figures.
    source: &'static str,
}

const KINDS: &[DeviceKind] = &[
    DeviceKind {
        begins: "NVMe",
        random_ns: 80e3,
        sequential_ns: 20e3,
        bytes_per_second: 3e9,
        // Report 000, section 4.3.
        usual_us: Some((10.0, 100.0)),
        source: "a flash drive on PCI Express: 80 µs for 4 KiB at queue depth 1, 3 GB/s (from data sheets)",
    },
    DeviceKind {
        begins: "solid state",
        random_ns: 120e3,
        sequential_ns: 60e3,
        bytes_per_second: 0.5e9,
        usual_us: Some((50.0, 200.0)),
        source: "a flash drive on SATA: 0.12 ms for 4 KiB, 0.5 GB/s (from data sheets)",
    },
    DeviceKind {
        begins: "rotating disk",
        random_ns: 12.7e6,
        sequential_ns: 100e3,
        bytes_per_second: 0.15e9,
        usual_us: Some((4_000.0, 15_000.0)),
        source: "a disk of 7200 revolutions per minute: half a revolution of 4.2 ms and a seek of 8.5 ms, 150 MB/s \
                 (from data sheets)",
    },
    DeviceKind {
        begins: "flash card",
        random_ns: 500e3,
        sequential_ns: 300e3,
        bytes_per_second: 0.09e9,
        usual_us: None,
        source: "a flash card: 0.5 ms for 4 KiB, 90 MB/s (from data sheets)",
    },
    DeviceKind {
        begins: "network block device",
        random_ns: 500e3,
        sequential_ns: 500e3,
        bytes_per_second: 0.3e9,
        usual_us: None,
        source: "a disk over a network: some 0.5 ms a request (from cloud providers' documentation)",
    },
    DeviceKind {
        begins: "memory",
        random_ns: 3e3,
        sequential_ns: 3e3,
        bytes_per_second: 5e9,
        usual_us: None,
        source: "a disk in memory: a copy and the block layer's work",
    },
    DeviceKind {
        begins: "compressed memory",
        random_ns: 6e3,
        sequential_ns: 6e3,
        bytes_per_second: 2e9,
        usual_us: None,
        source: "a disk in compressed memory: decompression of a page in some µs",
    },
    DeviceKind {
        begins: "persistent memory",
        random_ns: 3e3,
        sequential_ns: 3e3,
        bytes_per_second: 5e9,
        usual_us: None,
        source: "a disk of persistent memory: a copy and the block layer's work",
    },
    DeviceKind {
        begins: "loop device",
        random_ns: 100e3,
        sequential_ns: 40e3,
        bytes_per_second: 1e9,
        usual_us: None,
        source: "a file that serves as a disk: as a flash drive",
    },
];

/// A virtual disk, or an unknown device.
const UNKNOWN: DeviceKind = DeviceKind {
    begins: "",
    random_ns: 100e3,
    sequential_ns: 50e3,
    bytes_per_second: 1e9,
    usual_us: Some((10.0, 1_000.0)),
    source: "flash behind a hypervisor: 80 µs for the drive and some 20 µs for the path to it; 1 GB/s",
};

fn facts(known: &Known) -> &'static DeviceKind {
    let device = known.machine.storage.device.value();
    let named = |kind: &&DeviceKind| device.is_some_and(|device| device.kind.starts_with(kind.begins));
    KINDS.iter().find(named).unwrap_or(&UNKNOWN)
}

/// Time of a small random read of the device, nanoseconds, with one request at a time: synchronous reads never reach the rate
/// that a data sheet gives for a deep queue (R-FIX-58).
pub fn random_read(known: &Known) -> Basis {
    let facts = facts(known);
    if let Some(seek) = known.machine.storage.rated.and_then(|rated| rated.seek_ns) {
        return match turns_per_minute(known) {
            Some(turns) => Basis::fact(
                seek + 30e9 / turns,
                "the data sheet's seek (--disk-rated), and half a revolution",
            ),
            None => Basis::fact(seek, "the data sheet's time of a random read (--disk-rated)"),
        };
    }
    match turns_per_minute(known) {
        Some(turns) => Basis::assumed(
            SEEK_NS + 30e9 / turns,
            &format!(
                "half a revolution of a disk of {} revolutions per minute, and a seek of 8.5 ms (from data \
                 sheets)",
                quantities::plain(turns)
            ),
        ),
        None => Basis::assumed(facts.random_ns, facts.source),
    }
}

/// Time of a rotating disk to reach another track, nanoseconds.
const SEEK_NS: f64 = 8.5e6;

/// Rotational speed of the disk, per minute, if it rotates and reports it.
fn turns_per_minute(known: &Known) -> Option<f64> {
    let device = known.machine.storage.device.value()?;
    device.turns_per_minute.value().map(|turns| f64::from(*turns))
}

/// The usual range of that time, nanoseconds, if one is published for the kind of device.
pub fn usual_random_read(known: &Known) -> Option<[f64; 2]> {
    if known.machine.storage.rated.is_some_and(|rated| rated.seek_ns.is_some()) {
        return None;
    }
    facts(known).usual_us.map(|(low, high)| [low * 1e3, high * 1e3])
}

/// Time of a small read of the device, nanoseconds, if the read before it was of the block before.
pub fn sequential_read(known: &Known) -> Basis {
    let facts = facts(known);
    Basis::assumed(facts.sequential_ns, facts.source)
}

/// Time per byte at the rate of large reads, nanoseconds.
pub fn byte(known: &Known) -> Basis {
    let facts = facts(known);
    if let Some(rate) = known.machine.storage.rated.and_then(|rated| rated.transfer_bytes_per_second) {
        return Basis::fact(1e9 / rate, "the data sheet's rate of large reads (--disk-rated)");
    }
    Basis::assumed(1e9 / facts.bytes_per_second, facts.source)
}

/// The same of large writes.
pub fn written_byte(known: &Known) -> Basis {
    match known.machine.storage.rated.and_then(|rated| rated.write_bytes_per_second) {
        Some(rate) => Basis::fact(1e9 / rate, "the data sheet's rate of large writes (--disk-rated)"),
        None => byte(known),
    }
}

/// Time per random read where as many are in flight as the device serves at once, nanoseconds, if its data sheet says it.
pub fn read_in_a_queue(known: &Known) -> Option<Basis> {
    let rate = known.machine.storage.rated.and_then(|rated| rated.reads_per_second)?;
    Some(Basis::fact(1e9 / rate, "the data sheet's random reads a second with many in flight (--disk-rated)"))
}

/// Bytes that the kernel reads for one fault on a file.
pub fn read_ahead(machine: &Machine) -> Basis {
    let declared = machine.storage.device.value().and_then(|device| device.read_ahead_bytes.value().copied());
    match declared {
        Some(bytes) if bytes > 0 => Basis::fact(bytes as f64, "the device's read-ahead (read_ahead_kb)"),
        _ => Basis::published(131_072.0, "the kernel reads 128 KiB ahead by default (VM_READAHEAD_PAGES)"),
    }
}

/// The position of a small random read in the usual range of its kind of device (R-MEM-32), considering all of its interval;
/// `None` if no range is published, or the device is unknown.
pub fn against_the_usual(read: Found, known: &Known) -> Option<Statement> {
    let device = known.machine.storage.device.value()?;
    let (low, high) = facts(known).usual_us?;
    let place = place(read, low * 1e3, high * 1e3);
    Some(statement!(
        "{read}, {place} the usual {low} to {high} µs of its kind of device ({kind})",
        read = read.named("small random read"),
        kind = &device.kind
    ))
}

/// The minimum time of an answer from the device; `None` if the device may be memory.
pub fn soonest_answer(known: &Known) -> Option<Bound> {
    let kind = known.machine.storage.device.value().map(|device| device.kind.as_str())?;
    let on_a_bus = ["NVMe", "solid state", "rotating", "flash card", "network", "virtual disk"];
    let because = "a request and its answer cross PCI Express, or leave the virtual machine: half a microsecond at least";
    on_a_bus.iter().any(|begins| kind.starts_with(begins)).then(|| Bound::of(500.0, because))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_data_sheet_takes_the_place_of_what_is_typical() {
        let mut machine = fathom_described::machine();
        let predicted = |machine: &Machine| {
            let known = Known::new(machine, None);
            (random_read(&known).value, byte(&known).value)
        };
        let (typical, byte) = predicted(&machine);
        machine.storage.rated = Some("seek=8.5ms".parse().unwrap());
        assert_eq!(predicted(&machine), (8.5e6, byte));
        machine.storage.rated = Some("transfer=250MB/s".parse().unwrap());
        assert_eq!(predicted(&machine), (typical, 4.0));
    }
}
