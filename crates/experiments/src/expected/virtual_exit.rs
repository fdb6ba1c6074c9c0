//! What leaving a guest for its hypervisor costs, in predictions: the exit of a CPUID as this run measured it, else a published one.
//!
//! Published figures of interrupts and wake-ups in guests are of a hypervisor on bare metal. In a nested guest each exit is several, so they
//! are multiplied by what an exit takes here over what it took there.

use crate::questions::cpu::timing_overhead;
use fathom_core::prelude::*;

/// An exit, nanoseconds: as a CPUID of this run takes, else published.
pub fn exit(known: &Known) -> Basis {
    timing_overhead::measured_exit(known).unwrap_or_else(|| timing_overhead::published_exit(known))
}

/// A published number of cycles of work that consists of exits, nanoseconds: multiplied by this run's exit over the published one where
/// this run's is the longer.
pub fn like(cycles: f64, citation: &str, known: &Known) -> Basis {
    let plain = known.cycles(cycles, citation);
    let published = timing_overhead::published_exit(known).value;
    match timing_overhead::measured_exit(known).filter(|measured| measured.value > published) {
        Some(measured) => Basis { value: plain.value * measured.value / published, ..measured },
        None => plain,
    }
}

/// Adds the exit by which a guest has its hypervisor interrupt another CPU: a part of what waking a thread there costs the one that
/// wakes it. Without a hypervisor there is none.
pub fn interrupting_a_cpu(prediction: Prediction, known: &Known) -> Prediction {
    if !known.machine.is_virtual() {
        return prediction;
    }
    let exit = like(
        2_384.0,
        "Dall et al., ARM Virtualization: Performance and Architectural Implications, ISCA 2016, KVM on x86: an access to the \
         interrupt controller",
        known,
    );
    prediction.software("an exit to the hypervisor to interrupt the CPU", 1.0, exit).being(TermEvent::VmExit)
}

/// Exits of an interrupt that a guest takes: it arrives, its end is written, and a timer is set again or another CPU signalled.
pub const OF_AN_INTERRUPT: f64 = 3.0;
