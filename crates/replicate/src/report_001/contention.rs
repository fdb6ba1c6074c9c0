//! Section 6.4: processes that read at the same time.

use crate::past_cache::{Blocks, opened};
use crate::protocol::TrialProtocol;
use crate::timer::{CpuidRdtscRdtscp, Timer};
use crate::{Series, Stage};
use fathom_core::experiment::{Failure, ensure};
use fathom_core::sampling::partner::PartnerProcess;
use fathom_core::sampling::shared_memory::{Shareable, shared_memory};
use fathom_equipment::test_file::blocks::below;
use fathom_equipment::test_file::{DiskQuota, TestFile};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::SeedableRng;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const ORDERS: [&str; 2] = ["sequential", "random"];
const COUNTS: [usize; 5] = [1, 2, 4, 8, MOST];
const MOST: usize = 10;
const FILE: u64 = 64 << 20;
const BLOCK: usize = 4096;

/// The values that the processes report: the mean time of a block, as the bits of a floating-point number; 0 until then.
struct ReportedTimes([AtomicU64; MOST]);

// SAFETY: atomics alone, of which zero is a value.
unsafe impl Shareable for ReportedTimes {}

/// The value of a process that could not read its file.
const FAILED: u64 = u64::MAX;

pub(super) fn contending(stage: &Stage) -> Result<Series, Failure> {
    let tick_ns = stage.ns_per_tick()?;
    let files: Result<Vec<TestFile>, Failure> =
        (0..MOST).map(|_| TestFile::nameless(stage.site, FILE, DiskQuota::DEFAULT)).collect();
    let (files, blocks) = (files?, stage.count(1000, 100));
    let board: &'static ReportedTimes =
        shared_memory().map_err(|error| Failure::Broke(format!("shared memory: {error}")))?;
    let mut series = Series::default();
    for order in ORDERS {
        for count in COUNTS {
            let values: Result<Vec<f64>, Failure> = (0..TrialProtocol::TEN.trials as u64)
                .map(|trial| {
                    let reader = BlockReader {
                        blocks,
                        tick_ns,
                        random: order == ORDERS[1],
                        seed: stage.site.seed ^ trial,
                    };
                    together(&files[..count], board, reader)
                })
                .collect();
            series = series.and(order, count as f64, values?);
        }
    }
    Ok(series)
}

/// The work of each process.
#[derive(Clone, Copy)]
struct BlockReader {
    blocks: u64,
    tick_ns: f64,
    random: bool,
    seed: u64,
}

/// The mean over the processes of their mean time of a block.
fn together(files: &[TestFile], board: &'static ReportedTimes, reader: BlockReader) -> Result<f64, Failure> {
    let lanes = &board.0[..files.len()];
    for lane in lanes {
        lane.store(0, Ordering::Release);
    }
    let mut processes = vec![];
    for (file, lane) in files.iter().zip(lanes) {
        // Each trial opens the files again, so that none continues where another ended.
        let own = Blocks::of(opened(file, libc::O_DIRECT | libc::O_SYNC)?, BLOCK)?;
        processes.push(PartnerProcess::start(None, move || {
            let outcome = reader.read(own);
            lane.store(outcome.as_ref().map_or(FAILED, |ns| ns.to_bits()), Ordering::Release);
            outcome.map(drop)
        })?);
    }
    while lanes.iter().any(|lane| lane.load(Ordering::Acquire) == 0) {
        std::thread::sleep(Duration::from_millis(1));
    }
    let results: Vec<u64> = lanes.iter().map(|lane| lane.load(Ordering::Acquire)).collect();
    ensure(!results.contains(&FAILED), "a process could not read its file")?;
    Ok(results.iter().map(|bits| f64::from_bits(*bits)).sum::<f64>() / results.len() as f64)
}

impl BlockReader {
    fn read(self, mut own: Blocks) -> Result<f64, Failure> {
        let mut chance = SplitMix64::seed_from_u64(self.seed ^ u64::from(std::process::id()) << 32);
        let (mut ticks, whole) = (0, FILE / BLOCK as u64);
        for number in 0..self.blocks {
            let place = if self.random { below(&mut chance, whole) } else { number % whole };
            ticks += CpuidRdtscRdtscp::try_ticks(|| own.read(place * BLOCK as u64))?;
        }
        Ok(ticks as f64 * self.tick_ns / self.blocks as f64)
    }
}
