//! Section 5.2: reading blocks of a file past the cache.

use super::BLOCK;
use crate::sweep::nearest;
use crate::{Fit, Method, Replica, Row, SameQuestion, Series, Stage, Statistic, Theirs, timer};
use fathom_core::experiment::{Failure, Placement, Point};
use fathom_core::machine::Machine;
use fathom_core::quantity::Unit;
use fathom_core::quantity::declared::size;
use fathom_equipment::test_file::{self, Aligned, DiskQuota, TestFile};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

const READ: Method = Method {
    name: "file read",
    text: "The program reads files of random bytes of 4 KiB to 64 MiB, times 4, past the cache in blocks of 4 KiB: in sequence with \
           read(), and as many blocks at random with lseek() to a block number from rand() and read(). The lseek() is timed as well. Each \
           block stands between rdtscStart() and rdtscEnd(); the sum over the number of blocks is one of 100 results for each file.",
    differs: "O_DIRECT replaces F_NOCACHE and also prevents read-ahead; POSIX_FADV_DONTNEED replaces purge. Fathom makes as many of the \
              100 passes over a file as fit into a sixteenth of 16 s (with --quick of 2 s), at least one; a pass that takes longer than 2 \
              s is cut short.",
    placement: Placement::OneCpu,
    needs: &[],
    limit: Duration::from_mins(3),
    measure: read,
};

const FILES: [u64; 8] = [4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20];
const PASSES: usize = 100;
const SEQUENTIAL: &str = "sequential";
const RANDOM: &str = "random";
/// The size of the file whose figures stand in the report's summary: its column holds 0.043 and 0.134 ms.
pub const SUMMARY_FILE: u64 = 16 << 20;
/// For the passes over one file in one order.
const TIME: Duration = Duration::from_secs(1);
const QUICK_TIME: Duration = Duration::from_millis(120);
/// For one pass.
const LONGEST_PASS: Duration = Duration::from_secs(2);

const MISLEADS: &str = "If the device answers, the two methods do not differ: both read past the cache, block by block. The report does \
                        not show what F_NOCACHE did on OS X. It reads ahead and may be served from memory, and 0.043 ms in sequence \
                        against 0.134 at random suggests that it was.";

/// In sequence.
pub const SEQUENTIAL_ROW: Row = Row {
    section: "5.2",
    operation: "file read, sequential",
    unit: Unit::Nanoseconds,
    per: "block of 4 KiB",
    theirs: Theirs::Printed("s003-0539"),
    replica: Replica::By(&READ),
    statistic: Statistic::variant(SEQUENTIAL, Fit::MeanAt(SUMMARY_FILE as f64)),
    fathom: SameQuestion::Point("filesystem/read", |machine| direct(machine, SEQUENTIAL, "read")),
    misleads: MISLEADS,
};

/// At random.
pub const RANDOM_ROW: Row = Row {
    operation: "file read, random",
    theirs: Theirs::Printed("s003-0540"),
    statistic: Statistic::variant(RANDOM, Fit::MeanAt(SUMMARY_FILE as f64)),
    fathom: SameQuestion::Point("filesystem/read", |machine| direct(machine, RANDOM, "pread")),
    misleads: "The two methods hardly differ: lseek() costs a system call, which is small beside the device's time. Blocks are drawn with \
               repetition, so the device's own cache may answer a few of them.",
    ..SEQUENTIAL_ROW
};

fn direct(machine: &Machine, order: &'static str, way: &'static str) -> Point {
    let names: &[(&str, &[&str])] = &[("state", &["direct"]), ("order", &[order]), ("call", &[way])];
    nearest("filesystem/read", machine, names, &[("block", BLOCK as u64), ("file", SUMMARY_FILE)])
}

fn read(stage: &Stage) -> Result<Series, Failure> {
    let ns = stage.ns_per_tick()?;
    let mut chance = SplitMix64::seed_from_u64(stage.site.seed);
    let mut series = Series::default();
    for bytes in FILES {
        let mut file = BlockFile::of(stage, &format!("read-{bytes}"), bytes)?;
        for order in [SEQUENTIAL, RANDOM] {
            let mut random = (order == RANDOM).then_some(&mut chance);
            let (began, mut values) = (Instant::now(), vec![]);
            let time = if stage.quick { QUICK_TIME } else { TIME };
            while values.is_empty() || (values.len() < PASSES && began.elapsed() < time) {
                values.push(file.pass(random.as_deref_mut())? * ns);
            }
            if bytes == SUMMARY_FILE {
                series =
                    series.seen(format!("{order}: {} passes over a file of {}.", values.len(), size(bytes)));
            }
            series = series.and(order, bytes as f64, values);
        }
    }
    Ok(series)
}

/// A file that is read past the cache, block by block.
pub struct BlockFile {
    file: File,
    blocks: u64,
    buffer: Aligned,
}

impl BlockFile {
    /// The run's file of this name, of random bytes, none of them in memory.
    pub fn of(stage: &Stage, what: &str, bytes: u64) -> Result<Self, Failure> {
        let test = TestFile::named(stage.site, &format!("blocks-{what}"), bytes, DiskQuota::DEFAULT)?;
        test_file::evict(&test.file)?;
        let file = test_file::direct(&test, BLOCK as u64)?.file;
        Ok(BlockFile { file, blocks: bytes / BLOCK as u64, buffer: Aligned::new(BLOCK)? })
    }

    /// Reads as many blocks as the file has, in sequence or at random: the mean time of a block, ticks.
    pub fn pass(&mut self, random: Option<&mut SplitMix64>) -> Result<f64, Failure> {
        self.pass_of(random, |file, offset| {
            let mut done = Ok(());
            let ticks = timer::paoloni(|| done = file.block(offset));
            done.map(|()| ticks)
        })
    }

    /// A pass whose blocks are read, and their ticks counted, by `each`.
    fn pass_of(
        &mut self,
        mut random: Option<&mut SplitMix64>,
        each: impl Fn(&mut Self, Option<u64>) -> Result<i64, Failure>,
    ) -> Result<f64, Failure> {
        let (began, mut total, mut made) = (Instant::now(), 0, 0);
        self.seek(0)?;
        while made < self.blocks && (made == 0 || began.elapsed() < LONGEST_PASS) {
            let blocks = self.blocks;
            let offset = random.as_mut().map(|chance| chance.next_u64() % blocks * BLOCK as u64);
            total += each(self, offset)?;
            made += 1;
        }
        Ok(total as f64 / made as f64)
    }

    /// Reads the block at an offset, or the next one.
    fn block(&mut self, offset: Option<u64>) -> Result<(), Failure> {
        offset.map_or(Ok(()), |offset| self.seek(offset))?;
        self.next()
    }

    fn seek(&mut self, offset: u64) -> Result<(), Failure> {
        // SAFETY: takes no pointers.
        let place = unsafe { libc::lseek(self.file.as_raw_fd(), offset as libc::off_t, libc::SEEK_SET) };
        if place == offset as libc::off_t { Ok(()) } else { Err(Failure::last("lseek")) }
    }

    fn next(&mut self) -> Result<(), Failure> {
        // SAFETY: the buffer has room for a block.
        let read = unsafe { libc::read(self.file.as_raw_fd(), self.buffer.start().cast(), BLOCK) };
        if read == BLOCK as isize { Ok(()) } else { Err(Failure::last("read of a block")) }
    }

    /// What was read last.
    #[cfg(test)]
    fn last(&self) -> &[u8] {
        &self.buffer.bytes()[..BLOCK]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of numbered blocks; direct reads are not needed to see which are read.
    fn numbered(blocks: u64) -> BlockFile {
        let mut file = tempfile::tempfile().unwrap();
        for block in 0..blocks {
            std::io::Write::write_all(&mut file, &[block as u8; BLOCK]).unwrap();
        }
        BlockFile { file, blocks, buffer: Aligned::new(BLOCK).unwrap() }
    }

    /// A block in seven ticks.
    fn in_seven(file: &mut BlockFile, offset: Option<u64>) -> Result<i64, Failure> {
        file.block(offset).map(|()| 7)
    }

    #[test]
    fn a_sequential_pass_reads_all_blocks_from_the_first_to_the_last() {
        let mut file = numbered(7);
        for _ in 0..2 {
            assert!((file.pass_of(None, in_seven).unwrap() - 7.0).abs() < 1e-12);
            assert!(file.last().iter().all(|byte| *byte == 6));
            assert!(file.next().is_err(), "nothing is left to read");
        }
    }

    #[test]
    fn a_random_pass_reads_blocks_of_the_file() {
        let (mut file, mut chance) = (numbered(7), SplitMix64::seed_from_u64(3));
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..40 {
            file.pass_of(Some(&mut chance), in_seven).unwrap();
            seen.insert(file.last()[0]);
        }
        assert_eq!(seen.len(), 7);
    }
}
