//! What several questions derive their predictions from: what earlier ones found in the same run, else what is published.

pub(crate) mod fault;
pub(crate) mod kernel_service;
pub(crate) mod network;
pub(crate) mod stream;
