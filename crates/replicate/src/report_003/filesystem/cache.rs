//! Section 5.1: the size of the file cache, found by reading files twice.

use super::BLOCK;
use crate::sweep::nearest;
use crate::{Deviation, Fit, Method, Replica, Row, SameQuestion, Series, Stage, Statistic, Theirs, timer};
use fathom_core::experiment::{Dimension, Failure, Found, Placement, Point, Requirement};
use fathom_core::machine::{self, Machine};
use fathom_core::quantity::Unit;
use fathom_core::quantity::declared::size;
use fathom_equipment::test_file::{self, DiskQuota, TestFile};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Duration;

const SIZE: Method = Method {
    name: "file cache size",
    text: "The program uses files of random bytes of 32 MiB, 64 MiB and so on, doubling. After purge it reads a file whole in blocks, then \
           again, each block between rdtscStart() and rdtscEnd(); the rate is the bytes over the sum of the second reading. The size of \
           the cache is where the rate has fallen and falls no further, first among doubled sizes, then in steps of a quarter of the last \
           size that was fast.",
    differs: "Fathom reads one file up to each size, and POSIX_FADV_DONTNEED on it replaces purge. For the method, Fathom sets a limit of \
              1 GiB on memory; sizes end at twice this limit (at twice the memory, where there is less) and not at 16 GB.",
    placement: Placement::OneCpu,
    needs: &[Requirement::MemoryLimit],
    limit: Duration::from_mins(5),
    measure: cache_size,
};

const CACHED: Method = Method {
    name: "file cache rate",
    text: "The program uses files of random bytes of 32 to 512 MiB, doubling. After purge it reads a file whole in blocks of 4 KiB, then \
           again, each block between rdtscStart() and rdtscEnd(); the rate is the bytes over the sum of the second reading.",
    differs: "Fathom reads one file up to each size (with --quick up to 128 MiB; the report's files went to 2 GB before they no longer \
              fitted), and POSIX_FADV_DONTNEED on it replaces purge. The report does not print the size of a block; Fathom takes that of \
              its file system.",
    placement: Placement::OneCpu,
    needs: &[],
    limit: Duration::from_mins(2),
    measure: cached_rate,
};

const SMALLEST: u64 = 32 << 20;
const FINE: &str = "fine";
const DOUBLED: &str = "doubled";
/// A time per byte that has grown by less than this factor counts as unchanged.
const GROWN: f64 = 1.25;

/// The size of the cache.
pub const SIZE_ROW: Row = Row {
    section: "5.1",
    operation: "size of the file cache",
    unit: Unit::Bytes,
    per: "",
    theirs: Theirs::Printed("s003-0538"),
    replica: Replica::By(&SIZE),
    statistic: Statistic::variant(FINE, Fit::WhereSettled(1.1)),
    fathom: SameQuestion::Point("filesystem/cache_size", |machine| {
        nearest(
            "filesystem/cache_size",
            machine,
            &[("method", &["residency"]), ("content", &["random data"])],
            &[],
        )
    }),
    misleads: "When a file a little larger than the cache is read again from its beginning, little or nothing of it is found: the pages \
               used longest ago are dropped just before they are needed. The rate therefore falls before the file has twice the size of \
               the cache, and where it settles depends on how the kernel replaces pages, not only on how many it holds. Steps of 500 MB \
               limit the precision further. The summary's `4 GB` is between 3.1 and 4.1.",
};

/// The rate of what is cached.
pub const RATE_ROW: Row = Row {
    section: "5.1",
    operation: "file read again from the cache",
    unit: Unit::BytesPerSecond,
    per: "",
    theirs: Theirs::Printed("s003-0400"),
    replica: Replica::By(&CACHED),
    statistic: Statistic::of(Fit::Mean(Deviation::Sample)),
    fathom: SameQuestion::Computed {
        of: |machine| vec![("filesystem/read", warm(machine))],
        value: |known| known.found("filesystem/read", &warm(known.machine)).map(rate),
    },
    misleads: "Each block is timed alone between serialising instructions, so the clock's cost is in every one, and no call overlaps with \
               the next. In a virtual machine the hypervisor runs before each call, so the kernel's code path is cold when the call comes.",
};

fn warm(machine: &Machine) -> Point {
    let names: &[(&str, &[&str])] = &[("state", &["warm"]), ("order", &["sequential"]), ("call", &["read"])];
    nearest("filesystem/read", machine, names, &[("block", BLOCK as u64), ("file", 64 << 20)])
}

/// Bytes per second, from nanoseconds per block.
fn rate(block: Found) -> Found {
    block.inverse(BLOCK as f64 * 1e9, Dimension::Of(Unit::BytesPerSecond))
}

fn cached_rate(stage: &Stage) -> Result<Series, Failure> {
    let ns = stage.ns_per_tick()?;
    let largest = stage.count(512 << 20, 128 << 20);
    let test = TestFile::named(stage.site, "cached", largest, DiskQuota::DEFAULT)?;
    let sizes =
        std::iter::successors(Some(SMALLEST), |size| Some(size * 2)).take_while(|size| *size <= largest);
    let mut series = Series::default();
    for bytes in sizes {
        let held = read_again(&test.file, bytes)?;
        series = series.and("", bytes as f64, vec![1e9 / (held.ticks_per_byte * ns)]);
        if held.missing > 0 {
            series = series.seen(format!("{} of {} were not in the cache.", size(held.missing), size(bytes)));
        }
    }
    test_file::evict(&test.file)?;
    Ok(series)
}

fn cache_size(stage: &Stage) -> Result<Series, Failure> {
    let ns = stage.ns_per_tick()?;
    let ceiling = machine::memory_ceiling()
        .ok_or_else(|| Failure::Unsupported("the amount of memory is unknown".to_owned()))?;
    let test = TestFile::named(stage.site, "cache-size", 2 * ceiling, DiskQuota::DEFAULT)?;
    let each = |bytes: u64| Ok(read_again(&test.file, bytes)?.ticks_per_byte * ns);
    let mut doubled: Vec<(u64, f64)> = vec![];
    let mut bytes = SMALLEST.min(ceiling / 8);
    while bytes <= test.bytes {
        doubled.push((bytes, each(bytes)?));
        bytes *= 2;
    }
    let mut series = Series::default();
    for (bytes, ns) in &doubled {
        series = series.and(DOUBLED, *bytes as f64, vec![*ns]);
    }
    let Some(fast) = last_fast(&doubled) else {
        return Ok(series.seen("The rate did not fall at any size.".to_owned()));
    };
    let steps = (0..=8).map(|step| fast + fast / 4 * step).filter(|bytes| *bytes <= test.bytes);
    for bytes in steps {
        series = series.and(FINE, bytes as f64, vec![each(bytes)?]);
    }
    test_file::evict(&test.file)?;
    Ok(series.seen(format!(
        "The method could use {} of memory; the last doubled size that was fast is {}.",
        size(ceiling),
        size(fast)
    )))
}

/// The last size whose time per byte is nearer, by ratio, to the least of all than to that of the largest size; `None` where the
/// largest takes no longer.
fn last_fast(doubled: &[(u64, f64)]) -> Option<u64> {
    let least = doubled.iter().map(|(_, ns)| *ns).reduce(f64::min)?;
    let (_, most) = *doubled.last()?;
    let between = (least * most).sqrt();
    let fast = doubled.iter().rfind(|(_, ns)| *ns < between)?.0;
    (most > GROWN * least).then_some(fast)
}

/// The second reading of a file.
pub struct Again {
    /// Mean time of a byte.
    pub ticks_per_byte: f64,
    /// Bytes that were not in the cache before it.
    pub missing: u64,
}

/// Evicts a file, reads its first `bytes`, and reads them again, timed block by block.
pub fn read_again(file: &File, bytes: u64) -> Result<Again, Failure> {
    test_file::evict(file)?;
    let mut buffer = vec![0; BLOCK];
    let mut read = |offset| {
        file.read_exact_at(&mut buffer, offset)
            .map_err(|error| Failure::Broke(format!("reading the test file: {error}")))
    };
    for offset in (0..bytes).step_by(BLOCK) {
        read(offset)?;
    }
    let missing = bytes.saturating_sub(test_file::cached_within(file, 0, bytes)?.bytes);
    let mut total = 0;
    for offset in (0..bytes).step_by(BLOCK) {
        let mut done = Ok(());
        total += timer::paoloni(|| done = read(offset));
        done?;
    }
    Ok(Again { ticks_per_byte: total as f64 / bytes as f64, missing })
}

/// Tests of the search for the last fast size, and of the second reading.
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_fast_size_is_the_last_before_the_rate_falls() {
        assert_eq!(last_fast(&[(1, 0.3), (2, 0.28), (4, 0.5), (8, 1.1), (16, 1.3)]), Some(4));
        assert_eq!(
            last_fast(&[(1, 1.0), (2, 0.98), (4, 1.5)]),
            Some(2),
            "the device is nearly as fast as the cache"
        );
        assert_eq!(last_fast(&[(1, 0.3), (2, 0.28), (4, 0.3)]), None, "it does not fall");
        assert_eq!(
            last_fast(&[(1, 1.0), (2, 0.4), (4, 1.2), (8, 0.38), (16, 0.9)]),
            Some(8),
            "a disturbed size before"
        );
    }
}
