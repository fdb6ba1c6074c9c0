//! What several questions derive their predictions from, and compare their results with: what earlier ones found in the same
//! run, what the machine declares, what is published.

pub(crate) mod core_facts;
pub(crate) mod device_facts;
pub(crate) mod fault;
pub(crate) mod fault_per_byte;
pub(crate) mod hierarchy;
pub(crate) mod kernel_service;
pub(crate) mod last_cache;
pub(crate) mod level_curve;
mod level_match;
pub(crate) mod levels;
pub(crate) mod mode_switch;
pub(crate) mod network;
pub(crate) mod published;
pub(crate) mod rule_of_thumb;
pub(crate) mod stream;
pub(crate) mod virtual_exit;
