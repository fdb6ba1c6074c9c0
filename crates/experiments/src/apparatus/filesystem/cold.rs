//! Reads of data that are not in the page cache: passes over an evicted file, each block once.

use super::reader::Reader;
use fathom_core::prelude::*;
use fathom_equipment::test_file::{blocks, cached_within, evict, page_bytes, served};
use std::cell::RefCell;
use std::rc::Rc;

/// Witness: bytes that the device has sent.
pub const FROM_DEVICE: &str = "bytes_from_device";
/// Witness: bytes that were read.
pub const READ: &str = "bytes_read";

/// Witness: blocks read singly that needed nothing from the device: an earlier read had brought them into the cache.
pub const FROM_CACHE: &str = "blocks_from_cache";
/// Witness: blocks read singly.
pub const SINGLE: &str = "blocks_read_singly";

/// Bytes of a sequential observation, which is the mean over them, or over the whole file if it is smaller: many times the
/// kernel's read-ahead. One block would show either a wait for the device or a copy from the cache, and never both. Without
/// read-ahead every block waits, and is an observation of its own.
const STRETCH: u64 = 32 << 20;

/// Random blocks of one pass, after which the file is evicted again.
const DRAWN: usize = 2048;

/// Passes over a cold file.
struct Passes<'site> {
    site: &'site Site<'site>,
    reader: Reader,
    bytes: u64,
    block: u64,
    sequential: bool,
    offsets: Vec<u64>,
    next: usize,
    count: u64,
    served_before: Option<f64>,
    /// Counts of completed passes: bytes from the device, if the kernel tells, and bytes read.
    past: (Option<f64>, f64),
    /// Blocks read singly, and those of them that needed nothing from the device.
    single: (f64, f64),
}

/// Observations of blocks read from the device through the page cache: single ones in random order and without read-ahead, and
/// the mean of a stretch in sequence. Eviction before each pass is verified and not timed. A pass of single blocks ends before one that
/// the kernel has read ahead.
pub fn reading<'site>(
    reader: Reader,
    (bytes, block): (u64, u64),
    sequential: bool,
    site: &'site Site,
) -> Workload<'site> {
    let passes = Rc::new(RefCell::new(Passes {
        site,
        reader,
        bytes,
        block,
        sequential,
        offsets: vec![],
        next: 0,
        count: 0,
        served_before: None,
        past: (Some(0.0), 0.0),
        single: (0.0, 0.0),
    }));
    let (watched, mut has_begun) = (Rc::clone(&passes), false);
    // Passes count from their eviction on, including the untimed first observation: otherwise data read ahead before the first
    // timed one would appear as read without the device.
    let account = move || {
        let (device, read) = if has_begun { watched.borrow().account() } else { (Some(0.0), 0.0) };
        has_begun = true;
        let (single, cached) = watched.borrow().single;
        let counts = [(READ, read), (SINGLE, single), (FROM_CACHE, cached)];
        device.map(|device| (FROM_DEVICE, device)).into_iter().chain(counts).collect()
    };
    Workload::recorded(move || passes.borrow_mut().observe().map(Some)).witnessed(account)
}

impl Passes<'_> {
    fn observe(&mut self) -> Result<f64, Failure> {
        let in_stretches = self.sequential && self.reader.reads_ahead();
        if self.next >= self.offsets.len() || !in_stretches && self.has_next()? {
            self.begin()?;
        }
        let blocks = if in_stretches { (STRETCH / self.block).max(1) as usize } else { 1 };
        let end = self.offsets.len().min(self.next + blocks);
        let before = served().filter(|_| blocks == 1);
        let began = self.site.stopwatch.now_ns();
        for offset in &self.offsets[self.next..end] {
            self.reader.read(*offset)?;
        }
        let took = self.site.stopwatch.now_ns() - began;
        if let Some((now, before)) = served().zip(before) {
            self.single = (self.single.0 + 1.0, self.single.1 + f64::from(u8::from(now <= before)));
        }
        let count = (end - self.next) as f64;
        self.next = end;
        Ok(took / count)
    }

    /// Whether a part of the next block is in the page cache already: the kernel reads around a block that lies near those read before,
    /// and in a small file all do.
    fn has_next(&self) -> Result<bool, Failure> {
        let offset = self.offsets[self.next];
        let page = offset / page_bytes() * page_bytes();
        Ok(cached_within(self.reader.file(), page, offset - page + self.block)?.bytes > 0)
    }

    /// Ends a pass and begins the next one with nothing of the file in memory.
    fn begin(&mut self) -> Result<(), Failure> {
        self.past = self.account();
        self.reader.close();
        evict(self.reader.file())?;
        self.reader.open()?;
        self.count += 1;
        let seed = self.site.seed.wrapping_add(self.count);
        self.offsets = if self.sequential { self.run(seed) } else { self.scattered(seed) };
        self.next = 0;
        self.served_before = served();
        Ok(())
    }

    fn scattered(&self, seed: u64) -> Vec<u64> {
        blocks::drawn(self.bytes, self.block, DRAWN, seed)
    }

    /// The stretches of a pass; in a large file from any stretch on, so that not only its beginning is measured.
    fn run(&self, seed: u64) -> Vec<u64> {
        let stretches = (self.bytes / STRETCH).max(1);
        let first = seed % stretches * STRETCH;
        let end = (first + 4 * STRETCH).min(self.bytes);
        (first / self.block..end / self.block).map(|number| number * self.block).collect()
    }

    /// Bytes that came from the device, if the kernel tells, and bytes that were read.
    fn account(&self) -> (Option<f64>, f64) {
        if self.count == 0 {
            return self.past;
        }
        let (device, read) = self.past;
        let since = served().zip(self.served_before).map(|(now, before)| now - before);
        (device.zip(since).map(|(device, since)| device + since), read + self.next as f64 * self.block as f64)
    }
}
