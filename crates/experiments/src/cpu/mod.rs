//! The processor and the operating system's services.

mod arithmetic;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub mod arithmetic_kernel;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod call_kernel;
pub mod context_switch;
mod core_to_core;
mod counter_forms;
pub mod kernel_service;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod loop_kernel;
mod loop_overhead;
mod mode_switch;
mod noise;
mod pairs;
mod procedure_call;
mod process_creation;
mod program;
mod ring;
mod shared_core;
mod signal;
mod sustained;
mod synchronisation;
pub mod system_call;
mod thread_creation;
mod timing_overhead;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod user_thread;
mod wake_up;
mod watched;

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
    &context_switch::ContextSwitch,
    &synchronisation::Synchronisation,
    &wake_up::WakeUp,
    &thread_creation::ThreadCreation,
    &process_creation::ProcessCreation,
    &sustained::Sustained,
];
