//! What of a file the page cache of this machine holds.

use crate::experiment::Failure;
use std::fs::File;
use std::os::fd::AsRawFd;

/// Asks the kernel to forget a part of a file; what is dirty, mapped or locked it keeps.
pub fn evict(file: &File, start: u64, bytes: u64) -> Result<(), Failure> {
    let (start, bytes) = (start as libc::off_t, bytes as libc::off_t);
    // SAFETY: a descriptor that is open and two numbers.
    match unsafe { libc::posix_fadvise(file.as_raw_fd(), start, bytes, libc::POSIX_FADV_DONTNEED) } {
        0 => Ok(()),
        error => Err(Failure::Broke(format!(
            "posix_fadvise(POSIX_FADV_DONTNEED): {}",
            std::io::Error::from_raw_os_error(error)
        ))),
    }
}

/// How many bytes of a part of a file, both multiples of a page, are in the page cache: mincore(2). Of files that this
/// user may not write the kernel says that all of it is.
pub fn resident(file: &File, start: u64, bytes: u64) -> Result<u64, Failure> {
    // SAFETY: asks for a fresh mapping of an open file; its result is checked.
    let mapping = unsafe {
        let flags = (libc::PROT_READ, libc::MAP_SHARED);
        libc::mmap(std::ptr::null_mut(), bytes as usize, flags.0, flags.1, file.as_raw_fd(), start as libc::off_t)
    };
    if mapping == libc::MAP_FAILED {
        return Err(Failure::last("mmap to look what is cached"));
    }
    let page = page_bytes();
    let mut pages = vec![0_u8; (bytes as usize).div_ceil(page)];
    // SAFETY: the mapping is whole, and `pages` has a byte for each of its pages; it is unmapped once.
    let told = unsafe {
        let told = libc::mincore(mapping, bytes as usize, pages.as_mut_ptr());
        libc::munmap(mapping, bytes as usize);
        told
    };
    if told != 0 {
        return Err(Failure::last("mincore"));
    }
    Ok(pages.iter().filter(|page| **page & 1 != 0).count() as u64 * page as u64)
}

fn page_bytes() -> usize {
    // SAFETY: asks for a constant.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as usize }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    #[test]
    fn what_is_read_is_resident_and_what_is_evicted_is_not() {
        // In the folder of the build: the one for temporary files may be in memory, where nothing is evicted.
        let mut file = tempfile::NamedTempFile::new_in(".").unwrap();
        file.write_all(&vec![7; 1 << 20]).unwrap();
        file.as_file().sync_all().unwrap();
        let mut file = file.reopen().unwrap();
        file.read_to_end(&mut vec![]).unwrap();
        assert_eq!(resident(&file, 0, 1 << 20).unwrap(), 1 << 20);
        evict(&file, 0, 1 << 20).unwrap();
        assert_eq!(resident(&file, 0, 1 << 20).unwrap(), 0);
    }
}
