//! Reads with several requests in flight (`io_uring`): one thread keeps the device busy.

use fathom_core::prelude::*;
use fathom_equipment::test_file::blocks::BlockWalk;
use fathom_equipment::test_file::{Aligned, Content};
use io_uring::{IoUring, opcode, types};
use std::cell::Cell;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::rc::Rc;

/// Figure: the time of one block, from submitting the request to seeing its completion.
pub const LATENCY: &str = "each request";
/// Figure: the time between two completions, which is the total time divided by the blocks read in it.
pub const INTERVAL: &str = "between completions";

/// Witness: bytes that were read.
pub const READ: &str = "bytes_read";

/// Blocks per request in flight in an observation of the interval: many, so that its ends do not matter.
const ROUNDS: u64 = 16;

/// Requests in flight, each with a buffer of its own.
pub struct Queue {
    ring: IoUring,
    file: File,
    content: Content,
    walk: BlockWalk,
    slots: Vec<Slot>,
    /// Requests without a reaped completion.
    flying: usize,
    /// Slots whose requests are yet to be submitted, all together with the next wait.
    filled: Vec<usize>,
    block: usize,
    /// Bytes read so far.
    read: Rc<Cell<f64>>,
}

struct Slot {
    buffer: Aligned,
    offset: u64,
    began: f64,
}

/// Reads with `depth` requests in flight, refilled as they complete. Both figures are from the same requests.
pub fn reading<'site>(
    file: File,
    content: Content,
    walk: (BlockWalk, u64),
    depth: u64,
    site: &'site Site,
) -> Result<Workload<'site>, Failure> {
    let mut queue = Queue::new(file, content, walk, depth)?;
    let read = queue.bytes_read();
    let work = Workload::figures(move || queue.observe(depth, site));
    Ok(work.witnessed(move || vec![(READ, read.get())]))
}

fn refused(error: &std::io::Error) -> Failure {
    match error.raw_os_error() {
        Some(libc::ENOSYS | libc::EPERM | libc::EACCES) => Failure::Unsupported(format!(
            "io_uring cannot be used here: {error} (see the setting kernel.io_uring_disabled, and the container's filter \
             of system calls)"
        )),
        _ => Failure::of("io_uring", error),
    }
}

/// Checks for plain reads: kernels had rings before they had these, and before they could report it.
fn knows_reads(ring: &IoUring) -> Result<(), Failure> {
    let mut probe = io_uring::Probe::new();
    let registered = ring.submitter().register_probe(&mut probe);
    registered
        .and_then(|()| {
            let known = probe.is_supported(opcode::Read::CODE);
            known.then_some(()).ok_or_else(|| std::io::Error::from_raw_os_error(libc::EINVAL))
        })
        .map_err(|error| Failure::of_newer_call("reads of io_uring", "Linux 5.6", &error))
}

impl Queue {
    /// A queue of `depth` requests for blocks of this many bytes, none of them submitted yet.
    pub fn new(
        file: File,
        content: Content,
        (walk, block): (BlockWalk, u64),
        depth: u64,
    ) -> Result<Self, Failure> {
        let ring = IoUring::new(depth.next_power_of_two() as u32).map_err(|error| refused(&error))?;
        knows_reads(&ring)?;
        let slot = |_| Ok(Slot { buffer: Aligned::new(block as usize)?, offset: 0, began: 0.0 });
        let slots = (0..depth).map(slot).collect::<Result<_, Failure>>()?;
        let mut queue = Queue {
            ring,
            file,
            content,
            walk,
            slots,
            flying: 0,
            filled: Vec::with_capacity(depth as usize),
            block: block as usize,
            read: Rc::default(),
        };
        for slot in 0..depth as usize {
            queue.hand_in(slot)?;
        }
        Ok(queue)
    }

    /// Bytes read so far, as a shared counter.
    pub fn bytes_read(&self) -> Rc<Cell<f64>> {
        Rc::clone(&self.read)
    }

    /// Puts a request for the next block into a free slot.
    fn hand_in(&mut self, number: usize) -> Result<(), Failure> {
        let slot = &mut self.slots[number];
        slot.offset = self.walk.step();
        let request =
            opcode::Read::new(types::Fd(self.file.as_raw_fd()), slot.buffer.start(), self.block as u32)
                .offset(slot.offset)
                .build()
                .user_data(number as u64);
        // SAFETY: buffer and file live as long as the queue, and the slot is not used again before its completion.
        unsafe { self.ring.submission().push(&request) }
            .map_err(|_| Failure::Broke("the submission queue is full".to_owned()))?;
        self.flying += 1;
        self.filled.push(number);
        Ok(())
    }

    /// Submits the waiting requests, and waits for a completion. A request's time begins here: the kernel did not know of it
    /// before.
    fn submit_and_wait(&mut self, site: &Site) -> Result<(), Failure> {
        let now = site.stopwatch.now_ns();
        for number in self.filled.drain(..) {
            self.slots[number].began = now;
        }
        self.ring.submit_and_wait(1).map(drop).map_err(|error| refused(&error))
    }

    /// Waits for a completion, checks it, and queues the next request; returns the time of the completed one, nanoseconds.
    pub fn next(&mut self, site: &Site) -> Result<f64, Failure> {
        let done = loop {
            // A statement of its own: the queue must not be borrowed while the ring waits.
            let completed = self.ring.completion().next();
            match completed {
                Some(done) => break done,
                None => self.submit_and_wait(site)?,
            }
        };
        self.flying -= 1;
        let number = done.user_data() as usize;
        let took = site.stopwatch.now_ns() - self.slots[number].began;
        self.check(number, done.result())?;
        self.read.set(self.read.get() + self.block as f64);
        self.hand_in(number)?;
        Ok(took)
    }

    fn check(&self, number: usize, result: i32) -> Result<(), Failure> {
        let slot = &self.slots[number];
        if result != self.block as i32 {
            let error = std::io::Error::from_raw_os_error(-result.min(0));
            return Err(Failure::Broke(format!("a read of io_uring gave {result}: {error}")));
        }
        ensure(
            self.content.is_at(slot.buffer.bytes(), slot.offset),
            "io_uring read a block that is not the one requested: its stamp is different",
        )
    }

    /// One interval, and the times of some of its requests: all of them would make the run file too large. The distance between
    /// two recorded ones is one more than the depth, so that they are not always of the same slot.
    fn observe(&mut self, depth: u64, site: &Site) -> Result<Vec<FigureValue>, Failure> {
        let (began, blocks) = (site.stopwatch.now_ns(), ROUNDS * depth);
        let mut values = vec![];
        for number in 0..blocks {
            let took = self.next(site)?;
            values.extend((number % (depth + 1) == 0).then_some((LATENCY, took)));
        }
        values.push((INTERVAL, (site.stopwatch.now_ns() - began) / blocks as f64));
        Ok(values)
    }
}

impl Drop for Queue {
    /// The kernel may still write into the buffers: they are freed only when nothing is in flight.
    fn drop(&mut self) {
        while self.flying > 0 {
            self.flying -= self.ring.completion().count().min(self.flying);
            if self.flying > 0 && self.ring.submit_and_wait(1).is_err() {
                // Leaks the memory, because the device could write to it after it was freed.
                std::mem::forget(std::mem::take(&mut self.slots));
                return;
            }
        }
    }
}
