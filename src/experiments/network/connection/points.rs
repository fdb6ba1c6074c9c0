//! Which points are visited: the parts of a connection's life, near and far.

use crate::experiment::{Parameter, Placement, Point, Scale};
use crate::experiments::network::path::{LOOPBACK, PATH, PEER};

/// Which part of a connection's life.
pub const PHASE: Parameter = Parameter {
    name: "phase",
    meaning: "which part of a connection's lifetime is timed",
    scale: Scale::Name,
};
/// Which version of the Internet protocol.
pub const IP_VERSION: Parameter =
    Parameter { name: "ip_version", meaning: "version of the Internet protocol", scale: Scale::Name };

/// Part: connect, as the client sees it.
pub const CONNECT: &str = "connect";
/// Part: until accept returns at the server.
pub const TO_ACCEPT: &str = "connect to accept";
/// Part: until both sides have ended.
pub const GRACEFUL: &str = "graceful end";
/// Part: closed without waiting.
pub const RESET: &str = "reset";
/// Part: the mere call.
pub const CLOSE: &str = "close";
/// IP version 4.
pub const FOUR: &str = "IPv4";
/// IP version 6.
pub const SIX: &str = "IPv6";

/// The point of a part of a connection's life over IPv4, its two sides on two CPUs or hosts.
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
