//! The clock for the work's own use: a shared-memory mark for operations that end in another thread or process, and a loop that
//! only reads the clock.

use super::clock::{Clock, ClockKind, Counter, MonotonicRaw, overhead};
use super::shared_memory::shared_memory;
use super::{gaps, occupancy};
use crate::experiment::{CoreWidth, Spin, Stopwatch};
use std::sync::atomic::{AtomicU64, Ordering};

/// A clock with a mark in memory that forked children share.
pub struct SharedStopwatch {
    finish: &'static AtomicU64,
    kind: ClockKind,
    ticks_per_second: f64,
    /// The clock's reading when the stopwatch was created.
    began: u64,
}

impl SharedStopwatch {
    /// Maps the shared memory; it stays mapped until the process ends.
    pub fn new(kind: ClockKind, ticks_per_second: f64) -> std::io::Result<Self> {
        Ok(SharedStopwatch { finish: shared_memory()?, kind, ticks_per_second, began: read(kind) })
    }

    /// Clears the mark before an operation.
    pub fn clear(&self) {
        self.finish.store(0, Ordering::Release);
    }

    /// The clock's reading at the mark; `None` if it was not stamped.
    pub fn ticks(&self) -> Option<u64> {
        let ticks = self.finish.load(Ordering::Acquire);
        (ticks != 0).then_some(ticks)
    }

    fn spin_on<C: Clock>(&self, clock: &C, duration_ns: f64) -> Spin {
        gaps::spin(clock, self.ticks_per_second, overhead(clock), duration_ns)
    }
}

#[inline]
fn read(kind: ClockKind) -> u64 {
    match kind {
        ClockKind::Counter => Counter.stop().ticks,
        ClockKind::MonotonicRaw => MonotonicRaw.stop().ticks,
    }
}

impl Stopwatch for SharedStopwatch {
    #[inline]
    fn stamp(&self) {
        self.finish.store(read(self.kind), Ordering::Release);
    }

    fn now_ns(&self) -> f64 {
        // Since the creation: a counter of years has too many digits for a floating-point number.
        read(self.kind).wrapping_sub(self.began) as i64 as f64 / self.ticks_per_second * 1e9
    }

    fn spin(&self, duration_ns: f64) -> Spin {
        match self.kind {
            ClockKind::Counter => self.spin_on(&Counter, duration_ns),
            ClockKind::MonotonicRaw => self.spin_on(&MonotonicRaw, duration_ns),
        }
    }

    fn core(&self) -> CoreWidth {
        let reading = occupancy::read_with(self.kind, 1);
        let stream_ns = f64::from(reading[0]) / self.ticks_per_second * 1e9;
        CoreWidth { addition_ns: stream_ns / occupancy::ADDITIONS, quotient: occupancy::quotient(reading) }
    }
}
