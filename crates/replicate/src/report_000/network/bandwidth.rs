//! Section 5.3: chunks of 16,000,000 bytes, each acknowledged by one byte.

use super::{PEER_IS, broke};
use crate::report_000::boilerplate::trials;
use crate::sweep::nearest;
use crate::{Deviation, Fit, Method, Replica, Row, SameQuestion, Series, Stage, Statistic, Theirs};
use fathom_core::experiment::{Failure, PEER, Placement, Point, Requirement};
use fathom_core::machine::Machine;
use fathom_core::quantity::Unit;
use fathom_equipment::peer::Service;
use fathom_equipment::peer::other_side::{LOOPBACK, OtherSide};
use fathom_equipment::peer::service::{Enough, StreamOptions};
use socket2::Socket;
use std::io::{Read, Write};
use std::time::Duration;

const READS: &str = "read";
const WRITES: &str = "write";

/// Bytes of a chunk, and of each socket buffer that is asked for.
const CHUNK: u32 = 16_000_000;
/// Chunks of a trial; the report does not say how many.
const CHUNKS: u64 = 100;
/// A chunk that takes longer than this has been lost.
const TIMEOUT: Duration = Duration::from_secs(10);

static HERE: Method = Method {
    name: "TCP bandwidth, loopback",
    text: "Chunks have 16,000,000 bytes. Reading, the client sends one byte and receives a chunk; writing, it sends a chunk and receives \
           one byte. The socket buffers have 16,000,000 bytes, which the authors had the kernel allow (net.core.rmem_max, wmem_max). The \
           timer stands around the loop; ten trials. Both sides are on one CPU.",
    differs: "Fathom leaves the kernel's limits as they are and lists the sizes of the buffers that the kernel granted. A trial has 100 \
              chunks, or what fits into 15 s for all trials; the report does not give their number.",
    placement: Placement::OneCpu,
    needs: &[],
    limit: Duration::from_mins(2),
    measure: |stage| both_ways(stage, LOOPBACK),
};

static THERE: Method = Method {
    name: "TCP bandwidth, remote",
    text: "The method over loopback, with the server on the other machine.",
    differs: PEER_IS,
    placement: Placement::AcrossCpus,
    needs: &[Requirement::Peer],
    limit: Duration::from_mins(2),
    measure: |stage| both_ways(stage, PEER),
};

fn both_ways(stage: &Stage, path: &str) -> Result<Series, Failure> {
    let stream = StreamOptions { chunk: CHUNK, buffers: Some(CHUNK) };
    let enough = Enough { ns: 0, bytes: 0 };
    let source = Service::Source { stream, enough, acknowledged: true };
    let sink = Service::Sink { stream, acknowledged: Some(CHUNK), reads_after_ns: 0 };
    let mut chunk = vec![1; CHUNK as usize];
    let (reads, granted) = rates(stage, (&source, path), |socket| {
        socket.write_all(&[1]).and_then(|()| socket.read_exact(&mut chunk))
    })?;
    let (writes, _) = rates(stage, (&sink, path), |socket| {
        socket.write_all(&chunk).and_then(|()| socket.read_exact(&mut [0]))
    })?;
    let told = format!(
        "The kernel granted {} bytes for the send buffer and {} for the receive buffer.",
        granted.0, granted.1
    );
    Ok(reads.and(WRITES, 0.0, writes.points[0].values.clone()).seen(told))
}

/// Bytes per second of ten trials, and the sizes of the socket's buffers.
fn rates(
    stage: &Stage,
    (service, path): (&Service, &str),
    mut chunk: impl FnMut(&mut Socket) -> std::io::Result<()>,
) -> Result<(Series, (usize, usize)), Failure> {
    let other = OtherSide::start(service, path, stage.site)?;
    let options = StreamOptions { chunk: CHUNK, buffers: Some(CHUNK) };
    let mut socket = options.socket(other.address).map_err(broke("socket"))?;
    socket.set_read_timeout(Some(TIMEOUT)).map_err(broke("SO_RCVTIMEO"))?;
    socket.set_write_timeout(Some(TIMEOUT)).map_err(broke("SO_SNDTIMEO"))?;
    socket.connect(&other.address.into()).map_err(broke("connect"))?;
    let timed = trials(stage, CHUNKS, 0.45, |n| {
        (0..n).try_for_each(|_| chunk(&mut socket)).map_err(broke("a chunk of 16,000,000 bytes"))
    })?;
    let granted = (socket.send_buffer_size().unwrap_or(0), socket.recv_buffer_size().unwrap_or(0));
    drop(socket);
    other.stop()?;
    let rates = timed.values.iter().map(|ns| f64::from(CHUNK) / ns * 1e9).collect();
    Ok((Series::default().and(READS, 0.0, rates), granted))
}

const BANDWIDTH: &str = "network/bandwidth";

/// The point of one long stream, on one CPU if Fathom has it there.
fn stream(machine: &Machine, path: &'static str, direction: &'static str) -> Point {
    let names: &[(&str, &[&str])] = &[
        ("transport", &["TCP"]),
        ("path", &[path]),
        ("direction", &[direction]),
        ("figure", &["steady"]),
        ("placement", &["one-cpu", "across-cpus"]),
    ];
    nearest(BANDWIDTH, machine, names, &[("streams", 1), ("chunk", 128 << 10)])
}

const fn moved(
    operation: &'static str,
    (variant, theirs): (&'static str, &'static str),
    method: &'static Method,
    point: fn(&Machine) -> Point,
    misleads: &'static str,
) -> Row {
    Row {
        section: "5.3",
        operation,
        unit: Unit::BytesPerSecond,
        per: "",
        theirs: Theirs::Printed(theirs),
        replica: Replica::By(method),
        statistic: Statistic::variant(variant, Fit::Mean(Deviation::Sample)),
        fathom: SameQuestion::Point(BANDWIDTH, point),
        misleads,
    }
}

const ACKNOWLEDGED: &str = "Each chunk waits for the acknowledgement of the one before, so a round trip and the filling of empty buffers \
                            are part of every chunk. The 16 MB of each side also do not fit into the caches, whereas a long stream in \
                            small chunks stays in them. On one CPU the two sides take turns; where Fathom's stream runs across CPUs, they \
                            do not.";

/// The summary's row; table 18.
pub const LOOPBACK_READ: Row = moved(
    "peak bandwidth, TCP, loopback, read",
    (READS, "s000-0290"),
    &HERE,
    |machine| stream(machine, LOOPBACK, "receive"),
    ACKNOWLEDGED,
);

/// The summary's row; table 20.
pub const LOOPBACK_WRITE: Row = moved(
    "peak bandwidth, TCP, loopback, write",
    (WRITES, "s000-0291"),
    &HERE,
    |machine| stream(machine, LOOPBACK, "send"),
    ACKNOWLEDGED,
);

const FAR: &str = "Each chunk waits for the acknowledgement of the one before: a round trip is part of every chunk, and so is the time \
                   until the stream reaches its rate again. The loss grows with the distance of the other machine.";

/// The summary's row; table 19.
pub const REMOTE_READ: Row = moved(
    "peak bandwidth, TCP, remote, read",
    (READS, "s000-0292"),
    &THERE,
    |machine| stream(machine, PEER, "receive"),
    FAR,
);

/// The summary's row; table 21.
pub const REMOTE_WRITE: Row = moved(
    "peak bandwidth, TCP, remote, write",
    (WRITES, "s000-0293"),
    &THERE,
    |machine| stream(machine, PEER, "send"),
    FAR,
);
