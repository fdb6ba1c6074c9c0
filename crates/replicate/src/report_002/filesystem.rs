//! The report's chapter "File system".

use super::trials::{TRIALS, some_trials, trials};
use crate::past_cache::{Blocks, forgotten, opened};
use crate::sweep::{beginnings, point, served_block};
use crate::timer::fenced as timed;
use crate::{Deviation, Fit, Method, Replica, Row, SameQuestion, Series, Stage, Statistic, Theirs, tasks};
use fathom_core::experiment::{Failure, PEER, Placement, Point, Requirement};
use fathom_core::machine::{self, Machine};
use fathom_core::quantity::Unit;
use fathom_equipment::peer::ping::Ping;
use fathom_equipment::remote::{self, Client, read_block};
use fathom_equipment::test_file::blocks::below;
use fathom_equipment::test_file::{DiskQuota, TestFile};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::SeedableRng;
use std::time::Duration;

const MEAN: Fit = Fit::Mean(Deviation::None);
/// The statistic over files of every size.
const OVER_SIZES: Fit = Fit::MeanOver { from: 0.0, to: f64::MAX };
/// Bytes of one read.
const BLOCK: usize = 4096;
const SEQUENTIAL: &str = "sequential";
const RANDOM: &str = "random";

static CACHING: Method = Method {
    name: "file cache size",
    text: "The program reads growing beginnings of a file of random data, in steps of a quarter of a power of two, and drops the caches \
           after each. The size of the cache is where the average time of a block jumps.",
    differs: "Fathom reads each beginning twice and times the second reading, because otherwise nothing could come from the cache; the \
              report does not mention this. It drops only this file. It sets a limit of 1 GiB on memory for the method, or uses all of the \
              memory where there is less, and the beginnings go from a quarter of it to a fifth more than all of it; the report's file had \
              twice the memory.",
    placement: Placement::OneCpu,
    needs: &[Requirement::MemoryLimit],
    limit: Duration::from_mins(5),
    measure: caching,
};

static READING: Method = Method {
    name: "file read",
    text: "The program reads blocks of 4096 bytes one after the other, from the beginning again at the end, or each after lseek to a \
           random offset. posix_fadvise after each read keeps it from staying cached. 1000 trials for each order and size of file; each \
           read is timed by itself.",
    differs: "The text does not say which sizes the report's picture has: here 4 KiB to 64 MiB, times 4, and 2 MiB. The random offset is \
              drawn, and lseek called, outside of the timed span.",
    placement: Placement::OneCpu,
    needs: &[],
    limit: Duration::from_mins(3),
    measure: reading,
};

static READING_AWAY: Method = Method {
    name: "remote file read",
    text: "The program reads in the same way over SFTP from a machine on the campus, with the caches of its own machine dropped.",
    differs: "The file is the one that --remote names, or one that Fathom makes in its folder, through a mount or a URL; its sizes are \
              beginnings of it. Reads beyond the end start again at the beginning, from whatever cache has it by then. With --quick there \
              are 100 reads instead of 1000.",
    placement: Placement::OneCpu,
    needs: &[Requirement::Remote],
    limit: Duration::from_mins(5),
    measure: reading_away,
};

static PINGING: Method = Method {
    name: "ping",
    text: "The authors use the ping command from their machine to the remote one; the figure is its mean.",
    differs: "Fathom sends ten ICMP echo requests of 56 bytes, as ping does, a fifth of a second apart, to the host that --peer names; the \
              report does not give their number.",
    placement: Placement::OneCpu,
    needs: &[Requirement::Peer],
    limit: Duration::from_mins(1),
    measure: pinging,
};

pub const CACHE_SIZE: Row = Row {
    section: "File cache size",
    operation: "size of the file cache",
    unit: Unit::Bytes,
    per: "",
    theirs: Theirs::Printed("s002-0016"),
    replica: Replica::By(&CACHING),
    statistic: Statistic::of(Fit::BeforeJump(2.0)),
    fathom: SameQuestion::Point("filesystem/cache_size", |_| {
        let names =
            [("method", "timing"), ("content", "random data"), ("order", "backward"), ("call", "read")];
        point(Placement::OneCpu, &names, &[])
    }),
    misleads: "When a file slightly too large for the cache is read again from its beginning, each page that comes in displaces one that \
               is needed soon. The jump is therefore steep and early, and does not show how much is missing. With steps of a quarter of a \
               power of two the size is known to a fifth.",
};

/// The row of a block read from a file of this size.
const fn read(operation: &'static str, order: &'static str, file: u64, at: fn(&Machine) -> Point) -> Row {
    Row {
        section: "File read time",
        operation,
        unit: Unit::Nanoseconds,
        per: "block",
        theirs: Theirs::NotPrinted(
            "only in a picture; the text says that from 2 MB on, reading in sequence takes half as long",
        ),
        replica: Replica::By(&READING),
        statistic: Statistic { variant: order, fit: Fit::MeanAt(file as f64) },
        fathom: SameQuestion::Point("filesystem/read", at),
        misleads: FORGOTTEN,
    }
}

const FORGOTTEN: &str = "The program drops the block that it read but not the blocks that were read ahead, so in sequence most reads find \
                         their block in the cache and a few wait for many blocks. The mean depends on how many of these few the trimming \
                         leaves. A small file is wholly read ahead with its first block. The report explains the growth with size by \
                         inodes, but they are in memory after the first reads.";

const LARGE: u64 = 64 << 20;
const MIDDLING: u64 = 64 << 10;
pub const IN_SEQUENCE: Row =
    read("file of 64 MiB read in sequence", SEQUENTIAL, LARGE, |_| cold(SEQUENTIAL, "read", LARGE));
pub const SMALL_IN_SEQUENCE: Row =
    read("file of 64 KiB read in sequence", SEQUENTIAL, MIDDLING, |_| cold(SEQUENTIAL, "read", MIDDLING));
pub const AT_RANDOM: Row = Row {
    misleads: "Only slightly misleading: most random reads wait for the disk. The kernel may read ahead at random offsets as well, and \
               trimming leaves out the reads that waited longest.",
    ..read("file of 64 MiB read at random", RANDOM, LARGE, |_| cold(RANDOM, "pread", LARGE))
};

pub const REMOTE_IN_SEQUENCE: Row = Row {
    section: "Remote file read time",
    operation: "remote file read in sequence",
    unit: Unit::Nanoseconds,
    per: "block",
    theirs: Theirs::NotPrinted("only in a picture"),
    replica: Replica::By(&READING_AWAY),
    statistic: Statistic::variant(SEQUENTIAL, OVER_SIZES),
    fathom: SameQuestion::Point("filesystem/remote_read", |machine| far(SEQUENTIAL, machine)),
    misleads: "The report times the server's disk, its cache, the ciphers and the network together. Fathom's figure is for blocks that the \
               server has in memory, and Fathom gives the exchange without data next to it.",
};

pub const REMOTE_AT_RANDOM: Row = Row {
    operation: "remote file read at random",
    statistic: Statistic::variant(RANDOM, OVER_SIZES),
    fathom: SameQuestion::Point("filesystem/remote_read", |machine| far(RANDOM, machine)),
    ..REMOTE_IN_SEQUENCE
};

pub const PING: Row = Row {
    section: "Remote file read time",
    operation: "round trip to the remote machine (ping)",
    unit: Unit::Nanoseconds,
    per: "",
    theirs: Theirs::Printed("s002-0018"),
    replica: Replica::By(&PINGING),
    statistic: Statistic::of(MEAN),
    fathom: SameQuestion::Point("network/round_trip", |_| {
        let names = [("transport", "ICMP echo"), ("loop", "closed"), ("path", PEER)];
        point(Placement::AcrossCpus, &names, &[("payload", PAYLOAD as u64)])
    }),
    misleads: "Pings a fifth of a second or more apart find both processors asleep, and the mean includes the time to wake them. It is a \
               lower bound for a remote read only where the network takes much longer than that.",
};

fn cold(order: &str, way: &str, file: u64) -> Point {
    let names = [("state", "cold"), ("order", order), ("call", way)];
    point(Placement::OneCpu, &names, &[("block", BLOCK as u64), ("file", file)])
}

fn far(order: &str, machine: &Machine) -> Point {
    served_block(machine, order, BLOCK as u64)
}

fn caching(stage: &Stage) -> Result<Series, Failure> {
    let ceiling = machine::memory_ceiling()
        .ok_or_else(|| Failure::Unsupported("the amount of memory is unknown".to_owned()))?;
    let sizes: Vec<u64> = (-8..=1).map(|quarters| beginning(ceiling, quarters)).collect();
    let largest = sizes.last().copied().unwrap_or_default();
    let (tick_ns, priority) = (stage.ns_per_tick()?, tasks::raise_priority());
    let test = TestFile::nameless(stage.site, largest, DiskQuota::DEFAULT)?;
    let mut blocks = Blocks::of(opened(&test, 0)?, BLOCK)?;
    let mut series = Series::default();
    for size in sizes {
        forgotten(&test.file)?;
        series = series.and("", size as f64, vec![read_again(&mut blocks, size, tick_ns)?]);
    }
    Ok(series.seen_where(priority))
}

/// A part of the memory: all of it times or divided by so many quarters of a power of two, in whole blocks.
fn beginning(ceiling: u64, quarters: i32) -> u64 {
    (ceiling as f64 * (f64::from(quarters) / 4.0).exp2()) as u64 & !(BLOCK as u64 - 1)
}

/// Reads a beginning of the file twice: the time of a block in the second reading.
fn read_again(blocks: &mut Blocks, bytes: u64, tick_ns: f64) -> Result<f64, Failure> {
    let count = bytes / BLOCK as u64;
    let mut pass = || {
        blocks.seek(0)?;
        (0..count).try_for_each(|_| blocks.read_next())
    };
    pass()?;
    let mut read = Ok(());
    let ticks = timed(|| read = pass());
    read.map(|()| ticks as f64 * tick_ns / count as f64)
}

const FILES: [u64; 9] = [4 << 10, 16 << 10, MIDDLING, 256 << 10, 1 << 20, 2 << 20, 4 << 20, 16 << 20, LARGE];

fn reading(stage: &Stage) -> Result<Series, Failure> {
    let (tick_ns, priority) = (stage.ns_per_tick()?, tasks::raise_priority());
    let mut chance = SplitMix64::seed_from_u64(stage.site.seed);
    let mut series = Series::default();
    for bytes in FILES {
        let test = TestFile::nameless(stage.site, bytes, DiskQuota::DEFAULT)?;
        let whole = bytes / BLOCK as u64;
        let mut number = 0;
        let forward = each(&test, tick_ns, || {
            number += 1;
            (number - 1) % whole
        })?;
        let anywhere = each(&test, tick_ns, || below(&mut chance, whole))?;
        series = series.and(SEQUENTIAL, bytes as f64, forward).and(RANDOM, bytes as f64, anywhere);
    }
    Ok(series.seen_where(priority))
}

/// The times of reads of a file that is not cached at first.
fn each(test: &TestFile, tick_ns: f64, mut place: impl FnMut() -> u64) -> Result<Vec<f64>, Failure> {
    forgotten(&test.file)?;
    let mut blocks = Blocks::of(opened(test, 0)?, BLOCK)?;
    trials(|| {
        let offset = place() * BLOCK as u64;
        blocks.seek(offset)?;
        let mut read = Ok(());
        let ticks = timed(|| read = blocks.read_next());
        read?;
        blocks.forget(offset);
        Ok::<_, Failure>(ticks as f64 * tick_ns)
    })
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
    let count = stage.count(TRIALS as u64, 100) as usize;
    if file.bytes < BLOCK as u64 {
        return Err(Failure::Unsupported("the remote file is smaller than a block of 4 KiB".to_owned()));
    }
    let mut client = remote::connect(&file.address, &file.access)?;
    client.open(&remote::path(&file.address))?;
    let mut chance = SplitMix64::seed_from_u64(stage.site.seed);
    let mut series = Series::default();
    for bytes in beginnings(FILES, file.bytes) {
        let (whole, mut number) = (bytes / BLOCK as u64, 0);
        let mut next = || {
            number += 1;
            (number - 1) % whole
        };
        client.forget()?;
        let forward = some_trials(count, || away(client.as_mut(), next(), tick_ns))?;
        client.forget()?;
        let anywhere = some_trials(count, || away(client.as_mut(), below(&mut chance, whole), tick_ns))?;
        series = series.and(SEQUENTIAL, bytes as f64, forward).and(RANDOM, bytes as f64, anywhere);
    }
    Ok(series.seen_where(priority))
}

/// The time of one block.
fn away(client: &mut dyn Client, number: u64, tick_ns: f64) -> Result<f64, Failure> {
    let (mut piece, mut read) = ([0; BLOCK], Ok(()));
    let ticks = timed(|| read = read_block(client, number * BLOCK as u64, &mut piece));
    read.map(|()| ticks as f64 * tick_ns)
}

/// Bytes of a ping without its headers.
const PAYLOAD: usize = 56;

fn pinging(stage: &Stage) -> Result<Series, Failure> {
    let peer = stage.site.peer.as_ref().and_then(fathom_core::experiment::PeerAddress::by_ipv4);
    let peer = peer.ok_or_else(|| Failure::Unsupported("the peer has no IPv4 address".to_owned()))?;
    let mut ping = Ping::open(peer.address, PAYLOAD)?;
    let timeout = ping.set_timeout(Duration::from_secs(1));
    timeout.map_err(|error| Failure::Broke(format!("SO_RCVTIMEO: {error}")))?;
    let (mut values, mut lost) = (vec![], 0);
    for sequence in 0..10 {
        std::thread::sleep(Duration::from_millis(200));
        let began = stage.site.stopwatch.now_ns();
        match ping.send(sequence).and_then(|()| ping.receive()) {
            Ok(_) => values.push(stage.site.stopwatch.now_ns() - began),
            Err(_) => lost += 1,
        }
    }
    let name = peer.is_virtual.then(|| {
        "The other host is a network namespace of this machine: there is no wire, and both share the processors.".to_owned()
    });
    Ok(Series::of(values)
        .seen(format!("{lost} of 10 requests were not answered within a second."))
        .seen_where(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginnings_grow_by_quarters_of_powers_of_two_and_in_whole_blocks() {
        let gib = 1 << 30;
        assert_eq!([0, -4, -8].map(|quarters| beginning(gib, quarters)), [gib, gib / 2, gib / 4]);
        let above = beginning(gib, 1);
        assert!(above.is_multiple_of(4096) && (above as f64 / gib as f64 - 1.189_207).abs() < 1e-4);
    }
}
