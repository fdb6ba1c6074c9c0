//! Section 4: memory.

use super::trials::trials;
use crate::mapping::Mapped;
use crate::past_cache::forgotten;
use crate::sweep::point;
use crate::timer::without_trailing_cpuid as timed;
use crate::unoptimised::{Links, follow, read_lines_unrolled, write_lines_unrolled};
use crate::usage::Usage;
use crate::{
    Deviation, Fit, Method, Replica, Row, SameQuestion, Series, Stage, Statistic, Theirs, sweep, tasks,
};
use fathom_core::experiment::{Failure, Placement, Point};
use fathom_core::machine::Machine;
use fathom_core::quantity::Unit;
use fathom_equipment::test_file::{DiskQuota, TestFile};
use std::time::Duration;

const MINUTE: Duration = Duration::from_mins(1);
const MEAN: Fit = Fit::Mean(Deviation::Sample);

static CHASING: Method = Method {
    name: "memory access time",
    text: "In an array of int every stride-th element holds the index of the next one, and the last holds that of the first; a loop at -O0 \
           follows one million of these links. Arrays have 2^8 to 2^30 bytes; several strides, ten trials each. The figure of a level is \
           its plateau in the picture.",
    differs: "The text does not say which strides were plotted; here they are 64, 128 and 512 bytes. The figure of a level is that of \
              stride 128, at half the size of each cache and at the largest array. Where memory is short, arrays end at half of what is \
              available.",
    placement: Placement::OneCpu,
    needs: &[],
    limit: MINUTE,
    measure: chasing,
};

static STREAMING: Method = Method {
    name: "memory bandwidth",
    text: "An array of int is six times as large as the last-level cache. The program adds up the first element of each line of 64 bytes, \
           or writes it with a constant, 256 elements in each iteration of the loop, at -O0. Ten trials of one pass.",
    differs: "The report does not say how many bytes an access counts: here 64, because with 4 its figures would exceed the bandwidth of \
              its memory. The array is written before it is read. It has at most 2 GiB, and at most half of the available memory.",
    placement: Placement::OneCpu,
    needs: &[],
    limit: MINUTE,
    measure: streaming,
};

static FAULTING: Method = Method {
    name: "page fault",
    text: "The authors drop all caches of the machine, map a file again, and read one byte of its first page between two readings of the \
           timer; ten trials.",
    differs: "Fathom drops only this file from the page cache and verifies that it is gone. The other caches stay, so the file system's \
              metadata of the file are still in memory. The file has 64 MiB of random bytes; the report does not describe its own, which \
              was on a rotating disk.",
    placement: Placement::OneCpu,
    needs: &[],
    limit: MINUTE,
    measure: faulting,
};

const CHASED: &str = "At -O0 each step also computes the address, and stores and loads the index, which takes twice as long as a load from \
                      the first cache.";

pub const L1: Row = Row {
    section: "4.1",
    operation: "access to the first cache",
    unit: Unit::Nanoseconds,
    per: "",
    theirs: Theirs::Printed("s001-0084"),
    replica: Replica::By(&CHASING),
    statistic: Statistic::variant(LEVELS[0], MEAN),
    fathom: SameQuestion::Point("memory/load_latency", |machine| load(half(machine, 1), machine)),
    misleads: CHASED,
};

const PREFETCHED: &str = "The processor prefetches links with a constant stride, so the figure is not the latency of the level but the \
                          rate of prefetching; and at -O0 each step takes several cycles more than the load.";

pub const L2: Row = Row {
    operation: "access to the second cache",
    theirs: Theirs::Printed("s001-0085"),
    statistic: Statistic::variant(LEVELS[1], MEAN),
    fathom: SameQuestion::Point("memory/load_latency", |machine| load(half(machine, 2), machine)),
    misleads: PREFETCHED,
    ..L1
};

pub const L3: Row = Row {
    operation: "access to the third cache",
    theirs: Theirs::Printed("s001-0086"),
    statistic: Statistic::variant(LEVELS[2], MEAN),
    fathom: SameQuestion::Point("memory/load_latency", |machine| load(half(machine, 3), machine)),
    ..L2
};

pub const MAIN_MEMORY: Row = Row {
    operation: "access to main memory",
    theirs: Theirs::Printed("s001-0087"),
    statistic: Statistic::variant(LEVELS[3], MEAN),
    fathom: SameQuestion::Point("memory/load_latency", |machine| load(beyond_caches(machine), machine)),
    misleads: "The processor prefetches links with a constant stride: the figure is a fraction of any memory's latency. A million steps \
               also visit at most 128 MiB of an array, however large it is.",
    ..L2
};

const ONE_THREAD: &str = "The program reads or writes one element of each line, with index and sum in memory. The rate therefore depends \
                          on how soon the core asks for the next line, not on the memory.";

pub const READING: Row = Row {
    section: "4.2",
    operation: "memory bandwidth, reading",
    unit: Unit::BytesPerSecond,
    per: "",
    theirs: Theirs::Printed("s001-0088"),
    replica: Replica::By(&STREAMING),
    statistic: Statistic::variant("read", MEAN),
    fathom: SameQuestion::Point("memory/bandwidth", |machine| stream("read", machine)),
    misleads: ONE_THREAD,
};

pub const WRITING: Row = Row {
    operation: "memory bandwidth, writing",
    theirs: Theirs::Printed("s001-0089"),
    statistic: Statistic::variant("write", MEAN),
    fathom: SameQuestion::Point("memory/bandwidth", |machine| stream("write", machine)),
    misleads: "As for reading. A line of which one element is written is first read and later written back, so memory moves twice the \
               counted bytes.",
    ..READING
};

pub const PAGE_FAULT: Row = Row {
    section: "4.3",
    operation: "page fault that waits for the disk",
    unit: Unit::Nanoseconds,
    per: "",
    theirs: Theirs::Printed("s001-0090"),
    replica: Replica::By(&FAULTING),
    statistic: Statistic::of(MEAN),
    fathom: SameQuestion::Point("memory/major_fault", |_| shuffled()),
    misleads: "The first access to a file brings in as much as the kernel reads ahead, up to megabytes, and waits for part of it: this is \
               more than the service of one page. After all caches were dropped, the report's access also read the file's metadata from \
               the disk: it took 1.7 times the report's own random read.",
};

pub const PAGE_FAULT_PER_BYTE: Row = Row {
    operation: "page fault, per byte of a page",
    per: "byte",
    theirs: Theirs::Printed("s001-0044"),
    statistic: Statistic::variant(PER_BYTE, MEAN),
    fathom: SameQuestion::Computed {
        of: |_| vec![("memory/major_fault", shuffled())],
        value: |known| known.found("memory/major_fault", &shuffled()).map(|found| found.scaled(1.0 / PAGE)),
    },
    misleads: "The report divides by the 4096 bytes of one page, although the fault also brings in what is read ahead: the more comes with \
               it, the less a byte costs. It compares the figure with 14.80 ns for memory, which was not the latency of memory.",
    ..PAGE_FAULT
};

/// A boundary between levels, which the report drew where the data sheet has it.
const fn boundary(operation: &'static str, printed: &'static str) -> Row {
    Row {
        section: "4.1",
        operation,
        unit: Unit::Bytes,
        per: "",
        theirs: Theirs::Printed(printed),
        replica: Replica::NotHere(
            "there is no method to repeat: the report drew a line at the size in the data sheet and said that the curve agrees",
        ),
        statistic: Statistic::of(MEAN),
        fathom: SameQuestion::Nowhere(
            "`fathom run memory/load_latency` finds in the curve where levels end and reports it in its findings",
        ),
        misleads: "A line drawn from the data sheet cannot confirm the data sheet. With sizes by powers of two a boundary is found to a \
                   factor of two at best.",
    }
}

pub const END_OF_L1: Row = boundary("end of the first cache", "s001-0035");
pub const END_OF_L2: Row = boundary("end of the second cache", "s001-0036");
pub const END_OF_L3: Row = boundary("end of the third cache", "s001-0037");

/// The plateaus, as variants of the series.
const LEVELS: [&str; 4] = ["first cache", "second cache", "third cache", "memory"];
const PER_BYTE: &str = "per byte";
const PAGE: f64 = 4096.0;
/// The caches to assume where the machine does not report its own: those of the report.
const THEIR_CACHES: [u64; 3] = [32 << 10, 256 << 10, 6 << 20];

/// The data cache at a level of the pinned CPU, bytes.
fn cache(machine: &Machine, level: u8, cpu: Option<usize>) -> u64 {
    let cpu = cpu.or_else(|| machine.allowed_cpus().first().copied()).unwrap_or(0);
    machine.data_cache_bytes(cpu, level).unwrap_or(THEIR_CACHES[usize::from(level.clamp(1, 3)) - 1])
}

fn half(machine: &Machine, level: u8) -> u64 {
    cache(machine, level, None) / 2
}

/// The array as a multiple of the last-level cache: at most a quarter of its lines can be in the cache.
fn beyond_caches(machine: &Machine) -> u64 {
    (4 * cache(machine, 3, None)).clamp(64 << 20, 1 << 30)
}

fn load(size: u64, machine: &Machine) -> Point {
    let names: &[(&str, &[&str])] = &[("order", &["random cycle"]), ("pages", &["base"])];
    sweep::nearest("memory/load_latency", machine, names, &[("size", size)])
}

fn stream(kind: &str, machine: &Machine) -> Point {
    let names: &[(&str, &[&str])] = &[("kind", &[kind]), ("method", &["8 words unrolled"])];
    sweep::nearest("memory/bandwidth", machine, names, &[("size", beyond_caches(machine))])
}

fn shuffled() -> Point {
    point(Placement::OneCpu, &[("access", "shuffled pages, no read-ahead")], &[])
}

/// The machine, for the sizes of its caches and the available memory.
fn described(stage: &Stage) -> (Machine, u64) {
    let machine = Machine::describe(&stage.site.folder);
    let most = machine.available_bytes().unwrap_or(1 << 30) / 2;
    (machine, most)
}

/// Links followed in a trial.
const LOADS: u32 = 1_000_000;
const STRIDES: [usize; 3] = [64, 128, 512];
/// The stride whose plateaus are the figures of the levels, bytes.
const TOLD: usize = 128;
const INT: usize = size_of::<i32>();

fn chasing(stage: &Stage) -> Result<Series, Failure> {
    let (machine, most) = described(stage);
    let (tick_ns, priority) = (stage.ns_per_tick()?, tasks::raise_priority());
    let sizes: Vec<usize> = (8..=30).map(|power| 1 << power).filter(|size| *size as u64 <= most).collect();
    let mut series = Series::default();
    let mut told = vec![];
    for stride in STRIDES {
        for size in &sizes {
            let values = followed(*size, stride, tick_ns)?;
            if stride == TOLD {
                told.push((*size as u64, values.clone()));
            }
            series = series.and(&format!("stride of {stride} bytes"), *size as f64, values);
        }
    }
    Ok(plateaus(series, &told, &machine, stage.site.home).seen_where(priority))
}

/// Nanoseconds per step through an array, by trials.
fn followed(size: usize, stride: usize, tick_ns: f64) -> Result<Vec<f64>, Failure> {
    let links = Links::ring(size / INT, stride / INT);
    trials(|| {
        let mut arrived = 0;
        let ticks = timed(|| arrived = follow(&links, LOADS));
        std::hint::black_box(arrived);
        Ok(ticks as f64 * tick_ns / f64::from(LOADS))
    })
}

/// The values at the largest array that fits into half of each cache, and at the largest of all.
fn plateaus(series: Series, told: &[(u64, Vec<f64>)], machine: &Machine, cpu: Option<usize>) -> Series {
    let halves = (1..=3).map(|level| cache(machine, level, cpu) / 2);
    let places = LEVELS.into_iter().zip(halves.chain([u64::MAX]));
    places.fold(series, |series, (level, most)| match told.iter().rev().find(|(size, _)| *size <= most) {
        Some((size, values)) => series.and(level, *size as f64, values.clone()),
        None => series,
    })
}

/// The largest array that is streamed through, bytes.
const LARGEST_ARRAY: u64 = 2 << 30;
const LINE: f64 = 64.0;

fn streaming(stage: &Stage) -> Result<Series, Failure> {
    let (machine, most) = described(stage);
    let (tick_ns, priority) = (stage.ns_per_tick()?, tasks::raise_priority());
    let bytes = (6 * cache(&machine, 3, stage.site.home)).min(LARGEST_ARRAY).min(most);
    let lines = (bytes as usize / 64) & !255;
    let mut array = vec![1_i32; lines * 16];
    let rate = |ticks: i64| lines as f64 * LINE / (ticks as f64 * tick_ns) * 1e9;
    let read = trials(|| {
        let mut sum = 0;
        let ticks = timed(|| sum = read_lines_unrolled(&array));
        fathom_core::experiment::ensure(sum == lines as i32, "the sum over the lines is wrong")?;
        Ok::<_, Failure>(rate(ticks))
    })?;
    let written = trials(|| Ok::<_, Failure>(rate(timed(|| write_lines_unrolled(&mut array)))))?;
    let size = format!("The array had {:.0} MiB.", bytes as f64 / f64::from(1 << 20));
    let series = Series::default().and("read", bytes as f64, read).and("write", bytes as f64, written);
    Ok(series.seen(size).seen_where(priority))
}

/// The file whose pages are faulted in, bytes.
const FILE: u64 = 64 << 20;

fn faulting(stage: &Stage) -> Result<Series, Failure> {
    let (tick_ns, priority) = (stage.ns_per_tick()?, tasks::raise_priority());
    let test = TestFile::nameless(stage.site, FILE, DiskQuota::DEFAULT)?;
    let before = Usage::now();
    let values = trials(|| {
        forgotten(&test.file)?;
        let mapped = Mapped::readable(&test.file, FILE as usize)?;
        Ok::<_, Failure>(timed(|| _ = mapped.read(0)) as f64 * tick_ns)
    })?;
    let major = Usage::now().since(before).major;
    let seen = format!("The kernel counted {major} major faults in {} accesses.", values.len());
    let per_byte = values.iter().map(|ns| ns / PAGE).collect();
    Ok(Series::of(values).and(PER_BYTE, 0.0, per_byte).seen(seen).seen_where(priority))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_told_of_the_largest_array_that_half_a_cache_holds() {
        let machine = fathom_described::machine();
        let told: Vec<(u64, Vec<f64>)> = (8..=30).map(|power| (1 << power, vec![f64::from(power)])).collect();
        let found = plateaus(Series::default(), &told, &machine, Some(0));
        let at: Vec<f64> = LEVELS.iter().map(|level| found.variant(level).next().unwrap().at).collect();
        assert!(at.is_sorted() && at[3].to_bits() == f64::from(1 << 30).to_bits(), "{at:?}");
        for (level, at) in (1..=3).zip(&at) {
            let half = cache(&machine, level, Some(0)) as f64 / 2.0;
            assert!(*at <= half && 2.0 * at > half, "level {level}: {at} of {half}");
        }
    }
}
