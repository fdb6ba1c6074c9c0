//! Section 6.4: processes that read their own files at the same time.

use super::BLOCK;
use crate::pace::reduced;
use crate::report_000::boilerplate::timed_once;
use crate::sweep::nearest;
use crate::{Fit, Method, Replica, Row, SameQuestion, Series, Stage, Statistic, Theirs};
use fathom_core::experiment::{Failure, Placement, Point, ensure, errno};
use fathom_core::machine::Machine;
use fathom_core::quantity::Unit;
use fathom_core::sampling::partner::{PartnerProcess, pipe};
use fathom_equipment::test_file::{Aligned, DiskQuota, TestFile, direct, evict};
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

static PROCESSES: Method = Method {
    name: "contention",
    text: "1 to 50 processes each open a file of their own of 1000 blocks of 4096 bytes with O_DIRECT, dropped from the cache. A pipe \
           holds them until all are ready; then each reads its 1000 blocks in order with the timer around them. The figure is the mean of \
           the processes' times per block, repeated ten times for each number of processes. The report draws two lines through the least \
           and the greatest mean, one for 1 to 5 processes and one for 6 to 50.",
    differs: "Fathom does not try every number of processes, and repeats each three times (with --quick four numbers, once), because the \
              report's plan reads 12,750 files. A process stops before 1000 blocks when its share of 15 s is over.",
    placement: Placement::OneCpu,
    needs: &[],
    limit: Duration::from_mins(4),
    measure: contention,
};

const BLOCKS: u64 = 1000;
const NUMBERS: [usize; 11] = [1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50];
const QUICK_NUMBERS: [usize; 4] = [1, 5, 6, 50];
const MOST: usize = 50;

fn contention(stage: &Stage) -> Result<Series, Failure> {
    let numbers: &[usize] = if stage.quick { &QUICK_NUMBERS } else { &NUMBERS };
    let (files, repeats) = (files(stage)?, stage.count(3, 1));
    let time_ns = stage.time_ns() / (numbers.len() as u64 * repeats) as f64;
    let (mut series, mut fewest) = (Series::default(), BLOCKS);
    for processes in numbers {
        let mut values = vec![];
        for _ in 0..repeats {
            let found = all_at_once(stage, &files[..*processes], time_ns)?;
            fewest = found.iter().map(|one| one.blocks).fold(fewest, u64::min);
            values.push(found.iter().map(|one| one.ns).sum::<f64>() / found.len() as f64);
        }
        series = series.and("", *processes as f64, values);
    }
    Ok(series.having_seen(reduced("or more blocks per process", BLOCKS, fewest)))
}

fn files(stage: &Stage) -> Result<Vec<TestFile>, Failure> {
    let bytes = BLOCKS * BLOCK;
    (0..MOST)
        .map(|number| TestFile::named(stage.site, &format!("contention{number}"), bytes, DiskQuota::DEFAULT))
        .collect()
}

/// The message of one process.
struct Told {
    /// Nanoseconds a block.
    ns: f64,
    blocks: u64,
}

/// Starts one process for each file; all begin to read when the last is ready.
fn all_at_once(stage: &Stage, files: &[TestFile], time_ns: f64) -> Result<Vec<Told>, Failure> {
    let ((ready, say_ready), (go, say_go), (results, say_result)) = (pipe()?, pipe()?, pipe()?);
    let mut processes = vec![];
    for test in files {
        evict(&test.file)?;
        let file = direct(test, BLOCK)?.file;
        let (say_go, say_ready, go, say_result) = (&say_go, &say_ready, &go, &say_result);
        processes.push(PartnerProcess::start(stage.site.home, move || {
            // SAFETY: this copy of the end is the child's own, and is not used again: open, it would never let anybody go.
            unsafe { libc::close(say_go.as_raw_fd()) };
            reader(stage, &file, (say_ready, go, say_result), time_ns)
        })?);
    }
    drop((say_ready, say_result));
    heard(ready, files.len(), 1)?;
    drop(say_go);
    let told = heard(results, files.len(), TOLD)?;
    Ok(told.chunks_exact(TOLD).map(understood).collect())
}

/// Bytes of such a message: two numbers.
const TOLD: usize = 16;

fn understood(bytes: &[u8]) -> Told {
    let word = |from: usize| bytes[from..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
    Told { ns: f64::from_bits(word(0)), blocks: word(8) }
}

/// So many messages of one size, or an error if a process died without sending one.
fn heard(from: OwnedFd, messages: usize, bytes: usize) -> Result<Vec<u8>, Failure> {
    let mut heard = vec![0; messages * bytes];
    let read = File::from(from).read_exact(&mut heard);
    read.map_err(|_| Failure::Broke("a reading process ended without an answer".to_owned()))?;
    Ok(heard)
}

/// One process: reports that it is ready, waits for the pipe, reads in order, and reports the time of a block.
fn reader(
    stage: &Stage,
    file: &File,
    (say_ready, go, say_result): (&OwnedFd, &OwnedFd, &OwnedFd),
    time_ns: f64,
) -> Result<(), Failure> {
    let buffer = Aligned::new(BLOCK as usize)?;
    say(say_ready, b".")?;
    let mut nothing = 0_u8;
    // SAFETY: the buffer has room for the byte that never comes: the pipe's end is what is waited for.
    errno("waiting for the others", unsafe { libc::read(go.as_raw_fd(), (&raw mut nothing).cast(), 1) })?;
    let (began, mut blocks) = (stage.site.stopwatch.now_ns(), 0);
    let ticks = timed_once(|| {
        while blocks < BLOCKS && (blocks == 0 || stage.site.stopwatch.now_ns() - began < time_ns) {
            // SAFETY: the buffer has room for a block.
            let read = unsafe { libc::read(file.as_raw_fd(), buffer.start().cast(), BLOCK as usize) };
            ensure(errno("read", read)? == BLOCK as isize, "a read returned less than a block")?;
            blocks += 1;
        }
        Ok(())
    })?;
    let ns = ticks * stage.ns_per_tick()? / blocks as f64;
    say(say_result, &[ns.to_bits().to_le_bytes(), blocks.to_le_bytes()].concat())
}

/// Writes a message in one piece: a pipe takes so few bytes whole.
fn say(to: &OwnedFd, message: &[u8]) -> Result<(), Failure> {
    // SAFETY: as many bytes are read as there are.
    let wrote =
        errno("write", unsafe { libc::write(to.as_raw_fd(), message.as_ptr().cast(), message.len()) })?;
    ensure(wrote == message.len() as isize, "a pipe accepted only part of a message")
}

const CONTENTION: &str = "filesystem/contention";

fn all_in_order(machine: &Machine) -> Point {
    let names: &[(&str, &[&str])] = &[("pattern", &["all sequential"]), ("figure", &["each process"])];
    nearest(CONTENTION, machine, names, &[("processes", 1)]).without("processes")
}

const fn line(
    operation: &'static str,
    theirs: &'static str,
    from: f64,
    to: f64,
    misleads: &'static str,
) -> Row {
    Row {
        section: "6.4",
        operation,
        unit: Unit::Nanoseconds,
        per: "process",
        theirs: Theirs::Printed(theirs),
        replica: Replica::By(&PROCESSES),
        statistic: Statistic::of(Fit::SlopeThroughExtremes { from, to }),
        fathom: SameQuestion::Slope(CONTENTION, "processes", all_in_order),
        misleads,
    }
}

/// The summary's row, its first line.
pub const FEW_PROCESSES: Row = line(
    "contention, time of a block, each further process (1 to 5)",
    "s000-0304",
    1.0,
    5.0,
    "A line through two of five points, chosen because they are the least and the greatest, is not a fit. Each process is timed while \
     others may have ended. All processes share one CPU, so their waits for it are part of the figure. Fathom's slope is a line over all \
     numbers of processes, which read until all have been timed.",
);

/// The summary's row, its second line.
pub const MANY_PROCESSES: Row = line(
    "contention, time of a block, each further process (6 to 50)",
    "s000-0305",
    6.0,
    50.0,
    "As above. The authors chose by eye to break the line after five processes; their own table breaks between four and five.",
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_process_tells_is_understood() {
        let told = understood(&[12.5_f64.to_bits().to_le_bytes(), 7_u64.to_le_bytes()].concat());
        assert!((told.ns - 12.5).abs() < 1e-12 && told.blocks == 7);
    }

    #[test]
    fn a_process_that_dies_without_a_word_is_an_error_and_no_wait() {
        let (from, to) = pipe().unwrap();
        say(&to, b"x").unwrap();
        drop(to);
        assert!(heard(from, 2, 1).is_err());
    }
}
