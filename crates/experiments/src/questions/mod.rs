//! What is asked of a machine: one file for each experiment, by family.

pub mod cpu;
pub(crate) mod filesystem;
pub mod memory;
pub mod network;
