//! Reading with several requests in flight (`io_uring`): the device is kept busy by one thread.

use super::blocks::Walk;
use crate::experiment::{Failure, Site, Workload, ensure};
use crate::experiments::test_file::{Aligned, Content};
use io_uring::{IoUring, opcode, types};
use std::fs::File;
use std::os::fd::AsRawFd;

/// What an observation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// The time of one block, from handing in the request to seeing its completion.
    Latency,
    /// The time between two completions: the whole time over the blocks read in it.
    Interval,
}

/// Blocks of an observation of the interval, per request in flight: many, so that its ends do not matter.
const ROUNDS: u64 = 16;

/// Requests in flight, each with a buffer of its own.
struct Queue {
    ring: IoUring,
    file: File,
    content: Content,
    walk: Walk,
    slots: Vec<Slot>,
    /// Requests handed in whose completion was not taken yet.
    flying: usize,
    /// Whether each request is submitted at once, alone, or with the next wait: a latency begins where it is submitted.
    at_once: bool,
    block: usize,
}

struct Slot {
    buffer: Aligned,
    offset: u64,
    began: f64,
}

/// How many blocks an observation of the interval covers.
pub fn blocks_of_an_interval(depth: u64) -> u64 {
    ROUNDS * depth
}

/// Reads with `depth` requests in flight, refilled as each completes.
pub fn reading<'site>(
    file: File,
    content: Content,
    (walk, block): (Walk, u64),
    (depth, counted): (u64, Counted),
    site: &'site Site,
) -> Result<Workload<'site>, Failure> {
    let ring = IoUring::new(depth.next_power_of_two() as u32).map_err(|error| refused(&error))?;
    let slot = |_| Ok(Slot { buffer: Aligned::new(block as usize)?, offset: 0, began: 0.0 });
    let slots = (0..depth).map(slot).collect::<Result<_, Failure>>()?;
    let mut queue = Queue {
        ring,
        file,
        content,
        walk,
        slots,
        flying: 0,
        at_once: counted == Counted::Latency,
        block: block as usize,
    };
    for slot in 0..depth as usize {
        queue.hand_in(slot, site)?;
    }
    queue.ring.submit().map_err(|error| refused(&error))?;
    Ok(match counted {
        Counted::Latency => Workload::recorded(move || queue.next(site).map(Some)),
        Counted::Interval => {
            Workload::recorded(move || queue.interval(blocks_of_an_interval(depth), site).map(Some))
        }
    })
}

fn refused(error: &std::io::Error) -> Failure {
    match error.raw_os_error() {
        Some(libc::ENOSYS | libc::EPERM | libc::EACCES) => Failure::Unsupported(format!(
            "io_uring cannot be used here: {error} (see the setting kernel.io_uring_disabled, and the container's filter \
             of system calls)"
        )),
        _ => Failure::Broke(format!("io_uring: {error}")),
    }
}

impl Queue {
    /// Puts a request for the next block into a free slot.
    fn hand_in(&mut self, number: usize, site: &Site) -> Result<(), Failure> {
        let slot = &mut self.slots[number];
        slot.offset = self.walk.step();
        slot.began = site.stopwatch.now_ns();
        let request =
            opcode::Read::new(types::Fd(self.file.as_raw_fd()), slot.buffer.start(), self.block as u32)
                .offset(slot.offset)
                .build()
                .user_data(number as u64);
        // SAFETY: buffer and file live as long as the queue, and the slot is not used again before its completion.
        unsafe { self.ring.submission().push(&request) }
            .map_err(|_| Failure::Broke("the submission queue is full".to_owned()))?;
        self.flying += 1;
        if self.at_once {
            self.ring.submit().map_err(|error| refused(&error))?;
        }
        Ok(())
    }

    /// Waits for a completion, checks it, hands the next request in; how long it took, nanoseconds.
    fn next(&mut self, site: &Site) -> Result<f64, Failure> {
        let done = loop {
            // Taken out of its own statement: the queue must not be borrowed while the ring waits.
            let completed = self.ring.completion().next();
            match completed {
                Some(done) => break done,
                None => self.ring.submit_and_wait(1).map_err(|error| refused(&error))?,
            };
        };
        self.flying -= 1;
        let number = done.user_data() as usize;
        let took = site.stopwatch.now_ns() - self.slots[number].began;
        self.check(number, done.result())?;
        self.hand_in(number, site)?;
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
            "io_uring read a block that is not the one asked for: its stamp is another's",
        )
    }

    fn interval(&mut self, blocks: u64, site: &Site) -> Result<f64, Failure> {
        let began = site.stopwatch.now_ns();
        for _ in 0..blocks {
            self.next(site)?;
        }
        Ok((site.stopwatch.now_ns() - began) / blocks as f64)
    }
}

impl Drop for Queue {
    /// The kernel may still write into the buffers: they are given back only when nothing is in flight.
    fn drop(&mut self) {
        while self.flying > 0 {
            self.flying -= self.ring.completion().count().min(self.flying);
            if self.flying > 0 && self.ring.submit_and_wait(1).is_err() {
                // Better to keep the memory than to have it written by the device as somebody else's.
                std::mem::forget(std::mem::take(&mut self.slots));
                return;
            }
        }
    }
}
