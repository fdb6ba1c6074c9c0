//! What several questions derive their predictions from: what earlier ones found in the same run, else what is published.

pub(crate) mod device_facts;
pub(crate) mod fault;
pub(crate) mod kernel_service;
pub(crate) mod mode_switch;
pub(crate) mod network;
pub(crate) mod stream;
