//! Section 4: memory.

use super::chain::Chain;
use super::files::{drop_mapped, mapped_at_random, shuffled, zeros};
use crate::mapping::MappedFile;
use crate::operations::broke;
use crate::protocol::{TRIALS, TrialProtocol, reduced, try_unsigned_ticks, unsigned_ticks};
use crate::usage::Usage;
use crate::{Series, Stage};
use fathom_core::experiment::{Failure, ensure};
use fathom_equipment::test_file::{evict, page_bytes};
use std::fs::File;

/// Bytes that the report counts for an element of eight.
const COUNTED: u64 = 4;

/// Accesses of a trial: ten loops of ten million.
const ACCESSES: u64 = 100_000_000;
const CALLED_L1: u64 = 1 << 15;
const CALLED_L2: u64 = 1 << 19;
const CALLED_L3: u64 = 1 << 23;
const CALLED_RAM: u64 = 1 << 27;

fn sizes(stage: &Stage) -> Vec<u64> {
    let all = (12..=27).map(|power| 1 << power).collect();
    if stage.quick { vec![CALLED_L1, CALLED_L2, CALLED_L3, CALLED_RAM] } else { all }
}

pub(super) fn chase(stage: &Stage) -> Result<Series, Failure> {
    let (sizes, tick) = (sizes(stage), stage.ns_per_tick()?);
    let (mut series, mut fewest) = (Series::default(), ACCESSES);
    for size in &sizes {
        let chain = Chain::new((size / COUNTED) as usize, stage.site.seed);
        let mut at = chain.first();
        let mut follow = |n| {
            at = chain.follow(at, n);
            Ok(())
        };
        let share = 0.9 / (sizes.len() as u64 * TRIALS) as f64;
        let count = stage.count_within_budget(ACCESSES, share, &mut follow)?;
        let values =
            TrialProtocol::TEN.values(|| Ok(try_unsigned_ticks(|| follow(count))? * tick / count as f64))?;
        fewest = fewest.min(count);
        series = series.and("", *size as f64, values).with_notes(shortened(&chain, *size));
    }
    Ok(series.with_notes(reduced("or more accesses per trial", ACCESSES, fewest)))
}

/// A sentence where a chain leaves out more than a tenth of its elements.
fn shortened(chain: &Chain, size: u64) -> Option<String> {
    let elements = size / COUNTED;
    let round = chain.round(elements.min(1 << 22)).filter(|round| *round * 10 < elements * 9)?;
    Some(format!("The chain through {elements} elements repeats after {round}."))
}

/// Words that are moved before the pointer is advanced.
const UNROLLED: usize = 8;

type ThreadWords<'memory> = &'memory mut [u64];

pub(super) fn both_ways(stage: &Stage) -> Result<Series, Failure> {
    let bytes = stage.count(1 << 30, 1 << 28);
    let mut memory: Vec<u64> = (0..bytes / 8).collect();
    let (reads, read_a_byte) = rates_and_times(stage, &mut memory, summed)?;
    let (writes, written_a_byte) = rates_and_times(stage, &mut memory, stored)?;
    let series = Series::default().and("read", 0.0, reads).and("read, time of a byte", 0.0, read_a_byte);
    let series = series.and("write", 0.0, writes).and("write, time of a byte", 0.0, written_a_byte);
    Ok(series.with_notes(reduced("bytes", 1 << 30, bytes)))
}

/// Bytes per second and nanoseconds per byte, of ten trials.
fn rates_and_times(
    stage: &Stage,
    memory: &mut [u64],
    work: fn(ThreadWords),
) -> Result<(Vec<f64>, Vec<f64>), Failure> {
    let (tick, bytes) = (stage.ns_per_tick()?, size_of_val(memory) as f64);
    let trials =
        TrialProtocol::TEN.values(|| Ok(try_unsigned_ticks(|| by_two_threads(memory, work))? * tick))?;
    Ok(trials.into_iter().map(|ns| (bytes / ns * 1e9, ns / bytes)).unzip())
}

fn by_two_threads(memory: &mut [u64], work: fn(ThreadWords)) -> Result<(), Failure> {
    let middle = memory.len() / 2 / UNROLLED * UNROLLED;
    let (one, other) = memory.split_at_mut(middle);
    std::thread::scope(|scope| {
        let thread = |half| std::thread::Builder::new().spawn_scoped(scope, move || work(half));
        match (thread(one), thread(other)) {
            (Ok(_), Ok(_)) => Ok(()),
            (Err(error), _) | (_, Err(error)) => Err(broke("starting a thread")(error)),
        }
    })
}

/// The variables of the report's loops, as an unoptimised compiler keeps them.
#[repr(C)]
struct LoopFrame {
    pointer: *mut u64,
    end: *mut u64,
    value: u64,
}

impl LoopFrame {
    fn of(half: ThreadWords) -> Self {
        let whole = half.len() / UNROLLED * UNROLLED;
        let range = half[..whole].as_mut_ptr_range();
        LoopFrame { pointer: range.start, end: range.end, value: 0 }
    }

    #[cfg(target_arch = "x86_64")]
    fn is_empty(&self) -> bool {
        self.pointer == self.end
    }
}

fn summed(half: ThreadWords) {
    std::hint::black_box(sum(LoopFrame::of(half)));
}

fn stored(half: ThreadWords) {
    store(LoopFrame { value: 7, ..LoopFrame::of(half) });
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
fn sum(mut frame: LoopFrame) -> u64 {
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
fn store(mut frame: LoopFrame) {
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
fn sum(mut frame: LoopFrame) -> u64 {
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
fn store(mut frame: LoopFrame) {
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

const FAULT_TRIALS: u64 = 15;

pub(super) fn faults(stage: &Stage) -> Result<Series, Failure> {
    let bytes = stage.count(512 << 20, 128 << 20);
    let file = zeros(stage, bytes)?;
    file.sync_all().map_err(broke("fsync"))?;
    evict(&file)?;
    let (mut values, mut counts) = (vec![], FaultCount::default());
    for trial in 0..FAULT_TRIALS {
        values.push(faulting(stage, (&file, bytes), trial, &mut counts)?);
    }
    let FaultCount { touched, major, minor } = counts;
    Ok(Series::of(values).with_note(format!(
        "Of {touched} pages that were touched, {major} were major (hard) faults and {minor} minor ones; {} pages per trial, of {} in the file.",
        touched / FAULT_TRIALS,
        bytes / page_bytes()
    )))
}

#[derive(Default)]
struct FaultCount {
    touched: u64,
    major: u64,
    minor: u64,
}

/// One trial: nanoseconds per page.
fn faulting(
    stage: &Stage,
    (file, bytes): (&File, u64),
    trial: u64,
    counts: &mut FaultCount,
) -> Result<f64, Failure> {
    let page = page_bytes();
    let map = mapped_at_random(file, bytes)?;
    let order = shuffled(bytes / page, stage.site.seed ^ trial);
    let (most_ns, before) = (stage.time_ns() / FAULT_TRIALS as f64, Usage::now());
    let mut touched = 0;
    let ticks = unsigned_ticks(|| touched = touch(&map, (&order, page), most_ns, stage));
    let faults = Usage::now().since(before);
    drop_mapped(map, file)?;
    ensure(touched > 0, "no page was touched")?;
    counts.touched += touched;
    counts.major += faults.major;
    counts.minor += faults.minor;
    Ok(ticks * stage.ns_per_tick()? / touched as f64)
}

/// Touches pages in this order until all are touched or the time is over, and returns how many.
fn touch(map: &MappedFile, (order, page): (&[u64], u64), most_ns: f64, stage: &Stage) -> u64 {
    let (began, mut touched) = (stage.site.stopwatch.now_ns(), 0);
    for number in order {
        std::hint::black_box(map.read((number * page) as usize));
        touched += 1;
        if touched % 16 == 0 && stage.site.stopwatch.now_ns() - began > most_ns {
            break;
        }
    }
    touched
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_added_and_every_word_is_written() {
        let mut words: Vec<u64> = (0..1000).collect();
        assert_eq!(sum(LoopFrame::of(&mut words)), 999 * 1000 / 2);
        by_two_threads(&mut words, stored).unwrap();
        assert!(words.iter().all(|word| *word == 7), "{words:?}");
        assert_eq!(sum(LoopFrame::of(&mut [])), 0);
    }
}
