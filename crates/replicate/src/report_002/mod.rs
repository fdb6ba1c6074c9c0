//! Report 002: a laptop of 2021, described in an essay without tables.

use crate::mapping::MappedFile;
use crate::method::MeasureFn;
use crate::operations::{
    Between, Switching, broke, creation, echo_ns, line_rates, memory_ceiling, remote_file, virtual_host,
};
use crate::past_cache::{Blocks, opened, second_readings};
use crate::protocol::{Span, TrialProtocol};
use crate::sweep::beginnings;
use crate::timer::{Fenced, Timer};
use crate::unoptimised::{call_once, read_lines, write_lines};
use crate::usage::Usage;
use crate::{Report, Series, Stage, tasks};
use fathom_core::experiment::{Failure, PeerAddress, ensure};
use fathom_core::machine::Machine;
use fathom_core::quantities;
use fathom_equipment::peer::ping::Ping;
use fathom_equipment::remote::{Client, read_block};
use fathom_equipment::test_file::blocks::below;
use fathom_equipment::test_file::{TestFile, evict_after_reads};
use std::time::Duration;

const MEASURES: [(&str, MeasureFn); 14] = [
    ("timer overhead", overhead),
    ("function call", calling),
    ("system call", entering),
    ("process creation", |stage| creating(stage, tasks::fork, tasks::reap)),
    ("thread creation", |stage| creating(stage, tasks::thread, tasks::join)),
    ("process switch", |stage| switching(stage, Between::Processes)),
    ("thread switch", |stage| switching(stage, Between::Threads)),
    ("memory access", accessing),
    ("memory bandwidth", streaming),
    ("page fault", faulting),
    ("file cache size", caching),
    ("file read", reading),
    ("remote file read", reading_away),
    ("ping", pinging),
];

pub fn report() -> Report {
    Report::read(["", include_str!("../../references/replication-002.toml")], &[], &MEASURES)
}

// Its chapter "CPU & Scheduling".

const THOUSAND: TrialProtocol = TrialProtocol::THOUSAND;

/// Times single operations, less the mean of an empty pair of readings.
fn span(stage: &Stage) -> Result<Span<Fenced>, Failure> {
    Span::of(stage, &empty_pairs(stage)?)
}

fn empty_pairs(stage: &Stage) -> Result<Vec<f64>, Failure> {
    let tick_ns = stage.ns_per_tick()?;
    THOUSAND.values(|| Ok(Fenced::ticks(|| ()) as f64 * tick_ns))
}

fn overhead(stage: &Stage) -> Result<Series, Failure> {
    Ok(Series::of(empty_pairs(stage)?))
}

fn calling(stage: &Stage) -> Result<Series, Failure> {
    let span = span(stage)?;
    // Written out for each number, because a branch would stand inside the timed region.
    macro_rules! of {
        ($($arguments:literal)*) => { [$(THOUSAND.values(|| Ok(span.ns(|| call_once($arguments))))?),*] };
    }
    let series = of!(0 1 2 3 4 5 6 7);
    let below = series.iter().flatten().filter(|ns| **ns < 0.0).count();
    let all: usize = series.iter().map(Vec::len).sum();
    let note = format!("{below} of {all} trials were below zero after the subtraction.");
    let points = series.into_iter().enumerate();
    let series = points.fold(Series::default(), |series, (at, values)| series.and("", at as f64, values));
    Ok(series.with_note(note))
}

fn entering(stage: &Stage) -> Result<Series, Failure> {
    let span = span(stage)?;
    // SAFETY: takes nothing and cannot fail.
    let once = || Ok(span.ns(|| _ = unsafe { libc::getpid() }));
    Ok(Series::of(THOUSAND.values(once)?))
}

/// The time to create a task; its end is waited for outside of the timed span.
fn creating<T>(
    stage: &Stage,
    create: impl Fn() -> Result<T, Failure>,
    end: impl Fn(T) -> Result<(), Failure>,
) -> Result<Series, Failure> {
    creation(THOUSAND, &span(stage)?, 1, create, end)
}

fn switching(stage: &Stage, between: Between) -> Result<Series, Failure> {
    let cpu = stage.site.partner;
    Switching { between, cpu, rounds: 1, switches: 1.0 }.measure(THOUSAND, &span(stage)?)
}

// Its chapter "Memory".

/// Half of the memory that this process could have, bytes.
fn half_of_memory(stage: &Stage) -> u64 {
    Machine::describe(&stage.site.folder).available_bytes().unwrap_or(1 << 30) / 2
}

fn accessing(stage: &Stage) -> Result<Series, Failure> {
    let (most, span) = (half_of_memory(stage), span(stage)?);
    let mut chance = stage.chance();
    let mut series = Series::default();
    for size in (10..=30).map(|power| 1_u64 << power).filter(|size| *size <= most) {
        let array: Vec<i32> = (1..=size as i32 / 4).collect();
        let one = || {
            let place = below(&mut chance, array.len() as u64) as usize;
            let element = &raw const array[place];
            let mut value = 0;
            // SAFETY: an element of the array.
            let ns = span.ns(|| value = unsafe { element.read_volatile() });
            ensure(value as usize == place + 1, "an element of the array is wrong")?;
            Ok(ns)
        };
        series = series.and("", size as f64, THOUSAND.values(one)?);
    }
    Ok(series)
}

/// The array that is streamed through, bytes.
const ARRAY: u64 = 256 << 20;

fn streaming(stage: &Stage) -> Result<Series, Failure> {
    let bytes = ARRAY.min(half_of_memory(stage));
    let protocol = TrialProtocol { trials: stage.count(100, 20) as usize, ..THOUSAND };
    line_rates::<Fenced>(stage, protocol, (bytes, 1), (read_lines, write_lines))
}

/// The file whose pages are written, bytes.
const FILE: usize = 64 << 20;
const PAGE: usize = 4096;

fn faulting(stage: &Stage) -> Result<Series, Failure> {
    let tick_ns = stage.ns_per_tick()?;
    let (before, files) = (Usage::now(), stage.count(10, 3));
    let mut values = vec![];
    for _ in 0..files {
        values.push(written(stage, tick_ns)?);
    }
    let counts = Usage::now().since(before);
    let (major, minor) = (counts.major, counts.minor);
    let pages = quantities::plain(files as f64 * (FILE / PAGE) as f64);
    let note = format!(
        "The kernel counted {major} major and {minor} minor faults for {pages} pages; only major faults wait for the disk."
    );
    Ok(Series::of(values).with_note(note))
}

/// Nanoseconds per page of a file that was just created.
fn written(stage: &Stage, tick_ns: f64) -> Result<f64, Failure> {
    let test = stage.nameless(FILE as u64)?;
    let mut mapped = MappedFile::shared(&test.file, FILE)?;
    let ticks = Fenced::try_ticks(|| {
        (0..FILE).step_by(PAGE).for_each(|offset| mapped.write(offset, 7));
        test.file.sync_all()
    });
    let ticks = ticks.map_err(broke("fsync of a test file"))?;
    Ok(ticks as f64 * tick_ns / (FILE / PAGE) as f64)
}

// Its chapter "File system".

/// Bytes of one read.
const BLOCK: usize = 4096;
const SEQUENTIAL: &str = "sequential";
const RANDOM: &str = "random";

fn caching(stage: &Stage) -> Result<Series, Failure> {
    let ceiling = memory_ceiling()?;
    let sizes: Vec<u64> = (-8..=1).map(|quarters| beginning(ceiling, quarters)).collect();
    second_readings(stage, &sizes, BLOCK, |test, blocks, size, tick_ns| {
        evict_after_reads(&test.file)?;
        read_again(blocks, size, tick_ns)
    })
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
    Ok(Fenced::try_ticks(pass)? as f64 * tick_ns / count as f64)
}

const FILES: [u64; 9] =
    [4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 2 << 20, 4 << 20, 16 << 20, 64 << 20];

fn reading(stage: &Stage) -> Result<Series, Failure> {
    let tick_ns = stage.ns_per_tick()?;
    let mut chance = stage.chance();
    let mut series = Series::default();
    for bytes in FILES {
        let test = stage.nameless(bytes)?;
        let whole = bytes / BLOCK as u64;
        let mut numbers = (0..whole).cycle();
        let forward = each(&test, tick_ns, || numbers.next().unwrap_or_default())?;
        let anywhere = each(&test, tick_ns, || below(&mut chance, whole))?;
        series = series.and(SEQUENTIAL, bytes as f64, forward).and(RANDOM, bytes as f64, anywhere);
    }
    Ok(series)
}

/// The times of reads of a file that is not cached at first.
fn each(test: &TestFile, tick_ns: f64, mut place: impl FnMut() -> u64) -> Result<Vec<f64>, Failure> {
    evict_after_reads(&test.file)?;
    let mut blocks = Blocks::of(opened(test, 0)?, BLOCK)?;
    THOUSAND.values(|| {
        let offset = place() * BLOCK as u64;
        blocks.seek(offset)?;
        let ticks = Fenced::try_ticks(|| blocks.read_next())?;
        blocks.evict(offset);
        Ok(ticks as f64 * tick_ns)
    })
}

fn reading_away(stage: &Stage) -> Result<Series, Failure> {
    let (file, mut client) = remote_file(stage)?;
    let tick_ns = stage.ns_per_tick()?;
    let protocol = TrialProtocol { trials: stage.count(1000, 100) as usize, ..THOUSAND };
    if file.bytes < BLOCK as u64 {
        return Err(Failure::Unsupported("the remote file is smaller than a block of 4 KiB".to_owned()));
    }
    let mut chance = stage.chance();
    let mut series = Series::default();
    for bytes in beginnings(FILES, file.bytes) {
        let whole = bytes / BLOCK as u64;
        let mut numbers = (0..whole).cycle();
        client.forget()?;
        let forward =
            protocol.values(|| away(client.as_mut(), numbers.next().unwrap_or_default(), tick_ns))?;
        client.forget()?;
        let anywhere = protocol.values(|| away(client.as_mut(), below(&mut chance, whole), tick_ns))?;
        series = series.and(SEQUENTIAL, bytes as f64, forward).and(RANDOM, bytes as f64, anywhere);
    }
    Ok(series)
}

/// The time of one block.
fn away(client: &mut dyn Client, number: u64, tick_ns: f64) -> Result<f64, Failure> {
    let mut piece = [0; BLOCK];
    Ok(Fenced::try_ticks(|| read_block(client, number * BLOCK as u64, &mut piece))? as f64 * tick_ns)
}

/// Bytes of a ping without its headers.
const PAYLOAD: usize = 56;

fn pinging(stage: &Stage) -> Result<Series, Failure> {
    let peer = stage.site.peer.as_ref().and_then(PeerAddress::by_ipv4);
    let peer = peer.ok_or_else(|| Failure::Unsupported("the peer has no IPv4 address".to_owned()))?;
    let mut ping = Ping::open(peer.address, PAYLOAD)?;
    ping.set_timeout(Duration::from_secs(1)).map_err(broke("SO_RCVTIMEO"))?;
    let (mut values, mut lost) = (vec![], 0);
    for sequence in 0..10 {
        std::thread::sleep(Duration::from_millis(200));
        match echo_ns(stage, &mut ping, sequence) {
            Ok(ns) => values.push(ns),
            Err(_) => lost += 1,
        }
    }
    Ok(Series::of(values)
        .with_note(format!("{lost} of 10 requests were not answered within a second."))
        .with_notes(virtual_host(stage)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginnings_grow_by_quarters_of_powers_of_two_and_in_whole_blocks() {
        let gib = 1 << 30;
        assert_eq!([0, -4, -8].map(|quarters| beginning(gib, quarters)), [gib, gib / 2, gib / 4]);
        let above = beginning(gib, 1);
        assert!(above % 4096 == 0 && (above as f64 / gib as f64 - 1.189_207).abs() < 1e-4);
    }
}
