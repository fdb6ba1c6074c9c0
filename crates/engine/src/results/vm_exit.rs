//! What leaving the guest takes.

use fathom_core::experiment::At::Name;
use fathom_core::experiment::{Found, Known, Selector};

/// Readings of the clock with two CPUIDs and with one.
pub(super) const TWO: Selector = Selector::only(
    "cpu/timing_overhead",
    &[("measure", Name("cost")), ("reading", Name("cpuid-rdtsc rdtscp-cpuid"))],
);
pub(super) const ONE: Selector = Selector::only(
    "cpu/timing_overhead",
    &[("measure", Name("cost")), ("reading", Name("cpuid-rdtsc rdtscp"))],
);

/// An exit from a virtual machine and the return: CPUID always exits, and the two readings differ by one CPUID. `None` on
/// hardware, if it is not resolved, and of one reading with the core alone and one with it shared.
pub(super) fn exit(known: &Known) -> Option<Found> {
    let exit = TWO.found(known)?.minus(ONE.found(known)?);
    (known.machine.is_virtual() && exit.is_of_one_core_state() && exit.is_resolved()).then_some(exit)
}
