//! Section 5: network, over loopback and to a second machine.

use crate::operations::{broke, echo_ns, listener, set_timeouts, tcp_socket, tcp_stream};
use crate::protocol::{TRIALS, loop_trials, reduced, try_unsigned_ticks, unsigned_ticks};
use crate::{Series, Stage};
use fathom_core::experiment::{Failure, PEER, PeerAddress};
use fathom_core::quantities;
use fathom_core::quantity::Unit;
use fathom_core::sampling::partner::PartnerProcess;
use fathom_equipment::peer::other_side::OtherSide;
use fathom_equipment::peer::ping::{Ping, THIS_HOST};
use fathom_equipment::peer::service::{Enough, StreamOptions, Transport};
use fathom_equipment::peer::{Service, ports};
use socket2::Socket;
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// The ping utility's default payload, bytes.
const PAYLOAD: usize = 56;

/// Between two echoes.
const PAUSE: Duration = Duration::from_millis(100);

/// A reply that takes longer than this is lost.
const ECHO_TIMEOUT: Duration = Duration::from_secs(2);

pub(super) fn ping_loopback(stage: &Stage) -> Result<Series, Failure> {
    pings(stage, THIS_HOST)
}

pub(super) fn ping_peer(stage: &Stage) -> Result<Series, Failure> {
    match stage.site.peer.as_ref().and_then(PeerAddress::by_ipv4) {
        Some(peer) => pings(stage, peer.address),
        None => Err(Failure::Unsupported("the peer has no IPv4 address".to_owned())),
    }
}

fn pings(stage: &Stage, host: IpAddr) -> Result<Series, Failure> {
    let mut ping = Ping::open(host, PAYLOAD)?;
    ping.set_timeout(ECHO_TIMEOUT).map_err(broke("SO_RCVTIMEO"))?;
    let count = stage.count(100, 10) as u16;
    let (mut values, mut lost) = (vec![], 0);
    for sequence in 1..=count {
        match echo_ns(stage, &mut ping, sequence) {
            Ok(ns) => values.push(ns),
            Err(_) => lost += 1,
        }
        std::thread::sleep(PAUSE);
    }
    if values.is_empty() {
        return Err(Failure::Broke(format!("none of {count} echo requests to {host} was answered")));
    }
    let series = Series::of(values);
    Ok(if lost > 0 { series.with_note(format!("{lost} of {count} echoes were lost.")) } else { series })
}

pub(super) fn turns(stage: &Stage, path: &str) -> Result<Series, Failure> {
    let other = OtherSide::start(&Service::Echo { transport: Transport::Tcp, bytes: 1 }, path, stage.site)?;
    let mut stream = tcp_stream(other.address, ECHO_TIMEOUT)?;
    let timed = loop_trials(stage, 1000, 0.9, |n| {
        for _ in 0..n {
            stream.write_all(&[1]).map_err(broke("send"))?;
            stream.read_exact(&mut [0]).map_err(broke("recv"))?;
        }
        Ok(())
    })?;
    drop(stream);
    other.stop()?;
    Ok(timed.into())
}

/// Bytes of a chunk, and of each socket buffer that is asked for.
const CHUNK: u32 = 16_000_000;

/// Chunks of a trial; the report does not say how many.
const CHUNKS: u64 = 100;

/// A chunk that takes longer than this has been lost.
const CHUNK_TIMEOUT: Duration = Duration::from_secs(10);

pub(super) fn both_ways(stage: &Stage, path: &str) -> Result<Series, Failure> {
    let stream = StreamOptions { chunk: CHUNK, buffers: Some(CHUNK) };
    let enough = Enough { ns: 0, bytes: 0 };
    let source = Service::Source { stream, enough, acknowledged: true, begins_before: false };
    let sink = Service::Sink { stream, acknowledged: Some(CHUNK), reads_after_ns: 0 };
    let mut chunk = vec![1; CHUNK as usize];
    let (reads, granted) = rates(stage, (&source, path), |socket| {
        socket.write_all(&[1]).and_then(|()| socket.read_exact(&mut chunk))
    })?;
    let (writes, _) = rates(stage, (&sink, path), |socket| {
        socket.write_all(&chunk).and_then(|()| socket.read_exact(&mut [0]))
    })?;
    let buffers = format!(
        "The kernel granted {} bytes for the send buffer and {} for the receive buffer.",
        granted.0, granted.1
    );
    Ok(Series::default().and("read", 0.0, reads).and("write", 0.0, writes).with_note(buffers))
}

/// Bytes per second of ten trials, and the sizes of the socket's buffers.
fn rates(
    stage: &Stage,
    (service, path): (&Service, &str),
    mut chunk: impl FnMut(&mut Socket) -> std::io::Result<()>,
) -> Result<(Vec<f64>, (usize, usize)), Failure> {
    let other = OtherSide::start(service, path, stage.site)?;
    let options = StreamOptions { chunk: CHUNK, buffers: Some(CHUNK) };
    let mut socket = options.socket(other.address).map_err(broke("socket"))?;
    set_timeouts(&socket, CHUNK_TIMEOUT)?;
    socket.connect(&other.address.into()).map_err(broke("connect"))?;
    let timed = loop_trials(stage, CHUNKS, 0.45, |n| {
        (0..n).try_for_each(|_| chunk(&mut socket)).map_err(broke("a chunk of 16,000,000 bytes"))
    })?;
    let granted = (socket.send_buffer_size().unwrap_or(0), socket.recv_buffer_size().unwrap_or(0));
    drop(socket);
    other.stop()?;
    Ok((timed.values.iter().map(|ns| f64::from(CHUNK) / ns * 1e9).collect(), granted))
}

const CONNECTIONS: u64 = 1000;

/// The share of the ephemeral ports that one method may leave in TIME-WAIT: Fathom's own connections need some as well.
const SHARE_OF_PORTS: u64 = 4;

/// A connection that takes longer than this has failed: the first segment is sent again after one second, then after two.
const TIMEOUT: Duration = Duration::from_secs(4);

pub(super) fn connections_here(stage: &Stage) -> Result<Series, Failure> {
    let (listener, address) = listener()?;
    let _server = PartnerProcess::start(stage.site.partner, move || {
        loop {
            drop(listener.accept().map_err(broke("accept"))?);
        }
    })?;
    connections(stage, address, false)
}

pub(super) fn connections_to_peer(stage: &Stage) -> Result<Series, Failure> {
    let other = OtherSide::start(&Service::Accept, PEER, stage.site)?;
    let series = connections(stage, other.address, true)?;
    other.stop()?;
    Ok(series)
}

#[derive(Default)]
struct ConnectionTrial {
    count: u64,
    connect: f64,
    close: f64,
    /// Negative differences, which unsigned numbers make huge.
    negative: u64,
    slowest: f64,
}

fn connections(stage: &Stage, address: SocketAddr, greeted: bool) -> Result<Series, Failure> {
    let (tick, overflows) = (stage.ns_per_tick()?, ports::backlog_overflows());
    let most = CONNECTIONS.min(ports::available()? / SHARE_OF_PORTS / TRIALS).max(1);
    let one = |_| trial(stage, (address, greeted), most);
    let trials: Vec<ConnectionTrial> = (0..TRIALS).map(one).collect::<Result<_, _>>()?;
    let each = |of: fn(&ConnectionTrial) -> f64| {
        trials.iter().map(|trial| of(trial) * tick / trial.count as f64).collect()
    };
    let series = Series::default().and("connect", 0.0, each(|trial| trial.connect));
    let series = series.and("close", 0.0, each(|trial| trial.close));
    let least = trials.iter().map(|trial| trial.count).min().unwrap_or(0);
    let series = series.with_notes(reduced("or more connections per trial", CONNECTIONS, least));
    Ok(series.with_note(observed(&trials, tick, overflows)))
}

fn observed(trials: &[ConnectionTrial], tick: f64, overflows_before: Option<u64>) -> String {
    let negative: u64 = trials.iter().map(|trial| trial.negative).sum();
    let slowest = trials.iter().map(|trial| trial.slowest).fold(0.0, f64::max) * tick;
    let slowest = quantities::value(Unit::Nanoseconds, slowest);
    let overflows = ports::backlog_overflows().zip(overflows_before);
    let dropped = overflows
        .map(|(now, before)| format!("; full backlogs dropped {} connection requests", now - before));
    format!(
        "{negative} differences of the timer were negative; the slowest connect took {slowest}{}.",
        dropped.unwrap_or_default()
    )
}

fn trial(
    stage: &Stage,
    (address, greeted): (SocketAddr, bool),
    most: u64,
) -> Result<ConnectionTrial, Failure> {
    let (mut trial, began) = (ConnectionTrial::default(), stage.site.stopwatch.now_ns());
    while trial.count < most && stage.site.stopwatch.now_ns() - began < stage.time_ns() / TRIALS as f64 {
        let socket = tcp_socket(address, TIMEOUT)?;
        let connect = try_unsigned_ticks(|| socket.connect(&address.into()).map_err(broke("connect")))?;
        if greeted {
            (&socket).read_exact(&mut [0]).map_err(broke("waiting to be accepted"))?;
        }
        let close = unsigned_ticks(|| drop(socket));
        trial.add(connect, close);
    }
    Ok(trial)
}

impl ConnectionTrial {
    fn add(&mut self, connect: f64, close: f64) {
        /// Half of the range of an unsigned number of 64 bits: above it, a signed one is negative.
        const HUGE: f64 = (1_u64 << 63) as f64;
        self.count += 1;
        self.connect += connect;
        self.close += close;
        self.negative += u64::from(connect >= HUGE) + u64::from(close >= HUGE);
        self.slowest = self.slowest.max(connect);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_negative_difference_is_added_without_its_sign_and_counted() {
        let mut trial = ConnectionTrial::default();
        trial.add(100.0, 50.0);
        trial.add((-5_i64) as u64 as f64, 50.0);
        assert_eq!((trial.count, trial.negative), (2, 1));
        assert!(trial.connect > 1e19 && (trial.close - 100.0).abs() < 1e-9);
    }
}
