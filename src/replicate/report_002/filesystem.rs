//! Its chapter "File system".

use super::trials::{TRIALS, some_trials, trials};
use crate::experiment::{Failure, PEER, Placement, Point, Requirement};
use crate::machine::{self, Machine};
use crate::peer::ping::Ping;
use crate::quantity::Unit;
use crate::remote::{self, Client, read_block};
use crate::replicate::past_cache::{Blocks, forgotten, opened};
use crate::replicate::sweep::{beginnings, point, served_block};
use crate::replicate::timer::fenced as timed;
use crate::replicate::{
    Deviation, Fit, Method, Replica, Row, SameQuestion, Series, Stage, Statistic, Theirs, tasks,
};
use crate::test_file::blocks::below;
use crate::test_file::{Room, TestFile};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::SeedableRng;
use std::time::Duration;

const MEAN: Fit = Fit::Mean(Deviation::None);
/// Of files of every size.
const OVER_SIZES: Fit = Fit::MeanOver { from: 0.0, to: f64::MAX };
/// What is read at once, bytes.
const BLOCK: usize = 4096;
const SEQUENTIAL: &str = "sequential";
const RANDOM: &str = "random";

static CACHING: Method = Method {
    name: "file cache size",
    text: "Growing beginnings of a file of random data are read, in steps of a quarter of a power of two; caches are dropped after \
           each. The jump of a block's average time is looked for.",
    differs: "Each beginning is read twice and the second reading timed, without which nothing could come from the cache; the report \
              does not say so. Only this file is dropped. Its beginnings go from a quarter of the limit of 1 GiB on \
              memory that is set for it, or of the memory where there is less, to a fifth more than that; their file had twice \
              the memory.",
    placement: Placement::OneCpu,
    needs: &[Requirement::MemoryLimit],
    limit: Duration::from_mins(5),
    measure: caching,
};

static READING: Method = Method {
    name: "file read",
    text: "Blocks of 4096 bytes, one after the other and from the beginning again at the end, or each after lseek to a random place; \
           posix_fadvise after each read, so that it does not stay cached. 1000 trials for each order and size of file, each \
           read timed by itself.",
    differs: "Which sizes were drawn is not in the text: here 4 KiB to 64 MiB by factors of 4, and 2 MiB. The random place is drawn, \
              and lseek called, outside of the timed span.",
    placement: Placement::OneCpu,
    needs: &[],
    limit: Duration::from_mins(3),
    measure: reading,
};

static READING_AWAY: Method = Method {
    name: "remote file read",
    text: "The same over SFTP from a machine on the campus, with the caches of this machine dropped.",
    differs: "Sizes are beginnings of the file that --remote names, or of one made in its folder, through whatever it \
              is reached by; reads beyond the end start again at the beginning, from whatever cache has it by then. \
              With --quick 100 reads take the place of 1000.",
    placement: Placement::OneCpu,
    needs: &[Requirement::Remote],
    limit: Duration::from_mins(5),
    measure: reading_away,
};

static PINGING: Method = Method {
    name: "ping",
    text: "The ping command, from this machine to the remote one; its mean.",
    differs: "ICMP echo requests of 56 bytes as ping sends them, ten, a fifth of a second apart, to the host that \
              --peer names; the report does not give their number.",
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
    misleads: "A file that is read again from its beginning pushes out what it will ask for next as soon as it is a little too large, so \
               the jump is steep, comes early, and says nothing of how much is missing. With steps of a quarter of a power of two the size \
               is known to a fifth.",
};

/// A read of a block of a file of this size.
const fn read(operation: &'static str, order: &'static str, file: u64, at: fn(&Machine) -> Point) -> Row {
    Row {
        section: "File read time",
        operation,
        unit: Unit::Nanoseconds,
        per: "block",
        theirs: Theirs::NotPrinted(
            "only in a picture; the text says that from 2 MB on reading in sequence takes half as long",
        ),
        replica: Replica::By(&READING),
        statistic: Statistic { variant: order, fit: Fit::MeanAt(file as f64) },
        fathom: SameQuestion::Point("filesystem/read", at),
        misleads: FORGOTTEN,
    }
}

const FORGOTTEN: &str = "Dropping the block that was read leaves in the cache what was read ahead with it, so that in sequence most reads find \
                         their block there and a few wait for many: the mean depends on how many of these the trimming leaves. \
                         A small file is wholly read ahead by its first block. Inodes, to which the report puts the growth \
                         with size, are in memory after the first reads.";

const LARGE: u64 = 64 << 20;
const MIDDLING: u64 = 64 << 10;
pub const IN_SEQUENCE: Row =
    read("file of 64 MiB read in sequence", SEQUENTIAL, LARGE, |_| cold(SEQUENTIAL, "read", LARGE));
pub const SMALL_IN_SEQUENCE: Row =
    read("file of 64 KiB read in sequence", SEQUENTIAL, MIDDLING, |_| cold(SEQUENTIAL, "read", MIDDLING));
pub const AT_RANDOM: Row = Row {
    misleads: "Only slightly misleading: most random reads wait for the disk. The kernel may read ahead at random \
               places as well, and trimming leaves out the reads that waited longest.",
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
    misleads: "The server's disk, its cache, the ciphers and the network are timed as one; Fathom's figure is of blocks that the server has in \
               memory, and has the exchange without data beside it.",
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
    misleads: "Pings a fifth of a second or more apart find both processors asleep: the mean holds waking them. It is a fair least for a remote \
               read only where the way is much longer than that.",
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
    let test = TestFile::nameless(stage.site, largest, Room::DEFAULT)?;
    let mut blocks = Blocks::of(opened(&test, 0)?, BLOCK)?;
    let mut series = Series::default();
    for size in sizes {
        forgotten(&test.file)?;
        series = series.and("", size as f64, vec![read_again(&mut blocks, size, tick_ns)?]);
    }
    Ok(series.seen_where(priority))
}

/// A part of the memory: so many quarters of a power of two above or below all of it, in whole blocks.
fn beginning(ceiling: u64, quarters: i32) -> u64 {
    (ceiling as f64 * (f64::from(quarters) / 4.0).exp2()) as u64 & !(BLOCK as u64 - 1)
}

/// Reads a beginning of the file twice: the second reading's time of a block.
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
        let test = TestFile::nameless(stage.site, bytes, Room::DEFAULT)?;
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

/// The time of each read, of a file that is not cached at first.
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
        None => return Err(Failure::Unsupported("no file over a network was named: --remote".to_owned())),
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

/// Bytes of a ping, beside its headers.
const PAYLOAD: usize = 56;

fn pinging(stage: &Stage) -> Result<Series, Failure> {
    let peer = stage.site.peer.as_ref().and_then(crate::experiment::PeerAddress::by_ipv4);
    let peer = peer.ok_or_else(|| Failure::Unsupported("the peer is not reached by IPv4".to_owned()))?;
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
        "The other host is a network namespace of this machine: there is no wire, and it shares the processors.".to_owned()
    });
    Ok(Series::of(values).seen(format!("{lost} of 10 were not answered within a second.")).seen_where(name))
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
