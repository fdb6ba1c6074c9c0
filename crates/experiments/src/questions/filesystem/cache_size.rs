//! How much of a file does the page cache hold?

use crate::apparatus::filesystem::cache_growth;
use crate::apparatus::filesystem::cache_search::{self, Search};
use crate::apparatus::filesystem::reader::Call;
use fathom_core::machine::{self};
use fathom_core::prelude::*;
use fathom_core::quantities;
use fathom_core::quantity::declared;
use fathom_equipment::test_file::{self, DiskQuota, TestFile, cached, evict};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Duration;

const METHOD: Parameter = Parameter::of("method", "how the size is measured", &[RESIDENCY, TIMING, GROWTH]);
const ORDER: Parameter =
    Parameter::of("order", "the order in which a prefix is read again", &[BACKWARD, RANDOM, FORWARD]);
const CALL: Parameter = Parameter::of("call", "the call that reads it again", &[READ, MMAP]);
const CONTENT: Parameter = Parameter::of("content", "what the file holds", &[DATA, HOLES]);

pub struct CacheSize;

static ABOUT: About = About {
    name: "filesystem/cache_size",
    question: "How much of a file does the page cache hold?",
    operation: "one determination of the size, in bytes",
    method: "A file that is larger than the cache can be is read, and two methods determine how much of it stays. \
             `residency` reads it whole and lets the kernel count its pages in the cache (cachestat or mincore). \
             `timing` needs no such count: a prefix is read, so that it is cached as far as it fits, and read again \
             in pieces of 64 KiB, each timed. A piece is slow if it takes longer than the geometric mean of a cached \
             and an evicted piece, both measured just before. A prefix fits if fewer than one piece in a hundred is \
             slow. The largest prefix that fits is bracketed and then bisected to 1 %; the middle of the bracket is \
             the result.\n\nWhen the prefix is read again `backward`, the pieces read last come first, and only the \
             pieces that do not fit miss; `random` does the same in an order that a prefetcher cannot predict. \
             `forward`, a least-recently-used cache drops every piece just before it is needed: all pieces miss as \
             soon as the file is a little too large, so the drop is steep, but does not show how much is missing. The \
             kernel does not read ahead (POSIX_FADV_RANDOM). All of this happens within a memory limit of 512 MiB, \
             including the page cache, unless the memory or an existing limit is smaller: in a control group that the \
             run makes and removes, or in a systemd scope.\n\n`growth` is outside of the limit: a sparse file, whose pages \
             take the same space, grows in sixteen steps to three quarters of the memory that nothing uses, 4 GiB at most, and \
             after each step the kernel counts how much of it stayed. Nothing has to leave for it, which the kernel's counts of \
             pages taken back show.\n\nThe file is evicted first, and within the limit nothing of \
             other programs' is: no setting of the machine is changed.",
    caveats: "Filling the page cache of a whole machine takes minutes and evicts the files of other programs. So the \
              size is measured within a limit; it shows which share of memory files can use. With `--whole-memory` a run \
              also counts how much of all memory files can use, with a sparse file, whose pages take the same space: \
              the files of other programs are then evicted, and their memory may be swapped out. Above 64 GiB this \
              would take too long as well.",
    version: 3,
    timed: Some(TimedCode {
        of: "a file read again, piece by piece",
        source: include_str!("../../apparatus/filesystem/cache_search.rs"),
        begins: "fn times(",
    }),
    parameters: &[METHOD, ORDER, CALL, CONTENT],
    trends: &[],
    shown: Shown::by(&[MainFigure::of(
        "file data that stays in memory, within Fathom's own limit",
        &[("method", At::Name("residency"))],
    )]),
};

const RESIDENCY: &str = "residency";
const TIMING: &str = "timing";
const GROWTH: &str = "growth";
const BACKWARD: &str = "backward";
const RANDOM: &str = "random";
const FORWARD: &str = "forward";
const READ: &str = "read";
const MMAP: &str = "mmap";
const DATA: &str = "random data";
const HOLES: &str = "holes";

/// Maximum size of a file of holes: a larger cache takes minutes to fill, even with holes.
const LARGEST: u64 = 64 << 30;

impl Experiment for CacheSize {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn sweep(&self, _: &Machine) -> Vec<Point> {
        let timed = |order, call| point(TIMING, DATA).named(&ORDER, order).named(&CALL, call);
        let mut points = vec![residency(DATA), residency(HOLES), point(GROWTH, HOLES)];
        for call in [READ, MMAP] {
            points.extend([BACKWARD, RANDOM, FORWARD].map(|order| timed(order, call)));
        }
        points
    }

    fn effort(&self, point: &Point, _: &Machine) -> Effort {
        match (point.name(&CONTENT), point.name(&ORDER), point.name(&CALL)) {
            _ if is_growth(point) => Effort::Standard,
            (HOLES, _, _) => Effort::Thorough,
            (_, "", _) => Effort::Quick,
            (_, BACKWARD, READ) => Effort::Standard,
            _ => Effort::Thorough,
        }
    }

    fn unit(&self, _: &Point) -> Unit {
        Unit::Bytes
    }

    /// A file of holes needs no disk space: it alone requests all of the memory.
    fn requires(&self, point: &Point) -> Vec<Requirement> {
        match point.name(&CONTENT) {
            _ if is_growth(point) => vec![],
            HOLES => vec![Requirement::WholeMemory],
            _ => vec![Requirement::MemoryLimit],
        }
    }

    /// The available memory, including cache that can be dropped: files compete with the memory of processes, and can get all
    /// else.
    fn predict(&self, point: &Point, known: &Known) -> Result<Prediction, String> {
        let limit = Requirement::LIMIT_BYTES;
        if is_growth(point) {
            return Ok(cache_growth::predicted(known.machine.available_bytes()));
        }
        let available = match known.machine.available_bytes() {
            available if point.name(&CONTENT) == DATA && available.is_none_or(|bytes| bytes > limit) => {
                Basis::fact(limit as f64, LIMIT_OF_THE_RUN)
            }
            Some(bytes) => Basis::fact(
                bytes as f64,
                "memory that this process could have, within the control group's limit",
            ),
            None => {
                Basis::assumed(4e9, "the memory of a small machine, because the amount of memory is unknown")
            }
        };
        Ok(Prediction::new().hardware("memory that nothing else uses", 1.0, available))
    }

    fn touches(&self, point: &Point) -> Vec<Touch> {
        match point.name(&CONTENT) {
            // It has no data: only the page cache is filled.
            _ if is_growth(point) => vec![Touch::UnusedMemory(cache_growth::MOST)],
            HOLES => vec![],
            _ => vec![Touch::File(enough(Requirement::LIMIT_BYTES))],
        }
    }

    fn prepare<'site>(&self, point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
        let ceiling = machine::memory_ceiling()
            .ok_or_else(|| Failure::Unsupported("the amount of memory is unknown".to_owned()))?;
        match (point.name(&METHOD), point.name(&CONTENT)) {
            (RESIDENCY, HOLES) => by_residency(holes(site, enough(ceiling))?),
            (GROWTH, HOLES) => Ok(cache_growth::growing(holes(site, cache_growth::MOST)?)),
            (RESIDENCY, _) => by_residency(data(site, ceiling)?.file),
            _ => by_timing(point, data(site, ceiling)?, ceiling, site),
        }
    }

    fn evidence(&self, point: &Point, observed: &Observed) -> Vec<Check> {
        if is_growth(point) {
            return cache_growth::evidence(observed);
        }
        if point.name(&METHOD) == RESIDENCY {
            let claim = "the file was larger than the cache: share of it that stayed";
            return vec![Check::within(claim, observed.ratio(STAYED, FILE_BYTES), 0.01, 0.999)];
        }
        vec![
            Check::within(
                "a piece that is not cached takes longer: times as long",
                observed.ratio(MISS_NS, HIT_NS),
                CONTRAST,
                1e6,
            ),
            Check::within(
                "the pieces judged slow are those read from the device: share of the bytes by which the two differ",
                observed.ratio(cache_search::MISJUDGED, cache_search::JUDGED),
                0.0,
                0.02,
            ),
        ]
    }

    fn findings(&self, known: &Known) -> Vec<Finding> {
        let result = |point: &Point| known.found(ABOUT.name, point);
        let timed = point(TIMING, DATA).named(&ORDER, BACKWARD).named(&CALL, READ);
        let (limited, whole) = (result(&residency(DATA)), result(&residency(HOLES)));
        let agreed = limited.zip(result(&timed)).and_then(|(counted, timed)| agreement(counted, timed));
        let limited = limited.map(|counted| share(counted, allowed(known.machine)));
        let of_all = whole.zip(all(known.machine)).map(|(counted, all)| share(counted, all));
        let whole = whole.map(alone).into_iter().chain(of_all);
        let own = result(&point(GROWTH, HOLES)).zip(known.machine.memory.total_bytes.value());
        let own = own.map(|(stayed, total)| of_its_own(stayed, *total));
        own.into_iter().chain(agreed).chain(limited).chain(whole).collect()
    }

    fn time_limit(&self, _: &Point) -> Duration {
        Duration::from_secs(3 * 60)
    }
}

fn point(method: &str, file: &str) -> Point {
    Point::new().named(&METHOD, method).named(&CONTENT, file)
}

fn residency(file: &str) -> Point {
    point(RESIDENCY, file)
}

/// What two ways of measuring give, where they do not agree: where they do, one number says it.
fn agreement(counted: Found, timed: Found) -> Option<Finding> {
    const ALIKE: f64 = 0.05;
    let share = timed.share_of(counted);
    ((share.value - 1.0).abs() > ALIKE).then(|| {
        finding!(
            Question::FileCache,
            "The page cache holds {counted} of a file by the kernel's count and {timed} by timing, which is \
             {share} of it.",
            counted = counted.named("page cache, counted"),
            timed = timed.named("page cache, timed"),
            share = share.named("timed over counted")
        )
    })
}

fn is_growth(point: &Point) -> bool {
    point.name(&METHOD) == GROWTH
}

/// The machine's own cache, as far as memory was free.
fn of_its_own(stayed: Found, total: u64) -> Finding {
    let whole = Found::exact(total as f64, stayed.dimension);
    let most = Found::exact(cache_growth::MOST as f64, stayed.dimension);
    let limit = if stayed.value >= cache_growth::ALL * most.value {
        statement!("the {most} that a trial fills at most", most = most.named("filled at most"))
    } else {
        "the three quarters of the free memory that a trial fills, or where the kernel takes pages back"
            .into()
    };
    finding!(
        Question::FileCache,
        "The machine's own page cache holds at least {stayed} of a file, {share} of its memory ({whole}): a lower bound, set by this \
         run's limit, {limit}. What it holds at most --whole-memory measures.",
        stayed = stayed.named("page cache of the machine, at least"),
        share = stayed.share_of(whole).named("page cache of the machine over memory, at least"),
        whole = whole.named("memory, for the machine's page cache"),
        limit
    )
}

fn alone(counted: Found) -> Finding {
    finding!(
        Question::FileCache,
        "In the whole memory the page cache holds {counted} of a sparse file by the kernel's count.",
        counted = counted.named("page cache of all memory, counted")
    )
}

/// The memory of a trial of this experiment, and its name: all memory, the limit of the existing control group, or that of the
/// run.
pub fn allowed(machine: &Machine) -> (u64, &'static str) {
    let own = (Requirement::LIMIT_BYTES, LIMIT);
    all(machine).filter(|(bytes, _)| *bytes <= own.0).unwrap_or(own)
}

/// The name of the run's own limit.
const LIMIT: &str = "limit that Fathom sets";

fn all(machine: &Machine) -> Option<(u64, &'static str)> {
    let total = machine.memory.total_bytes.value().map(|bytes| (*bytes, "memory"));
    let limit = machine.conditions.limits.memory_bytes.value().copied().flatten();
    let limit = limit.map(|bytes| (bytes, "limit of the control group"));
    total.into_iter().chain(limit).min_by_key(|(bytes, _)| *bytes)
}

/// Bytes of a file that the page cache holds within [`allowed`], as measured in this run; else all that is allowed.
pub fn held(known: &Known) -> f64 {
    known.median(ABOUT.name, &residency(DATA)).unwrap_or(allowed(known.machine).0 as f64)
}

/// The share of the memory that a file can occupy; within the run's own limit that is a lower bound, and said to be.
fn share(counted: Found, (bytes, what): (u64, &'static str)) -> Finding {
    let whole = Found::exact(bytes as f64, counted.dimension);
    let share = counted.share_of(whole).named("page cache over memory");
    let (counted, whole) = (counted.named("page cache, counted"), whole.named(what));
    if what == LIMIT {
        return finding!(
            Question::FileCache,
            "The page cache holds at least {counted} of a file: a lower bound, set by this run's memory limit of {whole} for a trial and \
             its cache, of which a file fills {share}. What the machine could cache beyond it this does not measure.",
            counted,
            whole,
            share
        )
        .about(what);
    }
    finding!(Question::FileCache, "The page cache fills {share} of the {what}, {whole}.", share, whole)
        .about(what)
}

/// A tenth more than the maximum capacity of the cache.
fn enough(ceiling: u64) -> u64 {
    (ceiling + ceiling / 10).next_multiple_of(1 << 20)
}

fn data(site: &Site, ceiling: u64) -> Result<TestFile, Failure> {
    let test = TestFile::named(site, "cache", enough(ceiling), DiskQuota::DEFAULT)?;
    evict(&test.file)?;
    Ok(test)
}

/// A file without data: its pages are created when they are read, and occupy as much of the cache as any.
fn holes(site: &Site, bytes: u64) -> Result<File, Failure> {
    if bytes > enough(LARGEST) {
        return Err(Failure::Unsupported(format!(
            "the page cache may hold up to {}, and filling it takes minutes each time; a run within a memory limit \
             (systemd-run --scope -p MemoryMax=1G) measures it",
            declared::size(bytes)
        )));
    }
    test_file::ensure_on_a_device(&site.folder)?;
    let path = test_file::shared_path(site, &format!("holes-{}", std::process::id()))?;
    let file = test_file::new_file(&path).and_then(|file| {
        std::fs::remove_file(&path)?;
        file.set_len(bytes).map(|()| file)
    });
    file.map_err(|error| test_file::refused("made", &path, &error))
}

/// Witnesses of the count: bytes that stayed, and bytes of the file.
const STAYED: &str = "bytes_that_stayed";
const FILE_BYTES: &str = "bytes_of_the_file";
/// Stated: time of a cached and of an evicted piece, nanoseconds.
const HIT_NS: &str = "cached_piece_ns";
const MISS_NS: &str = "evicted_piece_ns";
/// Ratio of their times below which single pieces of the two kinds are not significantly different.
const CONTRAST: f64 = 2.5;

/// Reads a file completely, then counts the bytes that are still cached.
fn by_residency<'site>(file: File) -> Result<Workload<'site>, Failure> {
    let bytes = file.metadata().map_err(|error| Failure::Broke(format!("fstat: {error}")))?.len();
    let mut piece = vec![0; 1 << 20];
    // SAFETY: takes no pointers. Read-ahead is off: it would be useless, and evict counted pages.
    unsafe { libc::posix_fadvise(std::os::fd::AsRawFd::as_raw_fd(&file), 0, 0, libc::POSIX_FADV_RANDOM) };
    let total = std::rc::Rc::new(std::cell::Cell::new((0.0, 0.0)));
    let sums = std::rc::Rc::clone(&total);
    let count = move || {
        let mut offset = 0;
        while offset < bytes {
            let read = file.read_at(&mut piece, offset);
            offset += read.map_err(|error| Failure::Broke(format!("reading the file: {error}")))? as u64;
        }
        let stayed = cached(&file)?.bytes;
        test_file::forget(&file);
        ensure(
            stayed < bytes,
            "all of the file stayed in the cache: the cache is larger than the limit that was read",
        )?;
        total.set((total.get().0 + stayed as f64, total.get().1 + bytes as f64));
        Ok(Some(stayed as f64))
    };
    Ok(Workload::recorded(count)
        .cold()
        .witnessed(move || vec![(STAYED, sums.get().0), (FILE_BYTES, sums.get().1)]))
}

fn by_timing<'site>(
    point: &Point,
    test: TestFile,
    ceiling: u64,
    site: &'site Site,
) -> Result<Workload<'site>, Failure> {
    let call = if point.name(&CALL) == MMAP { Call::Map } else { Call::Pread };
    let order = match point.name(&ORDER) {
        FORWARD => cache_search::RereadOrder::Forward,
        RANDOM => cache_search::RereadOrder::Random,
        _ => cache_search::RereadOrder::Backward,
    };
    test_file::ensure_accounted(&test)?;
    let mut search = Search::new(test, call, order, site)?;
    let (hit, miss) = search.contrast()?;
    if miss < CONTRAST * hit {
        return Err(Failure::Unsupported(format!(
            "64 KiB take {} from the cache and {} from the device: the difference is too small to \
             distinguish pieces",
            quantities::value(Unit::Nanoseconds, hit),
            quantities::value(Unit::Nanoseconds, miss)
        )));
    }
    let tally = search.tally();
    let find = move || search.find(ceiling).map(|bytes| Some(bytes as f64));
    Ok(Workload::recorded(find)
        .cold()
        .witnessed(move || tally.counts())
        .stating(HIT_NS, hit)
        .stating(MISS_NS, miss))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_that_the_runs_own_limit_sets_is_a_lower_bound_and_names_it() {
        let bytes = |bytes: u64| Found::exact(bytes as f64, Unit::Bytes);
        let plain = |finding: Finding| finding.statement.plain();
        let own = plain(share(bytes(500 << 20), (Requirement::LIMIT_BYTES, LIMIT)));
        assert!(
            own.contains(
                "at least {524288000} of a file: a lower bound, set by this run's memory limit of {536870912}"
            ),
            "{own}"
        );
        let all = plain(share(bytes(6 << 30), (8 << 30, "memory")));
        assert!(!all.contains("at least") && all.contains("fills {0.75} of the memory"), "{all}");
        let most = plain(of_its_own(bytes(cache_growth::MOST), 32 << 30));
        assert!(
            most.contains("at least {4294967296}") && most.contains("run's limit, the {4294967296} that"),
            "{most}"
        );
        let less = plain(of_its_own(bytes(1 << 30), 2 << 30));
        assert!(less.contains("run's limit, the three quarters of the free memory"), "{less}");
    }
}
