//! A file mapped as they map it: for reading, privately, without read-ahead.

use crate::experiment::{Failure, ensure};
use std::fs::File;
use std::os::fd::AsRawFd;

/// A private, read-only mapping.
pub struct Mapped {
    start: *mut libc::c_void,
    bytes: usize,
}

impl Mapped {
    /// Maps the beginning of a file.
    pub fn privately(file: &File, bytes: u64) -> Result<Self, Failure> {
        let (bytes, descriptor) = (bytes as usize, file.as_raw_fd());
        let (protection, flags) = (libc::PROT_READ, libc::MAP_PRIVATE);
        // SAFETY: a new mapping, which nothing else refers to.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags, descriptor, 0) };
        if start == libc::MAP_FAILED {
            return Err(Failure::last("mmap of the test file"));
        }
        Ok(Mapped { start, bytes })
    }

    /// Tells the kernel that nothing is worth reading ahead.
    pub fn expect_random(&self, file: &File) -> Result<(), Failure> {
        // SAFETY: advice about a mapping and a file of our own.
        let (file_told, memory_told) = unsafe {
            (
                libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_RANDOM),
                libc::madvise(self.start, self.bytes, libc::MADV_RANDOM),
            )
        };
        ensure(file_told == 0 && memory_told == 0, "the kernel refused the advice not to read ahead")
    }

    /// The byte at an offset, loaded now.
    #[inline]
    pub fn byte(&self, offset: u64) -> u8 {
        assert!((offset as usize) < self.bytes, "beyond the mapping");
        // SAFETY: within the mapping, whose file nobody shortens.
        unsafe { self.start.cast::<u8>().add(offset as usize).read_volatile() }
    }

    /// MADV_DONTNEED, POSIX_FADV_DONTNEED and munmap, in this order.
    pub fn let_go(self, file: &File) -> Result<(), Failure> {
        // SAFETY: advice about a mapping and a file of our own.
        let told = unsafe { libc::madvise(self.start, self.bytes, libc::MADV_DONTNEED) };
        ensure(told == 0, "madvise refused to drop the pages")?;
        drop_cached(file);
        Ok(())
    }
}

/// Asks for a file to be dropped from the cache, without looking whether it was: as they do.
pub fn drop_cached(file: &File) {
    // SAFETY: takes no pointers; a length of 0 is the whole file.
    unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: the mapping made above, to which no borrow is left.
        unsafe { libc::munmap(self.start, self.bytes) };
    }
}
