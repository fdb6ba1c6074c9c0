//! A disk whose rate the kernel limits: in bytes read or written, in requests, and in requests after a burst.

use super::control_group::{ControlGroup, GroupSetting};
use super::disk::Disk;
use super::prelude::*;

const IN_ORDER: Selector = Selector::of("filesystem/contention", &fleet("all sequential"));
const AT_RANDOM: Selector = Selector::of("filesystem/contention", &fleet("all random"));

pub static BYTES: Rig = Rig {
    name: "device-bytes",
    sets: "a device limited to 20 MB a second",
    touches: DISK,
    budget: Duration::from_secs(25),
    arrange: Some(|options| held(options, ("read_bps_device", "rbps"), BYTES_A_SECOND)),
    points: |machine| points_of(machine, &IN_ORDER),
    judge: |rig, results, _| rates(rig, results, BYTES_A_SECOND as f64),
};

pub static REQUESTS: Rig = Rig {
    name: "device-requests",
    sets: "a device limited to 500 requests a second, eight at a time",
    touches: DISK,
    budget: Duration::from_secs(25),
    arrange: Some(|options| held(options, ("read_iops_device", "riops"), REQUESTS_A_SECOND)),
    points: |machine| points_of(machine, &AT_RANDOM),
    judge: |rig, results, _| rates(rig, results, (BLOCK * REQUESTS_A_SECOND) as f64),
};

pub static BURST: Rig = Rig {
    name: "device-burst",
    sets: "a device limited to 333 requests a second after a burst, one at a time",
    touches: DISK,
    budget: Duration::from_secs(30),
    arrange: Some(|options| held(options, ("read_iops_device", "riops"), SUSTAINED_A_SECOND)),
    points: |machine| {
        let settings = &[
            ("request", Name("random read")),
            ("figure", Name("sustained")),
            ("lasting", Number(1_000_000_000)),
        ];
        points_of(machine, &Selector::of("filesystem/sustained", settings))
    },
    judge: |rig, results, _| {
        let set = 1e9 / SUSTAINED_A_SECOND as f64;
        each(rig, results, |_| Claim::time(rig, "from one read to the next", set))
    },
};

pub static WRITES: Rig = Rig {
    name: "device-writes",
    sets: "a device limited to writing 0.5 MB a second",
    touches: DISK,
    budget: Duration::from_secs(20),
    arrange: Some(|options| held(options, ("write_bps_device", "wbps"), WRITES_A_SECOND)),
    points: |machine| {
        let settings = &[
            ("durability", Name("fdatasync")),
            ("block", Number(APPEND)),
            ("series", Name("short")),
            ("figure", Name("append")),
        ];
        points_of(machine, &Selector::of("filesystem/durable_append", settings))
    },
    judge: |rig, results, _| {
        let set = APPEND as f64 / WRITES_A_SECOND as f64 * 1e9;
        each(rig, results, |_| Claim::time(rig, "64 KiB appended and durable", set).to(TO_A_JOURNAL))
    },
};

pub static APPENDS: Rig = Rig {
    name: "device-appends",
    sets: "a device limited to writing 2.048 MB a second",
    touches: DISK,
    budget: Duration::from_secs(60),
    arrange: Some(|options| held(options, ("write_bps_device", "wbps"), APPENDED_A_SECOND)),
    points: |machine| {
        points_of(machine, &Selector::of("filesystem/durable_append", &[("figure", Name("rate"))]))
    },
    judge: |rig, results, _| {
        let what = "8 KiB appended and durable within 10 ms, the highest rate";
        let set = APPENDED_A_SECOND as f64;
        each(rig, results, |_| Claim::of(rig, what, Some(Unit::BytesPerSecond), set).to(TO_A_JOURNAL))
    },
};

/// Bytes of an append: at this rate it takes longer than a slice, so that each waits for its own bytes.
const APPEND: u64 = 65_536;
const WRITES_A_SECOND: u64 = 500_000;

/// Bytes a second of which each slice in which the kernel grants them (20 or 100 ms) allows a whole number of appends of 8 KiB,
/// five or 25: without a pause the next one waits for the next slice, and evenly due none waits.
const APPENDED_A_SECOND: u64 = 250 * 8192;

/// The share of the time that the journal may take beside the bytes: its thread is in no group with a limit.
const TO_A_JOURNAL: f64 = 0.05;

/// What a disk of a known rate does to the machine.
const DISK: &[&str] = &[
    "file: a sparse one of 400 MiB in the measured folder, unlinked as soon as it is mounted",
    "device: a loop device with ext4 on it (`mkfs.ext4`, `mount`)",
    "mount: that device, in a mount namespace of this process, which other processes do not see",
    "control group: one with a limit on reads or writes of that device, which contains this process meanwhile",
];

const BYTES_A_SECOND: u64 = 20_000_000;
const REQUESTS_A_SECOND: u64 = 500;
const SUSTAINED_A_SECOND: u64 = 333;

/// Bytes of a request of the reading processes.
const BLOCK: u64 = 4096;

/// Long against the slices in which the kernel grants a rate (100 ms).
const TRIAL: Duration = Duration::from_secs(1);

/// A disk with a limit on its reads, and this process in the group to which the limit applies.
fn held(options: &mut Options, (one, two): (&str, &str), limit: u64) -> Result<Arranged, String> {
    let disk = Disk::in_folder(&options.folder)?;
    let device = disk.device()?;
    let controller = if fathom_core::machine::group_parent("blkio").is_ok() { "blkio" } else { "io" };
    let name = format!("blkio.throttle.{one}");
    let setting = GroupSetting {
        one: (&name, format!("{device} {limit}")),
        two: ("io.max", format!("{device} {two}={limit}")),
    };
    let group = ControlGroup::joined(controller, &[setting])?;
    disk.mount().clone_into(&mut options.folder);
    options.trial = Some(TRIAL);
    // In this order: the limit is removed before the disk.
    Ok(Arranged::holding((group, disk)))
}

/// The points with eight processes and their total rate.
const fn fleet(pattern: &'static str) -> [(&'static str, At); 4] {
    [
        ("pattern", Name(pattern)),
        ("figure", Name("all together")),
        ("processes", Number(8)),
        ("file", Number(4_096_000)),
    ]
}

fn rates(rig: &Rig, results: &Results, set: f64) -> Vec<Truth> {
    each(rig, results, |_| Claim::of(rig, "rate of eight reading processes", Some(Unit::BytesPerSecond), set))
}
