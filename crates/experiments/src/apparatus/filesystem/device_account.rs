//! A block device's own account of its requests: bytes written, and flushes of its cache. It counts the requests of everybody, so
//! it can show that a request was made, and not that no other was.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Bytes of a sector, in which the kernel counts whatever the device's blocks are (`Documentation/block/stat.rst`).
const SECTOR: f64 = 512.0;

/// The device below a file, with its counters.
#[derive(Debug, Clone)]
pub struct DeviceAccount {
    counters: PathBuf,
    flushes: bool,
}

/// Totals of a device since it was attached.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct DeviceTotals {
    pub written_bytes: f64,
    /// Flushes of the device's cache; `None` if the kernel does not count them (before 5.5), or the device has no cache of its own.
    pub flushes: Option<f64>,
}

impl DeviceAccount {
    /// The account of the device below this file; `None` if there is no single one, as on an overlay, a network or a file system
    /// of several devices.
    pub fn of(file: &File) -> Option<Self> {
        let device = file.metadata().ok()?.dev();
        let folder = format!("/sys/dev/block/{}:{}", libc::major(device), libc::minor(device));
        DeviceAccount::in_folder(Path::new(&folder))
    }

    /// Flushes are counted for a whole disk and not for its partitions, and sent only where the disk declares a cache of its own.
    fn in_folder(folder: &Path) -> Option<Self> {
        let folder = folder.canonicalize().ok()?;
        let disk = if folder.join("partition").exists() { folder.parent()?.to_owned() } else { folder };
        let cache = std::fs::read_to_string(disk.join("queue/write_cache")).unwrap_or_default();
        let account = DeviceAccount { counters: disk.join("stat"), flushes: cache.trim() == "write back" };
        account.totals().map(|_| account)
    }

    /// The totals so far.
    pub fn totals(&self) -> Option<DeviceTotals> {
        let text = std::fs::read_to_string(&self.counters).ok()?;
        let counts: Vec<f64> = text.split_ascii_whitespace().filter_map(|count| count.parse().ok()).collect();
        let flushes = counts.get(15).copied().filter(|count| self.flushes && *count > 0.0);
        Some(DeviceTotals { written_bytes: counts.get(6)? * SECTOR, flushes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A disk with a partition, of these counters.
    fn totals(cache: &str, counters: &str) -> Option<DeviceTotals> {
        let sys = tempfile::tempdir().unwrap();
        let disk = sys.path().join("disk");
        std::fs::create_dir_all(disk.join("disk1")).unwrap();
        std::fs::create_dir_all(disk.join("queue")).unwrap();
        std::fs::write(disk.join("disk1/partition"), "1\n").unwrap();
        std::fs::write(disk.join("disk1/stat"), "0 0 0 0 9 0 9 0 0 0 0\n").unwrap();
        std::fs::write(disk.join("queue/write_cache"), cache).unwrap();
        std::fs::write(disk.join("stat"), counters).unwrap();
        DeviceAccount::in_folder(&disk.join("disk1"))?.totals()
    }

    const OF_NOW: &str = " 10 1 80 9 20 2 400 9 0 9 9 0 0 0 0 7 9\n";

    #[test]
    fn a_partition_has_the_counters_of_its_disk() {
        assert_eq!(
            totals("write back\n", OF_NOW),
            Some(DeviceTotals { written_bytes: 204_800.0, flushes: Some(7.0) })
        );
    }

    #[test]
    fn flushes_that_are_not_counted_or_not_sent_are_none() {
        let flushes = |cache, counters| totals(cache, counters).unwrap().flushes;
        assert_eq!(flushes("write through\n", OF_NOW), None);
        assert_eq!(flushes("write back\n", "10 1 80 9 20 2 400 9 0 9 9\n"), None, "a kernel before 5.5");
        assert_eq!(
            flushes("write back\n", "10 1 80 9 20 2 400 9 0 9 9 0 0 0 0 0 0\n"),
            None,
            "stacked devices"
        );
        assert_eq!(totals("write back\n", "nothing\n"), None);
    }
}
