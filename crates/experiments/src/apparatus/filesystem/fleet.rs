//! Processes that read concurrently, each its own file, from a barrier on until they are stopped.

use super::reader::{Call, ReadAhead, Reader};
use fathom_core::prelude::*;
use fathom_core::sampling::partner::PartnerProcess;
use fathom_core::sampling::shared_memory::{Shareable, shared_memory};
use fathom_equipment::test_file::blocks::{BlockWalk, Order};
use fathom_equipment::test_file::{DiskQuota, TestFile, direct, ensure_accounted, served_to};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Interval at which a process that waits for the others checks.
const POLL_INTERVAL: Duration = Duration::from_micros(200);

/// Maximum number of processes in a fleet.
pub const MOST: usize = 256;

/// The task of a process.
#[derive(Debug, Clone, Copy)]
pub struct Member {
    /// The number of its own file.
    pub number: u64,
    /// The size of the file, bytes.
    pub file_bytes: u64,
    /// Bytes per read.
    pub block: u64,
    pub order: Order,
}

/// The progress of a process between two readings.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReadProgress {
    blocks: u64,
    took_ns: f64,
}

impl ReadProgress {
    /// Its rate; `None` if it completed no block.
    pub fn blocks_per_ns(&self) -> Option<f64> {
        (self.blocks > 0 && self.took_ns > 0.0).then(|| self.blocks as f64 / self.took_ns)
    }
}

/// The reports of a process: the number of completed blocks, and the time of the last one. The version is odd while it writes.
#[repr(align(128))]
struct Lane {
    version: AtomicU64,
    blocks: AtomicU64,
    /// Time of the trial's clock in nanoseconds, as the bits of a floating-point number.
    at: AtomicU64,
    failed: AtomicU64,
}

struct Board {
    /// The barrier: 1 when all may start.
    go: AtomicU64,
    lanes: [Lane; MOST],
}

// SAFETY: only atomics, for which zero is a valid value.
unsafe impl Shareable for Board {}

impl Lane {
    fn tell(&self, blocks: u64, at: f64) {
        self.version.fetch_add(1, Ordering::AcqRel);
        self.blocks.store(blocks, Ordering::Release);
        self.at.store(at.to_bits(), Ordering::Release);
        self.version.fetch_add(1, Ordering::AcqRel);
    }

    /// The number of blocks and the time at which the last was completed, consistent with each other.
    fn look(&self) -> (u64, f64) {
        loop {
            let before = self.version.load(Ordering::Acquire);
            let position =
                (self.blocks.load(Ordering::Acquire), f64::from_bits(self.at.load(Ordering::Acquire)));
            if before % 2 == 0 && self.version.load(Ordering::Acquire) == before {
                return position;
            }
            std::thread::yield_now();
        }
    }
}

/// The processes, and their shared board.
pub struct Readers {
    board: &'static Board,
    processes: Vec<PartnerProcess>,
    block: u64,
    fewest: u64,
    observations: u64,
    /// Blocks read while the kernel's accounts of all processes were read, which takes time.
    meanwhile: Cell<u64>,
}

impl Readers {
    /// Witness: bytes that devices have sent to the processes.
    pub const SERVED: &str = "bytes_from_device";
    /// Witness: bytes that the processes have read.
    pub const READ: &str = "bytes_read";
    /// Witness: of these, the bytes read while the devices' accounts were read.
    pub const MEANWHILE: &str = "bytes_read_meanwhile";
    /// Stated at the end: the fewest blocks of a process in an observation.
    pub const FEWEST: &str = "fewest_blocks";

    /// Minimum duration of an observation, nanoseconds: with many processes each gets several turns.
    const SHORTEST: f64 = 20e6;
    /// Blocks that each process completes in an observation, unless [`Self::LONGEST`] ends it.
    const BLOCKS: u64 = 4;
    /// Maximum duration of an observation, nanoseconds.
    const LONGEST: f64 = 5e9;

    /// Creates the files, starts the processes, and opens the barrier when all are ready.
    pub fn start(members: &[Member], site: &Site) -> Result<Self, Failure> {
        if members.len() > MOST {
            return Err(Failure::Unsupported(format!("no more than {MOST} processes are started")));
        }
        let board: &'static Board =
            shared_memory().map_err(|error| Failure::Broke(format!("shared memory: {error}")))?;
        let mut processes = Vec::with_capacity(members.len());
        for (member, lane) in members.iter().zip(&board.lanes) {
            let (reader, walk) = prepared(member, site)?;
            let stopwatch = site.stopwatch;
            processes.push(PartnerProcess::start(None, move || {
                read_on(reader, walk, lane, &board.go, stopwatch)
            })?);
        }
        let block = members.first().map_or(0, |member| member.block);
        let fleet =
            Readers { board, processes, block, fewest: u64::MAX, observations: 0, meanwhile: Cell::new(0) };
        fleet.until(|lane| lane.version.load(Ordering::Acquire) > 0, "ready", site)?;
        board.go.store(1, Ordering::Release);
        // A first completion has no earlier one from which to time it: counting begins after it.
        fleet.until(|lane| lane.look().0 > 0, "done with the first block", site)?;
        Ok(fleet)
    }

    fn until(&self, is_so: impl Fn(&Lane) -> bool, what: &str, site: &Site) -> Result<(), Failure> {
        let began = site.stopwatch.now_ns();
        while !self.lanes().all(&is_so) {
            self.check()?;
            if site.stopwatch.now_ns() - began > Readers::LONGEST {
                return Err(Failure::Broke(format!("not all processes were {what} after five seconds")));
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        Ok(())
    }

    fn lanes(&self) -> impl Iterator<Item = &Lane> {
        self.board.lanes[..self.processes.len()].iter()
    }

    fn check(&self) -> Result<(), Failure> {
        match self.lanes().position(|lane| lane.failed.load(Ordering::Acquire) != 0) {
            Some(number) => {
                Err(Failure::Broke(format!("process {number} of the fleet could not read its file")))
            }
            None => Ok(()),
        }
    }

    /// The progress of each process during a trial's time, or this share of it.
    pub fn watch(&mut self, share: f64, site: &Site) -> Result<Vec<ReadProgress>, Failure> {
        let before: Vec<(u64, f64)> = self.lanes().map(Lane::look).collect();
        let began = site.stopwatch.now_ns();
        let length = (site.duration_ns as f64).max(Readers::SHORTEST) * share;
        loop {
            std::thread::sleep(Duration::from_nanos(length as u64));
            self.check()?;
            let now: Vec<(u64, f64)> = self.lanes().map(Lane::look).collect();
            let progress: Vec<ReadProgress> =
                now.iter().zip(&before).map(|(now, before)| since(*now, *before)).collect();
            let fewest = progress.iter().map(|one| one.blocks).min().unwrap_or(0);
            if fewest >= Readers::BLOCKS || site.stopwatch.now_ns() - began > Readers::LONGEST {
                self.fewest = self.fewest.min(fewest);
                self.observations += 1;
                return Ok(progress);
            }
        }
    }

    /// Blocks read by all processes.
    fn blocks(&self) -> u64 {
        self.lanes().map(|lane| lane.look().0).sum()
    }

    /// The counts as witnesses.
    pub fn account(&self) -> Vec<(&'static str, f64)> {
        let blocks = self.blocks();
        let served: Option<f64> = self.processes.iter().map(|process| served_to(process.id())).sum();
        self.meanwhile.set(self.meanwhile.get() + self.blocks() - blocks);
        // A witness counts by its growth: it must include the first reading as well as the last.
        let meanwhile = if self.observations < 2 { 0 } else { self.meanwhile.get() };
        // Before the first observation the fewest are unknown: growth from 0 is the figure itself.
        let fewest = if self.observations < 2 { 0.0 } else { self.fewest as f64 };
        let bytes = |blocks: u64| (blocks * self.block) as f64;
        let counted = [
            (Readers::READ, bytes(blocks)),
            (Readers::MEANWHILE, bytes(meanwhile)),
            (Readers::FEWEST, fewest),
        ];
        served.map(|bytes| (Readers::SERVED, bytes)).into_iter().chain(counted).collect()
    }
}

fn since(now: (u64, f64), before: (u64, f64)) -> ReadProgress {
    ReadProgress { blocks: now.0 - before.0, took_ns: now.1 - before.1 }
}

fn prepared(member: &Member, site: &Site) -> Result<(Reader, BlockWalk), Failure> {
    let test = TestFile::named(
        site,
        &format!("contention{}", member.number),
        member.file_bytes,
        DiskQuota::DEFAULT,
    )?;
    ensure_accounted(&test)?;
    let file = direct(&test, member.block)?.file;
    let sizes = (test.bytes, test.content);
    let reader = Reader::new(file, sizes, member.block, Call::Pread, ReadAhead::Usual)?;
    let walk = BlockWalk::through(test.bytes, member.block, member.order, site.seed ^ (member.number << 32));
    Ok((reader, walk))
}

/// The main function of a process: waits for the barrier, then reads until it is killed.
fn read_on(
    mut reader: Reader,
    mut walk: BlockWalk,
    lane: &Lane,
    go: &AtomicU64,
    stopwatch: &dyn Stopwatch,
) -> Result<(), Failure> {
    lane.tell(0, stopwatch.now_ns());
    while go.load(Ordering::Acquire) == 0 {
        std::thread::sleep(POLL_INTERVAL);
    }
    let mut blocks = 0;
    loop {
        if let Err(failure) = reader.read(walk.step()) {
            lane.failed.store(1, Ordering::Release);
            return Err(failure);
        }
        blocks += 1;
        lane.tell(blocks, stopwatch.now_ns());
    }
}
