//! Files: the capacity of the page cache, and the cost of a read by the layer that serves it.

mod cache_size;
mod contention;
mod copy;
mod directory;
mod durable_append;
mod metadata;
mod read;
mod remote_read;
mod reread;
mod sustained;
mod write;

use fathom_core::experiment::Experiment;

/// The experiments of this family, in an order in which each may build on those before it.
pub const EXPERIMENTS: &[&dyn Experiment] = &[
    &cache_size::CacheSize,
    &read::Read,
    &reread::Reread,
    &remote_read::RemoteRead,
    &write::Write,
    &durable_append::DurableAppend,
    &copy::FileCopy,
    &metadata::Metadata,
    &directory::Directory,
    &contention::Contention,
    &sustained::Sustained,
];
