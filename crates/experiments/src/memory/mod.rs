//! The memory hierarchy: load latency, bandwidth, and page faults.

pub mod backing;
mod bandwidth;
pub mod chase;
pub mod fault;
mod fault_extent;
mod load_latency;
mod loaded_latency;
mod major_fault;
mod mapping;
mod memory_parallelism;
mod minor_fault;
pub mod pages;
mod parallel_bandwidth;
pub mod stream;
mod swap_in;
mod tlb_reach;
pub mod user_fault;

pub use fault::per_byte::load;

use fathom_core::experiment::Experiment;

/// The experiments of this family, in an order in which each may build on those before it.
pub const EXPERIMENTS: &[&dyn Experiment] = &[
    &load_latency::LoadLatency,
    &tlb_reach::TlbReach,
    &memory_parallelism::MemoryParallelism,
    &bandwidth::Bandwidth,
    &parallel_bandwidth::ParallelBandwidth,
    &loaded_latency::LoadedLatency,
    &minor_fault::MinorFault,
    &fault_extent::FaultExtent,
    &major_fault::MajorFault,
    &swap_in::SwapIn,
    &user_fault::UserFault,
    &mapping::MappingCalls,
];
