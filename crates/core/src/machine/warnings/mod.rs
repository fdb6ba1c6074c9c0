//! Conditions that may disturb a run on this machine, each reported once, with the remedy. An unknown fact is no problem by
//! itself: a virtual machine without a frequency driver gets no warning about its governor.

mod processor;
mod system;

pub use system::is_loaded;

use super::Machine;
use serde::{Deserialize, Serialize};

/// One possible disturbance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Warning {
    /// A short name that does not change (`governor`, `cpu-quota`).
    pub id: String,
    /// The problem, and its effect on results.
    pub problem: String,
    /// The remedy.
    pub remedy: String,
}

fn warning(id: &str, problem: impl Into<String>, remedy: impl Into<String>) -> Warning {
    Warning { id: id.to_owned(), problem: problem.into(), remedy: remedy.into() }
}

impl Machine {
    /// All present conditions of this machine that may disturb a run.
    pub fn warnings(&self) -> Vec<Warning> {
        let checks = [
            processor::unoptimised,
            processor::governor,
            processor::turbo,
            processor::battery,
            processor::hot,
            processor::idle_exit,
            processor::smt,
            processor::classes,
            processor::emulated,
            system::steal,
            system::quota,
            system::load,
            system::pressure,
            system::swap,
            system::clocksource,
            system::tick_counter,
            system::counters,
            system::unbalanced,
            system::empty_channels,
            system::memory_errors,
            system::debug_kernel,
            system::folder_in_memory,
            system::little_space,
        ];
        checks.iter().filter_map(|check| check(self)).collect()
    }
}
