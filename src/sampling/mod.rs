//! The only code that reads a clock, forks, pins or counts in order to measure.

pub mod affinity;
pub(crate) mod child;
pub mod clock;
mod conditions;
mod counters;
mod frequency;
pub(crate) mod gaps;
mod observations;
mod observe;
pub(crate) mod occupancy;
mod on_cpu;
mod outcome;
pub(crate) mod own_folder;
pub(crate) mod owner;
pub(crate) mod partner;
pub(crate) mod preparing;
mod qualify;
mod sample;
pub(crate) mod shared_memory;
mod stopwatch;
mod tracer;
mod trial;
pub(crate) mod turn;

pub use clock::ClockKind;
pub use conditions::{Conditions, Snapshot};
pub use frequency::observe_core;
pub use observations::Observations;
pub use observe::{Found, Sampler};
pub use occupancy::{CoreReadings, CoreWait};
pub use on_cpu::OnCpu;
pub use outcome::TrialOutcome;
pub use qualify::Qualification;
pub use sample::Sample;
pub use stopwatch::SharedStopwatch;
pub use trial::{Block, Request, Setting, Visit, Visited, at_site};
