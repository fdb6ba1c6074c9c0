//! The beginning of work that wakes another CPU or adapts: it is repeated until its cost is steady, and only then observed.
//!
//! A host's halt polling, the kernel's idle governor and the frequency of an idle core adapt to how work sleeps and wakes, within
//! some tens of milliseconds. What a trial of 20 ms finds is then the beginning, and what one of 400 ms finds is not.

use super::clock::Clock;
use super::observe::Sampler;
use super::sample::Beginning;
use crate::experiment::{Failure, Shared, Work, Workload};
use crate::statistics::{self, settled_from};

/// The length of the windows whose medians are compared, nanoseconds.
const WINDOW_NS: f64 = 2.5e6;

/// Windows that the first work of a process takes at least: of a step after tens of milliseconds, nothing shows before.
const FIRST_WINDOWS: usize = 40;

/// Windows of later work of the same process, whose CPUs were woken from each other just before.
const LATER_WINDOWS: usize = 8;

/// The longest beginning, nanoseconds.
const MOST_NS: f64 = 1e9;

/// A process whose work on two CPUs has once become steady: made once for all points of a block.
struct SteadyProcess;

impl<C: Clock> Sampler<'_, C> {
    /// Repeats the work until its cost is steady; a process does so at length only once.
    ///
    /// # Errors
    /// [`Failure::Broke`] if it is not steady after a second: what would be observed is its beginning.
    pub(super) fn settle(&self, workload: &mut Workload, shared: &Shared) -> Result<Beginning, Failure> {
        let mut first = None;
        shared.get_or_make(|| {
            first = Some(self.repeat_until_steady(workload, FIRST_WINDOWS)?);
            Ok(SteadyProcess)
        })?;
        first.map_or_else(|| self.repeat_until_steady(workload, LATER_WINDOWS), Ok)
    }

    fn repeat_until_steady(&self, workload: &mut Workload, fewest: usize) -> Result<Beginning, Failure> {
        let each = workload.each;
        match &mut workload.work {
            Work::Timed { operation, .. } => {
                let batch = self.batch(operation.as_mut(), each)?;
                self.until_steady(&mut || operation.run(batch), fewest)
            }
            Work::Marked(operation) => self.until_steady(&mut || operation.run(1), fewest),
            Work::Recorded(observe) => self.until_steady(&mut || observe().map(drop), fewest),
            Work::Figures(observe) => self.until_steady(&mut || observe().map(drop), fewest),
        }
    }

    fn until_steady(
        &self,
        once: &mut dyn FnMut() -> Result<(), Failure>,
        fewest: usize,
    ) -> Result<Beginning, Failure> {
        let (mut medians, mut ends, mut repeated_ns) = (vec![], vec![0.0], 0.0);
        while repeated_ns < MOST_NS {
            let (median, took_ns) = self.window(once)?;
            repeated_ns += took_ns;
            medians.push(median);
            ends.push(repeated_ns);
            let from = settled_from(&medians).filter(|_| medians.len() >= fewest);
            if let Some(from) = from {
                let steady = statistics::median(&medians[from..]);
                let first_cost = steady.map(|steady| medians[0] / steady);
                return Ok(Beginning { lasted_ns: ends[from], repeated_ns, first_cost });
            }
        }
        Err(Failure::Broke(format!(
            "it was not steady after {}: only its beginning could be observed",
            crate::quantities::duration(MOST_NS / 1e9)
        )))
    }

    /// The median time of the repetitions of a window, ticks, and the time that it took, nanoseconds.
    fn window(&self, once: &mut dyn FnMut() -> Result<(), Failure>) -> Result<(f64, f64), Failure> {
        let (began, mut times) = (self.clock.stop(), vec![]);
        loop {
            let start = self.clock.start();
            once()?;
            let end = self.clock.stop();
            times.push(end.since(start).0 as f64);
            let took_ns = end.since(began).0 as f64 / self.ticks_per_second * 1e9;
            if took_ns >= WINDOW_NS {
                return Ok((statistics::median(&times).unwrap_or_default(), took_ns));
            }
        }
    }
}
