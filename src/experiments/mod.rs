//! The questions, each a file, or a file and its folder; the registry of the families, in the order of every report.
//!
//! Adding an experiment is one file and two lines in its family's `mod.rs`.

pub mod cpu;
mod device_facts;
pub mod filesystem;
#[cfg(target_arch = "x86_64")]
mod listing;
pub mod memory;
pub mod network;

use crate::experiment::Experiment;

/// Every experiment, in the order of the report.
pub fn all() -> impl Iterator<Item = &'static dyn Experiment> {
    let families = [cpu::EXPERIMENTS, memory::EXPERIMENTS, network::EXPERIMENTS, filesystem::EXPERIMENTS];
    families.into_iter().flatten().copied()
}

/// The experiment of this name.
pub fn find(name: &str) -> Option<&'static dyn Experiment> {
    all().find(|experiment| experiment.about().name == name)
}
