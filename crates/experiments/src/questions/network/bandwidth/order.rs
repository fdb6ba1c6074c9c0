//! The transfer of a point: its size, its duration, and the delay before the receiver reads.

use super::points::{CHUNK, DIRECTION, MESSAGES, PIPE, RECEIVE, START, STREAMS, TCP, TRANSPORT, UDP, UNIX};
use crate::apparatus::network::path::{PATH, PEER};
use crate::apparatus::network::sending::WRITE;
use crate::apparatus::network::transfer::{self, Transfer, TransferOrder};
use fathom_core::prelude::*;
use fathom_equipment::peer::service::Enough;
use std::time::Duration;

/// Upper limit on the minimum size of a transfer to a peer, bytes, unless one chunk is larger.
const MOST_NEEDED: u64 = 4 << 20;

/// Minimum bytes of a transfer on this host: if a chunk takes milliseconds, it would have too few arrivals to determine a rate.
const FEWEST_BYTES: u64 = 4 << 20;

/// Time for which the receiver does not read at first, if the sender can be faster than the path. A send buffer grows to 4 MiB
/// with Linux's default `tcp_wmem`, which takes a slow core 8 ms to fill.
const FILLING: Duration = Duration::from_millis(10);

/// Minimum duration of a TCP stream between two CPUs of this host, nanoseconds; it lasts until its rate is steady. After its startup BBR
/// may pace nothing for a tenth of a second more, because bursts of acknowledgements make it overestimate the bandwidth, and of a step
/// nothing shows before it: only what lasts twice as long can be found steady.
const PACED_NS: u64 = 200_000_000;

/// Over a wire, the wire itself shows congestion control its limit, and the initial phase is measured as it is.
fn reads_after(point: &Point, site: &Site) -> Duration {
    let over_wire = point.name(&PATH) == PEER && site.peer.as_ref().is_none_or(|peer| !peer.is_virtual);
    if is_lasting_tcp(point) && !over_wire { FILLING } else { Duration::ZERO }
}

/// Whether a point is about a TCP stream, and not about its beginning.
fn is_lasting_tcp(point: &Point) -> bool {
    let from_its_beginning = [START.name, MESSAGES.name].iter().any(|name| point.get(name).is_some());
    !matches!(point.name(&TRANSPORT), UDP | UNIX | PIPE) && !from_its_beginning
}

/// Minimum duration of a transfer, nanoseconds.
pub fn least_ns(point: &Point) -> u64 {
    match (point.name(&PATH), point.get(START.name)) {
        (PEER, _) => 100_000_000,
        (_, Some(_)) => 20_000_000,
        _ if is_lasting_tcp(point) && point.placement() != Placement::OneCpu => PACED_NS,
        _ => 15_000_000,
    }
}

/// The condition that ends a transfer, apart from the time in which it is not read.
fn enough(point: &Point, site: &Site) -> Enough {
    let chunk = point.number(&CHUNK);
    let ns = site.duration_ns.max(least_ns(point));
    match point.number(&MESSAGES) {
        // A slow network is not required to carry four of the largest chunks.
        0 if point.name(&PATH) == PEER => Enough { ns, bytes: (4 * chunk).min(MOST_NEEDED).max(chunk) },
        0 => Enough { ns, bytes: (4 * chunk).max(FEWEST_BYTES) },
        messages => Enough { ns: 0, bytes: messages * chunk },
    }
}

pub fn of(point: &Point, site: &Site) -> TransferOrder {
    let (enough, reads_after) = (enough(point, site), reads_after(point, site));
    TransferOrder {
        by: point.name(&TRANSPORT).to_owned(),
        path: point.name(&PATH).to_owned(),
        chunk: point.number(&CHUNK) as u32,
        streams: point.number(&STREAMS) as usize,
        buffers: None,
        enough: Enough { ns: enough.ns + reads_after.as_nanos() as u64, ..enough },
        reads_after,
    }
}

/// Runs the transfer with the point's transport and direction.
pub fn transferred(point: &Point, order: &TransferOrder, site: &Site) -> Result<Transfer, Failure> {
    match (point.name(&TRANSPORT), point.name(&DIRECTION)) {
        (UNIX, _) => transfer::send_within(order, true, site),
        (PIPE, _) => transfer::send_within(order, false, site),
        (UDP, _) => transfer::send_datagrams(order, site),
        (_, RECEIVE) => transfer::receive(order, site),
        (TCP, _) => transfer::send(&TransferOrder { by: WRITE.to_owned(), ..order.clone() }, site),
        _ => transfer::send(order, site),
    }
}
