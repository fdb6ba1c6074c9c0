//! What is transferred at a point: how much, how long, and when it begins to be read.

use super::points::{CHUNK, DIRECTION, MESSAGES, PIPE, RECEIVE, START, STREAMS, TCP, TRANSPORT, UDP, UNIX};
use crate::experiment::{Failure, Point, Site};
use crate::experiments::network::path::{PATH, PEER};
use crate::experiments::network::sending::WRITE;
use crate::experiments::network::transfer::{self, Order, Transfer};
use crate::peer::service::Enough;
use std::time::Duration;

/// Bytes that a transfer to a peer is at least made of, where a chunk is not more.
const MOST_NEEDED: u64 = 4 << 20;

/// Bytes that a transfer on this host is at least made of: where a chunk takes milliseconds, its arrivals would be too few to
/// tell a rate.
const FEWEST_BYTES: u64 = 4 << 20;

/// How long the receiver does not read at first, where the sender can be faster than what it sends over. A send buffer grows
/// to 4 MiB where `tcp_wmem` is as Linux ships it, which takes a slow core 8 ms to fill.
const FILLING: Duration = Duration::from_millis(10);

/// Over a wire the wire itself shows congestion control its limit, and a beginning is looked at as it is.
fn reads_after(point: &Point, site: &Site) -> Duration {
    let over_wire = point.name(&PATH) == PEER && site.peer.as_ref().is_none_or(|peer| !peer.is_virtual);
    let from_its_beginning = [START.name, MESSAGES.name].iter().any(|name| point.get(name).is_some());
    let is_tcp = !matches!(point.name(&TRANSPORT), UDP | UNIX | PIPE);
    if is_tcp && !over_wire && !from_its_beginning { FILLING } else { Duration::ZERO }
}

/// How long a transfer lasts at least, nanoseconds.
pub fn least_ns(point: &Point) -> u64 {
    match (point.name(&PATH), point.get(START.name)) {
        (PEER, _) => 100_000_000,
        (_, Some(_)) => 20_000_000,
        _ => 15_000_000,
    }
}

/// When a transfer is long enough, beside the time in which it is not read.
fn enough(point: &Point, site: &Site) -> Enough {
    let chunk = point.number(&CHUNK);
    let ns = site.duration_ns.max(least_ns(point));
    match point.number(&MESSAGES) {
        // A slow network is not made to carry four of the largest chunks.
        0 if point.name(&PATH) == PEER => Enough { ns, bytes: (4 * chunk).min(MOST_NEEDED).max(chunk) },
        0 => Enough { ns, bytes: (4 * chunk).max(FEWEST_BYTES) },
        messages => Enough { ns: 0, bytes: messages * chunk },
    }
}

/// What is transferred at a point.
pub fn of(point: &Point, site: &Site) -> Order {
    let (enough, reads_after) = (enough(point, site), reads_after(point, site));
    Order {
        by: point.name(&TRANSPORT).to_owned(),
        path: point.name(&PATH).to_owned(),
        chunk: point.number(&CHUNK) as u32,
        streams: point.number(&STREAMS) as usize,
        buffers: None,
        enough: Enough { ns: enough.ns + reads_after.as_nanos() as u64, ..enough },
        reads_after,
    }
}

/// Transfers it, in the point's way and direction.
pub fn transferred(point: &Point, order: &Order, site: &Site) -> Result<Transfer, Failure> {
    match (point.name(&TRANSPORT), point.name(&DIRECTION)) {
        (UNIX, _) => transfer::send_within(order, true, site),
        (PIPE, _) => transfer::send_within(order, false, site),
        (UDP, _) => transfer::send_datagrams(order, site),
        (_, RECEIVE) => transfer::receive(order, site),
        (TCP, _) => transfer::send(&Order { by: WRITE.to_owned(), ..order.clone() }, site),
        _ => transfer::send(order, site),
    }
}
