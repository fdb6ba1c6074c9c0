//! The memory hierarchy: what a load takes, what a byte takes, and what a page takes that is not there yet.

mod after_fork;
mod backing;
mod bandwidth;
mod chase;
mod cold_file;
mod cold_reader;
mod cycle;
mod device_reads;
mod fault_cost;
mod fault_extent;
mod fault_tally;
mod file_mapping;
mod found_levels;
mod hierarchy;
mod lap;
mod load_latency;
mod loaded_latency;
mod major_fault;
mod mapping;
mod memory_parallelism;
mod minor_fault;
mod pages;
mod parallel_bandwidth;
mod peaks;
mod per_byte;
mod random_order;
mod scattered;
mod sizes;
mod slots;
mod stream_arrays;
mod stream_findings;
mod stream_fleet;
mod stream_kernel;
mod stream_prediction;
mod stream_size;
mod stretch;
mod supplied;
mod swap_in;
mod tlb_reach;
mod touched;
mod user_fault;
mod user_page;
mod walk;

use crate::experiment::Experiment;

/// The experiments of this family, in the order in which each may build on those before it.
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
