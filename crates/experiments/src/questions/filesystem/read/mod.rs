//! What does reading a block of a file cost, from the device and from the page cache?

mod growth;
mod layers;
mod points;
mod predicted;
mod small_files;

pub use predicted::{PAGES_AT_ONCE, waiting};

use crate::apparatus::filesystem::cold;
use crate::apparatus::filesystem::extents;
use crate::apparatus::filesystem::reader::{Call, ReadAhead, Reader};
use crate::apparatus::filesystem::uring;
use crate::expected::device_facts;
use fathom_core::prelude::*;
use fathom_equipment::test_file::blocks::{BlockWalk, Order};
use fathom_equipment::test_file::{DiskQuota, TestFile, cached, direct, ensure_accounted, served, warm};
use points::{
    BLOCK, CALL, COLD, DIRECT, FIGURE, FILE, IO_URING, MMAP, NAME, OFF, ORDER, PREAD, QUEUE_DEPTH, RANDOM,
    READ, READ_AHEAD, SEEK, SEQUENTIAL, STATE, USUAL_FILE, WARM,
};
use std::fs::File;
use std::rc::Rc;
use std::time::Duration;

pub struct Read;

static ABOUT: About = About {
    name: NAME,
    question: "What does reading a block of a file cost, from the device and from the page cache?",
    operation: "one block of the given size, read and verified",
    method: "Files of random bytes are made in the measured folder once per run. Every 512 bytes begin with a stamp \
             of their position, which is checked in every block read. `direct` reads past the page cache (O_DIRECT), \
             one block after the other; each is an observation, so there is a distribution. Two facts show that the \
             flag is honoured: the kernel's count of bytes from devices grows with every block, and the page cache \
             holds nothing of the file.\n\n`cold` reads through the page cache after the file was evicted \
             (POSIX_FADV_DONTNEED, with no dirty pages), which is verified before every pass (cachestat or mincore); \
             no block is read twice in a pass, and a pass ends before a block that the kernel has read ahead. In random \
             order each block is an observation. In sequential order the \
             mean over 32 MiB or the whole file is one, because a single block shows either a wait or a copy; without \
             read-ahead each block waits, and is an observation. `warm` reads what was read before: all of the file \
             is in the cache before and after, and nothing comes from the device. Sequential and random order are \
             compared in the same cache state and with the same block size.\n\n`read` advances the file position, \
             `pread` takes the position as an argument, and `lseek + read` sets it each time; `mmap` loads one word \
             of every cache line. Without read-ahead (POSIX_FADV_RANDOM, MADV_RANDOM) the kernel reads only what is \
             requested. `io_uring` keeps several direct reads in flight, and submits new ones together when no more \
             have completed: the latency of each request and the time between two completions, the inverse of the \
             device's rate, are figures of the same requests. Warm points of one file are measured in one process, \
             which warms it once.",
    caveats: "Below a virtual disk the host may have its own cache, which is neither visible nor evictable from here: \
              `cold` means cold in this machine. Consecutive blocks of the file need not be consecutive on the \
              device. Reading a mapped warm file needs no copy; compared with `read`, the bytes are used in place.",
    version: 2,
    timed: Some(TimedCode {
        of: "a block at random",
        source: include_str!("../../../apparatus/filesystem/reader.rs"),
        begins: "fn pread(",
    }),
    parameters: &[STATE, ORDER, CALL, BLOCK, FILE, READ_AHEAD, QUEUE_DEPTH, FIGURE],
    trends: &[],
    shown: Shown::by(&[
        MainFigure::of(
            "4 KiB in order from the device",
            &[
                ("block", At::Number(4_096)),
                ("order", At::Name("sequential")),
                ("state", At::Name("direct")),
                ("call", At::Name("read")),
                ("file", At::Most),
            ],
        ),
        MainFigure::leading(
            "4 KiB at random from the device",
            &[
                ("block", At::Number(4_096)),
                ("order", At::Name("random")),
                ("state", At::Name("direct")),
                ("file", At::Most),
            ],
        )
        .called("read 4 KiB at random, device")
        .with("file"),
        MainFigure::of(
            "4 KiB in order, from the page cache",
            &[
                ("block", At::Number(4_096)),
                ("order", At::Name("sequential")),
                ("state", At::Name("warm")),
                ("call", At::Name("read")),
                ("file", At::Most),
            ],
        )
        .with("file"),
    ])
    .clauses(&[
        Clause::of("what a block from the device costs", |point, _| point.name(&STATE) != WARM),
        Clause::of("what a block from the page cache costs", |point, _| point.name(&STATE) == WARM),
    ])
    .landmarks(landmarks),
};

/// Witnesses: bytes sent by the device; bytes of the file in the page cache afterwards; bytes missing there.
const SERVED: &str = "bytes_from_device";
const RESIDENT: &str = "bytes_cached";
const MISSING: &str = "bytes_not_cached";
/// Stated: the pieces in which the file lies on its device.
const PIECES: &str = "pieces_on_the_device";

impl Experiment for Read {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn sweep(&self, _: &Machine) -> Vec<Point> {
        points::all()
    }

    /// A block is not longer than its file.
    fn sized(&self, point: &Point, bytes: u64) -> Option<Point> {
        (point.number(&BLOCK) <= bytes).then(|| point.clone().with(&FILE, bytes))
    }

    /// A warm file stays in the page cache from one trial to the next; of others only what is being read is there.
    fn requires(&self, point: &Point) -> Vec<Requirement> {
        if point.name(&STATE) == WARM { vec![Requirement::PageCache(point.number(&FILE))] } else { vec![] }
    }

    fn effort(&self, point: &Point, _: &Machine) -> Effort {
        points::effort(point)
    }

    fn predict(&self, point: &Point, known: &Known) -> Result<Prediction, String> {
        Ok(predicted::cost(point, known))
    }

    fn bound(&self, point: &Point, known: &Known) -> Option<Bound> {
        predicted::bound(point, known)
    }

    /// Reading a file into the cache takes longer than reading some of its blocks, and reading does not change it.
    fn block(&self, point: &Point) -> Option<String> {
        (point.name(&STATE) == WARM).then(|| format!("{WARM}, {} bytes", point.number(&FILE)))
    }

    fn figure(&self) -> Option<&'static Parameter> {
        Some(&FIGURE)
    }

    fn touches(&self, point: &Point) -> Vec<Touch> {
        vec![Touch::File(point.number(&FILE))]
    }

    fn waits_for_the_device(&self, point: &Point) -> bool {
        point.name(&STATE) != WARM
    }

    fn prepare<'site>(&self, point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
        let prepare = match (point.name(&STATE), point.name(&CALL)) {
            (DIRECT, IO_URING) => in_flight,
            (DIRECT, _) => past_the_cache,
            (COLD, _) => through_the_cache,
            (WARM, _) => out_of_the_cache,
            (state, _) => return Err(Failure::no_variant(&STATE, state)),
        };
        prepare(point, site)
    }

    fn evidence(&self, point: &Point, observed: &Observed) -> Vec<Check> {
        let mut checks = match point.name(&STATE) {
            DIRECT => direct_evidence(point, observed),
            COLD => cold_evidence(point, observed),
            _ => return warm_evidence(point, observed),
        };
        checks.extend(in_order_on_the_device(point, observed));
        checks
    }

    fn findings(&self, known: &Known) -> Vec<Finding> {
        [layers::findings(known), small_files::findings(known), growth::findings(known)].concat()
    }

    /// Creating and evicting a file of a gibibyte on a slow disk takes longer than observing.
    fn time_limit(&self, _: &Point) -> Duration {
        Duration::from_secs(90)
    }
}

/// The caches that may hold a file.
fn landmarks(machine: &Machine) -> Vec<Landmark> {
    let cache = |level| {
        let size = machine.data_cache_bytes(*machine.allowed_cpus().first()?, level)?;
        Some(Landmark { along: FILE.name, at: size as f64, name: format!("L{level}"), is_share: false })
    };
    [2, 3].into_iter().filter_map(cache).collect()
}

/// The point of one reader with direct I/O, from which contention is predicted.
pub fn direct_point(random: bool) -> Point {
    points::usual(DIRECT, if random { RANDOM } else { SEQUENTIAL }, USUAL_FILE)
}

/// The point of random blocks with direct I/O and this many requests in flight: the time between completions.
pub fn queued_point(depth: u64) -> Point {
    points::queue(depth, uring::INTERVAL)
}

/// The point of the largest blocks in sequence with direct I/O.
pub fn largest_direct_point() -> Point {
    points::largest_direct()
}

/// The time of a sequential block with direct I/O, as measured in this run, else by the device's rate.
pub fn direct_block(block: u64, known: &Known) -> Basis {
    let point = points::at(DIRECT, SEQUENTIAL, READ, block, USUAL_FILE);
    known.measured(NAME, &point).unwrap_or_else(|| {
        let byte = device_facts::byte(known);
        Basis { value: byte.value * block as f64, ..byte }
    })
}

/// The time of a byte of large blocks read in order with direct I/O, as measured in this run, else by the device's rate.
pub fn direct_byte(known: &Known) -> Basis {
    let large = points::largest_direct();
    let measured = known.measured(NAME, &large).zip(large.number_of("block"));
    measured.map_or_else(
        || device_facts::byte(known),
        |(basis, bytes)| Basis { value: basis.value / bytes as f64, ..basis },
    )
}

/// The time of one request to the device for a small block, as this run's direct reads have it, else a typical one.
pub fn request(known: &Known) -> Basis {
    known.measured(NAME, &direct_point(true)).unwrap_or_else(|| device_facts::sequential_read(known))
}

/// The time of a block copied from the page cache, as measured in this run, else by its bytes.
pub fn cached_block(block: u64, known: &Known) -> Basis {
    let point = points::at(WARM, SEQUENTIAL, READ, block, USUAL_FILE);
    known.measured(NAME, &point).unwrap_or_else(|| {
        let byte = predicted::copied(known);
        Basis { value: byte.value * block as f64, ..byte }
    })
}

/// The time of a block in the page cache, as measured in this run, for other reads through it; `None` if it was not measured.
pub fn from_the_cache(random: bool, block: u64, known: &Known) -> Option<Prediction> {
    let order = if random { RANDOM } else { SEQUENTIAL };
    let point = points::at(WARM, order, points::usual_call(order), block, USUAL_FILE);
    let basis = known.measured(NAME, &point)?;
    Some(Prediction::new().software("a block of the size read out of the page cache", 1.0, basis))
}

/// The file of a point. Warm points have their own, so that no other point evicts it between their trials.
fn file(point: &Point, site: &Site) -> Result<TestFile, Failure> {
    let room =
        if points::effort(point) == Effort::Thorough { DiskQuota::THOROUGH } else { DiskQuota::DEFAULT };
    let what = if point.name(&STATE) == WARM { "warm" } else { "cold" };
    TestFile::named(site, what, point.number(&FILE), room)
}

fn order(point: &Point) -> Order {
    if point.name(&ORDER) == RANDOM { Order::Random } else { Order::Sequential }
}

fn reader(file: File, test: &TestFile, point: &Point) -> Result<Reader, Failure> {
    let call = match point.name(&CALL) {
        READ => Call::Read,
        SEEK => Call::SeekAndRead,
        MMAP => Call::Map,
        PREAD => Call::Pread,
        call => return Err(Failure::no_variant(&CALL, call)),
    };
    let read_ahead = if point.name(&READ_AHEAD) == OFF { ReadAhead::Off } else { ReadAhead::Usual };
    Reader::new(file, (test.bytes, test.content), point.number(&BLOCK), call, read_ahead)
}

fn walk(test: &TestFile, point: &Point, site: &Site) -> BlockWalk {
    BlockWalk::through(test.bytes, point.number(&BLOCK), order(point), site.seed)
}

/// A second open of the same file, for the work to own.
fn opened(test: &TestFile) -> Result<File, Failure> {
    File::open(&test.path).map_err(|error| Failure::Broke(format!("the test file is gone: {error}")))
}

fn past_the_cache<'site>(point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
    let test = file(point, site)?;
    ensure_accounted(&test)?;
    let descriptor = direct(&test, point.number(&BLOCK))?.file;
    let (mut reader, mut walk) = (reader(descriptor, &test, point)?, walk(&test, point, site));
    let read = move |n| (0..n).try_for_each(|_| reader.read(walk.step()));
    let pieces = extents::pieces(&test.file);
    Ok(lying(watched(Workload::each(read), Rc::new(test)), pieces))
}

/// States in how many pieces the file lies, if the file system tells.
fn lying(work: Workload<'_>, pieces: Option<u64>) -> Workload<'_> {
    match pieces {
        Some(pieces) => work.stating(PIECES, pieces as f64),
        None => work,
    }
}

fn in_flight<'site>(point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
    let test = file(point, site)?;
    ensure_accounted(&test)?;
    let block = point.number(&BLOCK);
    let descriptor = direct(&test, block)?.file;
    let (walk, depth) = (walk(&test, point, site), point.number(&QUEUE_DEPTH));
    let work = uring::reading(descriptor, test.content, (walk, block), depth, site)?;
    Ok(watched(work, Rc::new(test)))
}

fn through_the_cache<'site>(point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
    let test = file(point, site)?;
    ensure_accounted(&test)?;
    let reader = reader(opened(&test)?, &test, point)?;
    let sizes = (test.bytes, point.number(&BLOCK));
    let pieces = extents::pieces(&test.file);
    Ok(lying(cold::reading(reader, sizes, order(point) == Order::Sequential, site), pieces))
}

fn warmed(point: &Point, site: &Site) -> Result<TestFile, Failure> {
    let test = file(point, site)?;
    warm(&test)?;
    Ok(test)
}

fn out_of_the_cache<'site>(point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
    let test = site.shared.get_or_make(|| warmed(point, site))?;
    // Under memory pressure the kernel may have dropped some of it since.
    warm(&test)?;
    let (mut reader, mut walk) = (reader(opened(&test)?, &test, point)?, walk(&test, point, site));
    if point.name(&CALL) == MMAP {
        // The first touch of a mapped page is a page fault, which is the question of another experiment.
        (0..test.bytes / point.number(&BLOCK))
            .try_for_each(|number| reader.read(number * point.number(&BLOCK)))?;
    }
    let read = move |n| (0..n).try_for_each(|_| reader.read(walk.step()));
    let blocks = test.bytes / point.number(&BLOCK);
    Ok(watched(Workload::batched(read).revisiting(blocks), test))
}

/// Adds witnesses of the layer that served.
fn watched(mut work: Workload<'_>, test: Rc<TestFile>) -> Workload<'_> {
    let mut of_the_work = work.witness.take();
    let count_all = move || {
        let mut counts = of_the_work.as_mut().map(|count| count()).unwrap_or_default();
        counts.extend(served().map(|bytes| (SERVED, bytes)));
        counts
    };
    let layers = move || {
        let Ok(held) = cached(&test.file) else { return vec![] };
        let held = held.bytes as f64;
        vec![(RESIDENT, held), (MISSING, (test.bytes as f64 - held).max(0.0))]
    };
    work.witnessed(count_all).gauged(layers)
}

fn direct_evidence(point: &Point, observed: &Observed) -> Vec<Check> {
    // More requests complete than are reported as observations: they are counted at their completion.
    let reported = point.number(&BLOCK) as f64 * observed.operations as f64;
    let read = observed.witness(uring::READ).unwrap_or(reported);
    // The account may include pages of this program itself: a little more is acceptable, less is not.
    let claim = "every block came from the device: bytes read from devices, by the kernel's accounting, per byte read";
    // The account counts requests when they are sent: those in flight at its first reading were sent before.
    let under_way = (point.number(&QUEUE_DEPTH) * point.number(&BLOCK) * observed.trials) as f64;
    let bypassed = "the page cache was bypassed: bytes of the file in it afterwards";
    vec![
        Check::equal(bypassed, observed.witness(RESIDENT), 0.0),
        Check::within(claim, served_share(read, observed), 0.99 - under_way / read, 1.5),
    ]
}

/// Bytes that devices served, over those that were read.
fn served_share(read: f64, observed: &Observed) -> Option<f64> {
    observed.witness(SERVED).map(|bytes| bytes / read)
}

/// What is in sequence in a file need not be so on its device (R-FS-18). Runs of earlier programs do not say how it lies.
fn in_order_on_the_device(point: &Point, observed: &Observed) -> Option<Check> {
    let pieces = observed.witness(PIECES).filter(|_| order(point) == Order::Sequential)?;
    let most = 1 + point.number(&FILE).div_ceil(1 << 20);
    let claim = "a sequence in the file is one on the device: pieces in which the file lies there (FIEMAP), at most one a MiB \
                 besides the first";
    Some(Check::within(claim, pieces, 1.0, most as f64))
}

/// The largest share of single blocks read from the cache of a file that is called cold: a median and a quartile are then of the device.
const MOST_CACHED: f64 = 0.05;

/// The most that one fault maps, bytes: a huge page.
const MOST_MAPPED: u64 = 2 << 20;

fn cold_evidence(point: &Point, observed: &Observed) -> Vec<Check> {
    let (device, read) = (observed.witness(cold::FROM_DEVICE), observed.witness(cold::READ).unwrap_or(0.0));
    let mut checks = vec![Check::within(
        "nothing of the file was cached when a pass began, and no block was read twice: MiB read in this way",
        read / f64::from(1 << 20),
        f64::MIN_POSITIVE,
        f64::MAX,
    )];
    let claim =
        "what was read came from the device: bytes read from devices, including read-ahead, per byte read";
    checks.push(Check::within(claim, device.map(|bytes| bytes / read), 0.99, f64::INFINITY));
    // Earlier runs did not count them. A fault reads around its page on purpose.
    let single = observed.witness(cold::SINGLE).filter(|single| *single > 0.0 && point.name(&CALL) != MMAP);
    if let Some((single, cached)) = single.zip(observed.witness(cold::FROM_CACHE)) {
        let claim =
            "each block was cold: share of the blocks that an earlier read had brought into the cache";
        checks.push(Check::within(claim, cached / single, 0.0, MOST_CACHED));
    }
    if point.name(&CALL) == MMAP {
        // Major and minor: read-ahead may have brought every page before its fault.
        let faults = observed.counters.major_faults + observed.counters.minor_faults;
        let bytes = observed.operations * point.number(&BLOCK);
        let claim = "blocks were read by page faults: faults, at least one for every 2 MiB read";
        let least = (bytes / MOST_MAPPED).max(1);
        checks.push(Check::within(claim, faults as f64, least as f64, f64::INFINITY));
    }
    checks
}

fn warm_evidence(point: &Point, observed: &Observed) -> Vec<Check> {
    let read = point.number(&BLOCK) as f64 * observed.operations as f64;
    let stayed = "the page cache held all of the file: bytes evicted meanwhile";
    let served = "nothing came from the device: bytes read from devices per byte read";
    vec![
        Check::equal(stayed, observed.witness(MISSING), 0.0),
        Check::within(served, served_share(read, observed), 0.0, 0.001),
        Check::within(
            "no fault waited for the device: major faults per block",
            observed.per_operation(observed.counters.major_faults),
            0.0,
            0.001,
        ),
    ]
}
