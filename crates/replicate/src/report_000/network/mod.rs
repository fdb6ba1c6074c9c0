//! Section 5: network, over loopback and to a second machine.

mod bandwidth;
mod connection;
mod round_trip;

pub use bandwidth::{LOOPBACK_READ, LOOPBACK_WRITE, REMOTE_READ, REMOTE_WRITE};
pub use connection::{LOOPBACK_CLOSE, LOOPBACK_CONNECT, REMOTE_CLOSE, REMOTE_CONNECT};
pub use round_trip::{ICMP_LOOPBACK, ICMP_REMOTE, TCP_LOOPBACK, TCP_REMOTE};

use fathom_core::experiment::Failure;

/// How methods with a second machine differ.
const PEER_IS: &str = "The report's second machine ran Windows and was reached through Wi-Fi; here it is the peer of --peer, or a virtual \
                       peer in a namespace of this machine, without a wire.";

fn broke(attempt: &'static str) -> impl Fn(std::io::Error) -> Failure {
    move |error| Failure::Broke(format!("{attempt}: {error}"))
}
