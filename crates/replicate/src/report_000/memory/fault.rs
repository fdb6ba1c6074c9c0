//! Section 4.3: page faults that wait for the disk.

use crate::mapping::Mapped;
use crate::report_000::boilerplate::timed_once;
use crate::report_000::mapped::{expect_random, let_go};
use crate::report_000::shuffle::shuffled;
use crate::report_000::zeros;
use crate::sweep::nearest;
use crate::usage::Usage;
use crate::{Deviation, Fit, Method, Replica, Row, SameQuestion, Series, Stage, Statistic, Theirs};
use fathom_core::experiment::{Failure, Placement, ensure};
use fathom_core::quantity::Unit;
use fathom_equipment::test_file::{evict, page_bytes};
use std::fs::File;
use std::time::Duration;

static FAULTS: Method = Method {
    name: "page fault",
    text: "The program maps a file of 512 MiB of zeros privately, with MADV_RANDOM and POSIX_FADV_RANDOM against read-ahead. It touches \
           every one of its 131,072 pages once in a shuffled order, with the timer around all, and divides by their number; 15 trials. \
           After each trial it calls MADV_DONTNEED, POSIX_FADV_DONTNEED and munmap; getrusage counts major and minor faults.",
    differs: "Each trial touches as many pages of the shuffled order as fit into 15 s for all trials. Fathom writes the file to the disk \
              first, because the kernel does not drop pages that still have to be written. With --quick the file has 128 MiB.",
    placement: Placement::OneCpu,
    needs: &[],
    limit: Duration::from_mins(2),
    measure: faults,
};

const TRIALS: u64 = 15;

fn faults(stage: &Stage) -> Result<Series, Failure> {
    let bytes = stage.count(512 << 20, 128 << 20);
    let file = zeros::file(stage, bytes)?;
    file.sync_all().map_err(|error| Failure::Broke(format!("fsync: {error}")))?;
    evict(&file)?;
    let (mut values, mut seen) = (vec![], Seen::default());
    for trial in 0..TRIALS {
        values.push(faulting(stage, (&file, bytes), trial, &mut seen)?);
    }
    Ok(Series::of(values).seen(seen.told(bytes)))
}

/// The faults of all trials.
#[derive(Default)]
struct Seen {
    touched: u64,
    faults: Usage,
}

impl Seen {
    fn told(&self, bytes: u64) -> String {
        format!(
            "Of {} pages that were touched, {} were major (hard) faults and {} minor ones; {} pages per trial, of {} in the file.",
            self.touched,
            self.faults.major,
            self.faults.minor,
            self.touched / TRIALS,
            bytes / page_bytes()
        )
    }
}

/// One trial: nanoseconds per page.
fn faulting(stage: &Stage, (file, bytes): (&File, u64), trial: u64, seen: &mut Seen) -> Result<f64, Failure> {
    let page = page_bytes();
    let map = Mapped::readable(file, bytes as usize)?;
    expect_random(&map, file)?;
    let order = shuffled(bytes / page, stage.site.seed ^ trial);
    let (most_ns, before) = (stage.time_ns() / TRIALS as f64, Usage::now());
    let mut touched = 0;
    let ticks = timed_once(|| {
        touched = touch(&map, (&order, page), most_ns, stage);
        Ok(())
    })?;
    let faults = Usage::now().since(before);
    let_go(map, file)?;
    ensure(touched > 0, "no page was touched")?;
    seen.touched += touched;
    seen.faults.major += faults.major;
    seen.faults.minor += faults.minor;
    Ok(ticks * stage.ns_per_tick()? / touched as f64)
}

/// Touches pages in this order until all are touched or the time is over, and returns how many.
fn touch(map: &Mapped, (order, page): (&[u64], u64), most_ns: f64, stage: &Stage) -> u64 {
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

/// The summary's row; table 13.
pub const PAGE_FAULT: Row = Row {
    section: "4.3",
    operation: "page fault service time (from disk)",
    unit: Unit::Nanoseconds,
    per: "page",
    theirs: Theirs::Printed("s000-0285"),
    replica: Replica::By(&FAULTS),
    statistic: Statistic::of(Fit::Mean(Deviation::Sample)),
    fathom: SameQuestion::Point("memory/major_fault", |machine| {
        nearest("memory/major_fault", machine, &[("access", &["shuffled pages, no read-ahead"])], &[])
    }),
    misleads: "The method is right, as getrusage shows. The file may mislead: a file system or a device may compress or omit zeros. Single \
               slow reads affect the mean.",
};
