//! A mapped stretch of a file.

use super::stretch::Mapped;
use crate::apparatus::memory::pages::Pages;
use fathom_core::experiment::Failure;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::ptr::{NonNull, null_mut};

/// The owner of written pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// The file: writes reach it.
    Shared,
    /// This process: writes go to private copies.
    Private,
}

/// Addresses of our own, aligned to a huge page, at which the pages of a file are mapped; unmapped when dropped.
///
/// Aligned, because a fault that maps its neighbours does so within aligned windows: the stretch consists of whole windows.
#[derive(Debug)]
pub struct FileMapping {
    reserved: NonNull<u8>,
    reserved_bytes: usize,
    start: NonNull<u8>,
    bytes: usize,
}

impl FileMapping {
    /// Maps the first `bytes` of a file for reading and writing.
    pub fn whole(file: &File, bytes: usize, sharing: Sharing) -> Result<Self, Failure> {
        let mapping = FileMapping::reserve(bytes)?;
        mapping.place(file, 0, bytes, 0, sharing)?;
        Ok(mapping)
    }

    /// Maps the first `bytes` of a file page by page, the last page first, so that the kernel cannot merge the mappings and a
    /// fault finds no neighbour in its own.
    pub fn in_single_pages(file: &File, bytes: usize) -> Result<Self, Failure> {
        let mapping = FileMapping::reserve(bytes)?;
        let page = Pages::Base.bytes();
        for offset in (0..bytes).step_by(page) {
            mapping.place(file, offset, page, bytes - page - offset, Sharing::Shared)?;
        }
        Ok(mapping)
    }

    fn reserve(bytes: usize) -> Result<Self, Failure> {
        let align = 2 << 20;
        let bytes = bytes.next_multiple_of(Pages::Base.bytes());
        let reserved_bytes = bytes + align;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new mapping at an address of the kernel's choice.
        let address = unsafe { libc::mmap(null_mut(), reserved_bytes, libc::PROT_NONE, flags, -1, 0) };
        let reserved = NonNull::new(address.cast::<u8>()).filter(|_| address != libc::MAP_FAILED);
        let reserved = reserved.ok_or_else(|| Failure::last("mmap of addresses for a file"))?;
        let skipped = (address as usize).next_multiple_of(align) - address as usize;
        // SAFETY: less than `align` is skipped, and the reservation is longer by that.
        let start = unsafe { reserved.add(skipped) };
        Ok(FileMapping { reserved, reserved_bytes, start, bytes })
    }

    /// Maps `bytes` of the file from `from` on at `offset` of the stretch.
    fn place(
        &self,
        file: &File,
        offset: usize,
        bytes: usize,
        from: usize,
        sharing: Sharing,
    ) -> Result<(), Failure> {
        let sharing = match sharing {
            Sharing::Shared => libc::MAP_SHARED,
            Sharing::Private => libc::MAP_PRIVATE,
        };
        let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, sharing | libc::MAP_FIXED);
        // SAFETY: replaces addresses of our own reservation, which nothing uses.
        let placed = unsafe {
            let start = self.start.as_ptr().add(offset).cast();
            libc::mmap(start, bytes, access, flags, file.as_raw_fd(), from as libc::off_t)
        };
        if placed == libc::MAP_FAILED { Err(Failure::last("mmap of a file")) } else { Ok(()) }
    }
}

impl Mapped for FileMapping {
    fn start(&self) -> NonNull<u8> {
        self.start
    }

    fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for FileMapping {
    fn drop(&mut self) {
        // SAFETY: mapped in `reserve`, the stretch included, and used by nobody else.
        unsafe { libc::munmap(self.reserved.as_ptr().cast(), self.reserved_bytes) };
    }
}
