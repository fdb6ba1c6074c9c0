//! Section 6: the file system.

use super::files::{advise_random, drop_cached, mapped_at_random, shuffled, zeros};
use crate::mapping::MappedFile;
use crate::operations::{memory_ceiling, remote_file};
use crate::protocol::{TRIALS, TrialProtocol, reduced, try_unsigned_ticks, unsigned_ticks};
use crate::sweep::beginnings;
use crate::usage::Usage;
use crate::{Series, Stage};
use fathom_core::experiment::{Failure, ensure, errno};
use fathom_core::sampling::partner::{PartnerProcess, pipe};
use fathom_equipment::remote::{Client, read_block};
use fathom_equipment::test_file::{Aligned, DiskQuota, TestFile, direct, evict, page_bytes};
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsRawFd, OwnedFd};

const TEN: TrialProtocol = TrialProtocol::TEN;
/// The report's block, bytes.
const BLOCK: u64 = 4096;

pub(super) fn mapped_files(stage: &Stage) -> Result<Series, Failure> {
    let largest = stage.count(29, 26);
    let mut series = Series::default();
    for power in 20..=largest {
        let bytes = 1 << power;
        let file = zeros(stage, bytes)?;
        let (mut values, first) = page_trials(stage, &file, bytes)?;
        let later = values.split_off(1);
        series = series.and("first trial", bytes as f64, values).and("later trials", bytes as f64, later);
        if power == largest {
            let (Usage { major, minor, .. }, pages) = (first, bytes / page_bytes());
            series = series.with_note(format!(
                "The first trial of the file of {} MiB had {major} major (hard) faults and {minor} minor ones, for {pages} pages.",
                bytes >> 20
            ));
        }
    }
    Ok(series)
}

pub(super) fn larger_files(stage: &Stage) -> Result<Series, Failure> {
    let ceiling = memory_ceiling()?;
    let patience_ns = stage.count(20, 5) as f64 * 1e9;
    let mut series = Series::default();
    for doubled in 0..=4 {
        let bytes = ((ceiling / 8) << doubled) & !((1 << 20) - 1);
        let file = zeros(stage, bytes)?;
        let deadline = stage.site.stopwatch.now_ns() + patience_ns;
        if !all_end(stage, &file, bytes, deadline)? {
            return Ok(series.and("trials that were stopped", bytes as f64, vec![bytes as f64]));
        }
        series = series.and("trials that ended", bytes as f64, vec![bytes as f64]);
    }
    Ok(series.with_note("The trials of every size ended.".to_owned()))
}

/// Whether all trials of a file end before a deadline.
fn all_end(stage: &Stage, file: &File, bytes: u64, deadline: f64) -> Result<bool, Failure> {
    /// Pages between two looks at the time.
    const PAGES: usize = 256;
    let page = page_bytes();
    let map = mapped_at_random(file, bytes)?;
    let order = shuffled(bytes / page, stage.site.seed);
    for trial in 0..TRIALS {
        if trial > 0 {
            drop_cached(file);
        }
        for some in order.chunks(PAGES) {
            touch(&map, some, page);
            if stage.site.stopwatch.now_ns() > deadline {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Nanoseconds per page of every trial, and the faults of the first.
fn page_trials(stage: &Stage, file: &File, bytes: u64) -> Result<(Vec<f64>, Usage), Failure> {
    let (page, tick) = (page_bytes(), stage.ns_per_tick()?);
    let map = mapped_at_random(file, bytes)?;
    let order = shuffled(bytes / page, stage.site.seed);
    let (mut values, mut first) = (vec![], Usage::default());
    for trial in 0..TRIALS {
        if trial > 0 {
            drop_cached(file);
        }
        let before = Usage::now();
        let ticks = unsigned_ticks(|| touch(&map, &order, page));
        if trial == 0 {
            first = Usage::now().since(before);
        }
        values.push(ticks * tick / order.len() as f64);
    }
    Ok((values, first))
}

/// The offsets of the first byte of every page and of the one in its middle.
fn touch(map: &MappedFile, order: &[u64], page: u64) {
    let mut sink = 0;
    for number in order {
        sink ^= map.read((number * page) as usize) ^ map.read((number * page + page / 2) as usize);
    }
    std::hint::black_box(sink);
}

const IN_ORDER: &str = "sequential";
const SHUFFLED: &str = "random";

/// Readings of a whole file in a trial.
const READINGS: u64 = 32;

pub(super) fn blocks(stage: &Stage) -> Result<Series, Failure> {
    let sizes: Vec<u64> = (20..=stage.count(28, 24)).map(|power| 1 << power).collect();
    let time_ns = stage.time_ns() / (sizes.len() as u64 * TRIALS) as f64;
    let mut series = Series::default();
    let mut counts = BlocksRead::default();
    for bytes in sizes {
        let test = stage.nameless(bytes)?;
        let in_order = TEN.values(|| in_order(stage, &test, time_ns * 0.25, &mut counts))?;
        let order = shuffled(bytes / BLOCK, stage.site.seed);
        advise_random(&test.file)?;
        let random = TEN.values(|| at_random(stage, (&test, &order), time_ns * 0.6, &mut counts))?;
        series = series.and(IN_ORDER, bytes as f64, in_order).and(SHUFFLED, bytes as f64, random);
    }
    let BlocksRead { in_order, random } = counts;
    Ok(series.with_note(format!("{in_order} blocks were read in order and {random} shuffled.")))
}

/// The number of blocks that were read.
#[derive(Default)]
struct BlocksRead {
    in_order: u64,
    random: u64,
}

fn read_next(file: &File, buffer: &Aligned) -> Result<(), Failure> {
    // SAFETY: the buffer has room for a block.
    let read = unsafe { libc::read(file.as_raw_fd(), buffer.start().cast(), BLOCK as usize) };
    ensure(errno("read", read)? == BLOCK as isize, "a read returned less than a block")
}

fn read_at(test: &TestFile, buffer: &Aligned, offset: u64) -> Result<(), Failure> {
    let (descriptor, start) = (test.file.as_raw_fd(), buffer.start().cast());
    // SAFETY: the buffer has room for a block.
    let read = unsafe { libc::pread(descriptor, start, BLOCK as usize, offset as libc::off_t) };
    ensure(errno("pread", read)? == BLOCK as isize, "a pread returned less than a block")
}

/// Reads in the file's order, as often as fits, at most as often as the report: nanoseconds per block.
fn in_order(stage: &Stage, test: &TestFile, time_ns: f64, counts: &mut BlocksRead) -> Result<f64, Failure> {
    let (buffer, blocks) = (Aligned::new(BLOCK as usize)?, test.bytes / BLOCK);
    let (began, mut readings, mut ticks) = (stage.site.stopwatch.now_ns(), 0, 0.0);
    while readings < READINGS && (readings == 0 || stage.site.stopwatch.now_ns() - began < time_ns) {
        // SAFETY: takes no pointers.
        errno("lseek", unsafe { libc::lseek(test.file.as_raw_fd(), 0, libc::SEEK_SET) })?;
        ticks += try_unsigned_ticks(|| (0..blocks).try_for_each(|_| read_next(&test.file, &buffer)))?;
        readings += 1;
    }
    counts.in_order += readings * blocks;
    Ok(ticks * stage.ns_per_tick()? / (readings * blocks) as f64)
}

/// Reads in a shuffled order, as many of the report's blocks as fit: nanoseconds per block.
fn at_random(
    stage: &Stage,
    (test, order): (&TestFile, &[u64]),
    time_ns: f64,
    counts: &mut BlocksRead,
) -> Result<f64, Failure> {
    let buffer = Aligned::new(BLOCK as usize)?;
    let (began, mut readings, mut read, mut ticks) = (stage.site.stopwatch.now_ns(), 0, 0, 0.0);
    let over = |read: u64| read % 8 == 0 && stage.site.stopwatch.now_ns() - began > time_ns;
    while readings < READINGS && (read == 0 || !over(0)) {
        drop_cached(&test.file);
        ticks += try_unsigned_ticks(|| {
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
    counts.random += read;
    Ok(ticks * stage.ns_per_tick()? / read as f64)
}

pub(super) fn remote_blocks(stage: &Stage) -> Result<Series, Failure> {
    let (file, mut client) = remote_file(stage)?;
    let sizes = beginnings((20..=30).map(|power| 1 << power), file.bytes);
    let time_ns = stage.time_ns() * 0.45 / (TRIALS * sizes.len() as u64) as f64;
    let mut series = Series::default();
    for bytes in sizes {
        let order: Vec<u64> = (0..bytes / BLOCK).collect();
        let random = shuffled(bytes / BLOCK, stage.site.seed);
        let in_order = remote_trials(stage, client.as_mut(), (&order, time_ns), false)?;
        let shuffled = remote_trials(stage, client.as_mut(), (&random, time_ns), true)?;
        series = series.and(IN_ORDER, bytes as f64, in_order).and(SHUFFLED, bytes as f64, shuffled);
    }
    Ok(series.with_note(format!("The file has {} MiB.", file.bytes >> 20)))
}

/// Ten trials: nanoseconds per block, each over as many blocks as fit into a time.
fn remote_trials(
    stage: &Stage,
    client: &mut dyn Client,
    (order, time_ns): (&[u64], f64),
    evicted: bool,
) -> Result<Vec<f64>, Failure> {
    TEN.values(|| {
        if evicted {
            client.forget()?;
        }
        let (began, mut read, mut block) = (stage.site.stopwatch.now_ns(), 0, [0; BLOCK as usize]);
        let ticks = try_unsigned_ticks(|| {
            for number in order {
                read_block(client, number * BLOCK, &mut block)?;
                read += 1;
                if stage.site.stopwatch.now_ns() - began > time_ns {
                    break;
                }
            }
            Ok(())
        })?;
        if read == 0 {
            return Err(Failure::Unsupported(format!("the file has no block of {BLOCK} bytes")));
        }
        Ok(ticks * stage.ns_per_tick()? / f64::from(read))
    })
}

const BLOCKS: u64 = 1000;
const NUMBERS: [usize; 11] = [1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50];
const QUICK_NUMBERS: [usize; 4] = [1, 5, 6, 50];
const MOST: usize = 50;

pub(super) fn contention(stage: &Stage) -> Result<Series, Failure> {
    let numbers: Vec<usize> = match (stage.quick, stage.thorough) {
        (true, _) => QUICK_NUMBERS.into(),
        (_, true) => (1..=MOST).collect(),
        _ => NUMBERS.into(),
    };
    let (files, repeats) = (files(stage)?, if stage.thorough { 10 } else { stage.count(3, 1) });
    let time_ns = stage.time_ns() / (numbers.len() as u64 * repeats) as f64;
    let (mut series, mut fewest) = (Series::default(), BLOCKS);
    for processes in &numbers {
        let mut values = vec![];
        for _ in 0..repeats {
            let readings = all_at_once(stage, &files[..*processes], time_ns)?;
            fewest = readings.iter().map(|one| one.blocks).fold(fewest, u64::min);
            values.push(readings.iter().map(|one| one.ns).sum::<f64>() / readings.len() as f64);
        }
        series = series.and("", *processes as f64, values);
    }
    Ok(series.with_notes(reduced("or more blocks per process", BLOCKS, fewest)))
}

fn files(stage: &Stage) -> Result<Vec<TestFile>, Failure> {
    let bytes = BLOCKS * BLOCK;
    (0..MOST)
        .map(|number| TestFile::named(stage.site, &format!("contention{number}"), bytes, DiskQuota::DEFAULT))
        .collect()
}

struct ReadMessage {
    /// Nanoseconds a block.
    ns: f64,
    blocks: u64,
}

/// Starts one process for each file; all begin to read when the last is ready.
fn all_at_once(stage: &Stage, files: &[TestFile], time_ns: f64) -> Result<Vec<ReadMessage>, Failure> {
    let ((ready, ready_out), (go, go_out), (results, result_out)) = (pipe()?, pipe()?, pipe()?);
    let mut processes = vec![];
    for test in files {
        evict(&test.file)?;
        let file = direct(test, BLOCK)?.file;
        let (go_out, ready_out, go, result_out) = (&go_out, &ready_out, &go, &result_out);
        processes.push(PartnerProcess::start(stage.site.home, move || {
            // SAFETY: this copy of the end is the child's own, and is not used again. While it is open, nobody's read of the pipe returns.
            unsafe { libc::close(go_out.as_raw_fd()) };
            reader(stage, &file, (ready_out, go, result_out), time_ns)
        })?);
    }
    drop((ready_out, result_out));
    received(ready, files.len(), 1)?;
    drop(go_out);
    let messages = received(results, files.len(), MESSAGE)?;
    Ok(messages.chunks_exact(MESSAGE).map(parsed).collect())
}

/// Bytes of such a message: two numbers.
const MESSAGE: usize = 16;

fn parsed(bytes: &[u8]) -> ReadMessage {
    let word = |from: usize| bytes[from..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
    ReadMessage { ns: f64::from_bits(word(0)), blocks: word(8) }
}

/// So many messages of one size, or an error if a process died without sending one.
fn received(from: OwnedFd, messages: usize, bytes: usize) -> Result<Vec<u8>, Failure> {
    let mut bytes_of_all = vec![0; messages * bytes];
    let read = File::from(from).read_exact(&mut bytes_of_all);
    read.map_err(|_| Failure::Broke("a reading process ended without an answer".to_owned()))?;
    Ok(bytes_of_all)
}

/// One process: reports that it is ready, waits for the pipe, reads in order, and reports the time of a block.
fn reader(
    stage: &Stage,
    file: &File,
    (ready_out, go, result_out): (&OwnedFd, &OwnedFd, &OwnedFd),
    time_ns: f64,
) -> Result<(), Failure> {
    let buffer = Aligned::new(BLOCK as usize)?;
    send(ready_out, b".")?;
    let mut nothing = 0_u8;
    // SAFETY: the buffer has room for a byte. None is sent: the read returns when the pipe is closed.
    errno("waiting for the others", unsafe { libc::read(go.as_raw_fd(), (&raw mut nothing).cast(), 1) })?;
    let (began, mut blocks) = (stage.site.stopwatch.now_ns(), 0);
    let ticks = try_unsigned_ticks(|| {
        while blocks < BLOCKS && (blocks == 0 || stage.site.stopwatch.now_ns() - began < time_ns) {
            read_next(file, &buffer)?;
            blocks += 1;
        }
        Ok(())
    })?;
    let ns = ticks * stage.ns_per_tick()? / blocks as f64;
    send(result_out, &[ns.to_bits().to_le_bytes(), blocks.to_le_bytes()].concat())
}

/// Writes a message in one piece: a pipe takes so few bytes whole.
fn send(to: &OwnedFd, message: &[u8]) -> Result<(), Failure> {
    // SAFETY: as many bytes are read as there are.
    let wrote =
        errno("write", unsafe { libc::write(to.as_raw_fd(), message.as_ptr().cast(), message.len()) })?;
    ensure(wrote == message.len() as isize, "a pipe accepted only part of a message")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_process_sends_is_parsed() {
        let reading = parsed(&[12.5_f64.to_bits().to_le_bytes(), 7_u64.to_le_bytes()].concat());
        assert!((reading.ns - 12.5).abs() < 1e-12 && reading.blocks == 7);
    }

    #[test]
    fn a_process_that_dies_without_a_word_is_an_error_and_no_wait() {
        let (from, to) = pipe().unwrap();
        send(&to, b"x").unwrap();
        drop(to);
        assert!(received(from, 2, 1).is_err());
    }
}
