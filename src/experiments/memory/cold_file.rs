//! A file of random content that is on its device and not in memory.

use super::file_mapping::{FileMapping, Sharing};
use super::stretch::Mapped;
use crate::experiment::{Failure, Site};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::fs::{File, OpenOptions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;

/// Its size: more than a trial reads, and two of the longest strides.
pub const BYTES: u64 = 128 << 20;

/// It may take this part of the free space at most.
const SHARE_OF_FREE: u64 = 8;

/// What is written at once.
const CHUNK: usize = 1 << 20;

/// How often the kernel is asked to drop what it has kept.
const ATTEMPTS: usize = 5;

/// The run's scratch file, filled with random content (a device or file system that compresses or leaves out zeros would
/// not have to read them) and safe on its device; evicted when it is dropped.
#[derive(Debug)]
pub struct ColdFile {
    /// The file itself.
    pub file: File,
}

impl ColdFile {
    /// Opens the run's file; the first trial that needs it fills it.
    pub fn of(site: &Site) -> Result<Self, Failure> {
        let elsewhere = |reason: String| {
            let folder = site.folder.display();
            Failure::Unsupported(format!("{reason} in {folder}: name a folder on a disk with --dir"))
        };
        let path = site.scratch.as_ref().ok_or_else(|| elsewhere("no file can be made".to_owned()))?;
        let file = OpenOptions::new().read(true).write(true).open(path);
        let file = file.map_err(|error| elsewhere(format!("the run's file cannot be opened ({error})")))?;
        let cold = ColdFile { file };
        let written = cold.file.metadata().map_or(0, |metadata| metadata.len());
        let missing = BYTES.saturating_sub(written);
        let room = cold.free_bytes()? / SHARE_OF_FREE;
        if missing > room {
            return Err(elsewhere(format!(
                "a file of {} MiB would take more than an eighth of the {} MiB free",
                BYTES >> 20,
                (room * SHARE_OF_FREE) >> 20
            )));
        }
        cold.fill(written).map_err(|error| {
            elsewhere(format!("a file of {} MiB cannot be written ({error})", BYTES >> 20))
        })?;
        Ok(cold)
    }

    /// Writes from `from` to the end, and waits until the device has all of it: what is not written back cannot be evicted.
    fn fill(&self, from: u64) -> std::io::Result<()> {
        let mut chunk = vec![0; CHUNK];
        // A chunk's content depends on its place only: whoever goes on after a killed trial writes the same.
        for place in (from / CHUNK as u64)..(BYTES / CHUNK as u64) {
            Xoshiro256PlusPlus::seed_from_u64(place).fill_bytes(&mut chunk);
            self.file.write_all_at(&chunk, place * CHUNK as u64)?;
        }
        self.file.sync_data()
    }

    fn free_bytes(&self) -> Result<u64, Failure> {
        // SAFETY: a statvfs is plain integers, of which zero is a valid value; the call writes no more than it.
        let (asked, space) = unsafe {
            let mut space: libc::statvfs = std::mem::zeroed();
            (libc::fstatvfs(self.file.as_raw_fd(), &raw mut space), space)
        };
        if asked == 0 { Ok(space.f_bavail * space.f_frsize) } else { Err(Failure::last("fstatvfs")) }
    }

    /// The file, mapped to be shared.
    pub fn mapped(&self) -> Result<FileMapping, Failure> {
        FileMapping::whole(&self.file, BYTES as usize, Sharing::Shared)
    }

    /// Tells the kernel how the file will be read, beside what is said of a mapping.
    pub fn advise(&self, advice: libc::c_int) -> Result<(), Failure> {
        // SAFETY: advice about a file of our own.
        match unsafe { libc::posix_fadvise(self.file.as_raw_fd(), 0, 0, advice) } {
            0 => Ok(()),
            error => {
                Err(Failure::Broke(format!("posix_fadvise: {}", std::io::Error::from_raw_os_error(error))))
            }
        }
    }

    /// Has the kernel drop every page from the page cache, and sees that none is left. Pages that are mapped stay, so they
    /// are taken from the mapping first.
    pub fn evict(&self, mapping: &FileMapping) -> Result<(), Failure> {
        let mut left = 0;
        for _ in 0..ATTEMPTS {
            mapping.forget()?;
            self.advise(libc::POSIX_FADV_DONTNEED)?;
            left = mapping.resident_pages()?;
            if left == 0 {
                return Ok(());
            }
            self.file.sync_data().map_err(|error| Failure::Broke(format!("fdatasync: {error}")))?;
        }
        Err(Failure::Unsupported(format!(
            "the file system keeps {left} of {} pages of a file in memory when it is asked to drop them, as those do that \
             live in memory: name a folder on a disk with --dir",
            mapping.pages()
        )))
    }
}

impl Drop for ColdFile {
    fn drop(&mut self) {
        // The next user of the machine's memory need not push it out.
        let _ = self.advise(libc::POSIX_FADV_DONTNEED);
    }
}
