//! Section 6: the file system, except contention.

use crate::operations::{memory_ceiling, remote_file};
use crate::past_cache::{Blocks, opened, second_readings};
use crate::protocol::TrialProtocol;
use crate::sweep::beginnings;
use crate::timer::{CpuidRdtscRdtscp, Timer};
use crate::{Series, Stage};
use fathom_core::experiment::{Failure, RemoteFile};
use fathom_core::quantities;
use fathom_equipment::remote::{Client, read_block};
use fathom_equipment::test_file::blocks::below;
use fathom_equipment::test_file::{DiskQuota, TestFile, served};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::SeedableRng;

/// Bytes of one read; the report does not give them.
const BLOCK: usize = 4096;
/// Bytes of one read of a remote file.
const LARGE: u64 = 1 << 20;
/// The size of the file whose figures the table has, bytes: that of the report's test of contention.
const FILE: u64 = 64 << 20;

/// The remote time less the local one.
const SEQUENTIAL: &str = "sequential";
const RANDOM: &str = "random";
const MORE: &str = "penalty";

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
    let mut chance = SplitMix64::seed_from_u64(stage.site.seed);
    let (before, count) = (served(), stage.count(1000, 200));
    let (mut series, mut read) = (Series::default(), 0);
    let mut reused =
        if stage.quick { Some(TestFile::nameless(stage.site, FILE, DiskQuota::DEFAULT)?) } else { None };
    for bytes in FILES.into_iter().filter(|bytes| !stage.quick || *bytes == FILE) {
        let (mut forward, mut anywhere) = (vec![], vec![]);
        for _ in 0..TrialProtocol::TEN.trials {
            let test = reused
                .take()
                .map_or_else(|| TestFile::nameless(stage.site, bytes, DiskQuota::DEFAULT), Ok)?;
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

/// The mean time of a block in sequence, and at random.
fn in_both_orders(
    test: &TestFile,
    most: u64,
    chance: &mut SplitMix64,
    tick_ns: f64,
) -> Result<(f64, f64), Failure> {
    let whole = test.bytes / BLOCK as u64;
    let count = most.min(whole);
    let mut blocks = Blocks::of(opened(test, libc::O_DIRECT | libc::O_SYNC)?, BLOCK)?;
    let mut mean = |offset: &mut dyn FnMut(u64) -> u64| {
        let mut ticks = 0;
        for number in 0..count {
            let place = offset(number) * BLOCK as u64;
            ticks += CpuidRdtscRdtscp::try_ticks(|| blocks.read(place))?;
            fathom_core::experiment::ensure(
                test.content.is_at(blocks.last(), place),
                "a block of the test file is not the one that was written there",
            )?;
        }
        Ok::<_, Failure>(ticks as f64 * tick_ns / count as f64)
    };
    Ok((mean(&mut |number| number)?, mean(&mut |_| below(chance, whole))?))
}

pub(super) fn reading_away(stage: &Stage) -> Result<Series, Failure> {
    let (file, mut client) = remote_file(stage)?;
    let tick_ns = stage.ns_per_tick()?;
    ensure_a_block(file)?;
    let (mut chance, local) = (SplitMix64::seed_from_u64(stage.site.seed), local_block(stage, tick_ns)?);
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
        series = series.and(SEQUENTIAL, at, forward).and(RANDOM, at, anywhere).and(MORE, at, more);
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
    let test = TestFile::nameless(stage.site, FILES[0], DiskQuota::DEFAULT)?;
    let mut chance = SplitMix64::seed_from_u64(stage.site.seed);
    Ok(in_both_orders(&test, 1000, &mut chance, tick_ns)?.0)
}
