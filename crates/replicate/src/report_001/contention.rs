//! Section 6.4: processes that read at the same time.

use super::trials::TRIALS;
use crate::past_cache::{Blocks, opened};
use crate::sweep::point;
use crate::timer::without_trailing_cpuid as timed;
use crate::{Fit, Method, Replica, Row, SameQuestion, Series, Stage, Statistic, Theirs, tasks};
use fathom_core::experiment::{Failure, Found, Known, Placement, Point, ensure};
use fathom_core::quantity::Unit;
use fathom_core::sampling::partner::PartnerProcess;
use fathom_core::sampling::shared_memory::{Shareable, shared_memory};
use fathom_equipment::test_file::blocks::below;
use fathom_equipment::test_file::{DiskQuota, TestFile};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::SeedableRng;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

static CONTENDING: Method = Method {
    name: "contention",
    text: "One to ten processes each read the blocks of a file of their own of 64 MB at the same time, with O_DIRECT | O_SYNC, in sequence \
           or at random. The figure is the average time of a block over all of them; ten trials.",
    differs: "Blocks have 4 KiB; the report does not give their size. Each process reads 1000 of them (with --quick 100), and 1, 2, 4, 8 \
              and 10 processes are tried. The report mentions no barrier, so each process begins as soon as it is started.",
    placement: Placement::Free,
    needs: &[],
    limit: Duration::from_mins(3),
    measure: contending,
};

pub const SEQUENTIALLY: Row = Row {
    section: "6.4",
    operation: "file read in sequence by 10 processes at once",
    unit: Unit::Nanoseconds,
    per: "block",
    theirs: Theirs::Printed("s001-0102"),
    replica: Replica::By(&CONTENDING),
    statistic: Statistic { variant: ORDERS[0], fit: Fit::MeanAt(MOST as f64) },
    fathom: SameQuestion::Computed {
        of: |_| around("all sequential").to_vec(),
        value: |known| between("all sequential", known),
    },
    misleads: "The processes begin one after the other and stop one by one, so at both ends of a trial fewer than ten are reading, which \
               makes the mean smaller. The few reads that wait long make it larger than Fathom's median. Fathom's figure lies between its \
               figures for 8 and 12 processes that read all the time.",
};

pub const AT_RANDOM: Row = Row {
    operation: "file read at random by 10 processes at once",
    theirs: Theirs::Printed("s001-0103"),
    statistic: Statistic { variant: ORDERS[1], fit: Fit::MeanAt(MOST as f64) },
    fathom: SameQuestion::Computed {
        of: |_| around("all random").to_vec(),
        value: |known| between("all random", known),
    },
    ..SEQUENTIALLY
};

const ORDERS: [&str; 2] = ["sequential", "random"];
const COUNTS: [usize; 5] = [1, 2, 4, 8, MOST];
const MOST: usize = 10;
const FILE: u64 = 64 << 20;
const BLOCK: usize = 4096;

/// The numbers of processes nearest to ten that Fathom measures.
fn around(pattern: &str) -> [(&'static str, Point); 2] {
    [8, 12].map(|processes| {
        let names = [("pattern", pattern), ("figure", "each process")];
        let numbers = [("file", 4_096_000), ("processes", processes)];
        ("filesystem/contention", point(Placement::Free, &names, &numbers))
    })
}

/// Fathom's figure for ten processes: half way between its figures for these two numbers.
fn between(pattern: &str, known: &Known) -> Option<Found> {
    let [fewer, more] = around(pattern).map(|(experiment, point)| known.found(experiment, &point));
    Some(fewer?.plus(more?).scaled(0.5))
}

/// The values that the processes report: the mean time of a block, as the bits of a floating-point number; 0 until then.
struct Board([AtomicU64; MOST]);

// SAFETY: atomics alone, of which zero is a value.
unsafe impl Shareable for Board {}

/// The value of a process that could not read its file.
const FAILED: u64 = u64::MAX;

fn contending(stage: &Stage) -> Result<Series, Failure> {
    let (tick_ns, priority) = (stage.ns_per_tick()?, tasks::raise_priority());
    let files: Result<Vec<TestFile>, Failure> =
        (0..MOST).map(|_| TestFile::nameless(stage.site, FILE, DiskQuota::DEFAULT)).collect();
    let (files, blocks) = (files?, stage.count(1000, 100));
    let board: &'static Board =
        shared_memory().map_err(|error| Failure::Broke(format!("shared memory: {error}")))?;
    let mut series = Series::default();
    for order in ORDERS {
        for count in COUNTS {
            let values: Result<Vec<f64>, Failure> = (0..TRIALS as u64)
                .map(|trial| {
                    let reader =
                        Reader { blocks, tick_ns, random: order == ORDERS[1], seed: stage.site.seed ^ trial };
                    together(&files[..count], board, reader)
                })
                .collect();
            series = series.and(order, count as f64, values?);
        }
    }
    Ok(series.seen_where(priority))
}

/// The work of each process.
#[derive(Clone, Copy)]
struct Reader {
    blocks: u64,
    tick_ns: f64,
    random: bool,
    seed: u64,
}

/// The mean over the processes of their mean time of a block.
fn together(files: &[TestFile], board: &'static Board, reader: Reader) -> Result<f64, Failure> {
    let lanes = &board.0[..files.len()];
    for lane in lanes {
        lane.store(0, Ordering::Release);
    }
    let mut processes = vec![];
    for (file, lane) in files.iter().zip(lanes) {
        // Each trial opens the files again, so that none continues where another ended.
        let own = Blocks::of(opened(file, libc::O_DIRECT | libc::O_SYNC)?, BLOCK)?;
        processes.push(PartnerProcess::start(None, move || {
            let found = reader.read(own);
            lane.store(found.as_ref().map_or(FAILED, |ns| ns.to_bits()), Ordering::Release);
            found.map(drop)
        })?);
    }
    while lanes.iter().any(|lane| lane.load(Ordering::Acquire) == 0) {
        std::thread::sleep(Duration::from_millis(1));
    }
    let told: Vec<u64> = lanes.iter().map(|lane| lane.load(Ordering::Acquire)).collect();
    ensure(!told.contains(&FAILED), "a process could not read its file")?;
    Ok(told.iter().map(|bits| f64::from_bits(*bits)).sum::<f64>() / told.len() as f64)
}

impl Reader {
    fn read(self, mut own: Blocks) -> Result<f64, Failure> {
        let mut chance = SplitMix64::seed_from_u64(self.seed ^ u64::from(std::process::id()) << 32);
        let (mut ticks, whole) = (0, FILE / BLOCK as u64);
        for number in 0..self.blocks {
            let place = if self.random { below(&mut chance, whole) } else { number % whole };
            let mut read = Ok(());
            ticks += timed(|| read = own.read(place * BLOCK as u64));
            read?;
        }
        Ok(ticks as f64 * self.tick_ns / self.blocks as f64)
    }
}
