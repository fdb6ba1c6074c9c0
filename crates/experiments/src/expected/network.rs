//! Parts of predictions of network operations (wake-ups, copies, wires), and how much of a time is software and how much network.

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

/// Bits per second that a stream finds there: an adapter that sends or receives at a time spends half of it on what comes back, as
/// reports 000, 001 and 003 reckon (R-NET-16).
pub fn stream_rate(known: &Known) -> Basis {
    match adapter(known).filter(|(adapter, _)| takes_turns(adapter)) {
        Some((adapter, rate)) => {
            let why = if adapter.kind == "wireless" { "its air is shared" } else { "half duplex" };
            let what = format!("half of the rate of {}, {} ({why})", adapter.name, chosen(known));
            Basis::fact(rate / 2.0, &what)
        }
        None => link_rate(known),
    }
}

/// Whether an adapter cannot send and receive at the same time.
pub fn takes_turns(adapter: &Adapter) -> bool {
    adapter.kind == "wireless" || adapter.duplex.value().is_some_and(|duplex| duplex == "half")
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

/// The software's share of a time that contains the same work as over loopback, plus the network.
pub fn software_and_network(here: Found, remote: Found, what: &str) -> Statement {
    match here.differs_from(&remote) {
        Some(false) => {
            statement!("the two are not significantly different, and the network's part is unknown")
        }
        _ if here.value >= remote.value => {
            statement!("no more than over loopback; the network's part is unknown")
        }
        apart => statement!(
            "software is {software} of it, the network takes {about}{network}",
            software = here.share_of(remote).named(&format!("software over whole, {what}")),
            about = if apart.is_none() { "~" } else { "" },
            network = remote.minus(here).named(&format!("network, {what}"))
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rate by which a link of 1 Gbit/s of this kind is predicted.
    fn rate_of(kind: &str, duplex: &str) -> f64 {
        let mut machine = fathom_described::machine();
        let fact = |word: &str| Fact::known(word.to_owned(), "a test");
        machine.network = vec![Adapter {
            kind: kind.to_owned(),
            state: fact("up"),
            duplex: fact(duplex),
            speed_bits_per_second: Fact::known(1_000_000_000, "a test"),
            ..an_adapter()
        }];
        stream_rate(&Known::new(&machine, None)).value
    }

    fn an_adapter() -> Adapter {
        let unknown = || Fact::unknown("a test", "a test");
        Adapter {
            name: "eth0".to_owned(),
            kind: String::new(),
            driver: unknown(),
            model: unknown(),
            speed_bits_per_second: Fact::unknown("a test", "a test"),
            duplex: unknown(),
            mtu_bytes: Fact::unknown("a test", "a test"),
            state: unknown(),
            receive_queues: Fact::unknown("a test", "a test"),
            transmit_queues: Fact::unknown("a test", "a test"),
            offloads: Fact::unknown("a test", "a test"),
            numa_node: Fact::unknown("a test", "a test"),
        }
    }

    #[test]
    fn a_link_that_sends_or_receives_at_a_time_is_predicted_at_half_its_rate() {
        assert!((rate_of("Ethernet", "full") - 1e9).abs() < 1.0);
        assert!((rate_of("Ethernet", "half") - 5e8).abs() < 1.0);
        assert!((rate_of("wireless", "unknown") - 5e8).abs() < 1.0);
    }
}
