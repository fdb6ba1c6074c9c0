//! What precedes the observations of timed work: its batch, the wait for a core of its own, and visits of its memory.

use super::clock::Clock;
use super::observe::Sampler;
use super::occupancy;
use crate::experiment::{Failure, Operation};

/// The minimum length of a batch as a multiple of the clock's cost, which is then under one percent of it.
const BATCH_OVER_CLOCK: f64 = 200.0;

/// The minimum length of a batch; still short compared with a timer tick, so that most batches meet no interrupt.
const BATCH_NS: f64 = 20_000.0;

/// Maximum share of a trial's time for warming up.
const WARM_UP_SHARE: f64 = 0.1;

/// Consecutive readings that must find the core alone before short work begins: the time of a few batches. Work on the other
/// hardware thread pauses for microseconds at a time without having ended.
const READINGS_ALONE: u32 = 128;

/// Visits of its memory after which nothing changes any more for work that goes through it again and again. What one visit leaves
/// in the caches is not what such work finds. A cache that several cores share keeps lines by how often they are used, and gives
/// each core, or each guest, a part: lines may be kept after ten visits only, or all be there when they were just written and be
/// lost in the next ones.
const VISITS: u32 = 32;

/// The time of visits beyond which none begins, nanoseconds. Memory of which one takes longer is more than caches hold: what any
/// visit leaves behind, the preparation left behind too.
const VISITS_NS: f64 = 50e6;

/// Timed work that is ready to be observed.
pub(super) struct ReadyWork {
    /// Iterations between two clock readings.
    pub batch: u64,
    /// The ticks that so many take at their quickest.
    pub quickest: i64,
    /// The time that its core was waited for, nanoseconds.
    pub waited_ns: u64,
    /// How often all of its memory was visited, if it goes through it again and again.
    pub visits: Option<u32>,
}

impl<C: Clock> Sampler<'_, C> {
    /// Finds the batch and waits for the core. Work of which `visit` iterations go through all of its memory does so until the
    /// caches have adapted to it, with the core that was waited for.
    pub(super) fn ready(
        &self,
        operation: &mut (dyn Operation + '_),
        each: bool,
        visit: Option<u64>,
    ) -> Result<ReadyWork, Failure> {
        let Some(iterations) = visit else {
            let (batch, quickest) = self.batch(operation, each)?;
            return Ok(ReadyWork { batch, quickest, waited_ns: self.wait()?, visits: None });
        };
        let waited_ns = self.wait()?;
        let (batch, quickest) = self.batch(operation, each)?;
        let visits = self.visits(operation, iterations, quickest as f64 / batch as f64)?;
        // What is in the caches now takes fewer ticks than what was not.
        let (batch, quickest) = if visits > 0 { self.batch(operation, each)? } else { (batch, quickest) };
        Ok(ReadyWork { batch, quickest, waited_ns, visits: Some(visits) })
    }

    /// Visits all of the memory of work, with these iterations at these ticks each, again and again; returns how often.
    fn visits(
        &self,
        operation: &mut (dyn Operation + '_),
        iterations: u64,
        ticks: f64,
    ) -> Result<u32, Failure> {
        let most = self.ticks(VISITS_NS);
        if iterations as f64 * ticks > most as f64 {
            return Ok(0);
        }
        let (began, mut visits) = (self.clock.stop(), 0);
        while visits < VISITS && self.clock.stop().since(began).0 < most {
            operation.run(iterations)?;
            visits += 1;
        }
        Ok(visits)
    }

    /// Iterations between two clock readings: doubled until they last long enough, which also warms up. The fastest of three
    /// counts, because an interruption would make a batch of one appear long enough. With the ticks that so many take at their quickest.
    fn batch(&self, operation: &mut (dyn Operation + '_), each: bool) -> Result<(u64, i64), Failure> {
        let warm_up = self.ticks(self.duration_ns as f64 * WARM_UP_SHARE);
        let long = ((self.reading_ticks * BATCH_OVER_CLOCK) as i64).max(self.ticks(BATCH_NS));
        let began = self.clock.stop();
        let (mut n, mut quickest) = (1, i64::MAX);
        loop {
            for _ in 0..3 {
                let (elapsed, now) = self.time(operation, n)?;
                quickest = quickest.min(elapsed);
                if each && now.since(began).0 >= warm_up {
                    return Ok((1, quickest));
                }
            }
            if !each && quickest >= long {
                let share = long as f64 / quickest as f64;
                return Ok(((n as f64 * share).ceil().max(1.0) as u64, long));
            }
            if !each {
                (n, quickest) = (2 * n, i64::MAX);
            }
        }
    }

    /// Waits until the core is alone, if that is wanted, at most until the limit; returns the time waited, nanoseconds.
    /// [`Failure::CoreShared`] if it was in vain and the trial can be made at another moment.
    pub(super) fn wait(&self) -> Result<u64, Failure> {
        let Some(wait) = self.core_wait else { return Ok(0) };
        let (began, most) = (self.clock.stop(), self.ticks(wait.most_ns as f64));
        let mut calm = 0;
        loop {
            let alone =
                occupancy::quotient(occupancy::read(self.clock, self.reading_times)) <= wait.alone_up_to;
            calm = if alone { calm + 1 } else { 0 };
            let waited = self.clock.stop().since(began).0;
            if calm >= READINGS_ALONE || (waited >= most && !wait.puts_back) {
                return Ok((waited as f64 / self.ticks_per_second * 1e9) as u64);
            }
            if waited >= most {
                return Err(Failure::CoreShared);
            }
        }
    }
}
