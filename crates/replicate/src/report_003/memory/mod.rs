//! Section 4: memory.

mod pointer_list;
pub mod streams;

use crate::protocol::mean;
use crate::timer::{CpuidRdtscRdtscpCpuid, Timer};
use crate::usage::Usage;
use crate::{Series, Stage, caches};
use fathom_core::experiment::{Failure, ensure};
use fathom_core::machine::Machine;
use fathom_core::quantities;
use fathom_core::quantity::Unit;
use fathom_core::quantity::declared::size;
use fathom_equipment::test_file::{self, Aligned, DiskQuota, TestFile};
use pointer_list::{ELEMENT, PointerList};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::Rng;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::time::Instant;

const STRIDES: [usize; 5] = [8, 32, 128, 512, 2048];
const LOADS: usize = 1_000_000;
const SMALLEST: usize = 512;
const RAM: &str = "RAM";

const CACHES: [&str; 3] = ["L1", "L2", "L3"];

pub(super) fn latency(stage: &Stage) -> Result<Series, Failure> {
    let machine = Machine::describe(&stage.site.folder);
    let largest = caches::beyond(&machine, 4) as usize;
    let levels: Vec<(&str, u64)> = (1..)
        .zip(CACHES)
        .filter_map(|(level, name)| Some((name, caches::middle(&machine, level)?)))
        .chain([(RAM, largest as u64)])
        .collect();
    let mut list = PointerList::new(largest, stage.site.seed)?;
    let (mut series, mut plateaus) = (Series::default(), vec![vec![]; levels.len()]);
    for stride in STRIDES {
        let name = format!("stride {}", size((stride * ELEMENT) as u64));
        let mut bytes = SMALLEST;
        while bytes <= largest {
            list.link(bytes, stride);
            let each = timed(|| list.follow(LOADS));
            series = series.and(&name, bytes as f64, vec![each]);
            for (level, plateau) in levels.iter().zip(&mut plateaus) {
                if level.1 == bytes as u64 {
                    plateau.push(each);
                }
            }
            if bytes == largest {
                series = series.with_note(format!(
                    "{name}: {} from {}, of which the loads touched {}.",
                    quantities::value(Unit::Nanoseconds, each),
                    size(bytes as u64),
                    size(list.touched(LOADS) as u64)
                ));
            }
            bytes *= 2;
        }
    }
    let series = earlier_versions(stage, &mut list, largest, series);
    let by_level = levels.into_iter().zip(plateaus);
    Ok(by_level.fold(series, |series, ((name, bytes), values)| series.and(name, bytes as f64, values)))
}

/// The first two versions of the test, a load in each iteration of the loop: from stride to stride in order, and to a random element
/// of the next stride. With --quick at one stride.
fn earlier_versions(stage: &Stage, list: &mut PointerList, largest: usize, mut series: Series) -> Series {
    let strides = if stage.quick { &STRIDES[1..2] } else { &STRIDES[..] };
    for (version, link) in VERSIONS {
        for stride in strides {
            let name = format!("{version}, stride {}", size((stride * ELEMENT) as u64));
            let sizes = std::iter::successors(Some(SMALLEST), |bytes| Some(2 * bytes));
            for bytes in sizes.take_while(|bytes| *bytes <= largest) {
                link(list, bytes, *stride);
                let each = timed(|| list.follow_one_by_one(LOADS));
                series = series.and(&name, bytes as f64, vec![each]);
            }
        }
    }
    series
}

/// Links a list through so many bytes, by a stride of so many elements.
type ListLinking = fn(&mut PointerList, usize, usize);

/// The earlier versions, with what links their lists.
const VERSIONS: [(&str, ListLinking); 2] =
    [("version 1", PointerList::link_in_order), ("version 2", PointerList::link)];

/// Nanoseconds a load, of a million that are timed as a whole.
fn timed(follow: impl FnOnce() -> usize) -> f64 {
    let began = Instant::now();
    std::hint::black_box(follow());
    began.elapsed().as_secs_f64() * 1e9 / LOADS as f64
}

const BYTES: usize = 512 << 20;
const QUICK_BYTES: usize = 256 << 20;
const PASSES: usize = 10;

fn array(stage: &Stage) -> Result<Aligned, Failure> {
    Aligned::new(if stage.quick { QUICK_BYTES } else { BYTES })
}

pub(super) fn loops(stage: &Stage) -> Result<Series, Failure> {
    let mut array = array(stage)?;
    let read = |read: fn(&[u8]) -> u32, array: &Aligned| {
        rates(array.bytes().len(), || ensure(read(std::hint::black_box(array.bytes())) != 0, "the sum is 0"))
    };
    let (plain, prefetching) =
        (read(streams::read_loop, &array)?, read(streams::read_unrolled_prefetching, &array)?);
    let written = write_rates(&mut array, streams::write_loop)?;
    let set = write_rates(&mut array, streams::write_memset)?;
    Ok(Series::default()
        .and("read_memory_loop", 0.0, plain)
        .and("read_memory_unroll_prefetch", 0.0, prefetching)
        .and("write_memory_loop", 0.0, written)
        .and("write_memory_memset", 0.0, set))
}

#[cfg(target_arch = "x86_64")]
pub(super) fn avx(stage: &Stage) -> Result<Series, Failure> {
    if !is_x86_feature_detected!("avx") {
        return Err(Failure::Unsupported("this processor does not offer AVX".to_owned()));
    }
    let mut array = array(stage)?;
    let read = rates(array.bytes().len(), || {
        // SAFETY: the processor has the instructions.
        let sum = unsafe { streams::read_avx(std::hint::black_box(array.bytes())) };
        ensure(std::hint::black_box(sum).to_bits() != 1, "the sum is no sum")
    })?;
    // SAFETY: the processor has the instructions.
    let written = write_rates(&mut array, |bytes| unsafe { streams::write_avx(bytes) })?;
    Ok(Series::default().and("read_memory_avx", 0.0, read).and("write_memory_avx", 0.0, written))
}

#[cfg(not(target_arch = "x86_64"))]
pub fn avx(_: &Stage) -> Result<Series, Failure> {
    Err(Failure::Unsupported("AVX is an extension of x86-64".to_owned()))
}

fn write_rates(array: &mut Aligned, write: impl Fn(&mut [u8])) -> Result<Vec<f64>, Failure> {
    rates(array.bytes().len(), || {
        write(std::hint::black_box(array.bytes_mut()));
        Ok(())
    })
}

/// Bytes per second of every pass.
fn rates(bytes: usize, mut pass: impl FnMut() -> Result<(), Failure>) -> Result<Vec<f64>, Failure> {
    let timed = |()| {
        let began = Instant::now();
        pass()?;
        Ok(bytes as f64 / began.elapsed().as_secs_f64())
    };
    std::iter::repeat_n((), PASSES).map(timed).collect()
}

/// The report's page size, bytes, and its strides in pages.
const PAGE: u64 = 4096;
const PAGE_STRIDES: [u64; 8] = [1, 4, 16, 64, 256, 1024, 4096, 16384];

/// The longest stride, pages, whose accesses the report shows one by one.
const DRAWN: u64 = 64;
const ACCESSES: u64 = 100;
const WHOLE_RUNS: usize = 5;
const FILE_BYTES: u64 = 1 << 30;
const FILE_QUICK_BYTES: u64 = 256 << 20;

/// The shortest stride at which, in the report's view, every access waited for the disk, bytes.
const FROM: f64 = (256 << 10) as f64;

/// Bytes that one fault brought in, according to the report.
const BROUGHT_IN: u64 = 16 * PAGE;

/// Pairs of readings whose mean is the clock's cost.
const PAIRS: u64 = 10_000;
const FIXED: &str = "first byte";
const RANDOM: &str = "random byte";

pub(super) fn faults(stage: &Stage) -> Result<Series, Failure> {
    let ns = stage.ns_per_tick()?;
    let bytes = stage.count(FILE_BYTES, FILE_QUICK_BYTES);
    let test = TestFile::named(stage.site, "faults", bytes, DiskQuota::DEFAULT)?;
    let mut chance = stage.chance();
    let (mut series, mut tally) = (Series::default(), AccessTally::default());
    let clock = mean(PAIRS, || CpuidRdtscRdtscpCpuid::ticks(|| ()));
    for variant in [FIXED, RANDOM] {
        let mut of_strides = vec![vec![]; PAGE_STRIDES.len()];
        for run in 0..WHOLE_RUNS {
            for (stride, values) in PAGE_STRIDES.into_iter().zip(&mut of_strides) {
                let random = (variant == RANDOM).then_some(&mut chance);
                let offsets = offsets(bytes, stride * PAGE, random);
                let before = AccessTally::now();
                let accesses = accessed(&test.file, bytes, &offsets, clock)?;
                values.push(accesses.iter().sum::<f64>() / accesses.len() as f64 * ns);
                if run == 0 && stride <= DRAWN {
                    series = in_order(series, &drawn(variant, stride * PAGE), &accesses, ns);
                }
                if variant == FIXED && (stride * PAGE) as f64 >= FROM {
                    tally.add(offsets.len(), &before);
                }
            }
        }
        for (stride, values) in PAGE_STRIDES.into_iter().zip(of_strides) {
            let at = (stride * PAGE) as f64;
            if variant == FIXED {
                let each = values.iter().map(|value| value / BROUGHT_IN as f64).collect();
                series = series.and("per byte", at, each);
            }
            series = series.and(variant, at, values);
        }
    }
    test_file::evict(&test.file)?;
    Ok(series.with_note(tally.note()))
}

/// The variant that holds single accesses in their order.
fn drawn(variant: &str, stride: u64) -> String {
    format!("accesses, {variant}, stride {}", size(stride))
}

/// Adds every access of one run, by its number.
fn in_order(series: Series, variant: &str, accesses: &[f64], ns: f64) -> Series {
    let numbered = accesses.iter().zip(1_u32..);
    numbered.fold(series, |series, (ticks, number)| series.and(variant, f64::from(number), vec![ticks * ns]))
}

/// What the kernel counted during the accesses of which the figure is made.
#[derive(Default)]
struct AccessTally {
    accesses: usize,
    major: u64,
    served: f64,
}

impl AccessTally {
    fn now() -> Self {
        AccessTally { accesses: 0, major: Usage::now().major, served: test_file::served().unwrap_or(0.0) }
    }

    fn add(&mut self, accesses: usize, before: &AccessTally) {
        let now = AccessTally::now();
        self.accesses += accesses;
        self.major += now.major - before.major;
        self.served += now.served - before.served;
    }

    fn note(&self) -> String {
        let each = self.served / self.major.max(1) as f64;
        format!(
            "{} of {} accesses to first bytes, at strides of 256 KiB and more, were major faults; the kernel read {} from the device for \
             each.",
            self.major,
            self.accesses,
            size(each as u64)
        )
    }
}

/// The offsets of the accesses: the first byte of each stride, or a random one.
fn offsets(bytes: u64, stride: u64, mut random: Option<&mut SplitMix64>) -> Vec<u64> {
    let within = |chance: &mut Option<&mut SplitMix64>| match chance {
        Some(chance) => chance.next_u64() % stride,
        None => 0,
    };
    (0..ACCESSES.min(bytes / stride))
        .map(|number| (number * stride + within(&mut random)).min(bytes - 1))
        .collect()
}

/// Evicts the file, maps it, reads a byte at each offset and unmaps it: the time of each access less the clock's cost, ticks.
fn accessed(file: &File, bytes: u64, offsets: &[u64], clock: f64) -> Result<Vec<f64>, Failure> {
    test_file::evict_after_reads(file)?;
    let (protection, length) = (libc::PROT_READ | libc::PROT_WRITE, bytes as usize);
    // SAFETY: a new mapping of a file of ours, which nothing else refers to; offsets lie within it.
    unsafe {
        let map = libc::mmap(std::ptr::null_mut(), length, protection, libc::MAP_SHARED, file.as_raw_fd(), 0);
        if map == libc::MAP_FAILED {
            return Err(Failure::last("mmap of the test file"));
        }
        let mut accesses = Vec::with_capacity(offsets.len());
        for offset in offsets {
            let place = map.cast::<u8>().add(*offset as usize);
            accesses.push(CpuidRdtscRdtscpCpuid::ticks(|| _ = place.read_volatile()) as f64 - clock);
        }
        libc::munmap(map, length);
        Ok(accesses)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_xoshiro::rand_core::SeedableRng;

    #[test]
    fn a_byte_of_each_stride_is_accessed_within_the_file() {
        assert_eq!(offsets(1 << 20, 4096, None).len(), 100);
        let few = offsets(1 << 20, 256 << 10, None);
        assert_eq!(few, [0, 256 << 10, 512 << 10, 768 << 10]);
        let mut chance = SplitMix64::seed_from_u64(1);
        let random = offsets(1 << 20, 256 << 10, Some(&mut chance));
        assert!(random.iter().zip(&few).all(|(random, first)| random / (256 << 10) == first / (256 << 10)));
        assert!(random.iter().any(|offset| offset % 4096 != 0));
    }
}
