//! Parts of predictions of network operations: wake-ups, copies, wires.

use crate::questions::cpu::context_switch;
use fathom_core::machine::{Adapter, Fact};
use fathom_core::prelude::*;

/// Time until the other side runs, nanoseconds: a switch on one CPU, a wake-up on another.
pub fn hand_over(placement: Placement, known: &Known) -> (&'static str, Basis) {
    match placement {
        Placement::OneCpu => (
            "switches to the other process and back",
            known.measured_or(
                "cpu/context_switch",
                &context_switch::between_processes(),
                (1_785.8 - 579.2) / 2.0,
                "half of report 000's round trip through pipes, less the pipes (table 7)",
            ),
        ),
        _ => ("sleeping CPUs woken, there and back", context_switch::idle_cpu(known)),
    }
}

/// What that is on CPUs of this placement.
pub fn woken(placement: Placement) -> Option<TermEvent> {
    (placement != Placement::OneCpu).then_some(TermEvent::WakeUp)
}

/// The best published TCP throughput of one core, which is the receiver's part of a long flow.
const CAI: &str = "Cai et al., Understanding Host Network Stack Overheads, SIGCOMM 2021: a core of 3.4 GHz moves 42 Gbit/s by \
                   TCP, 0.65 cycles a byte, and spends 49 % of them copying";
/// Cycles per byte: 3.4 GHz over 42 Gbit/s.
const TCP_CYCLES: f64 = 3.4 / 42.0 * 8.0;
/// The share of these cycles spent copying.
const COPYING: f64 = 0.49;

/// The time to copy one byte between a process and the kernel, nanoseconds.
pub fn copy_ns(known: &Known) -> Basis {
    known.cycles(TCP_CYCLES * COPYING, CAI)
}

/// TCP's time per byte of a long stream besides copying, nanoseconds.
pub fn protocol_ns(known: &Known) -> Basis {
    known.cycles(TCP_CYCLES * (1.0 - COPYING), CAI)
}

/// Bytes of the Internet packet by the adapters' default MTU, less the headers of packet and datagram.
const FRAGMENT: f64 = 1480.0;

/// Packets beyond the first into which a datagram is fragmented on its way to a peer.
pub fn further_fragments(bytes: f64) -> f64 {
    ((bytes + 8.0) / FRAGMENT).ceil() - 1.0
}

/// Bits per second of the adapter that leads to the peer; if it reports none, those of the usual one.
pub fn link_rate(known: &Known) -> Basis {
    match adapter(known) {
        Some((adapter, rate)) => {
            Basis::fact(rate, &format!("the rate of {}, {}", adapter.name, chosen(known)))
        }
        None => Basis::assumed(1e9, "no adapter on the path reports its rate; 1 Gbit/s is common"),
    }
}

/// The adapter that leads to the peer, or if the route is unknown the fastest that is up; with its rate, bits per second.
pub fn adapter<'known>(known: &'known Known) -> Option<(&'known Adapter, f64)> {
    let (adapter, rate) = known.machine.adapter_of(known.machine.peer_route.as_ref())?;
    Some((adapter, rate as f64))
}

/// The reason for the choice of that adapter.
pub fn chosen(known: &Known) -> &'static str {
    match known.machine.peer_route.as_ref().and_then(Fact::value) {
        Some(_) => "which leads to the peer",
        None => "the fastest adapter that is up; whether it leads to the peer is unknown",
    }
}

/// An assumed round trip on a local network, nanoseconds, for hosts without a measurement.
pub fn network_round_trip() -> Basis {
    Basis::assumed(
        100_000.0,
        "order of magnitude of a round trip through two wired adapters and a switch; Wi-Fi takes some 20 times as \
         long (report 000: 2.1 ms)",
    )
}
