//! The memory hierarchy: what a load takes, what a byte takes, and what a page takes that is not there yet.

mod backing;
mod bandwidth;
mod chase;
mod cycle;
mod found_levels;
mod hierarchy;
mod load_latency;
mod memory_parallelism;
mod pages;
mod parallel_bandwidth;
mod random_order;
mod scattered;
mod sizes;
mod stream_arrays;
mod stream_fleet;
mod stream_kernel;
mod stream_prediction;
mod stream_size;
mod tlb_reach;
mod walk;

use crate::experiment::Experiment;

/// The experiments of this family, in the order in which each may build on those before it.
pub const EXPERIMENTS: &[&dyn Experiment] = &[
    &load_latency::LoadLatency,
    &tlb_reach::TlbReach,
    &memory_parallelism::MemoryParallelism,
    &bandwidth::Bandwidth,
    &parallel_bandwidth::ParallelBandwidth,
];
