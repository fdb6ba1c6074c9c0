//! Files mapped into memory, touched byte by byte.

use fathom_core::experiment::Failure;
use std::fs::File;
use std::os::fd::AsRawFd;

/// A mapping of the beginning of a file.
pub struct MappedFile {
    start: *mut u8,
    bytes: usize,
    writable: bool,
}

impl MappedFile {
    /// A private mapping to be read (`MAP_PRIVATE`).
    pub fn readable(file: &File, bytes: usize) -> Result<Self, Failure> {
        Self::new(file, bytes, libc::PROT_READ, libc::MAP_PRIVATE)
    }

    /// A shared mapping to be written as well (`MAP_SHARED`): writes reach the file.
    pub fn shared(file: &File, bytes: usize) -> Result<Self, Failure> {
        Self::new(file, bytes, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED)
    }

    fn new(file: &File, bytes: usize, protection: i32, flags: i32) -> Result<Self, Failure> {
        // SAFETY: a new mapping, which nothing else refers to.
        let start =
            unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags, file.as_raw_fd(), 0) };
        if start == libc::MAP_FAILED {
            return Err(Failure::last("mmap of a test file"));
        }
        Ok(MappedFile { start: start.cast(), bytes, writable: protection & libc::PROT_WRITE != 0 })
    }

    /// Advises the kernel how all of it will be used (`madvise(2)`).
    pub fn advise(&self, advice: libc::c_int) -> Result<(), Failure> {
        // SAFETY: advice about this mapping alone; what is dropped of it is the file's, and comes back.
        match unsafe { libc::madvise(self.start.cast(), self.bytes, advice) } {
            0 => Ok(()),
            _ => Err(Failure::last("madvise of a mapped test file")),
        }
    }

    #[inline(always)]
    pub fn read(&self, offset: usize) -> u8 {
        assert!(offset < self.bytes, "beyond the mapping");
        // SAFETY: within the mapping. Volatile, so that it is done here and now.
        unsafe { self.start.add(offset).read_volatile() }
    }

    #[inline(always)]
    pub fn write(&mut self, offset: usize, byte: u8) {
        assert!(offset < self.bytes && self.writable, "beyond the mapping, or not to be written");
        // SAFETY: within a mapping that may be written, borrowed exclusively.
        unsafe { self.start.add(offset).write_volatile(byte) };
    }
}

impl Drop for MappedFile {
    fn drop(&mut self) {
        // SAFETY: the mapping made in `new`, to which no borrow is left.
        unsafe { libc::munmap(self.start.cast(), self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    #[test]
    fn what_is_written_to_a_shared_mapping_is_the_files() {
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(b"abc", 0).unwrap();
        let mut mapped = MappedFile::shared(&file, 3).unwrap();
        assert_eq!(mapped.read(1), b'b');
        mapped.write(1, b'x');
        let mut content = [0; 3];
        file.read_exact_at(&mut content, 0).unwrap();
        assert_eq!((&content, MappedFile::readable(&file, 3).unwrap().read(1)), (b"axc", b'x'));
    }
}
