//! Which points are visited.

use crate::experiment::{Parameter, Placement, Point, Scale};
use crate::experiments::network::path::{LOOPBACK, PATH, PEER, WITHIN};

/// How a message travels.
pub const TRANSPORT: Parameter =
    Parameter { name: "transport", meaning: "the transport", scale: Scale::Name };
/// How large it is.
pub const PAYLOAD: Parameter = Parameter {
    name: "payload",
    meaning: "bytes of the message, without any protocol's headers",
    scale: Scale::Bytes,
};
/// When the next one leaves.
pub const LOOP: Parameter = Parameter {
    name: "loop",
    meaning: "closed: the next message leaves when the answer is here; open: messages leave on a schedule",
    scale: Scale::Name,
};
/// The schedule of an open loop.
pub const INTERVAL: Parameter = Parameter {
    name: "interval",
    meaning: "time between two departures of an open loop",
    scale: Scale::Nanoseconds,
};

/// Two pipes.
pub const PIPE: &str = "pipe";
/// A UNIX stream socket.
pub const UNIX: &str = "UNIX socket";
/// Datagrams.
pub const UDP: &str = "UDP";
/// A TCP connection.
pub const TCP: &str = "TCP";
/// ICMP echo.
pub const ICMP: &str = "ICMP echo";
/// The next message leaves when the answer is here.
pub const CLOSED: &str = "closed";
/// Messages leave on a schedule.
pub const OPEN: &str = "open";

/// Bytes of messages.
pub const PAYLOADS: [u64; 6] = [1, 44, 56, 512, 1400, 8192];
/// Of a quick run: the least, ping's, and one packet's.
pub const QUICK_PAYLOADS: [u64; 3] = [1, 56, 1400];
/// Times between departures: hardly any load, and enough to queue behind a slow answer.
pub const INTERVALS: [u64; 2] = [100_000, 25_000];

/// A closed loop's point.
pub fn closed(transport: &str, path: &str, payload: u64, placement: Placement) -> Point {
    Point::at(placement)
        .named(&TRANSPORT, transport)
        .named(&PATH, path)
        .with(&PAYLOAD, payload)
        .named(&LOOP, CLOSED)
}

/// A ping's point: the way between two kernels.
pub fn ping(path: &str) -> Point {
    let placement = if path == PEER { Placement::AcrossCpus } else { Placement::OneCpu };
    closed(ICMP, path, 56, placement)
}

/// An open loop's point.
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
