//! The raw observations of a trial, and their values per operation.

use crate::quantity::{Kind, Unit};
use serde::{Deserialize, Serialize};

impl Default for Observations {
    fn default() -> Self {
        Observations::Values { values: vec![] }
    }
}

/// The raw observations of one trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(!try_from))]
#[serde(tag = "form", rename_all = "snake_case", try_from = "ObservationFields")]
pub enum Observations {
    /// Times between two clock readings.
    Ticks {
        /// Operations between the two readings.
        operations: u64,
        /// Whether every iteration is an observation of its own, so that percentiles are those of operations.
        each: bool,
        /// Ticks between two readings back to back, in this process: part of every observation.
        overhead_ticks: f64,
        /// Time in each observation that is not part of the operation, nanoseconds: the time for which a sleeper had asked to
        /// sleep.
        beyond_ns: f64,
        /// Elapsed ticks, in the order of observation.
        operation: Vec<i64>,
        /// Elapsed ticks of as many iterations of the baseline, interleaved; empty where there is none.
        baseline: Vec<i64>,
    },
    /// Results returned by the work itself, in the point's unit.
    Values {
        /// The values, in the order of observation.
        values: Vec<f64>,
    },
}

/// The fields of observations as they are read, for the reason for which outcomes have theirs.
#[derive(Deserialize)]
struct ObservationFields {
    form: ObservationForm,
    operations: Option<u64>,
    each: Option<bool>,
    overhead_ticks: Option<f64>,
    beyond_ns: Option<f64>,
    operation: Option<Vec<i64>>,
    baseline: Option<Vec<i64>>,
    values: Option<Vec<f64>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum ObservationForm {
    Ticks,
    Values,
}

impl TryFrom<ObservationFields> for Observations {
    type Error = &'static str;

    fn try_from(fields: ObservationFields) -> Result<Self, Self::Error> {
        let complete = match fields.form {
            ObservationForm::Values => fields.values.map(|values| Self::Values { values }),
            ObservationForm::Ticks => fields.ticks(),
        };
        complete.ok_or("observations lack a field")
    }
}

impl ObservationFields {
    /// Times between two clock readings; `None` where a field is missing.
    fn ticks(self) -> Option<Observations> {
        Some(Observations::Ticks {
            operations: self.operations?,
            each: self.each?,
            overhead_ticks: self.overhead_ticks?,
            beyond_ns: self.beyond_ns?,
            operation: self.operation?,
            baseline: self.baseline?,
        })
    }
}

impl Observations {
    /// The operation's observations in the point's unit, per operation: the readings, less the clock's cost and less time that is
    /// not part of the operation. For a rate one operation is one byte, and every time is converted to bytes per second. Nothing
    /// is clamped.
    pub fn operation(&self, unit: Unit, ticks_per_second: f64) -> Vec<f64> {
        match self {
            Observations::Ticks { operation, beyond_ns, .. } => {
                let times = self.per_operation(operation, *beyond_ns, ticks_per_second);
                match unit.kind() {
                    Kind::Rate => times.iter().map(|ns| 1e9 / ns).collect(),
                    Kind::Cost | Kind::Size => times,
                }
            }
            Observations::Values { values } => values.clone(),
        }
    }

    /// The baseline's observations per operation, in nanoseconds; empty if there is none.
    pub fn baseline(&self, ticks_per_second: f64) -> Vec<f64> {
        match self {
            Observations::Ticks { baseline, .. } => self.per_operation(baseline, 0.0, ticks_per_second),
            Observations::Values { .. } => vec![],
        }
    }

    fn per_operation(&self, elapsed: &[i64], beyond_ns: f64, ticks_per_second: f64) -> Vec<f64> {
        let Observations::Ticks { operations, overhead_ticks, .. } = self else { return vec![] };
        let one = |ticks: &i64| {
            let ns = (*ticks as f64 - overhead_ticks) / ticks_per_second * 1e9;
            (ns - beyond_ns) / *operations as f64
        };
        elapsed.iter().map(one).collect()
    }

    /// The number of observations.
    pub fn len(&self) -> usize {
        match self {
            Observations::Ticks { operation, .. } => operation.len(),
            Observations::Values { values } => values.len(),
        }
    }

    /// The number of readings of the clock, of the operation and of its baseline.
    pub fn timed(&self) -> usize {
        match self {
            Observations::Ticks { operation, baseline, .. } => operation.len() + baseline.len(),
            Observations::Values { values } => values.len(),
        }
    }

    /// Whether there are no observations.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_become_nanoseconds_of_one_operation_by_the_frequency_of_the_clock() {
        let observations = Observations::Ticks {
            operations: 2,
            each: false,
            overhead_ticks: 50.0,
            beyond_ns: 20.0,
            operation: vec![550],
            baseline: vec![300],
        };
        // 500 ticks at 2.5 GHz are 200 ns, of which 20 are not part of the operation.
        assert_eq!(observations.operation(Unit::Nanoseconds, 2.5e9), [90.0]);
        assert_eq!(observations.operation(Unit::BytesPerSecond, 2.5e9), [1e9 / 90.0]);
        assert_eq!(observations.baseline(2.5e9), [50.0]);
    }
}
