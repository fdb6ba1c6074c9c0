//! Section 6: the file system, except contention.

use super::trials::{TRIALS, trials};
use crate::past_cache::{Blocks, opened};
use crate::sweep::{beginnings, point, remote_block, served_block};
use crate::timer::without_trailing_cpuid as timed;
use crate::{Fit, Method, Replica, Row, SameQuestion, Series, Stage, Statistic, Theirs, tasks};
use fathom_core::experiment::{Failure, Found, Known, Placement, Point, RemoteFile, Requirement};
use fathom_core::machine::{self, Machine};
use fathom_core::quantity::Unit;
use fathom_equipment::remote::{self, Client, read_block};
use fathom_equipment::test_file::blocks::below;
use fathom_equipment::test_file::{DiskQuota, TestFile, served};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::SeedableRng;
use std::time::Duration;

/// The mean over all sizes, where the report does not give the size of the file.
const MEAN: Fit = Fit::MeanOver { from: 0.0, to: f64::MAX };
/// Bytes of one read; the report does not give them.
const BLOCK: usize = 4096;
/// Bytes of one read of a remote file.
const LARGE: u64 = 1 << 20;
/// The size of the file whose figures the table has, bytes: that of the report's test of contention.
const FILE: u64 = 64 << 20;

static CACHING: Method = Method {
    name: "file cache size",
    text: "The program reads a file whole, so that as much of it as fits is in memory, and then once more from its end to its beginning. \
           The figure is the average time of a block in the second reading, for sizes from one to six eighths of the memory and in finer \
           steps near the jump.",
    differs: "Blocks have 4 KiB; the report does not give their size. Fathom sets a limit of 1 GiB on memory for the method, or uses all \
              of the memory where there is less. Sizes are two to eighteen sixteenths of it, because little else is in it.",
    placement: Placement::Free,
    needs: &[Requirement::MemoryLimit],
    limit: Duration::from_mins(5),
    measure: caching,
};

static READING: Method = Method {
    name: "file read",
    text: "The program opens a file with O_DIRECT | O_SYNC and reads it block by block, in sequence and at random offsets. It times each \
           read(); the average of all is the value of a trial. Each of ten trials has a new file.",
    differs: "The report gives neither the block size nor the sizes of the files: here 4 KiB, and 4, 16 and 64 MiB, of which the table has \
              the last. Fathom reads 1000 blocks of each file in each order (with --quick 200, of one file of 64 MiB for all trials). The \
              disk is this machine's; the report's was a rotating one.",
    placement: Placement::Free,
    needs: &[],
    limit: Duration::from_mins(3),
    measure: reading,
};

static READING_AWAY: Method = Method {
    name: "remote file read",
    text: "The program reads a file on an NFS server in the same wireless network in blocks of 1 MB, in sequence and at random; the caches \
           of both machines are dropped before each test; ten trials.",
    differs: "The file is the one that --remote names, or one that Fathom makes in its folder, through a mount or a URL. Fathom reads its \
              beginnings, doubling up to 64 MiB, because the report does not give its sizes. It drops this machine's cache of the file; it \
              cannot drop the server's, so the server's memory may answer.",
    placement: Placement::Free,
    needs: &[Requirement::Remote],
    limit: Duration::from_mins(5),
    measure: reading_away,
};

pub const CACHE_SIZE: Row = Row {
    section: "6.1",
    operation: "size of the file cache",
    unit: Unit::Bytes,
    per: "",
    theirs: Theirs::Printed("s001-0097"),
    replica: Replica::By(&CACHING),
    statistic: Statistic::of(Fit::BeforeJump(2.0)),
    fathom: SameQuestion::Point("filesystem/cache_size", |_| {
        let names =
            [("method", "timing"), ("content", "random data"), ("order", "backward"), ("call", "read")];
        point(Placement::OneCpu, &names, &[])
    }),
    misleads: "Reading backwards is right: only the part that does not fit misses. But the size is known only to one step, and the average \
               of all blocks rises before a jump is visible.",
};

pub const SEQUENTIAL_READ: Row = Row {
    section: "6.2",
    operation: "file read in sequence",
    unit: Unit::Nanoseconds,
    per: "block",
    theirs: Theirs::Printed("s001-0098"),
    replica: Replica::By(&READING),
    statistic: Statistic { variant: SEQUENTIAL, fit: Fit::MeanAt(FILE as f64) },
    fathom: SameQuestion::Point("filesystem/read", |_| direct(SEQUENTIAL, "read")),
    misleads: "Past the cache nothing is read ahead, so \"in sequence\" is the time of a single request and not the speed of reading a \
               file. The few slow reads affect the mean; Fathom's figure is a median. The report does not give its block size, without \
               which a time per block says little.",
};

pub const RANDOM_READ: Row = Row {
    operation: "file read at random",
    theirs: Theirs::Printed("s001-0099"),
    statistic: Statistic { variant: RANDOM, fit: Fit::MeanAt(FILE as f64) },
    fathom: SameQuestion::Point("filesystem/read", |_| direct(RANDOM, "pread")),
    misleads: "Only slightly misleading: each read waits for the disk. The few slow reads affect the mean; Fathom's figure is a median. \
               The report does not give its block size.",
    ..SEQUENTIAL_READ
};

pub const SEQUENTIAL_REMOTE: Row = Row {
    section: "6.3",
    operation: "remote file read in sequence",
    unit: Unit::Nanoseconds,
    per: "block",
    theirs: Theirs::Printed("s001-0100"),
    replica: Replica::By(&READING_AWAY),
    statistic: Statistic::variant(SEQUENTIAL, MEAN),
    fathom: SameQuestion::Point("filesystem/remote_read", |machine| far(SEQUENTIAL, machine)),
    misleads: "The time of a block includes the server's disk as well as the network and, through a mount, the client's read-ahead. Fathom \
               reads blocks that the server has in memory.",
};

pub const RANDOM_REMOTE: Row = Row {
    operation: "remote file read at random",
    theirs: Theirs::Printed("s001-0101"),
    statistic: Statistic::variant(RANDOM, MEAN),
    fathom: SameQuestion::Point("filesystem/remote_read", |machine| far(RANDOM, machine)),
    ..SEQUENTIAL_REMOTE
};

pub const PENALTY: Row = Row {
    operation: "network penalty of a block in sequence",
    theirs: Theirs::Printed("s001-0071"),
    statistic: Statistic::variant(MORE, MEAN),
    fathom: SameQuestion::Computed { of: penalty_points, value: penalty },
    misleads: "The report subtracts a local block of 4 KiB from a remote one of 1 MiB, and the time of one disk from that of another, so \
               the difference is nearly all of the remote time. Fathom compares blocks of 1 MiB from memory on both sides.",
    ..SEQUENTIAL_REMOTE
};

/// The remote time less the local one.
const SEQUENTIAL: &str = "sequential";
const RANDOM: &str = "random";
const MORE: &str = "penalty";

fn direct(order: &str, way: &str) -> Point {
    let names = [("state", "direct"), ("order", order), ("call", way)];
    point(Placement::OneCpu, &names, &[("block", BLOCK as u64), ("file", FILE)])
}

fn far(order: &str, machine: &Machine) -> Point {
    served_block(machine, order, LARGE)
}

fn penalty_points(machine: &Machine) -> Vec<(&'static str, Point)> {
    let near = machine
        .storage
        .remote
        .as_ref()
        .map(|_| remote_block("local file", "client-cached", SEQUENTIAL, LARGE));
    let points = [far(SEQUENTIAL, machine)].into_iter().chain(near);
    points.map(|point| ("filesystem/remote_read", point)).collect()
}

fn penalty(known: &Known) -> Option<Found> {
    let found = |(experiment, point): &(&str, Point)| known.found(experiment, point);
    let points = penalty_points(known.machine);
    Some(found(points.first()?)?.minus(found(points.get(1)?)?))
}

fn caching(stage: &Stage) -> Result<Series, Failure> {
    let ceiling = machine::memory_ceiling()
        .ok_or_else(|| Failure::Unsupported("the amount of memory is unknown".to_owned()))?;
    let sizes: Vec<u64> =
        (2..=18).map(|part| ceiling / 16 * part).map(|size| size & !(BLOCK as u64 - 1)).collect();
    let largest = sizes.last().copied().unwrap_or_default();
    let (tick_ns, priority) = (stage.ns_per_tick()?, tasks::raise_priority());
    let test = TestFile::nameless(stage.site, largest, DiskQuota::DEFAULT)?;
    let mut blocks = Blocks::of(opened(&test, 0)?, BLOCK)?;
    let mut series = Series::default();
    for size in sizes {
        series = series.and("", size as f64, vec![read_again(&mut blocks, size, tick_ns)?]);
    }
    Ok(series.seen_where(priority))
}

/// Reads a prefix forwards, then backwards: the time of a block in the second reading.
fn read_again(blocks: &mut Blocks, bytes: u64, tick_ns: f64) -> Result<f64, Failure> {
    let count = bytes / BLOCK as u64;
    let mut visit = |number: u64| blocks.read(number * BLOCK as u64);
    (0..count).try_for_each(&mut visit)?;
    let mut read = Ok(());
    let ticks = timed(|| read = (0..count).rev().try_for_each(&mut visit));
    read.map(|()| ticks as f64 * tick_ns / count as f64)
}

/// Sizes of files, bytes; the table has the last one.
const FILES: [u64; 3] = [4 << 20, 16 << 20, FILE];

fn reading(stage: &Stage) -> Result<Series, Failure> {
    let (tick_ns, priority) = (stage.ns_per_tick()?, tasks::raise_priority());
    let mut chance = SplitMix64::seed_from_u64(stage.site.seed);
    let (before, count) = (served(), stage.count(1000, 200));
    let (mut series, mut read) = (Series::default(), 0);
    let mut kept =
        if stage.quick { Some(TestFile::nameless(stage.site, FILE, DiskQuota::DEFAULT)?) } else { None };
    for bytes in FILES.into_iter().filter(|bytes| !stage.quick || *bytes == FILE) {
        let (mut forward, mut anywhere) = (vec![], vec![]);
        for _ in 0..TRIALS {
            let test =
                kept.take().map_or_else(|| TestFile::nameless(stage.site, bytes, DiskQuota::DEFAULT), Ok)?;
            let (one, other) = in_both_orders(&test, count, &mut chance, tick_ns)?;
            forward.push(one);
            anywhere.push(other);
            read += 2 * count.min(bytes / BLOCK as u64) * BLOCK as u64;
            kept = stage.quick.then_some(test);
        }
        series = series.and(SEQUENTIAL, bytes as f64, forward).and(RANDOM, bytes as f64, anywhere);
    }
    let from_device = before.zip(served()).map(|(before, after)| {
        format!("The device sent {:.2} bytes for every byte that was read.", (after - before) / read as f64)
    });
    Ok(series.seen_where(from_device).seen_where(priority))
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
            let (place, mut read) = (offset(number) * BLOCK as u64, Ok(()));
            ticks += timed(|| read = blocks.read(place));
            read?;
            fathom_core::experiment::ensure(
                test.content.is_at(blocks.last(), place),
                "a block of the test file is not the one that was written there",
            )?;
        }
        Ok::<_, Failure>(ticks as f64 * tick_ns / count as f64)
    };
    Ok((mean(&mut |number| number)?, mean(&mut |_| below(chance, whole))?))
}

fn reading_away(stage: &Stage) -> Result<Series, Failure> {
    let file = match &stage.site.remote {
        Some(Ok(file)) => file,
        Some(Err(reason)) => return Err(Failure::Broke(reason.clone())),
        None => {
            return Err(Failure::Unsupported("no remote file was named; name one with --remote".to_owned()));
        }
    };
    let (tick_ns, priority) = (stage.ns_per_tick()?, tasks::raise_priority());
    let mut client = remote::connect(&file.address, &file.access)?;
    client.open(&remote::path(&file.address))?;
    ensure_a_block(file)?;
    let (mut chance, local) = (SplitMix64::seed_from_u64(stage.site.seed), local_block(stage, tick_ns)?);
    let mut series = Series::default();
    for bytes in beginnings((1..=6).map(|power| LARGE << power), file.bytes / LARGE * LARGE) {
        let whole = bytes / LARGE;
        let forward = trials(|| pass(client.as_mut(), &(0..whole).collect::<Vec<_>>(), tick_ns))?;
        let anywhere = trials(|| {
            let order: Vec<u64> = (0..whole).map(|_| below(&mut chance, whole)).collect();
            pass(client.as_mut(), &order, tick_ns)
        })?;
        let more = forward.iter().map(|remote| remote - local).collect();
        let at = bytes as f64;
        series = series.and(SEQUENTIAL, at, forward).and(RANDOM, at, anywhere).and(MORE, at, more);
    }
    Ok(series.seen_where(priority))
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
        let mut read = Ok(());
        ticks += timed(|| read = read_block(client, number * LARGE, &mut piece));
        read?;
    }
    Ok(ticks as f64 * tick_ns / order.len() as f64)
}

/// A local block of 4 KiB in sequence, as in the method `file read`.
fn local_block(stage: &Stage, tick_ns: f64) -> Result<f64, Failure> {
    let test = TestFile::nameless(stage.site, FILES[0], DiskQuota::DEFAULT)?;
    let mut chance = SplitMix64::seed_from_u64(stage.site.seed);
    Ok(in_both_orders(&test, 1000, &mut chance, tick_ns)?.0)
}
