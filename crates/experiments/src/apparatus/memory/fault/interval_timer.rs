//! The time of a stretch of work between two readings of the stopwatch, for observations whose preparation is not timed.

use fathom_core::sorting;

use fathom_core::prelude::*;

/// Pairs of readings from which their cost is found.
const PAIRS: usize = 63;

/// The stopwatch with the cost of its two readings.
pub struct IntervalTimer<'site> {
    stopwatch: &'site dyn Stopwatch,
    cost_ns: f64,
}

impl<'site> IntervalTimer<'site> {
    /// Readings of the clock per stretch.
    pub const READINGS: usize = 2;

    /// Measures the cost of a pair of readings back to back: the median.
    pub fn new(site: &'site Site) -> Self {
        let mut timer = IntervalTimer { stopwatch: site.stopwatch, cost_ns: 0.0 };
        let mut pairs: Vec<f64> = (0..PAIRS).map(|_| timer.between(|| ())).collect();
        sorting::numbers(&mut pairs);
        timer.cost_ns = pairs[PAIRS / 2];
        timer
    }

    /// Nanoseconds of `work`, less the cost of the two readings.
    pub fn of(&self, work: impl FnOnce() -> Result<(), Failure>) -> Result<f64, Failure> {
        let mut outcome = Ok(());
        let elapsed = self.between(|| outcome = work());
        outcome.map(|()| elapsed - self.cost_ns)
    }

    #[inline]
    fn between(&self, work: impl FnOnce()) -> f64 {
        let began = self.stopwatch.now_ns();
        work();
        self.stopwatch.now_ns() - began
    }
}
