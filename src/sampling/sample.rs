//! What one trial has found.

use super::conditions::Conditions;
use super::observations::Observations;
use super::occupancy::CoreReadings;
use super::on_cpu::OnCpu;
use crate::experiment::Counters;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What one trial has found.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Sample {
    /// The raw observations.
    pub observations: Observations,
    /// Operations that were timed, and that the counters ran around.
    pub operations: u64,
    /// Iterations of the baseline that the counters ran around as well.
    pub baseline_iterations: u64,
    /// What the kernel and the processor counted.
    pub counters: Counters,
    /// What the work itself counted, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub witnessed: BTreeMap<String, f64>,
    /// What its preparation has found, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub stated: BTreeMap<String, f64>,
    /// What disturbed it.
    pub conditions: Conditions,
    /// How long the measuring thread had its CPU; absent where that is what is asked, and in files of earlier programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_cpu: Option<OnCpu>,
    /// Whether the core worked for others as well; absent where it was not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core: Option<CoreReadings>,
    /// The CPU the work was pinned to; absent where it was free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<usize>,
    /// The CPU of the other side; absent where it was free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partner: Option<usize>,
}
