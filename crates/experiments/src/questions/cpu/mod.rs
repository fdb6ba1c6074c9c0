//! The processor and the operating system's services.

mod arithmetic;
mod contention;
pub(crate) mod context_switch;
mod core_to_core;
mod false_sharing;
mod loop_overhead;
mod noise;
mod procedure_call;
mod process_creation;
mod scheduling_latency;
mod shared_core;
mod spin_or_sleep;
mod sustained;
mod synchronisation;
pub(crate) mod system_call;
mod thread_creation;
pub(crate) mod timing_overhead;
mod wake_up;

use fathom_core::experiment::Experiment;

/// The experiments of this family, in an order in which each may build on those before it.
pub const EXPERIMENTS: &[&dyn Experiment] = &[
    &timing_overhead::TimingOverhead,
    &arithmetic::Arithmetic,
    &loop_overhead::LoopOverhead,
    &procedure_call::ProcedureCall,
    &system_call::SystemCall,
    &noise::Noise,
    &shared_core::SharedCore,
    &core_to_core::CoreToCore,
    &false_sharing::FalseSharing,
    &contention::CpuContention,
    &context_switch::ContextSwitch,
    &synchronisation::Synchronisation,
    &wake_up::WakeUp,
    &spin_or_sleep::SpinOrSleep,
    &scheduling_latency::SchedulingLatency,
    &thread_creation::ThreadCreation,
    &process_creation::ProcessCreation,
    &sustained::Sustained,
];
