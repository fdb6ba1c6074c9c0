//! Section 6.2: reading blocks of local files.

use super::BLOCK;
use crate::report_000::boilerplate::{TRIALS, timed_once};
use crate::report_000::mapped::drop_cached;
use crate::report_000::shuffle::shuffled;
use crate::sweep::nearest;
use crate::{Fit, Method, Replica, Row, SameQuestion, Series, Stage, Statistic, Theirs};
use fathom_core::experiment::{Failure, Placement, Point, ensure, errno};
use fathom_core::machine::Machine;
use fathom_core::quantity::Unit;
use fathom_equipment::test_file::{Aligned, DiskQuota, TestFile};
use std::os::fd::AsRawFd;
use std::time::Duration;

const IN_ORDER: &str = "sequential";
const SHUFFLED: &str = "random";

static BLOCKS: Method = Method {
    name: "file read",
    text: "Files have 1 MiB to 1 GiB, each twice the one before, and are read in blocks of 4096 bytes. In order: lseek to the beginning, \
           then the timer around read() of all blocks; nothing is dropped from the cache, and read-ahead stays on. Shuffled: pread() of \
           every block once, after the file was dropped from the cache. A trial reads the file 32 times, and there are ten trials; the \
           figure is the mean over all sizes of the mean time per block.",
    differs: "Files go up to 256 MiB (with --quick 16 MiB) and hold random bytes. The number of readings in a trial, and in the shuffled \
              order the number of blocks, are reduced to what fits into 15 s. The report gives neither the contents of its files nor how \
              it emptied the cache (here POSIX_FADV_DONTNEED and POSIX_FADV_RANDOM).",
    placement: Placement::OneCpu,
    needs: &[],
    limit: Duration::from_mins(3),
    measure: blocks,
};

/// Readings of a whole file in a trial.
const READINGS: u64 = 32;

fn blocks(stage: &Stage) -> Result<Series, Failure> {
    let sizes: Vec<u64> = (20..=stage.count(28, 24)).map(|power| 1 << power).collect();
    let time_ns = stage.time_ns() / (sizes.len() as u64 * TRIALS) as f64;
    let mut series = Series::default();
    let mut seen = Seen::default();
    for bytes in sizes {
        let test = TestFile::nameless(stage.site, bytes, DiskQuota::DEFAULT)?;
        let in_order = trials(stage, |stage| in_order(stage, &test, time_ns * 0.25, &mut seen))?;
        let order = shuffled(bytes / BLOCK, stage.site.seed);
        advise_random(&test)?;
        let random = trials(stage, |stage| at_random(stage, (&test, &order), time_ns * 0.6, &mut seen))?;
        series = series.and(IN_ORDER, bytes as f64, in_order).and(SHUFFLED, bytes as f64, random);
    }
    Ok(series.seen(seen.told()))
}

fn trials(stage: &Stage, mut trial: impl FnMut(&Stage) -> Result<f64, Failure>) -> Result<Vec<f64>, Failure> {
    (0..TRIALS).map(|_| trial(stage)).collect()
}

/// The number of blocks that were read.
#[derive(Default)]
struct Seen {
    in_order: u64,
    random: u64,
}

impl Seen {
    fn told(&self) -> String {
        format!("{} blocks were read in order and {} shuffled.", self.in_order, self.random)
    }
}

fn read_next(test: &TestFile, buffer: &Aligned) -> Result<(), Failure> {
    // SAFETY: the buffer has room for a block.
    let read = unsafe { libc::read(test.file.as_raw_fd(), buffer.start().cast(), BLOCK as usize) };
    ensure(errno("read", read)? == BLOCK as isize, "a read returned less than a block")
}

fn read_at(test: &TestFile, buffer: &Aligned, offset: u64) -> Result<(), Failure> {
    let (descriptor, start) = (test.file.as_raw_fd(), buffer.start().cast());
    // SAFETY: the buffer has room for a block.
    let read = unsafe { libc::pread(descriptor, start, BLOCK as usize, offset as libc::off_t) };
    ensure(errno("pread", read)? == BLOCK as isize, "a pread returned less than a block")
}

/// Reads in the file's order, as often as fits, at most as often as the report: nanoseconds per block.
fn in_order(stage: &Stage, test: &TestFile, time_ns: f64, seen: &mut Seen) -> Result<f64, Failure> {
    let (buffer, blocks) = (Aligned::new(BLOCK as usize)?, test.bytes / BLOCK);
    let (began, mut readings, mut ticks) = (stage.site.stopwatch.now_ns(), 0, 0.0);
    while readings < READINGS && (readings == 0 || stage.site.stopwatch.now_ns() - began < time_ns) {
        // SAFETY: takes no pointers.
        errno("lseek", unsafe { libc::lseek(test.file.as_raw_fd(), 0, libc::SEEK_SET) })?;
        ticks += timed_once(|| (0..blocks).try_for_each(|_| read_next(test, &buffer)))?;
        readings += 1;
    }
    seen.in_order += readings * blocks;
    Ok(ticks * stage.ns_per_tick()? / (readings * blocks) as f64)
}

fn advise_random(test: &TestFile) -> Result<(), Failure> {
    // SAFETY: takes no pointers.
    let told = unsafe { libc::posix_fadvise(test.file.as_raw_fd(), 0, 0, libc::POSIX_FADV_RANDOM) };
    ensure(told == 0, "the kernel refused the advice not to read ahead")
}

/// Reads in a shuffled order, as many of the report's blocks as fit: nanoseconds per block.
fn at_random(
    stage: &Stage,
    (test, order): (&TestFile, &[u64]),
    time_ns: f64,
    seen: &mut Seen,
) -> Result<f64, Failure> {
    let buffer = Aligned::new(BLOCK as usize)?;
    let (began, mut readings, mut read, mut ticks) = (stage.site.stopwatch.now_ns(), 0, 0, 0.0);
    let over = |read: u64| read.is_multiple_of(8) && stage.site.stopwatch.now_ns() - began > time_ns;
    while readings < READINGS && (read == 0 || !over(0)) {
        drop_cached(&test.file);
        ticks += timed_once(|| {
            for number in order {
                read_at(test, &buffer, number * BLOCK)?;
                read += 1;
                if over(read) {
                    break;
                }
            }
            Ok(())
        })?;
        readings += 1;
    }
    seen.random += read;
    Ok(ticks * stage.ns_per_tick()? / read as f64)
}

const READ: &str = "filesystem/read";

fn cold(machine: &Machine, order: &'static str, way: &'static str) -> Point {
    let names: &[(&str, &[&str])] = &[("state", &["cold"]), ("order", &[order]), ("call", &[way])];
    nearest(READ, machine, names, &[("block", BLOCK), ("file", 64 << 20)])
}

const fn row(
    operation: &'static str,
    (variant, theirs): (&'static str, &'static str),
    point: fn(&Machine) -> Point,
    misleads: &'static str,
) -> Row {
    Row {
        section: "6.2",
        operation,
        unit: Unit::Nanoseconds,
        per: "block",
        theirs: Theirs::Printed(theirs),
        replica: Replica::By(&BLOCKS),
        statistic: Statistic::variant(variant, Fit::MeanOver { from: 0.0, to: f64::MAX }),
        fathom: SameQuestion::Point(READ, point),
        misleads,
    }
}

/// The summary's row; tables 29 and 33.
pub const SEQUENTIAL: Row = row(
    "file read, sequential",
    (IN_ORDER, "s000-0300"),
    |machine| cold(machine, "sequential", "read"),
    "All readings but the first come from the cache, which is never emptied: the report compares a copy in memory with random reads that \
     wait for the disk. Fathom's file is cold. The report's must have been partly cold, because 3.3 µs per block are too long for a copy.",
);

/// The summary's row; tables 30 and 33.
pub const RANDOM: Row = row(
    "file read, random",
    (SHUFFLED, "s000-0301"),
    |machine| cold(machine, "random", "pread"),
    "Only slightly misleading: in both methods every block waits for the disk. Slow answers of the disk affect the mean but not the \
     median. The report made its prediction from the rate of many requests at once; it is 18 times too low, not slightly too high.",
);
