//! Limits on the disk space of test files.

use fathom_core::experiment::{Failure, Site};
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The share of the free space that all test files of a run may use together, as a divisor.
const SHARE: u64 = 4;

/// Maximum total size of all test files of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiskQuota {
    bytes: u64,
}

impl DiskQuota {
    /// For points that the default run measures.
    pub const DEFAULT: DiskQuota = DiskQuota { bytes: 4 << 30 };
    /// For points that only a thorough run measures.
    pub const THOROUGH: DiskQuota = DiskQuota { bytes: 24 << 30 };

    /// Checks whether a further file fits: within the limit of a run, and within a quarter of the space that was free before the
    /// run.
    pub fn check(self, site: &Site, bytes: u64) -> Result<(), Failure> {
        ensure_on_a_device(&site.folder)?;
        let used = used(&site.own_folder);
        let free = free_bytes(&site.folder).unwrap_or(u64::MAX).saturating_add(used);
        let most = self.bytes.min(free / SHARE);
        if used.saturating_add(bytes) <= most {
            return Ok(());
        }
        let mib = |bytes: u64| bytes >> 20;
        Err(Failure::Unsupported(format!(
            "the test files of a run may take {} MiB in {} (a quarter of what is free, {} MiB at most); {} MiB are \
             taken, and this one needs {}; `--dir` names another folder",
            mib(most),
            site.folder.display(),
            mib(self.bytes),
            mib(used),
            mib(bytes).max(1)
        )))
    }
}

/// Refuses a file system in memory before a file is made there: the file would take memory and swap space from all other
/// programs, and nothing that is measured with it would be a device, or the page cache of one.
pub fn ensure_on_a_device(folder: &Path) -> Result<(), Failure> {
    const TMPFS: i64 = 0x0102_1994;
    const RAMFS: i64 = 0x8584_58f6_u32 as i64;
    const HUGETLBFS: i64 = 0x9584_58f6_u32 as i64;
    let kind = CString::new(folder.as_os_str().as_bytes()).ok().and_then(|path| {
        // SAFETY: a statfs is plain integers, which the call fills if it succeeds; the path ends in a zero.
        unsafe {
            let mut status: libc::statfs = std::mem::zeroed();
            (libc::statfs(path.as_ptr(), &raw mut status) == 0).then_some(status.f_type as i64)
        }
    });
    match kind.map(|kind| kind & 0xffff_ffff) {
        Some(TMPFS | RAMFS | HUGETLBFS) => Err(Failure::Unsupported(format!(
            "{} is in memory (tmpfs): a test file there would take memory from other programs, and no device would read \
             it; choose a folder on a disk with `--dir`, such as /var/tmp",
            folder.display()
        ))),
        _ => Ok(()),
    }
}

/// Free space for this user on the file system of a folder, bytes.
pub fn free_bytes(folder: &Path) -> Option<u64> {
    let path = CString::new(folder.as_os_str().as_bytes()).ok()?;
    // SAFETY: a statvfs is plain integers, which the call fills if it succeeds.
    let status = unsafe {
        let mut status: libc::statvfs = std::mem::zeroed();
        (libc::statvfs(path.as_ptr(), &raw mut status) == 0).then_some(status)
    };
    status.map(|status| status.f_bavail.saturating_mul(status.f_frsize))
}

/// Total size of the files in the folder of this run, bytes.
fn used(own_folder: &Path) -> u64 {
    let entries = std::fs::read_dir(own_folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.metadata().ok()).map(|file| file.len()).sum()
}
