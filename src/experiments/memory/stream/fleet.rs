//! Threads that stream at once, each on a CPU of its own through arrays of its own, and count the bytes that they move.
//!
//! They start together when all have filled their arrays, and go on until they are dropped: whoever looks at the counters
//! finds all of them at work (lmbench and multichase time so, too).

use super::arrays::Arrays;
use super::kernel::Kernel;
use crate::experiment::{Failure, Workload, ensure};
use crate::experiments::memory::backing::Backing;
use crate::sampling::{affinity, partner};
use core::arch::asm;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// What each of the threads does.
#[derive(Debug, Clone, Copy)]
pub struct Task {
    /// How it streams.
    pub kernel: &'static Kernel,
    /// Bytes of its arrays together.
    pub bytes: u64,
    /// The most that it passes over before it counts.
    pub piece_bytes: usize,
    /// Turns of an empty loop after each piece: a thread that pauses draws less.
    pub pause: u64,
}

/// What one thread has told; two lines wide, for processors that fetch lines in pairs.
#[repr(align(128))]
#[derive(Debug, Default)]
struct Told {
    bytes: AtomicU64,
    /// 0 until the arrays are filled, then the CPU that the thread runs on, plus one.
    cpu: AtomicU64,
    failed: AtomicBool,
    huge_thousandths: AtomicU64,
}

/// Threads at work.
#[derive(Debug)]
pub struct Fleet {
    told: Vec<Arc<Told>>,
    start: Arc<AtomicBool>,
    stop: Arc<AtomicBool>,
}

impl Fleet {
    /// Starts a thread on each of these CPUs, and returns when all of them move bytes.
    pub fn start(cpus: &[usize], task: Task, seed: u64) -> Result<Self, Failure> {
        let told: Vec<Arc<Told>> = cpus.iter().map(|_| Arc::default()).collect();
        let fleet = Fleet { told, start: Arc::default(), stop: Arc::default() };
        for (cpu, told) in cpus.iter().zip(&fleet.told) {
            let (told, start, stop) = (Arc::clone(told), Arc::clone(&fleet.start), Arc::clone(&fleet.stop));
            let cpu = *cpu;
            partner::thread(None, move || {
                let ended = affinity::pin(cpu).and_then(|()| stream(task, seed, &told, &start, &stop));
                told.failed.store(ended.is_err(), Ordering::Release);
                ended
            })?;
        }
        fleet.until(|told| told.cpu.load(Ordering::Acquire) > 0)?;
        fleet.start.store(true, Ordering::Release);
        fleet.until(|told| told.bytes.load(Ordering::Acquire) > 0)?;
        Ok(fleet)
    }

    /// Waits until all threads have come so far; a thread that fails ends the waiting, a hang the trial's time limit.
    fn until(&self, done: impl Fn(&Told) -> bool) -> Result<(), Failure> {
        while !self.told.iter().all(|told| done(told)) {
            self.well()?;
            std::thread::sleep(Duration::from_micros(50));
        }
        Ok(())
    }

    fn well(&self) -> Result<(), Failure> {
        let failed = self.told.iter().any(|told| told.failed.load(Ordering::Acquire));
        ensure(
            !failed,
            "a thread that was to stream could not be pinned, get its memory, or read what it should",
        )
    }

    /// What each thread has moved so far, bytes; an error where one of them has ended.
    pub fn bytes(&self) -> Result<Vec<u64>, Failure> {
        self.well()?;
        Ok(self.told.iter().map(|told| told.bytes.load(Ordering::Relaxed)).collect())
    }

    /// Writes down on how many CPUs the threads run, and the least share of their memory in huge pages.
    pub fn stated<'site>(&self, workload: Workload<'site>) -> Workload<'site> {
        let cpus: BTreeSet<u64> = self.told.iter().map(|told| told.cpu.load(Ordering::Acquire)).collect();
        let huge = self.told.iter().map(|told| told.huge_thousandths.load(Ordering::Acquire)).min();
        workload
            .stating(STREAMING_CPUS, cpus.len() as f64)
            .stating(LEAST_HUGE, huge.unwrap_or_default() as f64 / 1e3)
    }
}

/// Stated: CPUs on which threads stream.
pub const STREAMING_CPUS: &str = "cpus_that_stream";
/// Stated: the least share of a thread's arrays in huge pages.
const LEAST_HUGE: &str = "least_share_in_huge_pages";

impl Drop for Fleet {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        // Those that still wait for the start.
        self.start.store(true, Ordering::Release);
    }
}

/// The work of one thread.
fn stream(task: Task, seed: u64, told: &Told, start: &AtomicBool, stop: &AtomicBool) -> Result<(), Failure> {
    let mut arrays = Arrays::in_pieces(task.kernel, task.bytes, task.piece_bytes, seed)?;
    told.huge_thousandths.store(thousandths(&arrays.backing), Ordering::Release);
    // SAFETY: asks for a number.
    let cpu = unsafe { libc::sched_getcpu() };
    told.cpu.store(cpu as u64 + 1, Ordering::Release);
    while !start.load(Ordering::Acquire) {
        std::thread::yield_now();
    }
    while !stop.load(Ordering::Relaxed) {
        arrays.pass()?;
        told.bytes.store(arrays.counts.bytes, Ordering::Relaxed);
        rest(task.pause);
    }
    Ok(())
}

/// An empty loop that the compiler cannot shorten: a turn is one subtraction that waits for the one before.
fn rest(mut turns: u64) {
    while turns > 0 {
        turns -= 1;
        // SAFETY: no instruction at all; only the compiler must believe that the register has changed.
        unsafe { asm!("/* {turns} */", turns = inout(reg) turns, options(nomem, nostack, preserves_flags)) };
    }
}

fn thousandths(backing: &Backing) -> u64 {
    (backing.huge_share() * 1e3) as u64
}
