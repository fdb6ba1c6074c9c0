//! What questions are asked with: work whose time is taken, and what it needs.

pub mod cpu;
pub mod filesystem;
pub(crate) mod lasting;
pub(crate) mod listing;
pub mod memory;
pub mod network;
pub(crate) mod spread_cpus;
