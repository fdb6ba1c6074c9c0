//! Reads of a cold file through its mapping: single accesses and stretches, with their faults.

use super::cold_file::ColdFile;
use super::device_reads;
use super::interval_timer::IntervalTimer;
use super::stretch::Mapped;
use super::tally::{FaultTally, Faults};
use crate::apparatus::memory::pages::Pages;
use fathom_core::prelude::*;
use std::cell::Cell;
use std::collections::VecDeque;
use std::os::fd::AsRawFd;
use std::rc::Rc;

/// Bytes read in order between two readings of the clock: several times the read-ahead of any device.
pub const WINDOW: usize = 32 << 20;
/// Pages written before they are synchronised.
pub const WRITTEN_PAGES: usize = 256;

/// One access: its time, its faults, and the bytes requested from the device during it.
struct TimedAccess {
    ns: f64,
    faults: Faults,
    served: f64,
}

/// The mapped cold file, with the counts of its accesses.
pub struct ColdReader<'site> {
    pub cold: ColdFile,
    timer: IntervalTimer<'site>,
    tally: Rc<FaultTally>,
}

impl<'site> ColdReader<'site> {
    /// Opens and maps the run's file.
    pub fn new(site: &'site Site) -> Result<Self, Failure> {
        Ok(ColdReader {
            cold: ColdFile::of(site)?,
            timer: IntervalTimer::new(site),
            tally: FaultTally::new(),
        })
    }

    fn recorded(
        tally: Rc<FaultTally>,
        observe: impl FnMut() -> Result<Option<f64>, Failure> + 'site,
    ) -> Workload<'site> {
        let witness = move || tally.counts().into_iter().chain(device_reads::count()).collect();
        Workload::recorded(observe).witnessed(witness)
    }

    /// Times one part, and counts its faults next to those claimed.
    fn timed(
        &self,
        claimed: f64,
        pages: usize,
        work: impl FnOnce(&Self) -> Result<(), Failure>,
    ) -> Result<f64, Failure> {
        let before = Faults::so_far();
        let ns = self.timer.of(|| work(self))?;
        self.tally.add(claimed, Faults::so_far().since(before), pages as u64);
        Ok(ns)
    }

    /// Series of single accesses; each series begins with nothing of the file in memory. A series is made as a whole and then
    /// reported access by access, so that the end of the trial does not cut it short, which would count the first accesses alone.
    pub fn accesses(self, mut series: impl FnMut() -> Vec<usize> + 'site) -> Workload<'site> {
        let mut accesses = VecDeque::new();
        let tally = Rc::clone(&self.tally);
        let served = Rc::new(Cell::new(0.0));
        let served_so_far = Rc::clone(&served);
        let observe = move || {
            let Some(access) = accesses.pop_front() else {
                self.cold.evict()?;
                accesses =
                    series().into_iter().map(|offset| self.access(offset)).collect::<Result<_, _>>()?;
                return Ok(None);
            };
            self.tally.add(1.0, access.faults, 1);
            served.set(served.get() + access.served);
            Ok(Some(access.ns))
        };
        // Whether the kernel counts the bytes that the device serves is known beforehand.
        let counted = device_reads::count().is_some();
        Workload::recorded(observe).witnessed(move || {
            let served = counted.then(|| device_reads::named(served_so_far.get()));
            tally.counts().into_iter().chain(served).collect()
        })
    }

    fn access(&self, offset: usize) -> Result<TimedAccess, Failure> {
        let served = || device_reads::count().map_or(0.0, |(_, bytes)| bytes);
        let (served_before, before) = (served(), Faults::so_far());
        let ns = self.timer.of(|| {
            self.cold.read(offset);
            Ok(())
        })?;
        let faults = Faults::so_far().since(before);
        Ok(TimedAccess { ns, faults, served: served() - served_before })
    }

    /// Reads the beginning of the file page by page; the result is per page.
    pub fn windows(self) -> Workload<'site> {
        let page = Pages::Base.bytes();
        ColdReader::recorded(Rc::clone(&self.tally), move || {
            self.cold.evict()?;
            let pages = WINDOW / page;
            let read = |reader: &Self| {
                (0..WINDOW).step_by(page).for_each(|offset| reader.cold.read(offset));
                Ok(())
            };
            self.timed(0.0, pages, read).map(|ns| Some(ns / pages as f64))
        })
    }

    /// Reads the first byte through a mapping made for it, which is part of the time.
    pub fn fresh_mappings(self) -> Workload<'site> {
        let page = Pages::Base.bytes();
        ColdReader::recorded(Rc::clone(&self.tally), move || {
            self.cold.evict()?;
            let mut fresh = std::ptr::null_mut();
            let ns = self.timed(1.0, 1, |reader| {
                let file = reader.cold.file().as_raw_fd();
                // SAFETY: a new mapping at an address of the kernel's choice, read if it was made.
                unsafe {
                    fresh =
                        libc::mmap(std::ptr::null_mut(), page, libc::PROT_READ, libc::MAP_SHARED, file, 0);
                    if fresh == libc::MAP_FAILED {
                        return Err(Failure::last("mmap of a page of a file"));
                    }
                    fresh.cast::<u8>().read_volatile();
                }
                Ok(())
            })?;
            // SAFETY: the mapping just made, to which no references are kept.
            errno("munmap", unsafe { libc::munmap(fresh, page) })?;
            Ok(Some(ns))
        })
    }

    /// Writes and synchronises the first pages; the result is per page.
    pub fn written(self) -> Workload<'site> {
        let page = Pages::Base.bytes();
        ColdReader::recorded(Rc::clone(&self.tally), move || {
            self.cold.evict()?;
            let ns = self.timed(WRITTEN_PAGES as f64, WRITTEN_PAGES, |reader| {
                let start = reader.cold.mapping.start().as_ptr().cast();
                // SAFETY: our own mapping of a file whose contents nobody uses.
                let synchronised = unsafe {
                    reader.cold.mapping.write_pages(0..WRITTEN_PAGES);
                    libc::msync(start, WRITTEN_PAGES * page, libc::MS_SYNC)
                };
                errno("msync", synchronised).map(drop)
            })?;
            Ok(Some(ns / WRITTEN_PAGES as f64))
        })
    }
}
