//! Section 5 of the report: files.

pub mod contention;

use crate::operations::{broke, memory_ceiling, remote_file};
use crate::sweep::beginnings;
use crate::timer::{CpuidRdtscRdtscpCpuid, Timer};
use crate::{Series, Stage};
use fathom_core::experiment::{Failure, RemoteFile};
use fathom_core::quantity::declared::size;
use fathom_equipment::remote::Client;
use fathom_equipment::test_file::{Aligned, DiskQuota, TestFile};
use fathom_equipment::{remote, test_file};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::Rng;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

/// The report's block, bytes.
const BLOCK: usize = 4096;
const SMALLEST: u64 = 32 << 20;

/// A time per byte that has grown by less than this factor counts as unchanged.
const GROWN: f64 = 1.25;

pub(super) fn cached_rate(stage: &Stage) -> Result<Series, Failure> {
    let ns = stage.ns_per_tick()?;
    let largest = stage.count(512 << 20, 128 << 20);
    let test = TestFile::named(stage.site, "cached", largest, DiskQuota::DEFAULT)?;
    let sizes =
        std::iter::successors(Some(SMALLEST), |size| Some(size * 2)).take_while(|size| *size <= largest);
    let mut series = Series::default();
    for bytes in sizes {
        let held = read_again(&test.file, bytes)?;
        series = series.and("", bytes as f64, vec![1e9 / (held.ticks_per_byte * ns)]);
        if held.missing > 0 {
            series =
                series.with_note(format!("{} of {} were not in the cache.", size(held.missing), size(bytes)));
        }
    }
    test_file::evict(&test.file)?;
    Ok(series)
}

pub(super) fn cache_size(stage: &Stage) -> Result<Series, Failure> {
    let ns = stage.ns_per_tick()?;
    let ceiling = memory_ceiling()?;
    let test = TestFile::named(stage.site, "cache-size", 2 * ceiling, DiskQuota::DEFAULT)?;
    let each = |bytes: u64| Ok(read_again(&test.file, bytes)?.ticks_per_byte * ns);
    let mut doubled: Vec<(u64, f64)> = vec![];
    let mut bytes = SMALLEST.min(ceiling / 8);
    while bytes <= test.bytes {
        doubled.push((bytes, each(bytes)?));
        bytes *= 2;
    }
    let mut series = Series::default();
    for (bytes, ns) in &doubled {
        series = series.and("doubled", *bytes as f64, vec![*ns]);
    }
    let Some(fast) = last_fast(&doubled) else {
        return Ok(series.with_note("The rate did not fall at any size.".to_owned()));
    };
    let steps = (0..=8).map(|step| fast + fast / 4 * step).filter(|bytes| *bytes <= test.bytes);
    for bytes in steps {
        series = series.and("fine", bytes as f64, vec![each(bytes)?]);
    }
    test_file::evict(&test.file)?;
    Ok(series.with_note(format!(
        "The method could use {} of memory; the last doubled size that was fast is {}.",
        size(ceiling),
        size(fast)
    )))
}

/// The last size whose time per byte is nearer, by ratio, to the least of all than to that of the largest size; `None` where the
/// largest takes no longer.
fn last_fast(doubled: &[(u64, f64)]) -> Option<u64> {
    let least = doubled.iter().map(|(_, ns)| *ns).reduce(f64::min)?;
    let (_, most) = *doubled.last()?;
    let between = (least * most).sqrt();
    let fast = doubled.iter().rfind(|(_, ns)| *ns < between)?.0;
    (most > GROWN * least).then_some(fast)
}

/// The second reading of a file.
pub struct Again {
    /// Mean time of a byte.
    pub ticks_per_byte: f64,
    /// Bytes that were not in the cache before it.
    pub missing: u64,
}

/// Evicts a file, reads its first `bytes`, and reads them again, timed block by block.
pub fn read_again(file: &File, bytes: u64) -> Result<Again, Failure> {
    test_file::evict(file)?;
    let mut buffer = vec![0; BLOCK];
    let mut read = |offset| file.read_exact_at(&mut buffer, offset).map_err(broke("reading the test file"));
    for offset in (0..bytes).step_by(BLOCK) {
        read(offset)?;
    }
    let missing = bytes.saturating_sub(test_file::cached_within(file, 0, bytes)?.bytes);
    let mut total = 0;
    for offset in (0..bytes).step_by(BLOCK) {
        total += CpuidRdtscRdtscpCpuid::try_ticks(|| read(offset))?;
    }
    Ok(Again { ticks_per_byte: total as f64 / bytes as f64, missing })
}

/// Sizes of local and of remote files, bytes.
const FILES: [u64; 8] = [4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20];
const PASSES: usize = 100;
const SEQUENTIAL: &str = "sequential";
const RANDOM: &str = "random";

/// The size of the file whose figures stand in the report's summary: its column holds 0.043 and 0.134 ms.
pub const SUMMARY_FILE: u64 = 16 << 20;

/// For the passes over one file in one order.
const TIME: Duration = Duration::from_secs(1);
const QUICK_TIME: Duration = Duration::from_millis(120);

const LONGEST_PASS: Duration = Duration::from_secs(2);

pub(super) fn read(stage: &Stage) -> Result<Series, Failure> {
    let ns = stage.ns_per_tick()?;
    let mut chance = stage.chance();
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
                series = series.with_note(format!(
                    "{order}: {} passes over a file of {}.",
                    values.len(),
                    size(bytes)
                ));
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
        self.pass_of(random, |file, offset| CpuidRdtscRdtscpCpuid::try_ticks(|| file.block(offset)))
    }

    /// A pass whose blocks are read, and their ticks counted, by `each`.
    fn pass_of(
        &mut self,
        mut random: Option<&mut SplitMix64>,
        each: impl Fn(&mut Self, Option<u64>) -> Result<i64, Failure>,
    ) -> Result<f64, Failure> {
        let (began, mut total, mut count) = (Instant::now(), 0, 0);
        self.seek(0)?;
        while count < self.blocks && (count == 0 || began.elapsed() < LONGEST_PASS) {
            let blocks = self.blocks;
            let offset = random.as_mut().map(|chance| chance.next_u64() % blocks * BLOCK as u64);
            total += each(self, offset)?;
            count += 1;
        }
        Ok(total as f64 / count as f64)
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

    #[cfg(test)]
    fn last(&self) -> &[u8] {
        &self.buffer.bytes()[..BLOCK]
    }
}

const EXPERIMENTS: usize = 3;
const REMOTE_PASSES: usize = 10;
const PASS: Duration = Duration::from_millis(300);
const QUICK_PASS: Duration = Duration::from_millis(30);

pub(super) fn read_remote(stage: &Stage) -> Result<Series, Failure> {
    let (file, mut client) = remote_file(stage)?;
    let mut chance = stage.chance();
    let (mut series, mut blocks) = (Series::default(), 0);
    for order in [SEQUENTIAL, RANDOM] {
        for experiment in 1..=EXPERIMENTS {
            let mut values = vec![];
            for _ in 0..REMOTE_PASSES {
                let random = (order == RANDOM).then_some(&mut chance);
                let (each, count) = remote_pass(client.as_mut(), file, random, stage)?;
                values.push(each);
                blocks += count;
            }
            series = series.and(order, experiment as f64, values);
        }
    }
    for bytes in beginnings(FILES, file.bytes) {
        for (order, variant) in [(SEQUENTIAL, "sequential, by size"), (RANDOM, "random, by size")] {
            let beginning = RemoteFile { bytes, ..file.clone() };
            let random = (order == RANDOM).then_some(&mut chance);
            let (each, _) = remote_pass(client.as_mut(), &beginning, random, stage)?;
            series = series.and(variant, bytes as f64, vec![each]);
        }
    }
    let passes = (2 * EXPERIMENTS * REMOTE_PASSES) as u64;
    Ok(series.with_note(format!("A pass read {} blocks on average.", blocks / passes)))
}

/// Reads blocks until the file or the time of a pass ends: the mean nanoseconds of a block, and how many were read.
fn remote_pass(
    client: &mut dyn Client,
    file: &RemoteFile,
    mut random: Option<&mut SplitMix64>,
    stage: &Stage,
) -> Result<(f64, u64), Failure> {
    let blocks = (file.bytes / BLOCK as u64).max(1);
    let time = if stage.quick { QUICK_PASS } else { PASS };
    client.forget()?;
    let (began, mut total, mut count, mut buffer) = (Instant::now(), Duration::ZERO, 0, vec![0; BLOCK]);
    while count < blocks && (count == 0 || began.elapsed() < time) {
        let number = random.as_deref_mut().map_or(count, |chance| chance.next_u64() % blocks);
        let start = Instant::now();
        remote::read_block(client, number * BLOCK as u64, &mut buffer)?;
        total += start.elapsed();
        count += 1;
    }
    Ok((total.as_nanos() as f64 / count as f64, count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_xoshiro::rand_core::SeedableRng;

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

    #[test]
    fn the_last_fast_size_is_the_last_before_the_rate_falls() {
        assert_eq!(last_fast(&[(1, 0.3), (2, 0.28), (4, 0.5), (8, 1.1), (16, 1.3)]), Some(4));
        assert_eq!(
            last_fast(&[(1, 1.0), (2, 0.98), (4, 1.5)]),
            Some(2),
            "the device is nearly as fast as the cache"
        );
        assert_eq!(last_fast(&[(1, 0.3), (2, 0.28), (4, 0.3)]), None, "it does not fall");
        assert_eq!(
            last_fast(&[(1, 1.0), (2, 0.4), (4, 1.2), (8, 0.38), (16, 0.9)]),
            Some(8),
            "a disturbed size before"
        );
    }
}
