//! Section 6: the file system.

use crate::operations::{broke, memory_ceiling, remote_file};
use crate::past_cache::{Blocks, opened, second_readings};
use crate::protocol::TrialProtocol;
use crate::sweep::beginnings;
use crate::timer::{CpuidRdtscRdtscp, Timer};
use crate::{Series, Stage};
use fathom_core::experiment::{Failure, RemoteFile, ensure};
use fathom_core::quantities;
use fathom_core::sampling::partner::PartnerProcess;
use fathom_core::sampling::shared_memory::{Shareable, shared_memory};
use fathom_equipment::remote::{Client, read_block};
use fathom_equipment::test_file::blocks::below;
use fathom_equipment::test_file::{TestFile, served};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::SeedableRng;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Bytes of one read; the report does not give them.
const BLOCK: usize = 4096;
/// Bytes of one read of a remote file.
const LARGE: u64 = 1 << 20;
/// The size of the file whose figures the table has, bytes: that of the report's test of contention.
const FILE: u64 = 64 << 20;

/// The remote time less the local one.
const SEQUENTIAL: &str = "sequential";
const RANDOM: &str = "random";

pub(super) fn caching(stage: &Stage) -> Result<Series, Failure> {
    let ceiling = memory_ceiling()?;
    let sizes: Vec<u64> =
        (2..=18).map(|part| ceiling / 16 * part).map(|size| size & !(BLOCK as u64 - 1)).collect();
    second_readings(stage, &sizes, BLOCK, |_, blocks, size, tick_ns| read_again(blocks, size, tick_ns))
}

/// Reads a prefix forwards, then backwards: the time of a block in the second reading.
fn read_again(blocks: &mut Blocks, bytes: u64, tick_ns: f64) -> Result<f64, Failure> {
    let count = bytes / BLOCK as u64;
    let mut visit = |number: u64| blocks.read(number * BLOCK as u64);
    (0..count).try_for_each(&mut visit)?;
    let ticks = CpuidRdtscRdtscp::try_ticks(|| (0..count).rev().try_for_each(&mut visit))?;
    Ok(ticks as f64 * tick_ns / count as f64)
}

/// Sizes of files, bytes; the table has the last one.
const FILES: [u64; 3] = [4 << 20, 16 << 20, FILE];

pub(super) fn reading(stage: &Stage) -> Result<Series, Failure> {
    let tick_ns = stage.ns_per_tick()?;
    let mut chance = stage.chance();
    let (before, count) = (served(), stage.count(1000, 200));
    let (mut series, mut read) = (Series::default(), 0);
    let mut reused = if stage.quick { Some(stage.nameless(FILE)?) } else { None };
    for bytes in FILES.into_iter().filter(|bytes| !stage.quick || *bytes == FILE) {
        let (mut forward, mut anywhere) = (vec![], vec![]);
        for _ in 0..TrialProtocol::TEN.trials {
            let test = reused.take().map_or_else(|| stage.nameless(bytes), Ok)?;
            let (one, other) = in_both_orders(&test, count, &mut chance, tick_ns)?;
            forward.push(one);
            anywhere.push(other);
            read += 2 * count.min(bytes / BLOCK as u64) * BLOCK as u64;
            reused = stage.quick.then_some(test);
        }
        series = series.and(SEQUENTIAL, bytes as f64, forward).and(RANDOM, bytes as f64, anywhere);
    }
    let from_device = before.zip(served()).map(|(before, after)| {
        let each = quantities::number((after - before) / read as f64);
        format!("The device sent {each} bytes for every byte that was read.")
    });
    Ok(series.with_notes(from_device))
}

fn past_the_cache(test: &TestFile) -> Result<Blocks, Failure> {
    Blocks::of(opened(test, libc::O_DIRECT | libc::O_SYNC)?, BLOCK)
}

/// The mean time of a block in sequence, and at random.
fn in_both_orders(
    test: &TestFile,
    most: u64,
    chance: &mut SplitMix64,
    tick_ns: f64,
) -> Result<(f64, f64), Failure> {
    let whole = test.bytes / BLOCK as u64;
    let count = most.min(whole);
    let mut blocks = past_the_cache(test)?;
    let mut mean = |offset: &mut dyn FnMut(u64) -> u64| {
        let mut ticks = 0;
        for number in 0..count {
            let place = offset(number) * BLOCK as u64;
            ticks += CpuidRdtscRdtscp::try_ticks(|| blocks.read(place))?;
            ensure(
                test.content.is_at(blocks.last(), place),
                "a block of the test file is not the one that was written there",
            )?;
        }
        Ok(ticks as f64 * tick_ns / count as f64)
    };
    Ok((mean(&mut |number| number)?, mean(&mut |_| below(chance, whole))?))
}

pub(super) fn reading_away(stage: &Stage) -> Result<Series, Failure> {
    let (file, mut client) = remote_file(stage)?;
    let tick_ns = stage.ns_per_tick()?;
    ensure_a_block(file)?;
    let (mut chance, local) = (stage.chance(), local_block(stage, tick_ns)?);
    let mut series = Series::default();
    for bytes in beginnings((1..=6).map(|power| LARGE << power), file.bytes / LARGE * LARGE) {
        let whole = bytes / LARGE;
        let forward =
            TrialProtocol::TEN.values(|| pass(client.as_mut(), &(0..whole).collect::<Vec<_>>(), tick_ns))?;
        let anywhere = TrialProtocol::TEN.values(|| {
            let order: Vec<u64> = (0..whole).map(|_| below(&mut chance, whole)).collect();
            pass(client.as_mut(), &order, tick_ns)
        })?;
        let more = forward.iter().map(|remote| remote - local).collect();
        let at = bytes as f64;
        series = series.and(SEQUENTIAL, at, forward).and(RANDOM, at, anywhere).and("penalty", at, more);
    }
    Ok(series)
}

/// Refuses a file without a block of 1 MiB.
fn ensure_a_block(file: &RemoteFile) -> Result<(), Failure> {
    if file.bytes >= LARGE {
        return Ok(());
    }
    let bytes = file.bytes;
    Err(Failure::Unsupported(format!("the remote file has {bytes} bytes, less than one block of 1 MiB")))
}

/// The mean time of a block that is not in this machine's cache.
fn pass(client: &mut dyn Client, order: &[u64], tick_ns: f64) -> Result<f64, Failure> {
    client.forget()?;
    let (mut ticks, mut piece) = (0, vec![0; LARGE as usize]);
    for number in order {
        ticks += CpuidRdtscRdtscp::try_ticks(|| read_block(client, number * LARGE, &mut piece))?;
    }
    Ok(ticks as f64 * tick_ns / order.len() as f64)
}

/// A local block of 4 KiB in sequence, as in the method `file read`.
fn local_block(stage: &Stage, tick_ns: f64) -> Result<f64, Failure> {
    let test = stage.nameless(FILES[0])?;
    let mut chance = stage.chance();
    Ok(in_both_orders(&test, 1000, &mut chance, tick_ns)?.0)
}

/// Numbers of processes that read at the same time.
const COUNTS: [usize; 5] = [1, 2, 4, 8, MOST];
const MOST: usize = 10;

/// The values that the processes report: the mean time of a block, as the bits of a floating-point number; 0 until then.
struct ReportedTimes([AtomicU64; MOST]);

// SAFETY: atomics alone, of which zero is a value.
unsafe impl Shareable for ReportedTimes {}

/// The value of a process that could not read its file.
const FAILED: u64 = u64::MAX;

pub(super) fn contending(stage: &Stage) -> Result<Series, Failure> {
    let tick_ns = stage.ns_per_tick()?;
    let files = (0..MOST).map(|_| stage.nameless(FILE)).collect::<Result<Vec<_>, _>>()?;
    let blocks = stage.count(1000, 100);
    let board: &'static ReportedTimes = shared_memory().map_err(broke("shared memory"))?;
    let mut series = Series::default();
    for order in [SEQUENTIAL, RANDOM] {
        for count in COUNTS {
            let mut trials = 0..;
            let values = TrialProtocol::TEN.values(|| {
                let seed = stage.site.seed ^ trials.next().unwrap_or_default();
                let reader = BlockReader { blocks, tick_ns, random: order == RANDOM, seed };
                together(&files[..count], board, reader)
            })?;
            series = series.and(order, count as f64, values);
        }
    }
    Ok(series)
}

/// The work of each process.
#[derive(Clone, Copy)]
struct BlockReader {
    blocks: u64,
    tick_ns: f64,
    random: bool,
    seed: u64,
}

/// The mean over the processes of their mean time of a block.
fn together(files: &[TestFile], board: &'static ReportedTimes, reader: BlockReader) -> Result<f64, Failure> {
    let lanes = &board.0[..files.len()];
    for lane in lanes {
        lane.store(0, Ordering::Release);
    }
    let mut processes = vec![];
    for (file, lane) in files.iter().zip(lanes) {
        // Each trial opens the files again, so that none continues where another ended.
        let own = past_the_cache(file)?;
        processes.push(PartnerProcess::start(None, move || {
            let outcome = reader.read(own);
            lane.store(outcome.as_ref().map_or(FAILED, |ns| ns.to_bits()), Ordering::Release);
            outcome.map(drop)
        })?);
    }
    while lanes.iter().any(|lane| lane.load(Ordering::Acquire) == 0) {
        std::thread::sleep(Duration::from_millis(1));
    }
    let results: Vec<u64> = lanes.iter().map(|lane| lane.load(Ordering::Acquire)).collect();
    ensure(!results.contains(&FAILED), "a process could not read its file")?;
    Ok(results.iter().map(|bits| f64::from_bits(*bits)).sum::<f64>() / results.len() as f64)
}

impl BlockReader {
    fn read(self, mut own: Blocks) -> Result<f64, Failure> {
        let mut chance = SplitMix64::seed_from_u64(self.seed ^ u64::from(std::process::id()) << 32);
        let (mut ticks, whole) = (0, FILE / BLOCK as u64);
        for number in 0..self.blocks {
            let place = if self.random { below(&mut chance, whole) } else { number % whole };
            ticks += CpuidRdtscRdtscp::try_ticks(|| own.read(place * BLOCK as u64))?;
        }
        Ok(ticks as f64 * self.tick_ns / self.blocks as f64)
    }
}
