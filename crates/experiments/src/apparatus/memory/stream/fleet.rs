//! Threads that stream concurrently, each on its own CPU through its own arrays, and count the bytes that they move.
//!
//! They are created once, with their arrays filled, and do one task after the other: all stream before their counters are read,
//! and continue until the task is dropped (lmbench and multichase time in this way, too). Between two tasks they sleep.

use super::arrays::Arrays;
use super::filled::Filled;
use super::kernel::Kernel;
use crate::apparatus::memory::backing::Backing;
use core::arch::asm;
use fathom_core::prelude::*;
use fathom_core::sampling::{affinity, partner};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

#[derive(Debug, Clone, Copy)]
pub struct Task {
    pub kernel: &'static Kernel,
    /// Maximum bytes passed over before it counts.
    pub piece_bytes: usize,
    /// Iterations of an empty loop after each piece: a thread that pauses draws less bandwidth.
    pub pause: u64,
}

/// State reported by one thread; aligned to two lines, for processors that fetch lines in pairs.
#[repr(align(128))]
#[derive(Debug, Default)]
struct Streamer {
    /// Bytes moved so far, in all tasks.
    bytes: AtomicU64,
    /// 0 until the arrays are filled, then the CPU that the thread runs on, plus one.
    cpu: AtomicU64,
    /// Whether it has a task.
    busy: AtomicBool,
    failed: AtomicBool,
    huge_thousandths: AtomicU64,
}

/// Threads with their arrays. They end when it is dropped.
#[derive(Debug)]
pub struct Fleet {
    streamers: Vec<Arc<Streamer>>,
    orders: Vec<Sender<Task>>,
    streaming: Arc<AtomicBool>,
}

impl Fleet {
    /// One thread on each of these CPUs, with `bytes` of filled memory of its own.
    pub fn new(cpus: &[usize], bytes: u64, seed: u64) -> Result<Self, Failure> {
        let mut fleet = Fleet { streamers: vec![], orders: vec![], streaming: Arc::default() };
        for cpu in cpus.iter().copied() {
            let (own, streaming) = (Arc::<Streamer>::default(), Arc::clone(&fleet.streaming));
            let (order, orders) = mpsc::channel();
            fleet.streamers.push(Arc::clone(&own));
            fleet.orders.push(order);
            partner::thread(None, move || {
                let ended = affinity::pin(cpu).and_then(|()| serve(bytes, seed, &own, &orders, &streaming));
                own.failed.store(ended.is_err(), Ordering::Release);
                ended
            })?;
        }
        fleet.until(|own| own.cpu.load(Ordering::Acquire) > 0)?;
        Ok(fleet)
    }

    /// Starts all threads, and returns when all of them move bytes. They rest when the returned value is dropped.
    pub fn stream(self: &Rc<Self>, task: Task) -> Result<Streaming, Failure> {
        let before = self.bytes()?;
        self.streaming.store(true, Ordering::Release);
        // From here on, if anything fails, dropping this makes the threads rest.
        let streaming = Streaming { fleet: Rc::clone(self) };
        for (own, order) in self.streamers.iter().zip(&self.orders) {
            own.busy.store(true, Ordering::Release);
            ensure(order.send(task).is_ok(), "a streaming thread has ended")?;
        }
        while self.bytes()?.iter().zip(&before).any(|(now, before)| now <= before) {
            std::thread::sleep(Duration::from_micros(50));
        }
        Ok(streaming)
    }

    /// Waits until `done` holds for all threads; a failed thread ends the wait, a hang the trial's time limit.
    fn until(&self, done: impl Fn(&Streamer) -> bool) -> Result<(), Failure> {
        while !self.streamers.iter().all(|own| done(own)) {
            self.well()?;
            std::thread::sleep(Duration::from_micros(50));
        }
        Ok(())
    }

    fn well(&self) -> Result<(), Failure> {
        let failed = self.streamers.iter().any(|own| own.failed.load(Ordering::Acquire));
        ensure(
            !failed,
            "a streaming thread could not be pinned, could not allocate its memory, or read wrong data",
        )
    }

    /// Bytes moved so far by each thread, in all tasks; an error if one of them has ended.
    pub fn bytes(&self) -> Result<Vec<u64>, Failure> {
        self.well()?;
        Ok(self.streamers.iter().map(|own| own.bytes.load(Ordering::Relaxed)).collect())
    }
}

/// Threads at work; they rest when it is dropped.
#[derive(Debug)]
pub struct Streaming {
    fleet: Rc<Fleet>,
}

impl Streaming {
    /// Bytes moved so far by each thread, never decreasing; an error if one of them has ended.
    pub fn bytes(&self) -> Result<Vec<u64>, Failure> {
        self.fleet.bytes()
    }

    /// The CPUs of the threads when they began.
    pub fn cpus(&self) -> BTreeSet<u64> {
        self.fleet.streamers.iter().map(|own| own.cpu.load(Ordering::Acquire) - 1).collect()
    }

    /// States the number of CPUs of the threads, and the smallest share of their memory in huge pages.
    pub fn stated<'site>(&self, workload: Workload<'site>) -> Workload<'site> {
        let huge = self.fleet.streamers.iter().map(|own| own.huge_thousandths.load(Ordering::Acquire)).min();
        workload
            .stating(STREAMING_CPUS, self.cpus().len() as f64)
            .stating(LEAST_HUGE, huge.unwrap_or_default() as f64 / 1e3)
    }
}

/// Stated: the number of CPUs on which threads stream.
pub const STREAMING_CPUS: &str = "cpus_that_stream";
/// Stated: the smallest share of a thread's arrays in huge pages.
const LEAST_HUGE: &str = "least_share_in_huge_pages";

impl Drop for Streaming {
    fn drop(&mut self) {
        self.fleet.streaming.store(false, Ordering::Release);
        // A failed thread rests as well.
        let _ = self.fleet.until(|own| !own.busy.load(Ordering::Acquire));
    }
}

/// The main function of one thread.
fn serve(
    bytes: u64,
    seed: u64,
    own: &Streamer,
    orders: &Receiver<Task>,
    streaming: &AtomicBool,
) -> Result<(), Failure> {
    let filled = Rc::new(Filled::new(bytes, seed)?);
    own.huge_thousandths.store(thousandths(&filled.backing), Ordering::Release);
    tell_cpu(own);
    while let Ok(task) = orders.recv() {
        tell_cpu(own);
        let mut arrays = Arrays::in_pieces(task.kernel, &filled, bytes, task.piece_bytes)?;
        stream(task, &mut arrays, own, streaming)?;
        drop(arrays);
        own.busy.store(false, Ordering::Release);
    }
    Ok(())
}

fn tell_cpu(own: &Streamer) {
    // SAFETY: returns a number.
    let cpu = unsafe { libc::sched_getcpu() };
    own.cpu.store(cpu as u64 + 1, Ordering::Release);
}

fn stream(task: Task, arrays: &mut Arrays, own: &Streamer, streaming: &AtomicBool) -> Result<(), Failure> {
    let before = own.bytes.load(Ordering::Relaxed);
    while streaming.load(Ordering::Relaxed) {
        arrays.pass()?;
        own.bytes.store(before + arrays.counts.bytes, Ordering::Relaxed);
        rest(task.pause);
    }
    Ok(())
}

/// An empty loop that the compiler cannot shorten: an iteration is one subtraction that depends on the one before.
fn rest(mut turns: u64) {
    while turns > 0 {
        turns -= 1;
        // SAFETY: no instruction at all; it only makes the compiler assume that the register has changed.
        unsafe { asm!("/* {turns} */", turns = inout(reg) turns, options(nomem, nostack, preserves_flags)) };
    }
}

fn thousandths(backing: &Backing) -> u64 {
    (backing.huge_share() * 1e3) as u64
}
