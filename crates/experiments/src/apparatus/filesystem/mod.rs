//! Readers of files, alone and together, the search for the size of a cache, a device's own account, and where a file lies on it.

pub(crate) mod cache_growth;
pub(crate) mod cache_search;
pub(crate) mod cold;
pub(crate) mod device_account;
pub(crate) mod extents;
pub(crate) mod fleet;
pub(crate) mod reader;
pub(crate) mod uring;
