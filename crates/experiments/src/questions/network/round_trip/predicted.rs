//! Predictions of round trips: copies, calls and wake-ups of both sides, and the network between them.

use super::points::{ICMP, LOOP, OPEN, PAYLOAD, PIPE, TCP, TRANSPORT, UDP, UNIX, packet_ns};
use crate::apparatus::network::path::{LOOPBACK, PATH, PEER};
use crate::expected;
use crate::expected::{kernel_service, mode_switch, published};
use crate::questions::cpu::context_switch;
use fathom_core::prelude::*;

const NAME: &str = "network/round_trip";

/// Prediction of a point of the round-trip experiment.
pub fn expected(point: &Point, known: &Known) -> Prediction {
    let peer = point.name(&PATH) == PEER;
    let here = over_loopback(point);
    match known.measured(NAME, &here).filter(|_| peer) {
        Some(loopback) => {
            network(Prediction::new().software("the same over loopback", 1.0, loopback), point, known)
        }
        None if peer => network(software(point, known), point, known),
        None => software(point, known),
    }
}

/// The same point without a network between the two sides; the kernel answers its own ping on the CPU that sent it.
fn over_loopback(point: &Point) -> Point {
    let here = point.clone().named(&PATH, LOOPBACK);
    if point.name(&TRANSPORT) == ICMP { here.named(&AXIS_PLACEMENT, Placement::OneCpu.name()) } else { here }
}

/// The cost of the software on both sides.
fn software(point: &Point, known: &Known) -> Prediction {
    let (calls, protocol, work_ns) = match point.name(&TRANSPORT) {
        PIPE => (4.0, "two pipes' locks, copies and wake-up checks", 400.0),
        UNIX => (4.0, "two passages of a UNIX socket: a buffer allocated, queued and freed", 1_200.0),
        UDP => (4.0, "two passages of UDP and IP through the loopback device", 4_000.0),
        ICMP => (2.0, "an echo request and its reply through IP and the loopback device", 2_500.0),
        _ => (4.0, "two passages of TCP and IP through the loopback device, with acknowledgements", 5_000.0),
    };
    let is_closed = point.name(&LOOP) != OPEN;
    if point.name(&TRANSPORT) == TCP && is_closed && point.placement() == Placement::OneCpu {
        return independent(point, known, protocol, work_ns);
    }
    let prediction = Prediction::new().hardware(
        "copies of the payload, in and out, on both sides",
        4.0 * point.number(&PAYLOAD) as f64,
        expected::network::copy_ns(known),
    );
    let prediction = kernel_service::entering(prediction, "system calls of both sides", calls, known);
    let prediction = kernel_service::assumed(prediction, protocol, work_ns, known);
    match (point.name(&TRANSPORT), point.name(&LOOP)) {
        (ICMP, _) => prediction,
        (_, OPEN) => {
            let (what, each) = expected::network::hand_over(point.placement(), known);
            let what = format!("{what}: only the other side sleeps");
            let what = match point.placement() {
                Placement::OneCpu => what,
                _ => context_switch::as_in_hand_overs(&what),
            };
            prediction.software(&what, 1.0, each).being(expected::network::woken(point.placement()))
        }
        _ => {
            let (what, each) = expected::network::hand_over(point.placement(), known);
            prediction.software(what, 2.0, each).being(expected::network::woken(point.placement()))
        }
    }
}

/// TCP on one CPU, from nothing of this run: entries into the kernel by their cycles, switches of published machines, and assumed
/// work of the protocol.
fn independent(point: &Point, known: &Known, protocol: &str, work_ns: f64) -> Prediction {
    let copied = Prediction::new().hardware(
        "copies of the payload, in and out, on both sides",
        4.0 * point.number(&PAYLOAD) as f64,
        expected::network::copy_ns(known),
    );
    let prediction = mode_switch::entering(copied, ("system calls of both sides", 4.0), None, known)
        .software(protocol, 1.0, Basis::assumed(work_ns, "estimated from the path in the kernel"));
    published::switches(prediction, 2.0)
}

/// Adds the network between two hosts. To a namespace of this machine there is none, but packets have the size of Ethernet's, and
/// larger datagrams are fragmented.
fn network(prediction: Prediction, point: &Point, known: &Known) -> Prediction {
    if known.virtual_peer {
        let further = expected::network::further_fragments(point.number(&PAYLOAD) as f64);
        let cut = point.name(&TRANSPORT) != TCP && further > 0.0;
        let what = "further fragments of the datagram, there and back";
        return if cut { prediction.software(what, 2.0 * further, packet_ns(known)) } else { prediction };
    }
    let rate = expected::network::link_rate(known);
    let bit = Basis { value: 1e9 / rate.value, ..rate };
    prediction
        .hardware(
            "two adapters and the network between them, there and back",
            1.0,
            expected::network::network_round_trip(),
        )
        .hardware(
            "transmission of the payload's bits, there and back",
            16.0 * point.number(&PAYLOAD) as f64,
            bit,
        )
}
