//! Its chapter "Memory".

use super::cpu::Span;
use super::trials::{some_trials, trials};
use crate::mapping::Mapped;
use crate::sweep::point;
use crate::timer::fenced as timed;
use crate::unoptimised::{read_lines, write_lines};
use crate::usage::Usage;
use crate::{
    Deviation, Fit, Method, Replica, Row, SameQuestion, Series, Stage, Statistic, Theirs, sweep, tasks,
};
use fathom_core::experiment::{Failure, Placement, Point, ensure};
use fathom_core::machine::Machine;
use fathom_core::quantity::Unit;
use fathom_equipment::test_file::blocks::below;
use fathom_equipment::test_file::{DiskQuota, TestFile};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::SeedableRng;
use std::time::Duration;

const MINUTE: Duration = Duration::from_mins(1);
const MEAN: Fit = Fit::Mean(Deviation::None);

static ACCESSING: Method = Method {
    name: "memory access",
    text: "Arrays have 1024 bytes to 1024 MB and are initialised. The program reads 1000 random elements, each between two readings of the \
           clock; an empty pair of readings is subtracted.",
    differs: "That each access was timed by itself follows from the report's own rule; the index is drawn outside of the timed span. Sizes \
              are the powers of two up to half of the available memory.",
    placement: Placement::OneCpu,
    needs: &[],
    limit: MINUTE,
    measure: accessing,
};

static STREAMING: Method = Method {
    name: "memory bandwidth",
    text: "A loop between two readings reads, or writes, one element of every 64 bytes of a large array.",
    differs: "The report gives neither the size of the array nor the bytes that an access counts: here 256 MiB (or half of the available \
              memory) and 64, and the loop is assumed to be unoptimised. There are 100 trials, because 1000 would take a minute.",
    placement: Placement::OneCpu,
    needs: &[],
    limit: MINUTE,
    measure: streaming,
};

static FAULTING: Method = Method {
    name: "page fault",
    text: "The program creates and maps a large file, writes one byte to the start of every page, and calls fsync; the figure is the time \
           of all that, divided by the pages.",
    differs: "The report does not give the size of the file; here it has 64 MiB, and ten are created in turn instead of 1000 trials. \
              Fathom assumes that fsync is within the timed span.",
    placement: Placement::OneCpu,
    needs: &[],
    limit: Duration::from_mins(2),
    measure: faulting,
};

const BY_ONE: &str = "Each access is timed alone between fences, so accesses do not overlap and the figure is a latency. But a thousand \
                      accesses do not warm a large cache: it holds what the initialisation of the array or another program has left there, \
                      and page-table entries are not cached either. The timer also takes many times as long as the first cache and counts \
                      in steps of several nanoseconds, so for small arrays only these steps are visible.";

/// Accesses to an array of this size.
const fn access(operation: &'static str, size: u64, at: fn(&Machine) -> Point) -> Row {
    Row {
        section: "Accessing RAM",
        operation,
        unit: Unit::Nanoseconds,
        per: "",
        theirs: Theirs::NotPrinted("only in a picture"),
        replica: Replica::By(&ACCESSING),
        statistic: Statistic::of(Fit::MeanAt(size as f64)),
        fathom: SameQuestion::Point("memory/load_latency", at),
        misleads: BY_ONE,
    }
}

const KIB: u64 = 1 << 10;
pub const SMALL: Row = access("access to an array of 16 KiB", 16 * KIB, |machine| load(16 * KIB, machine));
pub const MIDDLING: Row =
    access("access to an array of 256 KiB", 256 * KIB, |machine| load(256 * KIB, machine));
pub const LARGE: Row = access("access to an array of 4 MiB", 4096 * KIB, |machine| load(4096 * KIB, machine));
pub const LARGEST: Row =
    access("access to an array of 128 MiB", 128 * KIB * KIB, |machine| load(128 * KIB * KIB, machine));

pub const READING: Row = Row {
    section: "RAM Bandwidth",
    operation: "memory bandwidth, reading",
    unit: Unit::BytesPerSecond,
    per: "",
    theirs: Theirs::Printed("s002-0012"),
    replica: Replica::By(&STREAMING),
    statistic: Statistic::variant("read", MEAN),
    fathom: SameQuestion::Point("memory/bandwidth", |machine| stream("read", machine)),
    misleads: "The program reads one element of each line, with index and sum in memory. The rate depends on how soon the core asks for \
               the next line and how soon the prefetcher fetches it. The report compares it with 136.5 GB/s, which is twice what its \
               memory can do.",
};

pub const WRITING: Row = Row {
    operation: "memory bandwidth, writing",
    theirs: Theirs::Printed("s002-0013"),
    statistic: Statistic::variant("write", MEAN),
    fathom: SameQuestion::Point("memory/bandwidth", |machine| stream("write", machine)),
    misleads: "As for reading. A line of which one element is written is first read and later written back, so memory moves twice the \
               counted bytes, which the report does not mention.",
    ..READING
};

pub const PAGE_FAULT: Row = Row {
    section: "Page fault service time",
    operation: "page fault (write to each page of a mapped file)",
    unit: Unit::Nanoseconds,
    per: "page",
    theirs: Theirs::Printed("s002-0014"),
    replica: Replica::By(&FAULTING),
    statistic: Statistic::of(MEAN),
    fathom: SameQuestion::Point("memory/major_fault", |_| {
        point(Placement::OneCpu, &[("access", "shuffled pages, no read-ahead")], &[])
    }),
    misleads: "A new file is still in the page cache, so no fault waits for the disk: it is not the fault that the report compares with a \
               disk's seek time. The kernel also maps many pages of such a file at one fault. The figure includes these minor faults, the \
               file system's bookkeeping for pages that will change, and writing all of them back at once.",
};

fn load(size: u64, machine: &Machine) -> Point {
    let names: &[(&str, &[&str])] = &[("order", &["random cycle"]), ("pages", &["base"])];
    sweep::nearest("memory/load_latency", machine, names, &[("size", size)])
}

/// Fathom's point in memory, beyond all caches.
fn stream(kind: &str, machine: &Machine) -> Point {
    let names: &[(&str, &[&str])] = &[("kind", &[kind]), ("method", &["8 words unrolled"])];
    sweep::nearest("memory/bandwidth", machine, names, &[("size", 1 << 30)])
}

/// Half of the memory that this process could have, bytes.
fn half_of_memory(stage: &Stage) -> u64 {
    Machine::describe(&stage.site.folder).available_bytes().unwrap_or(1 << 30) / 2
}

fn accessing(stage: &Stage) -> Result<Series, Failure> {
    let (most, priority) = (half_of_memory(stage), tasks::raise_priority());
    let span = Span::of(stage)?;
    let mut chance = SplitMix64::seed_from_u64(stage.site.seed);
    let mut series = Series::default();
    for size in (10..=30).map(|power| 1_u64 << power).filter(|size| *size <= most) {
        let array: Vec<i32> = (1..=size as i32 / 4).collect();
        let one = || {
            let place = below(&mut chance, array.len() as u64) as usize;
            let element = &raw const array[place];
            let mut found = 0;
            // SAFETY: an element of the array.
            let ns = span.ns(|| found = unsafe { element.read_volatile() });
            ensure(found as usize == place + 1, "an element of the array is wrong")?;
            Ok(ns)
        };
        series = series.and("", size as f64, trials(one)?);
    }
    Ok(series.seen_where(priority))
}

/// The array that is streamed through, bytes.
const ARRAY: u64 = 256 << 20;
const LINE: f64 = 64.0;

fn streaming(stage: &Stage) -> Result<Series, Failure> {
    let (bytes, priority) = (ARRAY.min(half_of_memory(stage)), tasks::raise_priority());
    let (tick_ns, count) = (stage.ns_per_tick()?, stage.count(100, 20) as usize);
    let lines = bytes as usize / 64;
    let mut array = vec![1_i32; lines * 16];
    let rate = |ticks: i64| lines as f64 * LINE / (ticks as f64 * tick_ns) * 1e9;
    let read = some_trials(count, || {
        let mut sum = 0;
        let ticks = timed(|| sum = read_lines(&array));
        ensure(sum == lines as i32, "the sum over the lines is wrong")?;
        Ok::<_, Failure>(rate(ticks))
    })?;
    let written = some_trials(count, || Ok::<_, Failure>(rate(timed(|| write_lines(&mut array)))))?;
    let series = Series::default().and("read", bytes as f64, read).and("write", bytes as f64, written);
    Ok(series.seen_where(priority))
}

/// The file whose pages are written, bytes.
const FILE: usize = 64 << 20;
const PAGE: usize = 4096;

fn faulting(stage: &Stage) -> Result<Series, Failure> {
    let (tick_ns, priority) = (stage.ns_per_tick()?, tasks::raise_priority());
    let (before, files) = (Usage::now(), stage.count(10, 3));
    let mut values = vec![];
    for _ in 0..files {
        values.push(written(stage, tick_ns)?);
    }
    let taken = Usage::now().since(before);
    let (major, minor) = (taken.major, taken.minor);
    let pages = files as f64 * (FILE / PAGE) as f64;
    let seen = format!(
        "The kernel counted {major} major and {minor} minor faults for {pages:.0} pages; only major faults wait for the disk."
    );
    Ok(Series::of(values).seen(seen).seen_where(priority))
}

/// Nanoseconds per page of a file that was just created.
fn written(stage: &Stage, tick_ns: f64) -> Result<f64, Failure> {
    let test = TestFile::nameless(stage.site, FILE as u64, DiskQuota::DEFAULT)?;
    let mut mapped = Mapped::shared(&test.file, FILE)?;
    let mut synced = Ok(());
    let ticks = timed(|| {
        (0..FILE).step_by(PAGE).for_each(|offset| mapped.write(offset, 7));
        synced = test.file.sync_all();
    });
    synced.map_err(|error| Failure::Broke(format!("fsync of a test file: {error}")))?;
    Ok(ticks as f64 * tick_ns / (FILE / PAGE) as f64)
}
