//! The memory hierarchy: load latency, bandwidth, and page faults.

pub(crate) mod bandwidth;
mod fault_extent;
pub(crate) mod load_latency;
mod loaded_latency;
mod major_fault;
mod mapping;
pub(crate) mod memory_parallelism;
pub(crate) mod minor_fault;
pub(crate) mod parallel_bandwidth;
mod swap_in;
mod tlb_reach;
pub mod user_fault;

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
