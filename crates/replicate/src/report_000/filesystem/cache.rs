//! Section 6.1: the size of the file cache, from the time to touch the pages of mapped files.

use crate::mapping::Mapped;
use crate::report_000::boilerplate::{TRIALS, timed_once};
use crate::report_000::mapped::{drop_cached, expect_random};
use crate::report_000::shuffle::shuffled;
use crate::report_000::zeros;
use crate::sweep::nearest;
use crate::usage::Usage;
use crate::{Fit, Method, Replica, Row, SameQuestion, Series, Stage, Statistic, Theirs};
use fathom_core::experiment::{Failure, Placement, Point, Requirement};
use fathom_core::machine::{self, Machine};
use fathom_core::quantity::Unit;
use fathom_equipment::test_file::page_bytes;
use std::fs::File;
use std::time::Duration;

const FIRST: &str = "first trial";
const LATER: &str = "later trials";

static MAPPED_FILES: Method = Method {
    name: "file cache",
    text: "Files have 1 MiB to 8 GiB, each twice the one before. The program maps a file privately and advises against read-ahead. Each of \
           ten trials asks the kernel to drop the file from the cache (POSIX_FADV_DONTNEED), then loads two bytes of every page in a \
           shuffled order, with the timer around all, and divides by the pages. The report gives the first trial separately from the \
           others, each as a mean over all sizes.",
    differs: "Files go up to 512 MiB (with --quick 64 MiB). The first trial finds the newly written file in the cache. It must have been \
              so in the report, whatever it advised, because no disk answers in the 110 ns of its first trial. If the kernel followed the \
              advice, the trial would wait for the disk.",
    placement: Placement::OneCpu,
    needs: &[],
    limit: Duration::from_mins(2),
    measure: mapped_files,
};

fn mapped_files(stage: &Stage) -> Result<Series, Failure> {
    let largest = stage.count(29, 26);
    let mut series = Series::default();
    for power in 20..=largest {
        let bytes = 1 << power;
        let file = zeros::file(stage, bytes)?;
        let (values, first) = trials(stage, &file, bytes)?;
        let (first_value, later) = values.split_at(1);
        series =
            series.and(FIRST, bytes as f64, first_value.to_vec()).and(LATER, bytes as f64, later.to_vec());
        if power == largest {
            series = series.seen(told(bytes, first));
        }
    }
    Ok(series)
}

fn told(bytes: u64, first: Usage) -> String {
    format!(
        "The first trial of the file of {} MiB had {} major (hard) faults and {} minor ones, for {} pages.",
        bytes >> 20,
        first.major,
        first.minor,
        bytes / page_bytes()
    )
}

static LARGER_FILES: Method = Method {
    name: "file cache size",
    text: "The program doubles the files of the method above. The authors stopped it when the trials of one size had not ended after three \
           hours, and took that size, which is that of the memory, for the size of the cache.",
    differs: "Fathom sets a limit of 1 GiB on memory for the method, or uses all of the memory where there is less. Sizes go from an \
              eighth of it to twice as much. The trials of a size are stopped after 20 s (with --quick 5 s).",
    placement: Placement::OneCpu,
    needs: &[Requirement::MemoryLimit],
    limit: Duration::from_mins(5),
    measure: larger_files,
};

const ENDED: &str = "trials that ended";
const ENDLESS: &str = "trials that were stopped";

fn larger_files(stage: &Stage) -> Result<Series, Failure> {
    let ceiling = machine::memory_ceiling()
        .ok_or_else(|| Failure::Unsupported("the amount of memory is unknown".to_owned()))?;
    let patience_ns = stage.count(20, 5) as f64 * 1e9;
    let mut series = Series::default();
    for doubled in 0..=4 {
        let bytes = ((ceiling / 8) << doubled) & !((1 << 20) - 1);
        let file = zeros::file(stage, bytes)?;
        let deadline = stage.site.stopwatch.now_ns() + patience_ns;
        if !all_end(stage, &file, bytes, deadline)? {
            return Ok(series.and(ENDLESS, bytes as f64, vec![bytes as f64]));
        }
        series = series.and(ENDED, bytes as f64, vec![bytes as f64]);
    }
    Ok(series.seen("The trials of every size ended.".to_owned()))
}

/// Whether all trials of a file end before a deadline.
fn all_end(stage: &Stage, file: &File, bytes: u64, deadline: f64) -> Result<bool, Failure> {
    /// Pages between two looks at the time.
    const PAGES: usize = 256;
    let page = page_bytes();
    let map = Mapped::readable(file, bytes as usize)?;
    expect_random(&map, file)?;
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
fn trials(stage: &Stage, file: &File, bytes: u64) -> Result<(Vec<f64>, Usage), Failure> {
    let (page, tick) = (page_bytes(), stage.ns_per_tick()?);
    let map = Mapped::readable(file, bytes as usize)?;
    expect_random(&map, file)?;
    let order = shuffled(bytes / page, stage.site.seed);
    let (mut values, mut first) = (vec![], Usage::default());
    for trial in 0..TRIALS {
        if trial > 0 {
            drop_cached(file);
        }
        let before = Usage::now();
        let ticks = timed_once(|| {
            touch(&map, &order, page);
            Ok(())
        })?;
        if trial == 0 {
            first = Usage::now().since(before);
        }
        values.push(ticks * tick / order.len() as f64);
    }
    Ok((values, first))
}

/// The offsets of the first byte of every page and of the one in its middle.
fn touch(map: &Mapped, order: &[u64], page: u64) {
    let mut sink = 0;
    for number in order {
        sink ^= map.read((number * page) as usize) ^ map.read((number * page + page / 2) as usize);
    }
    std::hint::black_box(sink);
}

/// The mean of the means of all sizes, as in table 28.
const OVER_SIZES: Fit = Fit::MeanOver { from: 0.0, to: f64::MAX };

/// The summary's row, its time; tables 26 and 28.
pub const FIRST_ACCESS: Row = Row {
    section: "6.1",
    operation: "file cache: first access to a page (called a hard fault)",
    unit: Unit::Nanoseconds,
    per: "page",
    theirs: Theirs::Printed("s000-0298"),
    replica: Replica::By(&MAPPED_FILES),
    statistic: Statistic::variant(FIRST, OVER_SIZES),
    fathom: SameQuestion::Point("memory/major_fault", |machine| {
        nearest("memory/major_fault", machine, &[("access", &["shuffled pages, no read-ahead"])], &[])
    }),
    misleads: "No page comes from the disk: the file is still in the cache, and the faults are soft (Fathom counts them; where the cache \
               keeps a file in large pieces, one fault maps many pages). The hard fault of the report's section 4.3 takes 800 times as \
               long.",
};

/// Tables 27 and 28.
pub const CACHED_PAGE: Row = Row {
    section: "6.1",
    operation: "file cache: later access to a page",
    unit: Unit::Nanoseconds,
    per: "page",
    theirs: Theirs::Printed("s000-0156"),
    replica: Replica::By(&MAPPED_FILES),
    statistic: Statistic::variant(LATER, OVER_SIZES),
    fathom: SameQuestion::Point("filesystem/read", warm_map),
    misleads: "Two bytes of a page that is already mapped are ordinary loads: small files measure the processor's caches, large ones its \
               memory and its page tables. The work of the file cache, looking the page up and copying or mapping it, is not included. \
               Fathom reads all of each block.",
};

fn warm_map(machine: &Machine) -> Point {
    let names: &[(&str, &[&str])] = &[("state", &["warm"]), ("order", &["random"]), ("call", &["mmap"])];
    nearest("filesystem/read", machine, names, &[("block", super::BLOCK)])
}

/// The summary's row, its size.
pub const CACHE_SIZE: Row = Row {
    section: "6.1",
    operation: "size of the file cache",
    unit: Unit::Bytes,
    per: "",
    theirs: Theirs::Printed("s000-0299"),
    replica: Replica::By(&LARGER_FILES),
    statistic: Statistic::variant(ENDLESS, Fit::Minimum),
    fathom: SameQuestion::Point("filesystem/cache_size", |machine| {
        nearest("filesystem/cache_size", machine, &[("method", &["residency"])], &[])
    }),
    misleads: "The file of 16 GiB did not end, which shows only that the cache is smaller; the largest that ended, of 8 GiB, shows that it \
               is not smaller than that. The report measured nothing between them: 16 GiB is the size of the memory.",
};
