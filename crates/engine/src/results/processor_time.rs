//! The distribution of an operation's time: running or waiting.

use crate::record::Run;
use fathom_core::sampling::{Observations, Sample};

/// If the processor time exceeds the time that passed by this factor, work between the observations was counted as well.
const COUNTED_BESIDES: f64 = 1.05;

/// The time of one operation, and the part of it in which the process ran, with its threads and reaped children.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProcessorTime {
    /// Mean time that passed, nanoseconds.
    pub passed_ns: f64,
    /// The part in which the process ran, nanoseconds.
    pub ran_ns: f64,
}

impl ProcessorTime {
    /// From the counters around the samples of a point; `None` if these include more than the operations: a baseline, or
    /// work that was not timed.
    pub fn of(run: &Run, measured: &[&Sample]) -> Option<Self> {
        if measured.iter().any(|sample| sample.baseline_iterations > 0) {
            return None;
        }
        let times: Vec<Vec<f64>> = measured.iter().map(|sample| times(run, sample)).collect::<Option<_>>()?;
        let passed: f64 = times.iter().flatten().sum();
        let count = times.iter().map(Vec::len).sum::<usize>();
        let operations: f64 = measured.iter().map(|sample| sample.operations as f64).sum();
        let user: f64 = measured.iter().map(|sample| sample.counters.user_ns as f64).sum();
        let system: f64 = measured.iter().map(|sample| sample.counters.system_ns as f64).sum();
        if count == 0 || operations == 0.0 {
            return None;
        }
        let passed_ns = passed / count as f64;
        // The thread's own time is exact, but is not that of its children.
        let ran_ns = ((user + system) / operations).max(of_thread(measured) * passed_ns);
        (passed_ns > 0.0 && ran_ns <= COUNTED_BESIDES * passed_ns)
            .then(|| ProcessorTime { passed_ns, ran_ns: ran_ns.min(passed_ns) })
    }

    /// Time in which the process did not run, nanoseconds.
    pub fn waited_ns(&self) -> f64 {
        self.passed_ns - self.ran_ns
    }
}

/// The least share of the time in which the measuring thread ran, over the trials; 0 if it is not known of all.
fn of_thread(measured: &[&Sample]) -> f64 {
    let shares = measured.iter().map(|sample| sample.on_cpu.map_or(0.0, |on_cpu| on_cpu.share()));
    shares.reduce(f64::min).unwrap_or(0.0)
}

/// The times of a sample's operations, nanoseconds; `None` for numbers that were not timed by a clock around the work.
fn times(run: &Run, sample: &Sample) -> Option<Vec<f64>> {
    match &sample.observations {
        Observations::Ticks { .. } => {
            let unit = fathom_core::quantity::Unit::Nanoseconds;
            Some(sample.observations.operation(unit, run.header.clock.ticks_per_second))
        }
        Observations::Values { .. } => None,
    }
}
