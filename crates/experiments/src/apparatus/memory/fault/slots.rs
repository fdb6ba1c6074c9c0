//! Address ranges for mappings, far enough apart that the kernel cannot merge them.

use crate::apparatus::memory::pages::Pages;
use fathom_core::experiment::{Failure, errno};
use std::ptr::NonNull;

/// Addresses for `count` mappings of `bytes`, each followed by an unused page, so that the kernel cannot merge the mappings.
#[derive(Debug)]
pub struct Slots {
    start: NonNull<u8>,
    count: usize,
    bytes: usize,
}

impl Slots {
    /// Finds the addresses and releases them: mapping a slot then fills a gap, as in a program. A trial has one thread and maps
    /// nothing else meanwhile; if something is mapped there, `map` fails.
    pub fn new(count: usize, bytes: usize) -> Result<Self, Failure> {
        let slots = |start| Slots { start, count, bytes };
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let whole = slots(NonNull::dangling()).step() * count;
        // SAFETY: a new mapping at an address of the kernel's choice, unmapped at once.
        let address = unsafe {
            let address = libc::mmap(std::ptr::null_mut(), whole, libc::PROT_NONE, flags, -1, 0);
            if address == libc::MAP_FAILED || libc::munmap(address, whole) != 0 {
                return Err(Failure::last("addresses for mappings"));
            }
            address
        };
        NonNull::new(address.cast())
            .map(slots)
            .ok_or_else(|| Failure::Broke("mmap gave address 0".to_owned()))
    }

    pub fn count(&self) -> usize {
        self.count
    }

    /// The length of each slot, bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    fn step(&self) -> usize {
        self.bytes + Pages::Base.bytes()
    }

    /// Calls `once` with the address and length of each slot.
    #[inline]
    pub fn each<T>(
        &self,
        mut once: impl FnMut(*mut libc::c_void, usize) -> Result<T, Failure>,
    ) -> Result<(), Failure> {
        for index in 0..self.count {
            once(self.start.as_ptr().wrapping_add(index * self.step()).cast(), self.bytes)?;
        }
        Ok(())
    }

    /// Maps every slot in base pages; fails if anything else is there.
    #[inline]
    pub fn map(&self) -> Result<(), Failure> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
        self.each(|start, bytes| {
            // SAFETY: replaces nothing, by its flags.
            let mapped = unsafe { libc::mmap(start, bytes, access, flags, -1, 0) };
            if mapped == start { Ok(()) } else { Err(Failure::last("mmap")) }
        })
    }

    #[inline]
    pub fn unmap(&self) -> Result<(), Failure> {
        // SAFETY: our own mappings, to which no references are kept.
        self.each(|start, bytes| errno("munmap", unsafe { libc::munmap(start, bytes) }))
    }

    /// Writes one byte of every page of every slot; the slots must be mapped.
    pub fn write(&self) {
        for index in 0..self.count {
            let start = self.start.as_ptr().wrapping_add(index * self.step());
            for offset in (0..self.bytes).step_by(Pages::Base.bytes()) {
                // SAFETY: inside our own mapping.
                unsafe { start.wrapping_add(offset).write_volatile(1) };
            }
        }
    }
}
