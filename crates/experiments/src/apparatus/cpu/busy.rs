//! Processes that only compute, so many on each CPU, under a scheduling policy. They die with the trial.

use fathom_core::prelude::*;
use fathom_core::sampling::partner::PartnerProcess;
use fathom_core::sampling::shared_memory::{Shareable, shared_memory};
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The most processes of a load.
const MOST: usize = 4096;

/// Steps between two reports of a process: some microseconds.
const STEPS: u64 = 4096;

/// The time between two looks at whether all of them run.
const POLL_INTERVAL: Duration = Duration::from_micros(500);

/// The policies of sched(7) that need no privilege.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadPolicy {
    Other,
    Batch,
    Idle,
}

impl LoadPolicy {
    pub const ALL: [LoadPolicy; 3] = [LoadPolicy::Other, LoadPolicy::Batch, LoadPolicy::Idle];

    pub const fn name(self) -> &'static str {
        match self {
            LoadPolicy::Other => "SCHED_OTHER",
            LoadPolicy::Batch => "SCHED_BATCH",
            LoadPolicy::Idle => "SCHED_IDLE",
        }
    }

    const fn number(self) -> libc::c_int {
        match self {
            LoadPolicy::Other => libc::SCHED_OTHER,
            LoadPolicy::Batch => libc::SCHED_BATCH,
            LoadPolicy::Idle => libc::SCHED_IDLE,
        }
    }
}

/// The reports of a process, on cache lines of its own: other CPUs read them.
#[repr(align(128))]
struct BusyLane(AtomicU64);

struct BusyBoard {
    lanes: [BusyLane; MOST],
}

// SAFETY: only atomics, for which zero is a valid value.
unsafe impl Shareable for BusyBoard {}

/// A load on all CPUs; it ends when this is dropped, or with the trial.
pub struct Busy {
    board: &'static BusyBoard,
    processes: Vec<PartnerProcess>,
}

impl Busy {
    /// Starts so many processes on each of these CPUs, and returns when each of them has run.
    pub fn start(cpus: &[usize], on_each: usize, policy: LoadPolicy) -> Result<Self, Failure> {
        let needed = cpus.len() * on_each;
        if needed > MOST {
            return Err(Failure::Unsupported(format!("no more than {MOST} busy processes are started")));
        }
        let board: &'static BusyBoard =
            shared_memory().map_err(|error| Failure::Broke(format!("shared memory: {error}")))?;
        let places = cpus.iter().flat_map(|cpu| std::iter::repeat_n(*cpu, on_each));
        let start = |(cpu, lane): (usize, &'static BusyLane)| {
            PartnerProcess::start(Some(cpu), move || {
                take(policy)?;
                compute(&lane.0)
            })
        };
        let processes = places.zip(&board.lanes).map(start).collect::<Result<Vec<_>, _>>()?;
        let busy = Busy { board, processes };
        while busy.steps().contains(&0) {
            std::thread::sleep(POLL_INTERVAL);
        }
        Ok(busy)
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.processes.len()
    }

    /// How far each of them has come.
    pub fn steps(&self) -> Vec<u64> {
        self.board.lanes[..self.count()].iter().map(|lane| lane.0.load(Ordering::Relaxed)).collect()
    }

    /// How many have this policy, as the kernel tells.
    pub fn under(&self, policy: LoadPolicy) -> usize {
        // SAFETY: takes a number.
        let is_under =
            |process: &&PartnerProcess| unsafe { libc::sched_getscheduler(process.id()) } == policy.number();
        self.processes.iter().filter(is_under).count()
    }
}

fn take(policy: LoadPolicy) -> Result<(), Failure> {
    let parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: valid parameters for this process.
    let set = unsafe { libc::sched_setscheduler(0, policy.number(), &raw const parameters) };
    errno("sched_setscheduler of a busy process", set).map(drop)
}

/// Computes for ever. No pause: a virtual machine may leave its CPU for one.
fn compute(lane: &AtomicU64) -> Result<(), Failure> {
    let mut sum = 1_u64;
    loop {
        steps(STEPS, &mut sum);
        lane.fetch_add(1, Ordering::Relaxed);
    }
}

/// So many multiplications, each of which needs the one before.
pub fn steps(count: u64, sum: &mut u64) {
    for _ in 0..count {
        *sum = black_box(sum.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::sampling::affinity;

    #[test]
    fn a_load_runs_under_its_policy_until_it_is_dropped() {
        let cpu = affinity::current()[0];
        let busy = Busy::start(&[cpu], 2, LoadPolicy::Idle).unwrap();
        assert_eq!((busy.count(), busy.under(LoadPolicy::Idle), busy.under(LoadPolicy::Other)), (2, 2, 0));
        let (before, board) = (busy.steps(), busy.board);
        while busy.steps().iter().zip(&before).any(|(now, before)| now <= before) {
            std::thread::sleep(POLL_INTERVAL);
        }
        drop(busy);
        let at_rest =
            || board.lanes[..2].iter().map(|lane| lane.0.load(Ordering::Relaxed)).collect::<Vec<_>>();
        let ended = at_rest();
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(at_rest(), ended);
    }
}
