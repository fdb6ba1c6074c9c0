//! The memory hierarchy: what a load takes, what a byte takes, and what a page takes that is not there yet.

#[allow(dead_code, reason = "the experiments that use all of it come next")]
mod backing;
#[allow(dead_code, reason = "the experiments that use all of it come next")]
mod pages;
mod bandwidth;
mod parallel_bandwidth;
mod stream_arrays;
mod stream_fleet;
mod stream_kernel;
mod stream_prediction;
mod stream_size;

use crate::experiment::Experiment;

/// The experiments of this family, in the order in which each may build on those before it.
pub const EXPERIMENTS: &[&dyn Experiment] = &[&bandwidth::Bandwidth, &parallel_bandwidth::ParallelBandwidth];
