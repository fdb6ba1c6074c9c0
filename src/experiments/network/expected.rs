//! What predictions of this family are made of: wake-ups, copies, wires.

use crate::experiment::{Basis, Known, Placement};
use crate::experiments::cpu::context_switch;

/// What it takes until the other side runs, nanoseconds: a switch on one CPU, a wake-up on another.
pub fn hand_over(placement: Placement, known: &Known) -> (&'static str, Basis) {
    let of = |point, ns, citation| known.measured_or("cpu/context_switch", &point, ns, citation);
    match placement {
        Placement::OneCpu => (
            "switches to the other process and back",
            of(
                context_switch::between_processes(),
                (1_785.8 - 579.2) / 2.0,
                "half of report 000's round trip through pipes, less the pipes (table 7)",
            ),
        ),
        _ if known.machine.is_virtual() => (
            "sleeping virtual CPUs woken, there and back",
            of(
                context_switch::across_cpus(),
                5_000.0,
                "perf bench sched pipe on an idle virtual machine, November 2026",
            ),
        ),
        _ => (
            "sleeping CPUs woken, there and back",
            of(context_switch::across_cpus(), 2_000.0, "order of an interrupt and leaving a shallow sleep"),
        ),
    }
}

/// Bytes per second that one core copies. Both buffers are usually in a cache.
pub fn copy_rate() -> Basis {
    Basis::published(
        10e9,
        "order of a copy through a shared cache: some 10 GB/s a core (lmbench's bw_mem cp on processors since 2015)",
    )
}

/// The time to copy one byte, nanoseconds.
pub fn copy_ns() -> Basis {
    let rate = copy_rate();
    Basis { value: 1e9 / rate.value, source: rate.source }
}

/// Bits per second of the fastest adapter that is up and tells its rate; of none, that of the usual one.
pub fn link_rate(known: &Known) -> Basis {
    match adapter(known) {
        Some((name, rate)) => {
            Basis::fact(rate, &format!("the rate of {name}, the fastest adapter that is up"))
        }
        None => Basis::published(1e9, "no adapter tells its rate; 1 Gbit/s is what most have"),
    }
}

/// The fastest adapter that is up and tells its rate, with that, bits per second.
pub fn adapter(known: &Known) -> Option<(String, f64)> {
    let up = known
        .machine
        .network
        .iter()
        .filter(|adapter| adapter.state.value().is_some_and(|state| state == "up"));
    let rated =
        up.filter_map(|adapter| Some((adapter.name.clone(), *adapter.speed_bits_per_second.value()? as f64)));
    rated.max_by(|one, other| one.1.total_cmp(&other.1))
}

/// A local network there and back, nanoseconds: for hosts that no measurement has reached yet.
pub fn network_round_trip() -> Basis {
    Basis::published(
        100_000.0,
        "order of a round trip through two wired adapters and a switch; Wi-Fi takes some 20 times as much (report 000: 2.1 ms)",
    )
}
