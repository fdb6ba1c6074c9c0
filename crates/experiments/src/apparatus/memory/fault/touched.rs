//! Pages that are forgotten and touched again, with each fault counted.

use super::file_mapping::FileMapping;
use super::interval_timer::IntervalTimer;
use super::stretch::Mapped;
use super::tally::{FaultTally, Faults};
use crate::apparatus::memory::backing::Backing;
use crate::apparatus::memory::pages::{Mapping, Pages};
use fathom_core::prelude::*;
use fathom_equipment::test_file::{self, DiskQuota, TestFile};
use std::fs::File;
use std::ops::Range;
use std::rc::Rc;

/// Stated: pages mapped per fault, on average.
pub const MAPPED: &str = "pages_mapped_by_one_fault";
/// Stated: the share of the file that was in the page cache.
pub const IN_CACHE: &str = "share_in_page_cache";

/// A way to touch pages.
pub type Touch<M> = fn(&M, Range<usize>) -> Result<(), Failure>;

/// Reads one byte of each page.
pub fn read<M: Mapped>(memory: &M, pages: Range<usize>) -> Result<(), Failure> {
    memory.read_pages(pages);
    Ok(())
}

/// Writes one byte of each page.
pub fn write<M: Mapped>(memory: &M, pages: Range<usize>) -> Result<(), Failure> {
    // SAFETY: every mapping here is writable, and its contents are not used.
    unsafe { memory.write_pages(pages) };
    Ok(())
}

/// Populates the pages in one system call (since Linux 5.14).
pub fn populate<M: Mapped>(memory: &M, pages: Range<usize>) -> Result<(), Failure> {
    let page = Pages::Base.bytes();
    // SAFETY: our own mapping; the call adds missing pages.
    let populated = unsafe {
        let start = memory.start().add(pages.start * page).as_ptr().cast();
        libc::madvise(start, pages.len() * page, libc::MADV_POPULATE_WRITE)
    };
    if populated == 0 {
        return Ok(());
    }
    let error = std::io::Error::last_os_error();
    Err(Failure::of_newer_call("MADV_POPULATE_WRITE", "Linux 5.14", &error))
}

/// A stretch that is repeatedly forgotten, untimed, and touched; the result is per fault counted.
pub fn touched<'site, M: Mapped + 'site>(
    memory: M,
    touch: Touch<M>,
    site: &'site Site,
) -> Result<Workload<'site>, Failure> {
    let claimed = memory.faults_of_a_walk(|page| touch(&memory, page..page + 1))? as f64;
    let mapped = memory.pages() as f64 / claimed;
    let (timer, tally) = (IntervalTimer::new(site), FaultTally::new());
    let counts = Rc::clone(&tally);
    let observe = move || {
        memory.forget()?;
        let before = Faults::so_far();
        let ns = timer.of(|| touch(&memory, memory.all_pages()))?;
        let faults = Faults::so_far().since(before);
        tally.add(claimed, faults, memory.pages() as u64);
        ensure(faults.all() > 0, "the first touch of pages took no fault")?;
        Ok(Some(ns / faults.all() as f64))
    };
    Ok(Workload::recorded(observe).witnessed(move || counts.counts()).stating(MAPPED, mapped))
}

/// The same for huge pages, verified to be huge before they are touched again.
pub fn huge<'site>(bytes: usize, site: &'site Site) -> Result<Workload<'site>, Failure> {
    let memory = Mapping::untouched(bytes, Pages::Huge)?;
    write(&memory, memory.all_pages())?;
    let backing = Backing::of(Mapped::start(&memory).as_ptr() as usize)?;
    if backing.huge < backing.mapped {
        return Err(Failure::Unsupported(format!(
            "the kernel backed {} MiB of {} MiB with huge pages; memory may be fragmented: try after `echo 1 > \
             /proc/sys/vm/compact_memory` as root",
            backing.huge >> 20,
            backing.mapped >> 20
        )));
    }
    Ok(backing.stated(touched(memory, write, site)?))
}

/// The same for pages of a file that are all in the page cache.
pub fn cached<'site>(
    memory: FileMapping,
    touch: Touch<FileMapping>,
    site: &'site Site,
) -> Result<Workload<'site>, Failure> {
    let share = memory.resident_pages()? as f64 / memory.pages() as f64;
    Ok(touched(memory, touch, site)?.stating(IN_CACHE, share))
}

/// An unnamed file that was just written, and therefore is in the page cache, in pages: of a large folio one fault of a shared mapping
/// maps, and marks as changed, all of its pages.
pub fn file(bytes: usize, site: &Site) -> Result<File, Failure> {
    let test = TestFile::nameless(site, bytes as u64, DiskQuota::DEFAULT)?;
    test_file::cached_in_pages(&test)?;
    test_file::warm(&test)?;
    Ok(test.file)
}

/// Clearing of pages that are present, without faults.
pub fn cleared<'site>(bytes: usize, site: &'site Site) -> Result<Workload<'site>, Failure> {
    let (memory, _) = Mapping::resident(bytes, Pages::Base)?;
    let (timer, tally) = (IntervalTimer::new(site), FaultTally::new());
    let counts = Rc::clone(&tally);
    let (page, pages) = (Pages::Base.bytes(), memory.pages());
    let observe = move || {
        let before = Faults::so_far();
        let ns = timer.of(|| {
            for index in 0..pages {
                // SAFETY: one page inside our own mapping.
                unsafe {
                    std::hint::black_box(Mapped::start(&memory).add(index * page)).write_bytes(0, page);
                };
            }
            Ok(())
        })?;
        tally.add(0.0, Faults::so_far().since(before), pages as u64);
        Ok(Some(ns / pages as f64))
    };
    Ok(Workload::recorded(observe).witnessed(move || counts.counts()))
}
