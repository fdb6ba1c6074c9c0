//! The experiments of `fathom run`: [`questions`] to the machine, each in a file (or in a folder of its name), and the registry of
//! their families in the order of every report. Adding one takes one file and two lines in its family's `mod.rs`.
//!
//! A question is asked with the [`apparatus`], as method sections call what work is done with: a chain of loads, a ring of pipes, a
//! disassembler. It knows no question. What of it is written for a processor stands in `arch`. What stands outside of the measuring
//! process (a peer, a file, a server) is *equipment*, a crate of its own. What several questions derive their predictions from
//! stands in `expected`.

#![deny(clippy::disallowed_macros, clippy::disallowed_methods)]
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
