//! The processor and the operating system's services.

mod arithmetic;
#[cfg(target_arch = "x86_64")]
mod call_kernel;
mod listing;
mod loop_overhead;
mod procedure_call;
mod timing_overhead;

use crate::experiment::Experiment;

/// The experiments of this family, in the order in which each may build on those before it.
pub const EXPERIMENTS: &[&dyn Experiment] = &[
    &timing_overhead::TimingOverhead,
    &arithmetic::Arithmetic,
    &loop_overhead::LoopOverhead,
    &procedure_call::ProcedureCall,
];
