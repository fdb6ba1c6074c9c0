//! Section 5: network.

mod measured;

use crate::sweep::point;
use crate::{Deviation, Fit, Method, Replica, Row, SameQuestion, Statistic, Theirs};
use fathom_core::experiment::{Found, Known, PEER, Placement, Point, Requirement};
use fathom_core::quantity::Unit;
use fathom_equipment::peer::other_side::LOOPBACK;
use measured::{BOTH, MESSAGE, SET_UP, TAKEN_DOWN, connecting, pouring, tripping};
use std::time::Duration;

const MEAN: Fit = Fit::Mean(Deviation::Sample);

/// What applies to all methods of this file.
const OVER_LOOPBACK: Method = Method {
    name: "",
    text: "",
    differs: "",
    placement: Placement::Free,
    needs: &[],
    limit: Duration::from_mins(2),
    measure: |stage| tripping(stage, LOOPBACK),
};

/// The method over loopback, with another host.
const TO_PEER: Method = Method { needs: &[Requirement::Peer], ..OVER_LOOPBACK };

static TRIPPING: Method = Method {
    name: "round trip, loopback",
    text: "Two processes exchange a message of 44 bytes and its echo over a TCP connection, ten times on each connection; ten trials.",
    differs: "",
    ..OVER_LOOPBACK
};

const OTHER_HOST: &str =
    "The other host is the one that --peer names, not a laptop in the same wireless network.";

static TRIPPING_AWAY: Method = Method {
    name: "round trip, remote",
    text: TRIPPING.text,
    differs: OTHER_HOST,
    measure: |stage| tripping(stage, PEER),
    ..TO_PEER
};

static POURING: Method = Method {
    name: "bandwidth, loopback",
    text: "The server writes 10,240 messages of 1 MB to a connection; the client times the reception of all of them, including the \
           beginning of the connection; ten trials.",
    differs: "A trial has 1024 messages (with --quick 128), because all of them would take a minute.",
    measure: |stage| pouring(stage, LOOPBACK, stage.count(1024, 128)),
    ..OVER_LOOPBACK
};

static POURING_AWAY: Method = Method {
    name: "bandwidth, remote",
    text: POURING.text,
    differs: "A trial has 100 messages (with --quick 16), because all of them would take an hour over a network like the report's. The \
              other host is the one that --peer names.",
    measure: |stage| pouring(stage, PEER, stage.count(100, 16)),
    ..TO_PEER
};

static CONNECTING: Method = Method {
    name: "connection, loopback",
    text: "The client calls connect() and close() for a TCP connection, each between two readings, 100 times; ten trials.",
    differs: "The server sends one byte on every connection, which the client reads, untimed, between the two calls, so that every \
              connection is accepted before it is closed.",
    measure: |stage| connecting(stage, LOOPBACK),
    ..OVER_LOOPBACK
};

static CONNECTING_AWAY: Method = Method {
    name: "connection, remote",
    text: CONNECTING.text,
    differs: "As over loopback. The other host is the one that --peer names.",
    measure: |stage| connecting(stage, PEER),
    ..TO_PEER
};

pub const ROUND_TRIP: Row = Row {
    section: "5.1",
    operation: "round trip over TCP, loopback",
    unit: Unit::Nanoseconds,
    per: "",
    theirs: Theirs::Printed("s001-0091"),
    replica: Replica::By(&TRIPPING),
    statistic: Statistic::of(MEAN),
    fathom: SameQuestion::Point("network/round_trip", |_| trip(LOOPBACK)),
    misleads: "The mean of ten round trips on a new connection includes the first one. The two sides are not pinned: on one processor a \
               round trip is two switches, on two it wakes an idle processor twice, and the figure does not say which.",
};

pub const ROUND_TRIP_AWAY: Row = Row {
    operation: "round trip over TCP, remote",
    theirs: Theirs::Printed("s001-0092"),
    replica: Replica::By(&TRIPPING_AWAY),
    fathom: SameQuestion::Point("network/round_trip", |_| trip(PEER)),
    misleads: "As over loopback. Over Wi-Fi other users affect the mean; the minimum would say more about the path.",
    ..ROUND_TRIP
};

pub const BANDWIDTH: Row = Row {
    section: "5.2",
    operation: "peak bandwidth, loopback",
    unit: Unit::BytesPerSecond,
    per: "",
    theirs: Theirs::Printed("s001-0093"),
    replica: Replica::By(&POURING),
    statistic: Statistic::of(MEAN),
    fathom: SameQuestion::Point("network/bandwidth", |_| stream(LOOPBACK)),
    misleads: "Only slightly misleading: a long stream of large writes is the right operation, and its beginning is a small part of it. \
               The figure is the mean of ten trials and not a peak, and both sides run where the scheduler places them, on one processor \
               or on two.",
};

pub const BANDWIDTH_AWAY: Row = Row {
    operation: "peak bandwidth, remote",
    theirs: Theirs::Printed("s001-0094"),
    replica: Replica::By(&POURING_AWAY),
    fathom: SameQuestion::Point("network/bandwidth", |_| stream(PEER)),
    misleads: "Only slightly misleading, as over loopback. TCP's slow start has more weight because there are fewer messages.",
    ..BANDWIDTH
};

pub const CONNECTION: Row = Row {
    section: "5.3",
    operation: "connection set up and taken down, loopback",
    unit: Unit::Nanoseconds,
    per: "",
    theirs: Theirs::Printed("s001-0095"),
    replica: Replica::By(&CONNECTING),
    statistic: Statistic::variant(BOTH, MEAN),
    fathom: SameQuestion::Computed { of: |_| both_points(LOOPBACK), value: |known| both(LOOPBACK, known) },
    misleads: "close() only releases a descriptor and leaves the end of the connection to the kernel. It does not wait for the other \
               side's answer, as Fathom's method does. It needs no round trip, which is why the report's close() took less than one.",
};

pub const CONNECTION_AWAY: Row = Row {
    operation: "connection set up and taken down, remote",
    theirs: Theirs::Printed("s001-0096"),
    replica: Replica::By(&CONNECTING_AWAY),
    fathom: SameQuestion::Computed { of: |_| both_points(PEER), value: |known| both(PEER, known) },
    ..CONNECTION
};

pub const SETUP: Row = Row {
    operation: "connection set up (connect), loopback",
    theirs: Theirs::Printed("s001-0054"),
    statistic: Statistic::variant(SET_UP, MEAN),
    fathom: SameQuestion::Point("network/connection", |_| part("connect", LOOPBACK)),
    misleads: "The method is right: connect() returns when the answer has arrived, before the other side has accepted. The scheduler \
               chooses where the two sides run; on one processor they need not wake an idle one. The report's figure is less than the \
               round trip from which it was predicted.",
    ..CONNECTION
};

pub const TEARDOWN: Row = Row {
    operation: "connection taken down (close), loopback",
    theirs: Theirs::Printed("s001-0055"),
    statistic: Statistic::variant(TAKEN_DOWN, MEAN),
    fathom: SameQuestion::Point("network/connection", |_| part("graceful end", LOOPBACK)),
    ..CONNECTION
};

pub const SETUP_AWAY: Row = Row {
    operation: "connection set up (connect), remote",
    theirs: Theirs::Printed("s001-0057"),
    replica: Replica::By(&CONNECTING_AWAY),
    fathom: SameQuestion::Point("network/connection", |_| part("connect", PEER)),
    misleads: "The method is right: connect() returns when the answer has arrived, after one round trip. With a virtual peer the scheduler \
               chooses where the two sides run, as over loopback.",
    ..SETUP
};

pub const TEARDOWN_AWAY: Row = Row {
    operation: "connection taken down (close), remote",
    theirs: Theirs::Printed("s001-0058"),
    replica: Replica::By(&CONNECTING_AWAY),
    fathom: SameQuestion::Point("network/connection", |_| part("graceful end", PEER)),
    ..TEARDOWN
};

fn trip(path: &str) -> Point {
    let names = [("transport", "TCP"), ("loop", "closed"), ("path", path)];
    point(Placement::AcrossCpus, &names, &[("payload", MESSAGE as u64)])
}

fn stream(path: &str) -> Point {
    let names = [("figure", "steady"), ("transport", "TCP"), ("direction", "receive"), ("path", path)];
    point(Placement::AcrossCpus, &names, &[("chunk", 1 << 20), ("streams", 1)])
}

fn part(part: &str, path: &str) -> Point {
    point(Placement::AcrossCpus, &[("phase", part), ("path", path), ("ip_version", "IPv4")], &[])
}

fn both_points(path: &str) -> Vec<(&'static str, Point)> {
    ["connect", "graceful end"].map(|which| ("network/connection", part(which, path))).to_vec()
}

/// Setup and teardown together.
fn both(path: &str, known: &Known) -> Option<Found> {
    let found = |(experiment, point): (&str, Point)| known.found(experiment, &point);
    let parts: Option<Vec<Found>> = both_points(path).into_iter().map(found).collect();
    parts?.into_iter().reduce(Found::plus)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::experiment::Dimension;

    #[test]
    fn a_connection_is_its_set_up_and_its_end_and_neither_alone() {
        let machine = fathom_described::machine();
        let mut known = Known::new(&machine, None);
        let points = both_points(LOOPBACK);
        let ns = |value| Found::bare(value, Dimension::Of(Unit::Nanoseconds));
        known.learn(points[0].0, &points[0].1, ns(5.0));
        assert_eq!(both(LOOPBACK, &known), None);
        known.learn(points[1].0, &points[1].1, ns(7.0));
        assert_eq!(both(LOOPBACK, &known).map(|found| found.value), Some(12.0));
    }
}
