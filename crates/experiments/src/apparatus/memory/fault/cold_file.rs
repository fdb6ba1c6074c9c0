//! A mapped file of random content that is on its device and not in memory.

use super::file_mapping::{FileMapping, Sharing};
use super::stretch::Mapped;
use fathom_core::experiment::{Failure, Site};
use fathom_equipment::test_file::{self, DiskQuota, TestFile};
use std::ffi::CString;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

/// Its size, bytes: more than a trial reads, and two of the longest strides.
pub const BYTES: u64 = 128 << 20;

/// Maximum number of checks whether reads have finished, with a millisecond between.
const ATTEMPTS: usize = 1_000;

/// Milliseconds without a new page after which reads count as finished if nothing counts requests in flight: longer than a disk
/// takes to serve a request.
const QUIET: usize = 20;

/// File systems in memory (`include/uapi/linux/magic.h`): tmpfs and ramfs.
const IN_MEMORY: [u32; 2] = [0x0102_1994, 0x8584_58F6];

/// The run's file for page faults; of random content, because a device or file system that compresses or omits zeros would not
/// have to read them (R-FIX-39). Evicted when dropped.
#[derive(Debug)]
pub struct ColdFile {
    test: TestFile,
    pub mapping: FileMapping,
}

impl ColdFile {
    /// Opens and maps the run's file; the first trial that needs it creates it.
    pub fn of(site: &Site) -> Result<Self, Failure> {
        refuse_memory(&site.folder)?;
        let test = TestFile::named(site, "page-faults", BYTES, DiskQuota::DEFAULT)?;
        test_file::ensure_accounted(&test)?;
        let mapping = FileMapping::whole(&test.file, BYTES as usize, Sharing::Shared)?;
        Ok(ColdFile { test, mapping })
    }

    pub fn file(&self) -> &File {
        &self.test.file
    }

    /// Reads the whole file into the page cache.
    pub fn warm(&self) -> Result<(), Failure> {
        test_file::warm(&self.test)
    }

    /// Switches read-ahead off for the file and for the mapping.
    pub fn without_read_ahead(&self) -> Result<(), Failure> {
        // SAFETY: advice about a file of our own.
        match unsafe { libc::posix_fadvise(self.file().as_raw_fd(), 0, 0, libc::POSIX_FADV_RANDOM) } {
            0 => self.mapping.advise(libc::MADV_RANDOM, "madvise of random accesses"),
            error => {
                Err(Failure::Broke(format!("posix_fadvise: {}", std::io::Error::from_raw_os_error(error))))
            }
        }
    }

    /// Evicts every page, and verifies that none is left. The kernel does not drop mapped pages, so they are unmapped first; nor
    /// pages that a read-ahead still fetches, so those are awaited.
    pub fn evict(&self) -> Result<(), Failure> {
        self.mapping.forget()?;
        test_file::evict_until(self.file(), || {
            // Pages being read are not counted everywhere, and may arrive between the two checks.
            let is_empty = self.mapping.resident_pages()? == 0;
            if !is_empty {
                self.mapping.forget()?;
            }
            Ok(is_empty)
        })
    }

    /// Pages of the file in memory after all requests to the device have finished: pages being read are in the page cache
    /// already, but mincore does not count them. If nothing counts requests, after no page has arrived for a while.
    pub fn pages_come(&self) -> Result<usize, Failure> {
        let (mut before, mut quiet) = (0, 0);
        for _ in 0..ATTEMPTS {
            let (come, held) = (self.mapping.resident_pages()?, test_file::cached(self.file())?);
            quiet = if come == before { quiet + 1 } else { 0 };
            before = come;
            if come as u64 * test_file::page_bytes() == held.bytes && (held.with_requested || quiet >= QUIET)
            {
                return Ok(come);
            }
            wait_a_millisecond();
        }
        Err(Failure::Broke("the device did not answer a fault within a second".to_owned()))
    }

    #[inline]
    pub fn read(&self, offset: usize) {
        // SAFETY: every offset is inside the file, and all of it is mapped.
        unsafe { self.mapping.start().add(offset % BYTES as usize).read_volatile() };
    }
}

impl Drop for ColdFile {
    fn drop(&mut self) {
        // Then the next user of the machine's memory need not evict it.
        let _ = self.mapping.forget().and_then(|()| test_file::evict(self.file()));
    }
}

fn wait_a_millisecond() {
    std::thread::sleep(Duration::from_millis(1));
}

/// Refuses a folder on a file system in memory, whose pages are never on a device.
fn refuse_memory(folder: &Path) -> Result<(), Failure> {
    let path = CString::new(folder.as_os_str().as_bytes()).unwrap_or_default();
    // SAFETY: a statfs is plain integers, of which zero is a valid value; the call writes no more than it.
    let kind = unsafe {
        let mut status: libc::statfs = std::mem::zeroed();
        (libc::statfs(path.as_ptr(), &raw mut status) == 0).then_some(status.f_type)
    };
    if kind.is_some_and(|kind| IN_MEMORY.contains(&(kind as u32))) {
        return Err(Failure::Unsupported(format!(
            "{} is in memory, so no fault on its files waits for a device: choose a folder on a disk with `--dir`",
            folder.display()
        )));
    }
    Ok(())
}
