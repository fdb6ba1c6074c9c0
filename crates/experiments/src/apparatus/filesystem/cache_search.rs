//! Determines by timing how much of a file stays in the page cache: the largest prefix that can be read again without waiting for
//! the device.

use super::reader::{Call, ReadAhead, Reader};
use fathom_core::experiment::{Failure, Site};
use fathom_core::sorting;
use fathom_equipment::test_file::{TestFile, blocks, cached_within, forget, served};
use std::cell::Cell;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::rc::Rc;

/// Witness: bytes judged as cached or not cached.
pub const JUDGED: &str = "bytes_judged";
/// Witness: the absolute difference between bytes judged slow and bytes that the device sent.
pub const MISJUDGED: &str = "bytes_misjudged";

/// Bytes of a timed piece: long compared with the clock, short compared with the file.
const PIECE: u64 = 64 << 10;
/// The maximum share of slow pieces in a prefix that fits: an interrupted piece is slow as well.
const FITS: f64 = 0.01;
/// The relative width of the bracket at which the search ends.
const TOLERANCE: f64 = 0.01;
/// Bytes of a read that fills the cache.
const STRETCH: usize = 1 << 20;
/// Pieces by which the two kinds of piece are timed.
const SAMPLE: u64 = 128;

/// The order in which a prefix is read again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RereadOrder {
    /// In the order of the first reading.
    Forward,
    /// The last read pieces first.
    Backward,
    Random,
}

/// The account by which the judgements are checked.
#[derive(Clone, Default)]
pub struct JudgementTally(Rc<Cell<(f64, f64)>>);

impl JudgementTally {
    /// The account as witnesses.
    pub fn counts(&self) -> Vec<(&'static str, f64)> {
        let (judged, misjudged) = self.0.get();
        vec![(JUDGED, judged), (MISJUDGED, misjudged)]
    }

    fn add(&self, judged: u64, misjudged: f64) {
        let (one, other) = self.0.get();
        self.0.set((one + judged as f64, other + misjudged));
    }
}

/// A search for the largest prefix of one file that fits.
pub struct Search<'site> {
    test: TestFile,
    reader: Reader,
    order: RereadOrder,
    site: &'site Site<'site>,
    slow_ns: f64,
    stretch: Vec<u8>,
    tally: JudgementTally,
}

impl<'site> Search<'site> {
    /// A search in a file without cached pages.
    pub fn new(test: TestFile, call: Call, order: RereadOrder, site: &'site Site) -> Result<Self, Failure> {
        let file =
            File::open(&test.path).map_err(|error| Failure::Broke(format!("the file is gone: {error}")))?;
        let reader = Reader::new(file, (test.bytes, test.content), PIECE, call, ReadAhead::Off)?;
        advise(&test.file, 0, libc::POSIX_FADV_RANDOM);
        let stretch = vec![0; STRETCH];
        Ok(Search { test, reader, order, site, slow_ns: 0.0, stretch, tally: JudgementTally::default() })
    }

    /// The account of judgements.
    pub fn tally(&self) -> JudgementTally {
        self.tally.clone()
    }

    /// Median times of a cached and of an evicted piece, nanoseconds; their geometric mean separates them from now on.
    pub fn contrast(&mut self) -> Result<(f64, f64), Failure> {
        let sample = (SAMPLE * PIECE).min(self.test.bytes / 2 / PIECE * PIECE);
        self.drop_from(0)?;
        let miss = middle(self.times(sample)?);
        self.reopen()?;
        let hit = middle(self.times(sample)?);
        self.slow_ns = (hit * miss).sqrt();
        Ok((hit, miss))
    }

    /// The largest prefix that fits, bytes, at most `ceiling`: bracketed, then bisected.
    pub fn find(&mut self, ceiling: u64) -> Result<u64, Failure> {
        self.drop_from(0)?;
        let pieces = |bytes: u64| bytes / PIECE * PIECE;
        let (mut fits, mut fails) = (0, pieces(self.test.bytes));
        let mut next = pieces(ceiling - ceiling / 8);
        while (fails - fits) as f64 > TOLERANCE * fails as f64 {
            if self.slow_share(next)? < FITS {
                fits = next;
            } else {
                fails = next;
            }
            // Downwards the bracket doubles its distance until a prefix fits; then it is halved.
            next = pieces(if fits == 0 { fails - fails / 4 } else { u64::midpoint(fits, fails) });
            if next == 0 {
                return Err(Failure::Broke(
                    "not even the smallest prefix was cached when read again".to_owned(),
                ));
            }
        }
        if fails == pieces(self.test.bytes) {
            return Err(Failure::Broke("all of the file fits: no read missed".to_owned()));
        }
        Ok(u64::midpoint(fits, fails))
    }

    /// Fills the cache with exactly a prefix, reads it again, and returns the share of slow pieces.
    fn slow_share(&mut self, prefix: u64) -> Result<f64, Failure> {
        self.reader.close();
        self.drop_from(prefix)?;
        self.fill(prefix)?;
        self.reopen()?;
        let before = served();
        let times = self.times(prefix)?;
        let slow = times.iter().filter(|time| **time > self.slow_ns).count() as f64;
        if let (Some(before), Some(after)) = (before, served()) {
            self.tally.add(prefix, (slow * PIECE as f64 - (after - before)).abs());
        }
        Ok(slow / times.len() as f64)
    }

    fn fill(&mut self, prefix: u64) -> Result<(), Failure> {
        let mut offset = 0;
        while offset < prefix {
            let length = (prefix - offset).min(STRETCH as u64) as usize;
            let read = self.test.file.read_exact_at(&mut self.stretch[..length], offset);
            read.map_err(|error| Failure::Broke(format!("reading the test file: {error}")))?;
            offset += length as u64;
        }
        Ok(())
    }

    /// The time of every piece of a prefix.
    fn times(&mut self, prefix: u64) -> Result<Vec<f64>, Failure> {
        let offsets = self.offsets(prefix);
        let mut times = Vec::with_capacity(offsets.len());
        for offset in offsets {
            let began = self.site.stopwatch.now_ns();
            self.reader.read(offset)?;
            times.push(self.site.stopwatch.now_ns() - began);
        }
        Ok(times)
    }

    fn offsets(&self, prefix: u64) -> Vec<u64> {
        let pieces = prefix / PIECE;
        match self.order {
            RereadOrder::Forward => (0..pieces).map(|number| number * PIECE).collect(),
            RereadOrder::Backward => (0..pieces).rev().map(|number| number * PIECE).collect(),
            RereadOrder::Random => blocks::drawn(prefix, PIECE, pieces as usize, self.site.seed ^ prefix),
        }
    }

    fn reopen(&mut self) -> Result<(), Failure> {
        self.reader.close();
        self.reader.open()
    }

    /// Evicts cached pages from an offset on, and verifies it.
    fn drop_from(&mut self, offset: u64) -> Result<(), Failure> {
        self.reader.close();
        let rest = self.test.bytes - offset;
        for _ in 0..5 {
            advise(&self.test.file, offset, libc::POSIX_FADV_DONTNEED);
            if cached_within(&self.test.file, offset, rest)?.bytes == 0 {
                return self.reader.open();
            }
        }
        Err(Failure::Unsupported(
            "the page cache keeps pages of the file despite the request to drop them".to_owned(),
        ))
    }
}

/// With a memory limit shared by trials, pages left in the cache would reduce what the next trial finds.
impl Drop for Search<'_> {
    fn drop(&mut self) {
        self.reader.close();
        forget(&self.test.file);
    }
}

/// Advises the kernel about a file from an offset on.
fn advise(file: &File, offset: u64, advice: libc::c_int) {
    // SAFETY: takes no pointers; length 0 means to the end.
    unsafe { libc::posix_fadvise(file.as_raw_fd(), offset as libc::off_t, 0, advice) };
}

fn middle(mut times: Vec<f64>) -> f64 {
    sorting::numbers(&mut times);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}
