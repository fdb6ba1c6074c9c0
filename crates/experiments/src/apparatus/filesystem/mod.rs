//! Readers of files, alone and together, the search for the size of a cache, a device's own account, where files and directories lie on
//! it, and a queue.

pub(crate) mod apart;
pub(crate) mod cache_growth;
pub(crate) mod cache_search;
pub(crate) mod cold;
pub(crate) mod device_account;
pub(crate) mod extents;
pub(crate) mod fleet;
pub(crate) mod reader;
pub mod single_server;
pub(crate) mod uring;
pub(crate) mod vmstat;
