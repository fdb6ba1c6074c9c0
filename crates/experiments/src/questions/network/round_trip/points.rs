//! Points of `network/round_trip`.

use crate::apparatus::network::path::{LOOPBACK, PATH, PEER, WITHIN};
use crate::questions::cpu::context_switch;
use fathom_core::prelude::*;

pub const TRANSPORT: Parameter = Parameter::of("transport", "the transport", &[PIPE, UNIX, UDP, TCP, ICMP]);
pub const PAYLOAD: Parameter =
    Parameter::bytes("payload", "bytes of the message, without any protocol's headers");
pub const LOOP: Parameter = Parameter::of(
    "loop",
    "closed: the next message leaves when the answer is here; open: messages leave on a schedule",
    &[OPEN, CLOSED],
);
pub const INTERVAL: Parameter =
    Parameter::nanoseconds("interval", "time between two departures of an open loop");

/// Transport: two pipes.
pub const PIPE: &str = "pipe";
/// Transport: a UNIX stream socket.
pub const UNIX: &str = "UNIX socket";
/// Transport: UDP datagrams.
pub const UDP: &str = "UDP";
/// Transport: a TCP connection.
pub const TCP: &str = "TCP";
pub const ICMP: &str = "ICMP echo";
/// Loop: the next message is sent after the answer.
pub const CLOSED: &str = "closed";
/// Loop: messages are sent on a schedule.
pub const OPEN: &str = "open";

/// Sizes of messages, bytes.
pub const PAYLOADS: [u64; 6] = [1, 44, 56, 512, 1400, 8192];
/// Sizes in a quick run: the smallest, ping's, and one packet's.
pub const QUICK_PAYLOADS: [u64; 3] = [1, 56, 1400];
/// The same where every trial has a beginning of a tenth of a second.
pub const QUICK_PAYLOADS_BETWEEN_CPUS: [u64; 2] = [1, 1400];
/// Intervals between messages, nanoseconds: a very low load, and one that queues behind a slow answer.
pub const INTERVALS: [u64; 2] = [100_000, 25_000];

pub fn closed(transport: &str, path: &str, payload: u64, placement: Placement) -> Point {
    Point::at(placement)
        .named(&TRANSPORT, transport)
        .named(&PATH, path)
        .with(&PAYLOAD, payload)
        .named(&LOOP, CLOSED)
}

/// A point of ping: the path between two kernels.
pub fn ping(path: &str) -> Point {
    let placement = if path == PEER { Placement::AcrossCpus } else { Placement::OneCpu };
    closed(ICMP, path, 56, placement)
}

pub fn open(transport: &str, path: &str, interval: u64) -> Point {
    let point =
        Point::at(Placement::AcrossCpus).named(&TRANSPORT, transport).named(&PATH, path).with(&PAYLOAD, 56);
    point.named(&LOOP, OPEN).with(&INTERVAL, interval)
}

/// Every point, in the order of the table.
pub fn all() -> Vec<Point> {
    let ways = [(PIPE, WITHIN), (UNIX, WITHIN), (UDP, LOOPBACK), (TCP, LOOPBACK), (ICMP, LOOPBACK)];
    let mut points = vec![];
    for (transport, path) in ways {
        for placement in [Placement::OneCpu, Placement::AcrossCpus] {
            // The kernel answers a ping to itself on the CPU that sends it.
            if transport != ICMP || placement == Placement::OneCpu {
                points.extend(PAYLOADS.map(|payload| closed(transport, path, payload, placement)));
            }
        }
    }
    for transport in [UDP, TCP, ICMP] {
        points.extend(PAYLOADS.map(|payload| closed(transport, PEER, payload, Placement::AcrossCpus)));
    }
    for path in [LOOPBACK, PEER] {
        for transport in [UDP, TCP] {
            points.extend(INTERVALS.map(|interval| open(transport, path, interval)));
        }
    }
    points
}

/// Time of one small message on both sides together, nanoseconds, without waiting: half of its round trip on one CPU, less the
/// switch. `None` if this run has not measured both, or they do not differ significantly.
pub fn message_ns(by: &str, known: &Known) -> Option<Basis> {
    let path = if matches!(by, PIPE | UNIX) { WITHIN } else { LOOPBACK };
    let there_and_back = closed(by, path, 1, Placement::OneCpu);
    let switch = known.median("cpu/context_switch", &context_switch::between_processes())?;
    let round_trip = known.measured("network/round_trip", &there_and_back)?;
    let value = round_trip.value / 2.0 - switch;
    (value > 0.0).then_some(Basis { value, ..round_trip })
}

/// Time of one packet in the kernel alone, nanoseconds: half a ping to this host.
pub fn packet_ns(known: &Known) -> Basis {
    let there_and_back = known.measured("network/round_trip", &ping(LOOPBACK));
    let measured = there_and_back.map(|round_trip| Basis { value: round_trip.value / 2.0, ..round_trip });
    let (ns, reason) = (1_250.0, "half of an echo request and its reply in 2.5 µs");
    measured.unwrap_or_else(|| Basis::assumed(ns, reason))
}
