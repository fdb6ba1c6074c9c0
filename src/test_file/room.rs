//! Limits on the disk space of test files.

use crate::experiment::{Failure, Site};
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The share of the free space that all test files of a run may use together, as a divisor.
const SHARE: u64 = 4;

/// Maximum total size of all test files of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    bytes: u64,
}

impl Room {
    /// For points that the default run measures.
    pub const DEFAULT: Room = Room { bytes: 4 << 30 };
    /// For points that only a thorough run measures.
    pub const THOROUGH: Room = Room { bytes: 24 << 30 };

    /// Checks whether a further file fits: within the limit of a run, and within a quarter of the space that was free before the
    /// run.
    pub fn check(self, site: &Site, bytes: u64) -> Result<(), Failure> {
        let taken = taken(&site.own_folder);
        let free = free_bytes(&site.folder).unwrap_or(u64::MAX).saturating_add(taken);
        let most = self.bytes.min(free / SHARE);
        if taken.saturating_add(bytes) <= most {
            return Ok(());
        }
        let mib = |bytes: u64| bytes >> 20;
        Err(Failure::Unsupported(format!(
            "the test files of a run may take {} MiB in {} (a quarter of what is free, {} MiB at most); {} MiB are \
             taken, and this one needs {}; `--dir` names another folder",
            mib(most),
            site.folder.display(),
            mib(self.bytes),
            mib(taken),
            mib(bytes).max(1)
        )))
    }
}

/// Free space for this user on the file system of a folder, bytes.
pub fn free_bytes(folder: &Path) -> Option<u64> {
    let path = CString::new(folder.as_os_str().as_bytes()).ok()?;
    // SAFETY: a statvfs is plain integers, which the call fills if it succeeds.
    let told = unsafe {
        let mut told: libc::statvfs = std::mem::zeroed();
        (libc::statvfs(path.as_ptr(), &raw mut told) == 0).then_some(told)
    };
    told.map(|told| told.f_bavail.saturating_mul(told.f_frsize))
}

/// Total size of the files in the folder of this run, bytes.
fn taken(own_folder: &Path) -> u64 {
    let entries = std::fs::read_dir(own_folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.metadata().ok()).map(|file| file.len()).sum()
}
