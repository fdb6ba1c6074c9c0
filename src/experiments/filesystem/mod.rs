//! Files: what the page cache holds, and what a read costs by the layer that serves it.

pub mod remote;
mod remote_read;

use crate::experiment::Experiment;

/// The experiments of this family, in the order in which each may build on those before it.
pub const EXPERIMENTS: &[&dyn Experiment] = &[&remote_read::RemoteRead];
