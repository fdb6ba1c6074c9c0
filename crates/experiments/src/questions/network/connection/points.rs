//! Points of `network/connection`: the phases of a connection's lifetime, on loopback and to a peer.

use crate::apparatus::network::path::{LOOPBACK, PATH, PEER};
use fathom_core::prelude::*;

pub const PHASE: Parameter = Parameter::of(
    "phase",
    "which part of a connection's lifetime is timed",
    &[CONNECT, TO_ACCEPT, GRACEFUL, RESET, CLOSE],
);
pub const IP_VERSION: Parameter =
    Parameter::of("ip_version", "version of the Internet protocol", &[FOUR, SIX]);

/// Phase: connect, as the client sees it.
pub const CONNECT: &str = "connect";
/// Phase: until accept returns at the server.
pub const TO_ACCEPT: &str = "connect to accept";
/// Phase: until both sides have closed.
pub const GRACEFUL: &str = "graceful end";
/// Phase: reset without waiting.
pub const RESET: &str = "reset";
/// Phase: the `close()` call alone.
pub const CLOSE: &str = "close";
/// Version: IPv4.
pub const FOUR: &str = "IPv4";
/// Version: IPv6.
pub const SIX: &str = "IPv6";

/// The point of a phase over IPv4, with its two sides on two CPUs or hosts.
pub fn phase(phase: &str, path: &str) -> Point {
    point(phase, path, FOUR, Placement::AcrossCpus)
}

fn point(phase: &str, path: &str, version: &str, placement: Placement) -> Point {
    Point::at(placement).named(&PHASE, phase).named(&PATH, path).named(&IP_VERSION, version)
}

/// Every point, in the order of the table.
pub fn all() -> Vec<Point> {
    let mut points = vec![];
    for version in [FOUR, SIX] {
        for phase in [CONNECT, TO_ACCEPT, GRACEFUL, RESET, CLOSE] {
            let places = [Placement::OneCpu, Placement::AcrossCpus];
            points.extend(places.map(|placement| point(phase, LOOPBACK, version, placement)));
        }
        for phase in [CONNECT, GRACEFUL, RESET, CLOSE] {
            points.push(point(phase, PEER, version, Placement::AcrossCpus));
        }
    }
    points
}
