//! Counting system calls by tracing: an independent witness that an operation enters the kernel as often as claimed.

use crate::experiment::{Failure, TRACED_CALLS, TRACED_OPERATIONS, TRACING_REFUSED, Work, Workload};
use crate::os::{Uncounted, traced};

/// Traced iterations: enough for a whole number per operation, few enough to cost half a millisecond.
const ITERATIONS: u64 = 16;

/// Traced calls of recorded work, whose untimed preparation may take milliseconds.
const RECORDINGS: u64 = 2;

/// The result of tracing a workload.
#[derive(Debug, Default)]
pub struct Traced {
    /// Counts for its evidence, by name.
    pub counts: Vec<(String, f64)>,
    /// The error of a kernel that refuses tracing, by name.
    pub refused: Option<(String, f64)>,
}

/// Counts the system calls of a workload that requests it.
pub fn witness(workload: &mut Workload) -> Traced {
    let (counted, iterations) = match (&mut workload.work, workload.traced) {
        (Work::Timed { operation, .. }, true) => (count(|| operation.run(ITERATIONS)), ITERATIONS),
        (Work::Recorded(observe), true) => {
            (count(|| (0..RECORDINGS).try_for_each(|_| observe().map(drop))), RECORDINGS)
        }
        _ => return Traced::default(),
    };
    match counted {
        Ok(calls) => {
            let operations = (iterations * workload.per_iteration) as f64;
            let counts = [(TRACED_CALLS, calls as f64), (TRACED_OPERATIONS, operations)];
            let counts = counts.map(|(name, count)| (name.to_owned(), count)).to_vec();
            Traced { counts, refused: None }
        }
        Err(Uncounted::Refused(error)) => {
            Traced { counts: vec![], refused: Some((TRACING_REFUSED.to_owned(), f64::from(error))) }
        }
        Err(Uncounted::Broke) => Traced::default(),
    }
}

/// System calls of `work` in a forked copy of this process; those of a copy without work are subtracted.
fn count(work: impl FnOnce() -> Result<(), Failure>) -> Result<u64, Uncounted> {
    let idle = traced(|| Ok::<(), Failure>(()))?;
    let busy = traced(work)?;
    busy.checked_sub(idle).ok_or(Uncounted::Broke)
}
