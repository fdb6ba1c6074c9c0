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

/// Words on the present, and those of the report of a run on the time at which it began.
struct Wording {
    now: String,
    of_run: String,
}

impl Wording {
    fn of(now: impl Into<String>, of_run: impl Into<String>) -> Self {
        Wording { now: now.into(), of_run: of_run.into() }
    }
}

/// What is true of the machine at any time.
impl<Words: Into<String>> From<Words> for Wording {
    fn from(words: Words) -> Self {
        let words = words.into();
        Wording { now: words.clone(), of_run: words }
    }
}

/// What a check has found, in the words of either time.
struct DisturbingCondition {
    id: &'static str,
    problem: Wording,
    remedy: Wording,
}

fn warning(id: &'static str, problem: impl Into<Wording>, remedy: impl Into<Wording>) -> DisturbingCondition {
    DisturbingCondition { id, problem: problem.into(), remedy: remedy.into() }
}

impl Machine {
    /// All present conditions of this machine that may disturb a run.
    pub fn warnings(&self) -> Vec<Warning> {
        self.warned(|wording| wording.now)
    }

    /// The same once the run has ended, of the time at which it began.
    pub fn warnings_of_run(&self) -> Vec<Warning> {
        self.warned(|wording| wording.of_run)
    }

    fn warned(&self, words: impl Fn(Wording) -> String) -> Vec<Warning> {
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
        let warning = |DisturbingCondition { id, problem, remedy }| Warning {
            id: id.to_owned(),
            problem: words(problem),
            remedy: words(remedy),
        };
        checks.iter().filter_map(|check| check(self)).map(warning).collect()
    }
}
