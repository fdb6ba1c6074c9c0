//! Points of `network/bandwidth`, with their effort.

use crate::apparatus::network::path::{LOOPBACK, PATH, PEER, WITHIN};
use crate::apparatus::network::sending::{SENDFILE, SPLICE, ZERO_COPY};
use fathom_core::prelude::*;

pub const TRANSPORT: Parameter = Parameter::of(
    "transport",
    "how bytes travel",
    &[TCP, SENDFILE, SPLICE, ZERO_COPY, ACKNOWLEDGED, UNIX, PIPE, UDP],
);
pub const DIRECTION: Parameter =
    Parameter::of("direction", "whether this side sends or receives", &[SEND, RECEIVE]);
pub const CHUNK: Parameter = Parameter::bytes("chunk", "bytes of each write and of each read's buffer");
pub const STREAMS: Parameter = Parameter::count("streams", "parallel connections");
pub const FIGURE: Parameter = Parameter::named(
    "figure",
    "the figure: the steady rate, the rate of the whole transfer or of a window, the ramp's length, losses, \
              processor time per MiB, or the mean bytes of a read",
);
pub const START: Parameter = Parameter::nanoseconds(
    "start",
    "the start of the window, as time after the first byte; a window lasts as long again (the first as long \
              as the second); the ramp is the whole beginning",
);
pub const MESSAGES: Parameter = Parameter::count("messages", "messages of one chunk in the whole transfer");

/// Transport: TCP, written from memory.
pub const TCP: &str = "TCP";
/// Transport: report 000's form.
pub const ACKNOWLEDGED: &str = "TCP, a byte back per chunk";
/// Transport: a UNIX stream socket.
pub const UNIX: &str = "UNIX socket";
pub const PIPE: &str = "pipe";
/// Transport: UDP datagrams.
pub const UDP: &str = "UDP";
/// Direction: this side sends.
pub const SEND: &str = "send";
/// Direction: the other side sends.
pub const RECEIVE: &str = "receive";
/// Figure: the rate in the steady state.
pub const STEADY: &str = "steady";
/// Figure: the rate of the whole transfer.
pub const WHOLE: &str = "whole";
/// Figure: the rate of a part of the initial phase.
pub const WINDOW: &str = "window";
/// Figure: the duration of the initial phase.
pub const RAMP: &str = "ramp";
/// Figure: datagrams that did not arrive.
pub const LOSS: &str = "loss";
pub const SENDER: &str = "sender's processor time";
pub const RECEIVER: &str = "receiver's processor time";
/// Figure: bytes per read of the receiver.
pub const READ: &str = "bytes of a read";

/// What the question asks of each transport, and of the processors.
pub const CLAUSES: &[Clause] = &[
    Clause::of("how many bytes a second TCP carries", |point, _| is_rate_of(TCP, point)),
    Clause::of("how many bytes a second UDP carries", |point, _| is_rate_of(UDP, point)),
    Clause::of("how much processor time a MiB takes", |point, _| {
        [SENDER, RECEIVER].contains(&point.name(&FIGURE))
    }),
];

fn is_rate_of(transport: &str, point: &Point) -> bool {
    point.name(&TRANSPORT) == transport && point.name(&FIGURE) == STEADY
}

const CHUNKS: [u64; 9] = [512, 4 << 10, 16 << 10, 64 << 10, 128 << 10, 512 << 10, 1 << 20, 4 << 20, 32 << 20];
/// Numbers of streams that a quick run sends without placement.
const QUICK_STREAMS: [u64; 2] = [1, 4];
/// The chunk size of all points that do not vary it, bytes.
const USUAL_CHUNK: u64 = 128 << 10;
/// Chunk sizes at which the size of reads is reported: the usual one and the largest.
pub const READ_CHUNKS: [u64; 2] = [USUAL_CHUNK, 32 << 20];
const REPORT_000_CHUNK: u64 = 16_000_000;
const REPORT_001_CHUNK: u64 = 1 << 20;
const REPORT_001_MESSAGES: [u64; 2] = [256, 10_240];
/// Starts of windows, nanoseconds.
pub const WINDOWS: [u64; 6] = [0, 500_000, 1_000_000, 2_000_000, 4_000_000, 8_000_000];

/// The point of the steady rate of one stream.
pub fn point(transport: &str, path: &str, direction: &str, chunk: u64, placement: Placement) -> Point {
    let point =
        Point::at(placement).named(&TRANSPORT, transport).named(&PATH, path).named(&DIRECTION, direction);
    point.with(&CHUNK, chunk).with(&STREAMS, 1).named(&FIGURE, STEADY)
}

fn of_tcp(path: &str, points: &mut Vec<Point>) {
    let at = |direction, chunk| point(TCP, path, direction, chunk, Placement::AcrossCpus);
    for direction in [SEND, RECEIVE] {
        points.extend(CHUNKS.map(|chunk| at(direction, chunk)));
        let usual = point(TCP, path, direction, USUAL_CHUNK, Placement::Free);
        points.extend([1, 2, 4, 8].map(|streams| usual.clone().with(&STREAMS, streams)));
        points.push(point(ACKNOWLEDGED, path, direction, REPORT_000_CHUNK, Placement::AcrossCpus));
    }
    let usual = at(SEND, USUAL_CHUNK);
    points.extend([SENDER, RECEIVER].map(|aspect| usual.clone().named(&FIGURE, aspect)));
    points.extend(READ_CHUNKS.map(|chunk| at(SEND, chunk).named(&FIGURE, READ)));
    let beginning = |aspect, since| usual.clone().named(&FIGURE, aspect).with(&START, since);
    points.push(beginning(RAMP, 0));
    points
        .extend([WINDOW, READ].into_iter().flat_map(|figure| WINDOWS.map(|since| beginning(figure, since))));
    let whole = at(RECEIVE, REPORT_001_CHUNK).named(&FIGURE, WHOLE);
    points.extend(REPORT_001_MESSAGES.map(|messages| whole.clone().with(&MESSAGES, messages)));
    points.extend(
        [SENDFILE, SPLICE, ZERO_COPY]
            .map(|transport| point(transport, path, SEND, USUAL_CHUNK, Placement::AcrossCpus)),
    );
    for bytes in [1400, 8192] {
        let udp = point(UDP, path, SEND, bytes, Placement::AcrossCpus);
        points.extend([STEADY, LOSS].map(|aspect| udp.clone().named(&FIGURE, aspect)));
    }
}

/// Every point, in the order of the table.
pub fn all() -> Vec<Point> {
    let mut points = vec![];
    for transport in [PIPE, UNIX] {
        let chunks = [4 << 10, 64 << 10, 1 << 20];
        points.extend(chunks.map(|chunk| point(transport, WITHIN, SEND, chunk, Placement::AcrossCpus)));
        points.push(point(transport, WITHIN, SEND, 64 << 10, Placement::OneCpu));
    }
    points.push(point(TCP, LOOPBACK, SEND, USUAL_CHUNK, Placement::OneCpu));
    of_tcp(LOOPBACK, &mut points);
    of_tcp(PEER, &mut points);
    points
}

/// The steady rate of TCP, sent on this path by one stream in chunks of the usual size.
pub fn usual(path: &str) -> Point {
    point(TCP, path, SEND, USUAL_CHUNK, Placement::AcrossCpus)
}

/// The same by one or more streams without placement.
pub fn usual_beside(path: &str) -> Point {
    point(TCP, path, SEND, USUAL_CHUNK, Placement::Free)
}

/// The effort from which on a point is measured.
pub fn effort(point: &Point) -> Effort {
    let chunk = point.number(&CHUNK);
    match (point.name(&TRANSPORT), point.name(&FIGURE)) {
        (_, WHOLE) if point.number(&MESSAGES) == REPORT_001_MESSAGES[1] => Effort::Thorough,
        (TCP, STEADY) if is_second_look(point) => Effort::Thorough,
        (TCP, STEADY) if point.placement() == Placement::Free => {
            quick(point.name(&DIRECTION) == SEND && QUICK_STREAMS.contains(&point.number(&STREAMS)))
        }
        (TCP, STEADY) => quick(chunk == USUAL_CHUNK),
        (PIPE | UNIX, _) => quick(chunk == 64 << 10),
        (UDP, _) => quick(chunk == 1400),
        (_, aspect) => quick(aspect == RAMP),
    }
}

/// Whether a stream over loopback differs from one that this side sends in which of the two processes is timed alone: sizes and numbers
/// of streams are varied by sending. Across a network the ways differ.
fn is_second_look(point: &Point) -> bool {
    let repeats = point.placement() == Placement::Free
        || ![USUAL_CHUNK, REPORT_001_CHUNK].contains(&point.number(&CHUNK));
    point.name(&PATH) == LOOPBACK && point.name(&DIRECTION) == RECEIVE && repeats
}

fn quick(is_quick: bool) -> Effort {
    if is_quick { Effort::Quick } else { Effort::Standard }
}
