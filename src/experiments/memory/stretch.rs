//! A stretch of pages: touched in order, forgotten again, and asked what stands behind it.

use super::pages::{Mapping, Pages};
use crate::experiment::{Failure, errno};
use std::os::unix::fs::FileExt;
use std::ptr::NonNull;

/// Something that owns mapped memory.
pub trait Mapped {
    /// Its first byte.
    fn start(&self) -> NonNull<u8>;

    /// Its length: whole pages.
    fn bytes(&self) -> usize;

    /// Reads one byte of each of the first pages, at most as many as there are, in the order of addresses.
    #[inline]
    fn read_pages(&self, pages: usize) {
        let page = Pages::Base.bytes();
        for index in 0..pages.min(self.pages()) {
            // SAFETY: inside the mapping, which can be read.
            unsafe { self.start().add(index * page).read_volatile() };
        }
    }

    /// Writes one byte of each of the first pages, at most as many as there are, in the order of addresses.
    ///
    /// # Safety
    ///
    /// The mapping can be written, and nobody else holds what is in it.
    #[inline]
    unsafe fn write_pages(&self, pages: usize) {
        let page = Pages::Base.bytes();
        for index in 0..pages.min(self.pages()) {
            // SAFETY: inside the mapping, which the caller may write.
            unsafe { self.start().add(index * page).write_volatile(1) };
        }
    }

    /// Gives advice about the whole stretch (`madvise(2)`).
    fn advise(&self, advice: libc::c_int, name: &'static str) -> Result<(), Failure> {
        // SAFETY: our own mapping; none of the advice used here takes away more than its contents, of which no references
        // are held.
        errno(name, unsafe { libc::madvise(self.start().as_ptr().cast(), self.bytes(), advice) }).map(drop)
    }

    /// Has the next touch of every page fault again: anonymous pages are freed, those of a file stay in its cache.
    fn forget(&self) -> Result<(), Failure> {
        self.advise(libc::MADV_DONTNEED, "madvise to forget pages")
    }

    /// How many base pages there are.
    fn pages(&self) -> usize {
        self.bytes() / Pages::Base.bytes()
    }

    /// How many of them this process could touch without a fault: those present in its page table, the shared page of
    /// zeros included (`/proc/self/pagemap`, bit 63 of each page's word, shown to everybody; pagemap of the kernel's
    /// documentation).
    fn present_pages(&self) -> Result<usize, Failure> {
        let unreadable =
            |error| Failure::Unsupported(format!("/proc/self/pagemap cannot be read ({error}): mount /proc"));
        let map = std::fs::File::open("/proc/self/pagemap").map_err(unreadable)?;
        let mut words = vec![0; self.pages() * 8];
        let first = self.start().as_ptr() as usize / Pages::Base.bytes();
        map.read_exact_at(&mut words, first as u64 * 8).map_err(unreadable)?;
        // The words are in the machine's order: bit 63 is in the last byte of a little-endian one.
        let top = if cfg!(target_endian = "little") { 7 } else { 0 };
        Ok(words.chunks_exact(8).filter(|word| word[top] & 0x80 != 0).count())
    }

    /// How many of them are in memory, whoever has mapped them (`mincore(2)`).
    fn resident_pages(&self) -> Result<usize, Failure> {
        let mut pages = vec![0_u8; self.pages()];
        let start = self.start().as_ptr().cast();
        // SAFETY: room for one byte a page.
        errno("mincore", unsafe { libc::mincore(start, self.bytes(), pages.as_mut_ptr()) })?;
        Ok(pages.iter().filter(|page| **page & 1 == 1).count())
    }
}

impl Mapped for Mapping {
    fn start(&self) -> NonNull<u8> {
        Mapping::start(self)
    }

    fn bytes(&self) -> usize {
        Mapping::bytes(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_present_when_touched_and_no_more_when_forgotten() {
        let memory = Mapping::untouched(64 * Pages::Base.bytes(), Pages::Base).unwrap();
        assert_eq!(memory.present_pages().unwrap(), 0);
        memory.read_pages(usize::MAX);
        assert_eq!(memory.present_pages().unwrap(), memory.pages(), "the page of zeros is present");
        memory.forget().unwrap();
        // SAFETY: our own memory, which may be written.
        unsafe { memory.write_pages(1) };
        assert_eq!((memory.present_pages().unwrap(), memory.resident_pages().unwrap()), (1, 1));
        memory.forget().unwrap();
        assert_eq!(memory.present_pages().unwrap(), 0);
    }
}
