//! Places for mappings, far enough from each other that the kernel cannot join them.

use crate::experiment::{Failure, errno};
use crate::experiments::memory::pages::Pages;
use std::ptr::NonNull;

/// Addresses for `count` mappings of `bytes`, each followed by a page that stays unused. The stretch is reserved for as long
/// as this lives, so that nothing else is put between them; mapping a slot replaces its part of the reservation.
#[derive(Debug)]
pub struct Slots {
    start: NonNull<u8>,
    count: usize,
    bytes: usize,
}

impl Slots {
    /// Finds the addresses and gives them back: mapping a slot then takes a gap, as it does in a program. Nothing else is
    /// mapped meanwhile by a trial, which has one thread; should it be, `map` fails.
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

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// How long each is.
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

    /// Maps every slot, in base pages; fails where anything else is there.
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

    /// Unmaps every slot.
    #[inline]
    pub fn unmap(&self) -> Result<(), Failure> {
        // SAFETY: mappings of ours, of which nobody keeps a reference.
        self.each(|start, bytes| errno("munmap", unsafe { libc::munmap(start, bytes) }))
    }

    /// Writes a byte of every page of every slot; they must be mapped.
    pub fn write(&self) {
        for index in 0..self.count {
            let start = self.start.as_ptr().wrapping_add(index * self.step());
            for offset in (0..self.bytes).step_by(Pages::Base.bytes()) {
                // SAFETY: inside a mapping of ours.
                unsafe { start.wrapping_add(offset).write_volatile(1) };
            }
        }
    }
}
