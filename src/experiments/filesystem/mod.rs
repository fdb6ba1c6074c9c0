//! Files: what the page cache holds, and what a read costs by the layer that serves it.

mod blocks;
mod cold;
mod device_facts;
mod read;
mod reader;
pub mod remote;
mod remote_read;
mod uring;

use crate::experiment::Experiment;

/// The experiments of this family, in the order in which each may build on those before it.
pub const EXPERIMENTS: &[&dyn Experiment] = &[&read::Read, &remote_read::RemoteRead];
