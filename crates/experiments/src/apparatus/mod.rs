//! What questions are asked with: work whose time is taken, what it needs, and what it is judged by.

pub mod cpu;
pub(crate) mod core_facts;
pub(crate) mod filesystem;
pub(crate) mod lasting;
pub(crate) mod listing;
pub mod memory;
pub mod network;
pub(crate) mod rule_of_thumb;
