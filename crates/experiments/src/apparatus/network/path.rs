//! The path of a message: its names, and its requirements.

use fathom_core::prelude::*;
pub use fathom_equipment::peer::other_side::{LOOPBACK, PEER};

pub const PATH: Parameter = Parameter::of(
    "path",
    "how far it travels: within the kernel, over the loopback interface, or to the peer",
    &[WITHIN, LOOPBACK, PEER],
);

/// Path: between two processes, without a network protocol.
pub const WITHIN: &str = "within";

/// The requirements of a point's path and placement.
pub fn required(point: &Point) -> Vec<Requirement> {
    match (point.name(&PATH), point.placement()) {
        (PEER, _) => vec![Requirement::Peer],
        (_, Placement::AcrossCpus) => vec![Requirement::Cpus(2)],
        _ => vec![],
    }
}
