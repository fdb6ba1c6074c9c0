//! Leaving the page cache.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// Advises the kernel to drop a file from the page cache.
pub fn forget(file: &File) {
    // SAFETY: takes no pointers; length 0 is the whole file.
    unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
}

/// Waits until the device has what was written, and drops it from the page cache.
pub fn pass_on(file: &File) -> io::Result<()> {
    file.sync_data()?;
    forget(file);
    Ok(())
}
