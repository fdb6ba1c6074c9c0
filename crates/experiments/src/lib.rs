//! The experiments, each a file, or a file and its folder; and the registry of their families, in the order of every report.
//!
//! Adding an experiment takes one file and two lines in its family's `mod.rs`.

#![deny(clippy::disallowed_macros)]

pub mod cpu;
mod core_facts;
mod device_facts;
pub(crate) mod filesystem;
mod lasting;
mod listing;
pub mod memory;
pub mod network;
mod rule_of_thumb;

use fathom_core::experiment::{Experiment, registry};

/// Every experiment of `fathom run`, in the order of the report.
pub fn all() -> impl Iterator<Item = &'static dyn Experiment> {
    let families = [cpu::EXPERIMENTS, memory::EXPERIMENTS, network::EXPERIMENTS, filesystem::EXPERIMENTS];
    families.into_iter().flatten().copied()
}

/// Makes them the experiments of this program.
pub fn register() {
    registry::register(all());
}
