//! The results of measuring a program's own operations.

use super::operation::named;
use crate::record::Run;
use crate::results::{PointResult, Results};
use fathom_core::quantities;
use fathom_core::statistics;
use std::fmt;

/// The results of every operation. It is displayed with a line for each: the median with its 95 % interval, or its outcome
/// instead.
pub struct Measured {
    run: Run,
    results: Vec<PointResult>,
}

impl Measured {
    pub(super) fn of(run: Run) -> Self {
        let results = Results::of(&run).points;
        Measured { run, results }
    }

    /// The result of each operation, in their order.
    pub fn results(&self) -> &[PointResult] {
        &self.results
    }

    /// The result of an operation; `None` if none has this name.
    pub fn result(&self, name: &str) -> Option<&PointResult> {
        self.results.iter().find(|result| named(&result.experiment) == name)
    }

    /// The time of one operation over that of another, with its interval; `None` unless both have a value.
    pub fn ratio(&self, operation: &str, other: &str) -> Option<statistics::Measured> {
        let time = |name| Some(self.result(name)?.estimate()?.measured());
        statistics::ratio(time(operation)?, time(other)?)
    }

    /// The complete record: the machine, the clock, every trial with its observations and conditions.
    pub fn run(&self) -> &Run {
        &self.run
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for result in &self.results {
            let name = named(&result.experiment);
            match result.estimate() {
                Some(estimate) => {
                    writeln!(f, "{name}: {}", quantities::with_interval(result.unit, estimate))?;
                }
                None => writeln!(f, "{name}: {}", result.outcome.reason().unwrap_or_default())?,
            }
        }
        Ok(())
    }
}
