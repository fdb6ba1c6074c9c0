//! The file system and the device under the folder that file experiments measure.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::fact::Fact;
use super::host::Host;
use super::mounts::{self, Mount};
use super::published;
use super::rated_disk::RatedDisk;
use super::remote::{Remote, RemoteAddress, network_mount};
use super::source::Root;

/// The storage of the measured folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Storage {
    /// The first name of the folder's path: the others may be those of users, hosts or customers.
    pub folder: Fact<String>,
    /// Kind of file system (`ext4`, `xfs`, `nfs4`, `overlay`).
    pub file_system: Fact<String>,
    /// The first name of the mount point's path.
    pub mount_point: Fact<String>,
    /// The kind of what is mounted: a block device, a server, a data set or folder, no device. Its name is not recorded.
    pub mount_source: Fact<String>,
    /// Options of the mount and of the file system that change figures.
    pub mount_options: Fact<String>,
    /// Size of the file system, bytes.
    pub total_bytes: Fact<u64>,
    /// Free for this user, bytes.
    pub free_bytes: Fact<u64>,
    /// Allocation unit of the file system, bytes.
    pub block_bytes: Fact<u64>,
    /// The disk under it.
    pub device: Fact<Device>,
    /// The figures of its data sheet, if the user gave them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rated: Option<RatedDisk>,
    /// The machine's other disks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_disks: Vec<Device>,
    /// The file server: that of the folder, if it is on a network mount, or the one that was given in addition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<Remote>,
}

/// A disk, or a device that looks like one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Device {
    /// The kernel's name (`nvme0n1`), of the whole disk.
    pub name: String,
    /// `NVMe solid state`, `SATA solid state`, `rotating disk`, `virtual disk (virtio)`, `loop device`, …
    pub kind: String,
    /// Maker's name.
    pub model: Fact<String>,
    /// Rotations of its medium per minute.
    #[serde(default = "turns_not_asked_for")]
    pub turns_per_minute: Fact<u32>,
    /// Revision of its firmware.
    pub firmware: Fact<String>,
    /// Capacity, bytes.
    pub capacity_bytes: Fact<u64>,
    /// I/O scheduler in use.
    pub scheduler: Fact<String>,
    /// Requests that the queue holds.
    pub queue_depth: Fact<u32>,
    /// Hardware queues.
    pub hardware_queues: Fact<usize>,
    /// Read-ahead, bytes.
    pub read_ahead_bytes: Fact<u64>,
    /// Smallest unit it addresses, bytes.
    pub logical_block_bytes: Fact<u64>,
    /// Smallest unit it writes without reading first, bytes.
    pub physical_block_bytes: Fact<u64>,
    /// `write back` (a flush costs) or `write through`.
    pub write_cache: Fact<String>,
    /// Devices this one is made of (device mapper, RAID).
    pub parts: Vec<String>,
    /// Rate of its PCI Express link (current and highest) or SATA link, in the kernel's words.
    pub link: Fact<String>,
}

pub(super) fn read(root: &Root, host: &dyn Host, folder: &Path) -> Storage {
    let space = Fact::from_call(host.folder(folder), "statvfs(3)");
    let place = space.value().map_or(folder, |space| space.path.as_path());
    let mount = mount_of(root, place);
    let remote = Remote::find(root, &RemoteAddress::Mounted(place.to_owned())).ok();
    let device = device(root, &mount);
    Storage {
        folder: space.clone().map(|space| published::place(&space.path.to_string_lossy())),
        file_system: mount.clone().map(|mount| mount.file_system),
        mount_point: mount.clone().map(|mount| published::place(&mount.point.to_string_lossy())),
        mount_source: mount.clone().map(|mount| source(&mount).to_owned()),
        mount_options: mount.clone().map(|mount| options(&mount)),
        total_bytes: space.clone().map(|space| space.total_bytes),
        free_bytes: space.clone().map(|space| space.free_bytes),
        block_bytes: space.map(|space| space.block_bytes),
        other_disks: other_disks(root, device.value()),
        device,
        rated: None,
        remote,
    }
}

fn mount_of(root: &Root, folder: &Path) -> Fact<Mount> {
    root.text("/proc/self/mountinfo").parse("a table with a mount above the folder", |table| {
        mounts::holding(&mounts::parse(table), folder).cloned()
    })
}

fn source(mount: &Mount) -> &'static str {
    published::mount_source(&mount.source, &mount.file_system, network_mount(&mount.file_system).is_some())
}

/// Options of the mount, then those of the file system that are not the same.
fn options(mount: &Mount) -> String {
    let own: Vec<&str> = mount.options.split(',').collect();
    let more = mount.super_options.split(',').filter(|option| !option.is_empty() && !own.contains(option));
    published::mount_options(&own.iter().copied().chain(more).collect::<Vec<_>>().join(","))
}

fn device(root: &Root, mount: &Fact<Mount>) -> Fact<Device> {
    let mount = match mount {
        Fact::Known { value, .. } => value,
        Fact::Unknown { unknown, source } => return Fact::unknown(unknown.clone(), source.clone()),
    };
    match disk_name(root, mount) {
        Some(name) => {
            let folder = format!("/sys/class/block/{name}");
            Fact::known(describe(root, name), folder)
        }
        None => Fact::unknown(no_device(&mount.file_system), format!("/sys/dev/block/{}", mount.device)),
    }
}

fn no_device(file_system: &str) -> String {
    match file_system {
        "tmpfs" | "ramfs" | "devtmpfs" => "the file system is in memory: there is no device".to_owned(),
        "overlay" | "aufs" | "fuse-overlayfs" => {
            "an overlay does not show which disk is below its layers; measure a folder on a mounted volume"
                .to_owned()
        }
        kind if network_mount(kind).is_some() => {
            format!("the file system is on another machine ({kind}), and so is its device")
        }
        kind => format!("the kernel names no block device for this {kind} file system"),
    }
}

/// The whole disk behind a mount, by device number, or by name for file systems with device numbers of their own (btrfs).
fn disk_name(root: &Root, mount: &Mount) -> Option<String> {
    let by_number = root.link(&format!("/sys/dev/block/{}", mount.device)).value().cloned();
    let path = by_number.or_else(|| {
        let name = mount.source.strip_prefix("/dev/")?;
        let real = root.link_name(&mount.source).value().cloned();
        let name = real.unwrap_or_else(|| name.to_owned());
        root.link(&format!("/sys/class/block/{name}")).value().cloned()
    })?;
    let name = path.file_name()?.to_str()?.to_owned();
    if root.exists(&format!("/sys/class/block/{name}/partition")) {
        return Some(path.parent()?.file_name()?.to_str()?.to_owned());
    }
    root.exists(&format!("/sys/class/block/{name}")).then_some(name)
}

/// The most disks in a description: a storage server can have hundreds.
const MOST_DISKS: usize = 16;

/// The disks that a bus or a hypervisor has given the machine, except the measured one and its parts.
fn other_disks(root: &Root, measured: Option<&Device>) -> Vec<Device> {
    const FOLDER: &str = "/sys/block";
    let is_measured =
        |name: &String| measured.is_some_and(|device| device.name == *name || device.parts.contains(name));
    let is_other = |name: &String| root.exists(&format!("{FOLDER}/{name}/device")) && !is_measured(name);
    root.entries(FOLDER)
        .into_iter()
        .filter(is_other)
        .take(MOST_DISKS)
        .map(|name| describe(root, name))
        .collect()
}

fn turns_not_asked_for() -> Fact<u32> {
    Fact::unknown("it was not asked for", "/sys/class/block")
}

/// Bytes 4 and 5 of the page Block Device Characteristics (SCSI Block Commands 3, 6.5.3), which the kernel keeps for disks
/// with SCSI or ATA: 1 is a non-rotating medium, 0x401 to 0xfffe are rotations per minute.
fn turns_per_minute(root: &Root, folder: &str) -> Fact<u32> {
    let page = root.bytes(&format!("{folder}/device/vpd_pgb1")).because("the device does not report it");
    let rate = page.parse("a page with a rotation rate", |page| {
        Some(u16::from_be_bytes([*page.get(4)?, *page.get(5)?]))
    });
    match rate {
        Fact::Known { value: turns @ 0x401..=0xfffe, source } => Fact::known(u32::from(turns), source),
        Fact::Known { value: 1, source } => Fact::unknown("its medium does not rotate", source),
        Fact::Known { source, .. } => Fact::unknown("the device does not report it", source),
        Fact::Unknown { unknown, source } => Fact::unknown(unknown, source),
    }
}

fn describe(root: &Root, name: String) -> Device {
    let folder = format!("/sys/class/block/{name}");
    let queue = |file: &str| format!("{folder}/queue/{file}");
    Device {
        kind: kind(root, &name),
        model: root.word(&format!("{folder}/device/model")).because("the device does not report a name"),
        turns_per_minute: turns_per_minute(root, &folder),
        firmware: root
            .word(&format!("{folder}/device/firmware_rev"))
            .or_else(|| root.word(&format!("{folder}/device/rev")))
            .because("the device does not report it"),
        // The kernel counts capacity in units of 512 bytes whatever the device's blocks are.
        capacity_bytes: root
            .number::<u64>(&format!("{folder}/size"))
            .parse("a size", |sectors| sectors.checked_mul(512)),
        scheduler: root.choice(&queue("scheduler")),
        queue_depth: root.number(&queue("nr_requests")),
        hardware_queues: hardware_queues(root, &folder),
        read_ahead_bytes: root
            .number::<u64>(&queue("read_ahead_kb"))
            .parse("a size", |size| size.checked_mul(1024)),
        logical_block_bytes: root.number(&queue("logical_block_size")),
        physical_block_bytes: root.number(&queue("physical_block_size")),
        write_cache: root.word(&queue("write_cache")),
        parts: root.entries(&format!("{folder}/slaves")),
        link: link(root, &folder),
        name,
    }
}

fn hardware_queues(root: &Root, folder: &str) -> Fact<usize> {
    let path = format!("{folder}/mq");
    match root.numbered(&path, "").len() {
        0 => Fact::unknown("this device has no such queues", path),
        queues => Fact::known(queues, path),
    }
}

/// The kind of device, by its name and its queue. The "rotational" of a virtual disk comes from the hypervisor and says
/// nothing about the medium.
fn kind(root: &Root, name: &str) -> String {
    let rotates = root.switch(&format!("/sys/class/block/{name}/queue/rotational")).value().copied();
    let model =
        root.word(&format!("/sys/class/block/{name}/device/model")).value().cloned().unwrap_or_default();
    let virtual_model = ["QEMU", "Virtual", "VBOX", "PersistentDisk", "Amazon Elastic"];
    let kind = match name {
        _ if virtual_model.iter().any(|word| model.contains(word)) => "virtual disk",
        _ if name.starts_with("nvme") => "NVMe solid state",
        _ if name.starts_with("vd") => "virtual disk (virtio)",
        _ if name.starts_with("xvd") => "virtual disk (Xen)",
        _ if name.starts_with("loop") => "loop device",
        _ if name.starts_with("zram") => "compressed memory",
        _ if name.starts_with("ram") => "memory",
        _ if name.starts_with("pmem") => "persistent memory",
        _ if name.starts_with("dm-") => "device mapper",
        _ if name.starts_with("md") => "software RAID",
        _ if name.starts_with("nbd") || name.starts_with("rbd") => "network block device",
        _ if name.starts_with("mmcblk") => "flash card",
        _ if name.starts_with("sd") && rotates == Some(true) => "rotating disk",
        _ if name.starts_with("sd") && rotates == Some(false) => "solid state (SATA, SAS or USB)",
        _ => "block device",
    };
    kind.to_owned()
}

fn link(root: &Root, folder: &str) -> Fact<String> {
    // The disk's parent is a controller, whose parent is the PCI function.
    let places = [format!("{folder}/device/device"), format!("{folder}/device")];
    let place = places.iter().find(|place| root.exists(&format!("{place}/current_link_speed")));
    let Some(place) = place else { return sata_link(root, folder) };
    let word =
        |file: &str| root.word(&format!("{place}/{file}")).value().cloned().unwrap_or_else(|| "?".to_owned());
    let text = format!(
        "{} × {} of at most {} × {}",
        word("current_link_speed"),
        word("current_link_width"),
        word("max_link_speed"),
        word("max_link_width")
    );
    Fact::known(text, place.as_str())
}

/// The negotiated rate of a SATA link, whose port's number is in the path of the device (`…/ata3/host2/…`).
fn sata_link(root: &Root, folder: &str) -> Fact<String> {
    let port = root.link(folder).value().and_then(|path| {
        let mut names = path.iter().filter_map(|name| name.to_str()?.strip_prefix("ata"));
        names.find_map(|number| number.parse::<u32>().ok())
    });
    let Some(port) = port else {
        return Fact::unknown(
            "the device does not sit directly on a PCIe or SATA link",
            format!("{folder}/device"),
        );
    };
    let rate = root.word(&format!("/sys/class/ata_link/link{port}/sata_spd"));
    let rate = rate.because("the kernel does not tell the rate of the SATA link");
    rate.parse("a rate", |rate| rate.contains("bps").then(|| format!("SATA, {rate}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sata_disk_has_the_rate_of_its_port() {
        let link_of = |rate: &str| {
            let tree = tempfile::tempdir().unwrap();
            let device = "sys/devices/pci0000:00/0000:00:17.0/ata3/host2/target2:0:0/2:0:0:0/block/sda";
            for folder in [device, "sys/class/block", "sys/class/ata_link/link3"] {
                std::fs::create_dir_all(tree.path().join(folder)).unwrap();
            }
            std::os::unix::fs::symlink(tree.path().join(device), tree.path().join("sys/class/block/sda"))
                .unwrap();
            std::fs::write(tree.path().join("sys/class/ata_link/link3/sata_spd"), rate).unwrap();
            link(&Root::new(tree.path()), "/sys/class/block/sda").value().cloned()
        };
        assert_eq!(link_of("6.0 Gbps\n").as_deref(), Some("SATA, 6.0 Gbps"));
        assert_eq!(link_of("<unknown>\n"), None);
    }

    /// The kind derived from a name, a model and the queue's `rotational`.
    fn kind_of(name: &str, model: &str, rotational: &str) -> String {
        let place = |file: &str| format!("/sys/class/block/{name}/{file}");
        let (rotates, called) = (place("queue/rotational"), place("device/model"));
        let (_tree, root) = Root::planted(&[(&rotates, rotational), (&called, model)]);
        kind(&root, name)
    }

    #[test]
    fn turns_are_told_of_a_medium_that_turns() {
        let rpm_of = |page: &[u8]| {
            let tree = tempfile::tempdir().unwrap();
            let folder = tree.path().join("sys/class/block/sda/device");
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("vpd_pgb1"), page).unwrap();
            turns_per_minute(&Root::new(tree.path()), "/sys/class/block/sda").value().copied()
        };
        assert_eq!(rpm_of(&[0, 0xb1, 0, 0x3c, 0x15, 0x18, 0]), Some(5400));
        assert_eq!(rpm_of(&[0, 0xb1, 0, 0x3c, 0, 1, 0]), None, "solid state");
        assert_eq!(rpm_of(&[0, 0xb1]), None, "cut off");
    }

    #[test]
    fn other_disks_are_those_of_a_bus_that_are_not_measured() {
        let tree = tempfile::tempdir().unwrap();
        for path in ["sda/device", "sdb/device", "nvme0n1/device", "loop0", "dm-0"] {
            std::fs::create_dir_all(tree.path().join("sys/block").join(path)).unwrap();
        }
        let root = Root::new(tree.path());
        let measured = Device { parts: vec!["sda".to_owned()], ..describe(&root, "dm-0".to_owned()) };
        let names = |measured| -> Vec<String> {
            other_disks(&root, measured).into_iter().map(|disk| disk.name).collect()
        };
        assert_eq!(names(Some(&measured)), ["nvme0n1", "sdb"]);
        assert_eq!(names(None), ["nvme0n1", "sda", "sdb"]);
    }

    #[test]
    fn only_a_disk_that_is_not_virtual_and_says_so_rotates() {
        assert_eq!(kind_of("sda", "WDC WD10EZEX-08W", "1"), "rotating disk");
        assert_eq!(kind_of("sda", "Samsung SSD 870", "0"), "solid state (SATA, SAS or USB)");
        for (name, model) in [
            ("sda", "QEMU HARDDISK"),
            ("sda", "Virtual disk"),
            ("sda", "VBOX HARDDISK"),
            ("sda", "PersistentDisk"),
            ("vda", ""),
            ("xvda", ""),
        ] {
            assert!(kind_of(name, model, "1").starts_with("virtual disk"), "{name} {model}");
        }
        assert!(!kind_of("nvme0n1", "", "1").contains("rotating"));
    }
}
