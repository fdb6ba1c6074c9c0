//! Section 4.2: bandwidth of two threads.

use crate::pace::reduced;
use crate::report_000::boilerplate::{TRIALS, timed_once};
use crate::sweep::nearest;
use crate::{Deviation, Fit, Method, Replica, Row, SameQuestion, Series, Stage, Statistic, Theirs};
use fathom_core::experiment::{Dimension, Failure, Found, Known, Placement, Point, Requirement};
use fathom_core::machine::Machine;
use fathom_core::quantity::Unit;
use std::time::Duration;

const READS: &str = "read";
const READS_A_BYTE: &str = "read, time of a byte";
const WRITES: &str = "write";
const WRITES_A_BYTE: &str = "write, time of a byte";

static BANDWIDTH: Method = Method {
    name: "memory bandwidth",
    text: "The memory is 1 GiB aligned to a cache line, half of it for each of two threads. Unoptimised code loads and adds words of 8 \
           bytes, eight in a row (or stores them from a local variable), with the timer around both threads; ten trials. Both threads are \
           on the one CPU that taskset leaves them.",
    differs: "The loops are written in assembly, with the loads and stores of unoptimised code. Fathom writes the memory once before, \
              which the report does not mention: memory that was never written is one page of zeros. With --quick there are 256 MiB.",
    placement: Placement::OneCpu,
    needs: &[Requirement::MemoryBytes(1 << 30)],
    limit: Duration::from_mins(1),
    measure: both_ways,
};

/// Words that are moved before the pointer is advanced.
const UNROLLED: usize = 8;

/// The words of one thread.
type Half<'memory> = &'memory mut [u64];

fn both_ways(stage: &Stage) -> Result<Series, Failure> {
    let bytes = stage.count(1 << 30, 1 << 28);
    let mut memory: Vec<u64> = (0..bytes / 8).collect();
    let (reads, read_a_byte) = trials(stage, &mut memory, summed)?;
    let (writes, written_a_byte) = trials(stage, &mut memory, stored)?;
    let series = Series::default().and(READS, 0.0, reads).and(READS_A_BYTE, 0.0, read_a_byte);
    let series = series.and(WRITES, 0.0, writes).and(WRITES_A_BYTE, 0.0, written_a_byte);
    Ok(series.having_seen(reduced("bytes", 1 << 30, bytes)))
}

/// Bytes per second and nanoseconds per byte, of ten trials.
fn trials(stage: &Stage, memory: &mut [u64], work: fn(Half)) -> Result<(Vec<f64>, Vec<f64>), Failure> {
    let tick = stage.ns_per_tick()?;
    let bytes = size_of_val(memory) as f64;
    let (mut rates, mut times) = (vec![], vec![]);
    for _ in 0..TRIALS {
        let ns = timed_once(|| by_two_threads(memory, work))? * tick;
        rates.push(bytes / ns * 1e9);
        times.push(ns / bytes);
    }
    Ok((rates, times))
}

fn by_two_threads(memory: &mut [u64], work: fn(Half)) -> Result<(), Failure> {
    let middle = memory.len() / 2 / UNROLLED * UNROLLED;
    let (one, other) = memory.split_at_mut(middle);
    std::thread::scope(|scope| {
        let thread = |half| std::thread::Builder::new().spawn_scoped(scope, move || work(half));
        match (thread(one), thread(other)) {
            (Ok(_), Ok(_)) => Ok(()),
            (Err(error), _) | (_, Err(error)) => Err(Failure::Broke(format!("starting a thread: {error}"))),
        }
    })
}

/// The variables of the report's loops, as an unoptimised compiler keeps them.
#[repr(C)]
struct Frame {
    pointer: *mut u64,
    end: *mut u64,
    value: u64,
}

impl Frame {
    fn of(half: Half) -> Self {
        let whole = half.len() / UNROLLED * UNROLLED;
        let range = half[..whole].as_mut_ptr_range();
        Frame { pointer: range.start, end: range.end, value: 0 }
    }

    #[cfg(target_arch = "x86_64")]
    fn is_empty(&self) -> bool {
        self.pointer == self.end
    }
}

fn summed(half: Half) {
    std::hint::black_box(sum(Frame::of(half)));
}

fn stored(half: Half) {
    store(Frame { value: 7, ..Frame::of(half) });
}

#[cfg(target_arch = "x86_64")]
macro_rules! unrolled {
    ($frame:ident, [$($first:literal),*], [$($word:literal),*], [$($last:literal),*]) => {
        // SAFETY: from `pointer` to `end` is memory of the caller's, a multiple of eight words and not empty.
        unsafe {
            core::arch::asm!(
                "2:", $($first,)*
                ".irp k, 0, 8, 16, 24, 32, 40, 48, 56", $($word,)* ".endr",
                $($last,)*
                "add qword ptr [{frame}], 64",
                "mov {x}, qword ptr [{frame}]",
                "cmp {x}, qword ptr [{frame} + 8]",
                "jb 2b",
                frame = in(reg) &raw mut $frame, x = out(reg) _, y = out(reg) _, options(nostack)
            );
        }
    };
}

#[cfg(target_arch = "x86_64")]
fn sum(mut frame: Frame) -> u64 {
    if !frame.is_empty() {
        unrolled!(
            frame,
            ["mov {y}, 0"],
            ["mov {x}, qword ptr [{frame}]", "add {x}, \\k", "mov {x}, qword ptr [{x}]", "add {y}, {x}"],
            ["add qword ptr [{frame} + 16], {y}"]
        );
    }
    frame.value
}

#[cfg(target_arch = "x86_64")]
fn store(mut frame: Frame) {
    if !frame.is_empty() {
        unrolled!(
            frame,
            [],
            [
                "mov {x}, qword ptr [{frame}]",
                "add {x}, \\k",
                "mov {y}, qword ptr [{frame} + 16]",
                "mov qword ptr [{x}], {y}"
            ],
            []
        );
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn sum(mut frame: Frame) -> u64 {
    use core::ptr::{read_volatile, write_volatile};
    let pointer = &raw mut frame.pointer;
    // SAFETY: from `pointer` to `end` is memory of the caller's, a multiple of eight words.
    unsafe {
        while read_volatile(pointer) < frame.end {
            let words = (0..UNROLLED).map(|word| read_volatile(read_volatile(pointer).add(word)));
            frame.value = words.fold(frame.value, u64::wrapping_add);
            write_volatile(pointer, read_volatile(pointer).add(UNROLLED));
        }
    }
    frame.value
}

#[cfg(not(target_arch = "x86_64"))]
fn store(mut frame: Frame) {
    use core::ptr::{read_volatile, write_volatile};
    let (pointer, value) = (&raw mut frame.pointer, &raw const frame.value);
    // SAFETY: as above.
    unsafe {
        while read_volatile(pointer) < frame.end {
            for word in 0..UNROLLED {
                write_volatile(read_volatile(pointer).add(word), read_volatile(value));
            }
            write_volatile(pointer, read_volatile(pointer).add(UNROLLED));
        }
    }
}

const PARALLEL: &str = "memory/parallel_bandwidth";

/// The point of all threads with the widest instructions that the machine has.
fn all_threads(machine: &Machine, kind: &'static str) -> Point {
    let methods: &[&str] = &["avx512", "avx2", "sse", "8 words unrolled", "word loop", "compiled loop"];
    nearest(PARALLEL, machine, &[("kind", &[kind]), ("method", methods)], &[("threads", u64::MAX >> 1)])
}

fn reading(machine: &Machine) -> Point {
    all_threads(machine, "read")
}

fn writing(machine: &Machine) -> Point {
    all_threads(machine, "write")
}

/// Nanoseconds per byte, from a rate.
fn time_of_a_byte(rate: Found) -> Found {
    rate.inverse(1e9, Dimension::Of(Unit::Nanoseconds))
}

fn reading_a_byte(known: &Known) -> Option<Found> {
    known.found(PARALLEL, &reading(known.machine)).map(time_of_a_byte)
}

fn writing_a_byte(known: &Known) -> Option<Found> {
    known.found(PARALLEL, &writing(known.machine)).map(time_of_a_byte)
}

const fn moved(
    operation: &'static str,
    (unit, per): (Unit, &'static str),
    variant: &'static str,
    theirs: &'static str,
    fathom: SameQuestion,
    misleads: &'static str,
) -> Row {
    Row {
        section: "4.2",
        operation,
        unit,
        per,
        theirs: Theirs::Printed(theirs),
        replica: Replica::By(&BANDWIDTH),
        statistic: Statistic::variant(variant, Fit::Mean(Deviation::Sample)),
        fathom,
        misleads,
    }
}

const RATE: (Unit, &str) = (Unit::BytesPerSecond, "");
const TIME: (Unit, &str) = (Unit::Nanoseconds, "byte");

/// The summary's row.
pub const READ: Row = moved(
    "memory bandwidth, reads",
    RATE,
    READS,
    "s000-0281",
    SameQuestion::Point(PARALLEL, reading),
    "taskset holds both threads on one CPU, so the second adds nothing; unoptimised code loads each word by four instructions. The figure \
     is one core's bandwidth through such code, not the memory's. The report's GB/s are GiB/s.",
);

/// The summary's row.
pub const WRITE: Row = moved(
    "memory bandwidth, writes",
    RATE,
    WRITES,
    "s000-0283",
    SameQuestion::Point(PARALLEL, writing),
    "As with reads: the threads share one CPU, the code is unoptimised, and GiB/s are called GB/s. The processor reads every line before \
     it writes it, which neither method counts.",
);

/// The summary's row.
pub const READ_A_BYTE: Row = moved(
    "memory bandwidth, reads, time of a byte",
    TIME,
    READS_A_BYTE,
    "s000-0282",
    SameQuestion::Computed { of: |machine| vec![(PARALLEL, reading(machine))], value: reading_a_byte },
    "The inverse of the same figure.",
);

/// The summary's row.
pub const WRITE_A_BYTE: Row = moved(
    "memory bandwidth, writes, time of a byte",
    TIME,
    WRITES_A_BYTE,
    "s000-0284",
    SameQuestion::Computed { of: |machine| vec![(PARALLEL, writing(machine))], value: writing_a_byte },
    "The inverse of the same figure; in the report's tables its decimal point is misplaced (0.1141 ticks are 0.0606 \
     ns).",
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_added_and_every_word_is_written() {
        let mut words: Vec<u64> = (0..1000).collect();
        assert_eq!(sum(Frame::of(&mut words)), 999 * 1000 / 2);
        by_two_threads(&mut words, stored).unwrap();
        assert!(words.iter().all(|word| *word == 7), "{words:?}");
        assert_eq!(sum(Frame::of(&mut [])), 0);
    }
}
