//! Readers of files, alone and together, and the search for the size of a cache.

pub(crate) mod cache_search;
pub(crate) mod cold;
pub(crate) mod fleet;
pub(crate) mod reader;
pub(crate) mod uring;
