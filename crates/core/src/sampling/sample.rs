//! The results of one trial.

use super::conditions::Conditions;
use super::counters::OnCpu;
use super::device_reading::DeviceReadings;
use super::observations::Observations;
use super::occupancy::CoreReadings;
use crate::experiment::Counters;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The results of one trial.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sample {
    /// The raw observations.
    pub observations: Observations,
    /// Operations that were counted: those that were timed, and those of the beginning.
    pub operations: u64,
    /// Iterations of the baseline that the counters include as well.
    pub baseline_iterations: u64,
    /// The counts of the kernel and the processor.
    pub counters: Counters,
    /// Values that the work itself counted, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub witnessed: BTreeMap<String, f64>,
    /// Values that its preparation found, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub stated: BTreeMap<String, f64>,
    /// Disturbances of the trial.
    pub conditions: Conditions,
    /// The time that the measuring thread had its CPU; absent where this is the measured quantity, and in files of earlier
    /// programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_cpu: Option<OnCpu>,
    /// Whether the core also worked for others; absent where it was not observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core: Option<CoreReadings>,
    /// How soon the device answered around the observations; absent for work that does not wait for it, and where it could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<DeviceReadings>,
    /// How long the work took to become steady before it was observed; absent where this was not waited for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beginning: Option<Beginning>,
    /// The CPU to which the work was pinned; absent where it was free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<usize>,
    /// The CPU of the other side; absent where it was free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partner: Option<usize>,
}

/// The beginning of a trial's work, before its observations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Beginning {
    /// How long the cost of the work was not yet steady, nanoseconds, to within a window of 2.5 ms.
    pub lasted_ns: f64,
    /// How long the work was repeated before what is observed of it, nanoseconds; in files of earlier programs, until it was found to be
    /// steady.
    pub repeated_ns: f64,
    /// What an operation cost in the first 2.5 ms, as a multiple of its steady cost; `None` for runs of earlier programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_cost: Option<f64>,
}

/// Work that is ready to be observed.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SteadyWork {
    /// The beginning that it had; `None` for work that has none.
    pub beginning: Option<Beginning>,
    /// The operations of the beginning.
    pub operations: u64,
}

impl SteadyWork {
    /// With further operations that were not timed.
    pub(super) fn and(self, operations: u64) -> Self {
        SteadyWork { operations: self.operations + operations, ..self }
    }

    /// With so many operations for each iteration.
    pub(super) fn times(self, per_iteration: u64) -> Self {
        SteadyWork { operations: self.operations * per_iteration, ..self }
    }
}
