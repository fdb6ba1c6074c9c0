//! The experiments of `fathom run`: [`questions`] to the machine, each in a file (or in a folder of its name), and the registry of
//! their families in the order of every report. Adding one takes one file and two lines in its family's `mod.rs`.
//!
//! A question is asked with the [`apparatus`]: the word of method sections for what work is done with, be it a chain of loads, a
//! ring of pipes or a disassembler; what of it is written for a processor stands in `arch`. (Equipment is what stands outside of the measuring process: a peer, a file, a server.)
//! Apparatus knows no question. What several questions derive their predictions from stands in `expected`.

#![deny(clippy::disallowed_macros)]
#![allow(
    missing_docs,
    reason = "for the crates of this workspace: what a name says needs no second sentence"
)]

pub mod apparatus;
mod arch;
mod expected;
pub mod questions;

use fathom_core::experiment::{Experiment, registry};
use questions::{cpu, filesystem, memory, network};

/// Every experiment of `fathom run`, in the order of the report.
pub fn all() -> impl Iterator<Item = &'static dyn Experiment> {
    let families = [cpu::EXPERIMENTS, memory::EXPERIMENTS, network::EXPERIMENTS, filesystem::EXPERIMENTS];
    families.into_iter().flatten().copied()
}

/// Makes them the experiments of this program.
pub fn register() {
    registry::register(all());
}
