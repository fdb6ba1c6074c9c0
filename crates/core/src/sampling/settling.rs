//! The beginning of work that wakes another CPU or adapts: it is repeated until its cost is steady, and only then observed.
//!
//! A host's halt polling, the kernel's idle governor and the frequency of an idle core adapt to how work sleeps and wakes, within
//! some tens of milliseconds. What a trial of 20 ms finds is then the beginning, and what one of 400 ms finds is not.

use super::clock::Clock;
use super::observe::Sampler;
use super::occupancy;
use super::sample::{Beginning, SteadyWork};
use crate::experiment::{Failure, ObservedFrom};
use crate::statistics::{self, settled_from};

/// The length of the windows whose medians are compared, nanoseconds.
const WINDOW_NS: f64 = 2.5e6;

/// Windows that the first work of a process takes at least: of a step after tens of milliseconds, nothing shows before.
const FIRST_WINDOWS: usize = 40;

/// Windows of later work of the same process. Work with a partner process is in no block, because each partner has a beginning of
/// its own.
const LATER_WINDOWS: usize = 8;

/// Windows in a row after each of which the beginning must have ended: the rule is asked after every window, and one answer in the
/// middle of a slow rise may be chance.
const AGREEING_WINDOWS: usize = 4;

/// The longest beginning, nanoseconds.
const MOST_NS: f64 = 1e9;

/// A process whose work has once become steady: made once for all points of a block.
struct SteadyProcess;

struct TimedWindow {
    /// The median time of its repetitions, ticks.
    median: f64,
    took_ns: f64,
    operations: u64,
}

impl<C: Clock> Sampler<'_, C> {
    /// Repeats work that adapts until its cost is steady, just before it is observed, and in the same way: a pause of
    /// milliseconds, or another rhythm, may begin it again. A process does so at length only once. `once` does
    /// the work once and returns how many operations it were; their sum comes with the beginning.
    ///
    /// # Errors
    /// [`Failure::Broke`] if it is not steady after a second: what would be observed is its beginning.
    pub(super) fn settle(
        &self,
        observed: ObservedFrom,
        once: &mut dyn FnMut() -> Result<u64, Failure>,
    ) -> Result<SteadyWork, Failure> {
        if observed == ObservedFrom::ItsBeginning {
            return Ok(SteadyWork::default());
        }
        let mut first = None;
        self.shared.get_or_make(|| {
            first = Some(self.until_steady(once, FIRST_WINDOWS)?);
            Ok(SteadyProcess)
        })?;
        first.map_or_else(|| self.until_steady(once, LATER_WINDOWS), Ok)
    }

    fn until_steady(
        &self,
        once: &mut dyn FnMut() -> Result<u64, Failure>,
        fewest: usize,
    ) -> Result<SteadyWork, Failure> {
        let (mut medians, mut ends, mut repeated_ns, mut operations) = (vec![], vec![0.0], 0.0, 0);
        let mut agreeing = 0;
        while repeated_ns < MOST_NS {
            let window = self.window(once)?;
            repeated_ns += window.took_ns;
            operations += window.operations;
            medians.push(window.median);
            ends.push(repeated_ns);
            let from = settled_from(&medians).filter(|_| medians.len() >= fewest);
            agreeing = if from.is_some() { agreeing + 1 } else { 0 };
            if let Some(from) = from.filter(|_| agreeing >= AGREEING_WINDOWS) {
                let steady = statistics::median(&medians[from..]);
                let first_cost = steady.map(|steady| medians[0] / steady);
                let beginning = Beginning { lasted_ns: ends[from], repeated_ns, first_cost };
                return Ok(SteadyWork { beginning: Some(beginning), operations });
            }
        }
        Err(Failure::Broke(format!(
            "it was not steady after {}: only its beginning could be observed",
            crate::quantities::duration(MOST_NS / 1e9)
        )))
    }

    /// The repetitions of a window, with a reading of the core after each, as there is between observations.
    fn window(&self, once: &mut dyn FnMut() -> Result<u64, Failure>) -> Result<TimedWindow, Failure> {
        let (began, mut times, mut operations) = (self.clock.stop(), vec![], 0);
        loop {
            let start = self.clock.start();
            operations += once()?;
            let end = self.clock.stop();
            times.push(end.since(start).0 as f64);
            occupancy::read(self.clock, self.reading_times);
            let took_ns = end.since(began).0 as f64 / self.ticks_per_second * 1e9;
            if took_ns >= WINDOW_NS {
                let median = statistics::median(&times).unwrap_or_default();
                return Ok(TimedWindow { median, took_ns, operations });
            }
        }
    }
}
