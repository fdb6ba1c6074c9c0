//! Page-aligned memory, as required for direct reads.

use fathom_core::experiment::Failure;

/// Private memory of whole pages, written once so that no page of it is missing later.
#[derive(Debug)]
pub struct Aligned {
    start: *mut u8,
    bytes: usize,
}

impl Aligned {
    /// At least this many bytes.
    pub fn new(bytes: usize) -> Result<Self, Failure> {
        let (protection, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new anonymous mapping, which nothing else refers to.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(Failure::last("memory for a buffer"));
        }
        let mut memory = Aligned { start: start.cast(), bytes };
        memory.bytes_mut().fill(1);
        Ok(memory)
    }

    /// Its first byte.
    pub fn start(&self) -> *mut u8 {
        self.start
    }

    pub fn bytes(&self) -> &[u8] {
        // SAFETY: mapped for as long as `self` lives, and initialised by the kernel.
        unsafe { std::slice::from_raw_parts(self.start, self.bytes) }
    }

    /// Its contents, for writing.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.bytes) }
    }
}

impl Drop for Aligned {
    fn drop(&mut self) {
        // SAFETY: the mapping made in `new`, to which there are no borrows left.
        unsafe { libc::munmap(self.start.cast(), self.bytes) };
    }
}
