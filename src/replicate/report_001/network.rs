//! Section 5: network.

use super::trials;
use crate::experiment::{Failure, Found, Known, PEER, Placement, Point, Requirement};
use crate::experiments::network::other_side::{LOOPBACK, OtherSide};
use crate::peer::Service;
use crate::peer::service::{Enough, StreamOptions, Transport};
use crate::quantity::Unit;
use crate::replicate::asked::point;
use crate::replicate::timer::without_trailing_cpuid as timed;
use crate::replicate::{
    Deviation, Fathom, Fit, Method, Replica, Row, Series, Stage, Statistic, Theirs, tasks,
};
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{Error, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

const MEAN: Fit = Fit::Mean(Deviation::Sample);
/// A stream that stays silent for longer is broken.
const PATIENCE: Duration = Duration::from_secs(10);

/// What all methods of this file have in common.
const OVER_LOOPBACK: Method = Method {
    name: "",
    text: "",
    differs: "",
    placement: Placement::Free,
    needs: &[],
    limit: Duration::from_mins(2),
    measure: |stage| tripping(stage, LOOPBACK),
};

/// The same with another host.
const TO_PEER: Method = Method { needs: &[Requirement::Peer], ..OVER_LOOPBACK };

static TRIPPING: Method = Method {
    name: "round trip, loopback",
    text: "A message of 44 bytes over a TCP connection and its echo, between two processes, ten times on a connection; ten \
           trials.",
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
    text: "The server writes 10,240 messages of 1 MB to a connection; the client times the reception of all, the beginning of the \
           connection included; ten trials.",
    differs: "1024 messages make a trial, 128 with --quick: all of them would take a minute.",
    measure: |stage| pouring(stage, LOOPBACK, stage.count(1024, 128)),
    ..OVER_LOOPBACK
};

static POURING_AWAY: Method = Method {
    name: "bandwidth, remote",
    text: POURING.text,
    differs: "100 messages make a trial, 16 with --quick: all of them would take an hour over a network like theirs. The other \
              host is the one that --peer names.",
    measure: |stage| pouring(stage, PEER, stage.count(100, 16)),
    ..TO_PEER
};

static CONNECTING: Method = Method {
    name: "connection, loopback",
    text: "connect() and close() of a TCP connection, each between two readings, 100 times; ten trials.",
    differs: "The server greets every connection with one byte, which is read between the two and not timed, so that every \
              connection was accepted before it is closed.",
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
    fathom: Fathom::Point("network/round_trip", |_| trip(LOOPBACK)),
    misleads: "Ten round trips on a young connection: the mean holds the first one. Nothing holds the two sides where they are: on one \
               processor a round trip is two switches, on two it is waking an idle one twice, and the figure does not say which.",
};

pub const ROUND_TRIP_AWAY: Row = Row {
    operation: "round trip over TCP, remote",
    theirs: Theirs::Printed("s001-0092"),
    replica: Replica::By(&TRIPPING_AWAY),
    fathom: Fathom::Point("network/round_trip", |_| trip(PEER)),
    misleads: "As over loopback. Over Wi-Fi the mean is that of the air's other users, and the least would say more of the way.",
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
    fathom: Fathom::Point("network/bandwidth", |_| stream(LOOPBACK)),
    misleads: "Little: a long stream of large writes is the right question, and its beginning is a small part of it. It is the mean of \
               ten and not a peak; and both sides run wherever the scheduler puts them, on one processor or on two.",
};

pub const BANDWIDTH_AWAY: Row = Row {
    operation: "peak bandwidth, remote",
    theirs: Theirs::Printed("s001-0094"),
    replica: Replica::By(&POURING_AWAY),
    fathom: Fathom::Point("network/bandwidth", |_| stream(PEER)),
    misleads: "Little, as over loopback. The stream's beginning, in which TCP feels its way, weighs the more the fewer messages \
               there are.",
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
    fathom: Fathom::Computed { of: |_| both_points(LOOPBACK), value: |known| both(LOOPBACK, known) },
    misleads: "close() only releases a descriptor and leaves the end of the connection to the kernel: the other side's answer is \
               not waited for, as it is in Fathom's figure. It needs no round trip, which is why theirs took less than one.",
};

pub const CONNECTION_AWAY: Row = Row {
    operation: "connection set up and taken down, remote",
    theirs: Theirs::Printed("s001-0096"),
    replica: Replica::By(&CONNECTING_AWAY),
    fathom: Fathom::Computed { of: |_| both_points(PEER), value: |known| both(PEER, known) },
    ..CONNECTION
};

pub const SETUP: Row = Row {
    operation: "connection set up (connect), loopback",
    theirs: Theirs::Printed("s001-0054"),
    statistic: Statistic::variant(SET_UP, MEAN),
    fathom: Fathom::Point("network/connection", |_| part("connect", LOOPBACK)),
    misleads: "Nothing in what is timed: connect() returns when the answer is there, before the other side has accepted. Where the two sides \
               run is left to the scheduler: on one processor they need no wake-up of an idle one. Theirs took less than the round \
               trip that it was predicted from.",
    ..CONNECTION
};

pub const TEARDOWN: Row = Row {
    operation: "connection taken down (close), loopback",
    theirs: Theirs::Printed("s001-0055"),
    statistic: Statistic::variant(TAKEN_DOWN, MEAN),
    fathom: Fathom::Point("network/connection", |_| part("graceful end", LOOPBACK)),
    ..CONNECTION
};

pub const SETUP_AWAY: Row = Row {
    operation: "connection set up (connect), remote",
    theirs: Theirs::Printed("s001-0057"),
    replica: Replica::By(&CONNECTING_AWAY),
    fathom: Fathom::Point("network/connection", |_| part("connect", PEER)),
    misleads: "Nothing in what is timed: connect() returns when the answer is there, after one round trip. With a virtual other host, where \
               the two sides run is left to the scheduler, as over loopback.",
    ..SETUP
};

pub const TEARDOWN_AWAY: Row = Row {
    operation: "connection taken down (close), remote",
    theirs: Theirs::Printed("s001-0058"),
    replica: Replica::By(&CONNECTING_AWAY),
    fathom: Fathom::Point("network/connection", |_| part("graceful end", PEER)),
    ..TEARDOWN
};

const SET_UP: &str = "set up";
const TAKEN_DOWN: &str = "taken down";
const BOTH: &str = "both";

fn trip(path: &str) -> Point {
    let names = [("by", "TCP"), ("loop", "closed"), ("path", path)];
    point(Placement::AcrossCpus, &names, &[("payload", MESSAGE as u64)])
}

fn stream(path: &str) -> Point {
    let names = [("aspect", "steady"), ("by", "TCP"), ("direction", "receive"), ("path", path)];
    point(Placement::AcrossCpus, &names, &[("chunk", 1 << 20), ("streams", 1)])
}

fn part(part: &str, path: &str) -> Point {
    point(Placement::AcrossCpus, &[("part", part), ("path", path), ("version", "IPv4")], &[])
}

fn both_points(path: &str) -> Vec<(&'static str, Point)> {
    ["connect", "graceful end"].map(|which| ("network/connection", part(which, path))).to_vec()
}

/// Setting up and taking down, one after the other.
fn both(path: &str, known: &Known) -> Option<Found> {
    let found = |(experiment, point): (&str, Point)| known.found(experiment, &point);
    let parts: Option<Vec<Found>> = both_points(path).into_iter().map(found).collect();
    parts?.into_iter().reduce(Found::plus)
}

/// Bytes of a message: with its headers a TCP packet is then as long as one of ping's.
const MESSAGE: usize = 44;
const EXCHANGES: usize = 10;

fn tripping(stage: &Stage, path: &str) -> Result<Series, Failure> {
    let (tick_ns, priority) = (stage.ns_per_tick()?, tasks::raise_priority());
    let echo = Service::Echo { transport: Transport::Tcp, bytes: MESSAGE as u32 };
    let other = OtherSide::start(&echo, path, stage.site)?;
    let values = trials(|| {
        let mut stream = connected(&other)?;
        let mut ticks = 0;
        for _ in 0..EXCHANGES {
            let mut exchanged = Ok(());
            ticks += timed(|| exchanged = exchange(&mut stream));
            exchanged.map_err(|error| broke("exchanging a message", &error))?;
        }
        Ok::<_, Failure>(ticks as f64 * tick_ns / EXCHANGES as f64)
    })?;
    Ok(Series::of(values).seen_where(priority).seen_where(of_namespace(stage, path)))
}

fn exchange(stream: &mut TcpStream) -> std::io::Result<()> {
    let mut message = [7; MESSAGE];
    stream.write_all(&message)?;
    stream.read_exact(&mut message)
}

fn pouring(stage: &Stage, path: &str, messages: u64) -> Result<Series, Failure> {
    const MB: u32 = 1 << 20;
    let (tick_ns, priority) = (stage.ns_per_tick()?, tasks::raise_priority());
    let bytes = messages * u64::from(MB);
    let options = StreamOptions { chunk: MB, buffers: None };
    let source = Service::Source { stream: options, enough: Enough { ns: 0, bytes }, acknowledged: false };
    let other = OtherSide::start(&source, path, stage.site)?;
    let mut buffer = vec![0; MB as usize];
    let values = trials(|| {
        let mut stream = connected(&other)?;
        let mut received = Ok(0);
        let ticks = timed(|| received = received_all(&mut stream, &mut buffer));
        let received = received.map_err(|error| broke("receiving", &error))?;
        crate::experiment::ensure(received == bytes, "not all that was to be sent has come")?;
        Ok::<_, Failure>(bytes as f64 / (ticks as f64 * tick_ns) * 1e9)
    })?;
    Ok(Series::of(values).seen_where(priority).seen_where(of_namespace(stage, path)))
}

fn received_all(stream: &mut TcpStream, buffer: &mut [u8]) -> std::io::Result<u64> {
    let mut received = 0;
    loop {
        match stream.read(buffer)? {
            0 => return Ok(received),
            some => received += some as u64,
        }
    }
}

const CONNECTIONS: usize = 100;

fn connecting(stage: &Stage, path: &str) -> Result<Series, Failure> {
    let (tick_ns, priority) = (stage.ns_per_tick()?, tasks::raise_priority());
    let other = OtherSide::start(&Service::Accept, path, stage.site)?;
    let mut down = vec![];
    let up = trials(|| {
        let (mut connected, mut closed) = (0, 0);
        for _ in 0..CONNECTIONS {
            let (one, other) = connection(&other)?;
            connected += one;
            closed += other;
        }
        let ns = |ticks: i64| ticks as f64 * tick_ns / CONNECTIONS as f64;
        down.push(ns(closed));
        Ok::<_, Failure>(ns(connected))
    })?;
    let both = up.iter().zip(&down).map(|(up, down)| up + down).collect();
    let series = Series::default().and(SET_UP, 0.0, up).and(TAKEN_DOWN, 0.0, down).and(BOTH, 0.0, both);
    Ok(series.seen_where(priority).seen_where(of_namespace(stage, path)))
}

/// Ticks of `connect` and of `close`.
fn connection(other: &OtherSide) -> Result<(i64, i64), Failure> {
    let socket = socket(other)?;
    let address = other.address.into();
    let mut made = Ok(());
    let up = timed(|| made = socket.connect(&address));
    made.map_err(|error| broke("connect", &error))?;
    let mut stream = TcpStream::from(socket);
    stream.read_exact(&mut [0]).map_err(|error| broke("waiting to be accepted", &error))?;
    Ok((up, timed(|| drop(stream))))
}

fn socket(other: &OtherSide) -> Result<Socket, Failure> {
    let made = Socket::new(Domain::for_address(other.address), Type::STREAM, Some(Protocol::TCP));
    let made = made.and_then(|socket| {
        socket.set_read_timeout(Some(PATIENCE))?;
        socket.set_write_timeout(Some(PATIENCE))?;
        Ok(socket)
    });
    made.map_err(|error| broke("socket", &error))
}

/// A connection with the options that a program gets that asks for none.
fn connected(other: &OtherSide) -> Result<TcpStream, Failure> {
    let socket = socket(other)?;
    socket.connect(&other.address.into()).map_err(|error| broke("connect", &error))?;
    Ok(socket.into())
}

/// What is to be said where the other host is one only by name.
fn of_namespace(stage: &Stage, path: &str) -> Option<String> {
    let is_virtual = stage.site.peer.as_ref().is_some_and(|peer| peer.is_virtual);
    (path == PEER && is_virtual).then(|| {
        "The other host is a network namespace of this machine: there is no wire, and it shares the processors.".to_owned()
    })
}

fn broke(attempt: &str, error: &Error) -> Failure {
    Failure::Broke(format!("a connection: {attempt}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Dimension;
    use crate::machine::Machine;
    use std::net::TcpListener;

    #[test]
    fn all_bytes_of_a_stream_are_received_and_counted() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let writer =
            std::thread::spawn(move || listener.accept().unwrap().0.write_all(&vec![1; 100_001]).unwrap());
        assert_eq!(received_all(&mut stream, &mut [0; 4096]).unwrap(), 100_001);
        writer.join().unwrap();
    }

    #[test]
    fn a_connection_is_its_set_up_and_its_end_and_neither_alone() {
        let machine = Machine::describe(std::path::Path::new("/"));
        let mut known = Known::new(&machine, None);
        let points = both_points(LOOPBACK);
        let ns = |value| Found::bare(value, Dimension::Of(Unit::Nanoseconds));
        known.learn(points[0].0, &points[0].1, ns(5.0));
        assert_eq!(both(LOOPBACK, &known), None);
        known.learn(points[1].0, &points[1].1, ns(7.0));
        assert_eq!(both(LOOPBACK, &known).map(|found| found.value), Some(12.0));
    }
}
