//! Section 4.3: the first access to a page of a mapped file.

use crate::sweep::nearest;
use crate::usage::Usage;
use crate::{Fit, Method, Replica, Row, SameQuestion, Series, Stage, Statistic, Theirs, timer};
use fathom_core::experiment::{Failure, Found, Placement, Point};
use fathom_core::machine::Machine;
use fathom_core::quantity::Unit;
use fathom_core::quantity::declared::size;
use fathom_equipment::test_file::{self, DiskQuota, TestFile};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::time::Duration;

const FAULT: Method = Method {
    name: "page fault",
    text: "The program evicts a file of random bytes (purge), maps it whole (MAP_SHARED) and reads one byte of each stride, from the \
           beginning, up to 100 bytes. Each access stands between rdtscStart() and rdtscEnd(), and the cost of the readings is subtracted. \
           Strides are 4 KiB to 64 MiB, times 4, with a purge before each. All of it is done five times for the first byte of each stride, \
           and five times for a random one.",
    differs: "POSIX_FADV_DONTNEED on the file replaces purge, and Fathom verifies that nothing of the file is left in the page cache. The \
              file has 1 GiB instead of 3 (with --quick 256 MiB), so the longest strides have fewer accesses.",
    placement: Placement::OneCpu,
    needs: &[],
    limit: Duration::from_mins(4),
    measure: faults,
};

/// The report's page size, bytes, and its strides in pages.
const PAGE: u64 = 4096;
const STRIDES: [u64; 8] = [1, 4, 16, 64, 256, 1024, 4096, 16384];
/// The longest stride, pages, whose accesses the report shows one by one.
const DRAWN: u64 = 64;
const ACCESSES: u64 = 100;
const WHOLE_RUNS: usize = 5;
const BYTES: u64 = 1 << 30;
const QUICK_BYTES: u64 = 256 << 20;
/// The shortest stride at which, in the report's view, every access waited for the disk, bytes.
const FROM: f64 = (256 << 10) as f64;
const TO: f64 = (64 << 20) as f64;
/// Bytes that one fault brought in, according to the report.
const BROUGHT_IN: u64 = 16 * PAGE;
/// Pairs of readings whose mean is the clock's cost.
const PAIRS: u32 = 10_000;

const FIXED: &str = "first byte";
const RANDOM: &str = "random byte";
const PER_BYTE: &str = "per byte";

/// A fault.
pub const FAULT_ROW: Row = Row {
    section: "4.3",
    operation: "page fault service (first byte of strides of 256 KiB to 64 MiB)",
    unit: Unit::Nanoseconds,
    per: "access",
    theirs: Theirs::Printed("s003-0528"),
    replica: Replica::By(&FAULT),
    statistic: Statistic::variant(FIXED, Fit::MeanOver { from: FROM, to: TO }),
    fathom: SameQuestion::Point("memory/major_fault", single_page),
    misleads: "The figure is not for one page: the kernel reads ahead (16 pages on OS X; on Linux what the disk's read_ahead_kb says), so \
               the transfer of all of it into the cache is included, and shorter strides find pages that were read ahead. The report \
               concludes from its time that each access waited for the disk; the kernel counts how many did.",
};

/// A fault, per byte.
pub const PER_BYTE_ROW: Row = Row {
    section: "4.3",
    operation: "page fault service, divided by 64 KiB",
    unit: Unit::Nanoseconds,
    per: "byte",
    theirs: Theirs::Printed("s003-0529"),
    replica: Replica::By(&FAULT),
    statistic: Statistic::variant(PER_BYTE, Fit::MeanOver { from: FROM, to: TO }),
    fathom: SameQuestion::Computed {
        of: |machine| vec![("memory/major_fault", single_page(machine))],
        value: |known| known.found("memory/major_fault", &single_page(known.machine)).map(by_the_byte),
    },
    misleads: "The report divides a fault with its read-ahead by 64 KiB, whatever the kernel brought in. Fathom divides a fault that \
               brings in one page by its 4096 bytes. The report then compares its figure with 0.101 ns per byte, which comes from a \
               bandwidth and not from an access; hence its factor of 66.",
};

/// A fault at a random position.
pub const RANDOM_ROW: Row = Row {
    section: "4.3",
    operation: "page fault service, random byte of strides of 1 MiB",
    unit: Unit::Nanoseconds,
    per: "access",
    theirs: Theirs::Printed("s003-0322"),
    replica: Replica::By(&FAULT),
    statistic: Statistic::variant(RANDOM, Fit::MeanAt((1 << 20) as f64)),
    fathom: SameQuestion::Point("memory/major_fault", |machine| {
        nearest(
            "memory/major_fault",
            machine,
            &[("access", &["random byte of each stride"])],
            &[("stride", 1 << 20)],
        )
    }),
    misleads: "Both methods time the same access, read-ahead included, and Fathom also counts the faults. Single slow answers of the \
               device move a mean but not a median.",
};

/// Accesses most of which find a page that an earlier access brought in.
pub const SHORT_ROW: Row = Row {
    section: "4.3",
    operation: "page fault service, first byte of strides of 4 KiB",
    unit: Unit::Nanoseconds,
    per: "access",
    theirs: Theirs::Printed("s003-0250"),
    replica: Replica::By(&FAULT),
    statistic: Statistic::variant(FIXED, Fit::MeanAt(PAGE as f64)),
    fathom: SameQuestion::Point("memory/major_fault", |machine| {
        nearest(
            "memory/major_fault",
            machine,
            &[("access", &["first byte of each stride"])],
            &[("stride", PAGE)],
        )
    }),
    misleads: "The mean mixes a few accesses that wait for the disk with many that find their page in memory, and describes neither; the \
               median is one of the many. The report noticed this and left such strides out.",
};

/// One page, without read-ahead.
fn single_page(machine: &Machine) -> Point {
    nearest("memory/major_fault", machine, &[("access", &["shuffled pages, no read-ahead"])], &[])
}

fn by_the_byte(fault: Found) -> Found {
    fault.scaled(1.0 / PAGE as f64)
}

fn faults(stage: &Stage) -> Result<Series, Failure> {
    let ns = stage.ns_per_tick()?;
    let bytes = stage.count(BYTES, QUICK_BYTES);
    let test = TestFile::named(stage.site, "faults", bytes, DiskQuota::DEFAULT)?;
    let mut chance = SplitMix64::seed_from_u64(stage.site.seed);
    let (mut series, mut tally) = (Series::default(), Tally::default());
    let clock = (0..PAIRS).map(|_| timer::paoloni(|| ())).sum::<i64>() as f64 / f64::from(PAIRS);
    for variant in [FIXED, RANDOM] {
        let mut found = vec![vec![]; STRIDES.len()];
        for run in 0..WHOLE_RUNS {
            for (stride, values) in STRIDES.into_iter().zip(&mut found) {
                let random = (variant == RANDOM).then_some(&mut chance);
                let offsets = offsets(bytes, stride * PAGE, random);
                let before = Tally::now();
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
        for (stride, values) in STRIDES.into_iter().zip(found) {
            let at = (stride * PAGE) as f64;
            if variant == FIXED {
                let each = values.iter().map(|value| value / BROUGHT_IN as f64).collect();
                series = series.and(PER_BYTE, at, each);
            }
            series = series.and(variant, at, values);
        }
    }
    test_file::evict(&test.file)?;
    Ok(series.seen(tally.said()))
}

/// The variant that holds single accesses in their order.
fn drawn(variant: &str, stride: u64) -> String {
    let which = if variant == FIXED { "first byte" } else { "random byte" };
    format!("accesses, {which}, stride {}", size(stride))
}

/// Adds every access of one run, by its number.
fn in_order(series: Series, variant: &str, accesses: &[f64], ns: f64) -> Series {
    let numbered = accesses.iter().zip(1_u32..);
    numbered.fold(series, |series, (ticks, number)| series.and(variant, f64::from(number), vec![ticks * ns]))
}

/// What the kernel counted during the accesses of which the figure is made.
#[derive(Default)]
struct Tally {
    accesses: usize,
    major: u64,
    served: f64,
}

impl Tally {
    /// Until now.
    fn now() -> Self {
        Tally { accesses: 0, major: Usage::now().major, served: test_file::served().unwrap_or(0.0) }
    }

    fn add(&mut self, accesses: usize, before: &Tally) {
        let now = Tally::now();
        self.accesses += accesses;
        self.major += now.major - before.major;
        self.served += now.served - before.served;
    }

    fn said(&self) -> String {
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
    evict(file)?;
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
            accesses.push(timer::paoloni(|| _ = place.read_volatile()) as f64 - clock);
        }
        libc::munmap(map, length);
        Ok(accesses)
    }
}

/// Evicts the file until nothing of it is left in memory: a read-ahead in flight must end first.
fn evict(file: &File) -> Result<(), Failure> {
    let mut last = Ok(());
    for _ in 0..200 {
        last = test_file::evict(file);
        if last.is_ok() {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

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
