//! A stretch of pages: touched in order, forgotten again, and its backing queried.

use crate::apparatus::memory::pages::{Mapping, Pages};
use fathom_core::experiment::{Failure, errno};
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::ptr::NonNull;

/// Something that owns mapped memory.
pub trait Mapped {
    /// Its first byte.
    fn start(&self) -> NonNull<u8>;

    /// Its length: whole pages.
    fn bytes(&self) -> usize;

    /// All page indices.
    fn all_pages(&self) -> Range<usize> {
        0..self.pages()
    }

    /// Reads one byte of each of these pages, in the order of addresses.
    #[inline]
    fn read_pages(&self, pages: Range<usize>) {
        let page = Pages::Base.bytes();
        for index in pages.start..pages.end.min(self.pages()) {
            // SAFETY: inside the mapping, which can be read.
            unsafe { self.start().add(index * page).read_volatile() };
        }
    }

    /// Writes one byte of each of these pages, in the order of addresses.
    ///
    /// # Safety
    ///
    /// The mapping is writable, and nobody else uses its contents.
    #[inline]
    unsafe fn write_pages(&self, pages: Range<usize>) {
        let page = Pages::Base.bytes();
        for index in pages.start..pages.end.min(self.pages()) {
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

    /// Makes the next touch of every page fault again: anonymous pages are freed, those of a file stay in the page cache.
    fn forget(&self) -> Result<(), Failure> {
        self.advise(libc::MADV_DONTNEED, "madvise to forget pages")
    }

    /// The number of base pages.
    fn pages(&self) -> usize {
        self.bytes() / Pages::Base.bytes()
    }

    /// The number of pages that this process could touch without a fault.
    fn present_pages(&self) -> Result<usize, Failure> {
        let table = PageTable::open()?;
        table.present(self.start().as_ptr() as usize, self.pages())
    }

    /// Forgets all pages, then touches those that are missing on their turn; returns their number, which is the number of faults
    /// in a walk over all pages, however many pages the kernel maps at each fault.
    fn faults_of_a_walk(&self, touch: impl Fn(usize) -> Result<(), Failure>) -> Result<usize, Failure> {
        self.forget()?;
        let (table, mut missing) = (PageTable::open()?, 0);
        for page in self.all_pages() {
            if table.present(self.start().as_ptr() as usize + page * Pages::Base.bytes(), 1)? == 0 {
                touch(page)?;
                missing += 1;
            }
        }
        Ok(missing)
    }

    /// The number of pages in memory, whoever has mapped them (`mincore(2)`).
    fn resident_pages(&self) -> Result<usize, Failure> {
        let mut pages = vec![0_u8; self.pages()];
        let start = self.start().as_ptr().cast();
        // SAFETY: room for one byte per page.
        errno("mincore", unsafe { libc::mincore(start, self.bytes(), pages.as_mut_ptr()) })?;
        Ok(pages.iter().filter(|page| **page & 1 == 1).count())
    }
}

/// The page table of this process as the kernel exports it: one word per page, whose bit 63 says whether the page is present,
/// including the shared zero page (`/proc/self/pagemap`, in the kernel's documentation).
struct PageTable(File);

impl PageTable {
    fn open() -> Result<Self, Failure> {
        File::open("/proc/self/pagemap").map(PageTable).map_err(|error| PageTable::unreadable(&error))
    }

    fn unreadable(error: &std::io::Error) -> Failure {
        Failure::Unsupported(format!("/proc/self/pagemap cannot be read ({error}): mount /proc"))
    }

    /// The number of present pages among `pages` pages from an address on.
    fn present(&self, address: usize, pages: usize) -> Result<usize, Failure> {
        const WORD: usize = 8;
        // The words are in the machine's byte order: bit 63 is in the last byte of a little-endian one.
        let top = if cfg!(target_endian = "little") { WORD - 1 } else { 0 };
        let mut words = [0; 512 * WORD];
        let (mut first, mut remaining, mut present) = (address / Pages::Base.bytes(), pages, 0);
        while remaining > 0 {
            let some = remaining.min(words.len() / WORD);
            let words = &mut words[..some * WORD];
            self.0
                .read_exact_at(words, (first * WORD) as u64)
                .map_err(|error| PageTable::unreadable(&error))?;
            present += words.chunks_exact(WORD).filter(|word| word[top] & 0x80 != 0).count();
            (first, remaining) = (first + some, remaining - some);
        }
        Ok(present)
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

    /// The words of a page table: present, swapped out, and one whose frame is hidden, as from ordinary users.
    #[test]
    fn a_page_is_present_where_its_word_says_so_and_not_where_it_is_swapped_out() {
        let words = [1_u64 << 63 | 0x4d, 1 << 62 | 0x05, 0, 1 << 63];
        let file = tempfile::tempfile().unwrap();
        for (page, word) in words.iter().enumerate() {
            file.write_all_at(&word.to_ne_bytes(), (1000 + page as u64) * 8).unwrap();
        }
        let (table, page) = (PageTable(file), Pages::Base.bytes());
        let present = |first: usize, pages| table.present((1000 + first) * page, pages);
        assert_eq!(present(0, 4).unwrap(), 2);
        assert_eq!((present(1, 2).unwrap(), present(3, 1).unwrap()), (0, 1));
        assert!(present(3, 2).is_err(), "a table that ends tells nothing");
    }
}
