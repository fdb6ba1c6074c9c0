//! The advice that the report's programs give the kernel about a mapped file.

use crate::mapping::Mapped;
use fathom_core::experiment::{Failure, ensure};
use std::fs::File;
use std::os::fd::AsRawFd;

/// Advises the kernel not to read ahead.
pub fn expect_random(map: &Mapped, file: &File) -> Result<(), Failure> {
    // SAFETY: takes no pointers.
    let told = unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_RANDOM) };
    ensure(told == 0, "the kernel refused the advice not to read ahead")?;
    map.advise(libc::MADV_RANDOM)
}

/// Drops the mapping's pages from the process (`MADV_DONTNEED`), the file from the cache (`POSIX_FADV_DONTNEED`), and the mapping
/// itself.
pub fn let_go(map: Mapped, file: &File) -> Result<(), Failure> {
    map.advise(libc::MADV_DONTNEED)?;
    drop_cached(file);
    drop(map);
    Ok(())
}

/// Asks the kernel to drop a file from the cache, without a check that it did, as the report's programs do.
pub fn drop_cached(file: &File) {
    // SAFETY: takes no pointers; a length of 0 is the whole file.
    unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
}
