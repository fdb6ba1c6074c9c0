//! Section 5: network.

use crate::operations::{broke, tcp_socket, tcp_stream, virtual_host};
use crate::protocol::TrialProtocol;
use crate::timer::{CpuidRdtscRdtscp, Timer};
use crate::{Series, Stage};
use fathom_core::experiment::{Failure, PEER};
use fathom_equipment::peer::Service;
use fathom_equipment::peer::other_side::OtherSide;
use fathom_equipment::peer::service::{Enough, StreamOptions, Transport};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// A stream that stays silent for longer than this is broken.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Bytes of a message: with its headers a TCP packet is then as long as that of ping.
const MESSAGE: usize = 44;
const EXCHANGES: usize = 10;

/// Exchanges of a message and its echo.
pub(super) fn tripping(stage: &Stage, path: &str) -> Result<Series, Failure> {
    let tick_ns = stage.ns_per_tick()?;
    let echo = Service::Echo { transport: Transport::Tcp, bytes: MESSAGE as u32 };
    let other = OtherSide::start(&echo, path, stage.site)?;
    let values = TrialProtocol::TEN.values(|| {
        let mut stream = tcp_stream(other.address, TIMEOUT)?;
        let mut ticks = 0;
        for _ in 0..EXCHANGES {
            let exchanged = CpuidRdtscRdtscp::try_ticks(|| exchange(&mut stream));
            ticks += exchanged.map_err(broke("exchanging a message"))?;
        }
        Ok(ticks as f64 * tick_ns / EXCHANGES as f64)
    })?;
    Ok(Series::of(values).with_notes(note(stage, path)))
}

fn exchange(stream: &mut TcpStream) -> std::io::Result<()> {
    let mut message = [7; MESSAGE];
    stream.write_all(&message)?;
    stream.read_exact(&mut message)
}

/// A stream of so many messages of 1 MB, received.
pub(super) fn receiving(stage: &Stage, path: &str, messages: u64) -> Result<Series, Failure> {
    const MB: u32 = 1 << 20;
    let tick_ns = stage.ns_per_tick()?;
    let bytes = messages * u64::from(MB);
    let options = StreamOptions { chunk: MB, buffers: None };
    let source = Service::Source {
        stream: options,
        enough: Enough { ns: 0, bytes },
        acknowledged: false,
        begins_before: false,
    };
    let other = OtherSide::start(&source, path, stage.site)?;
    let mut buffer = vec![0; MB as usize];
    let values = TrialProtocol::TEN.values(|| {
        let mut stream = tcp_stream(other.address, TIMEOUT)?;
        let mut received = Ok(0);
        let ticks = CpuidRdtscRdtscp::ticks(|| received = received_all(&mut stream, &mut buffer));
        let received = received.map_err(broke("receiving"))?;
        fathom_core::experiment::ensure(received == bytes, "not all bytes of the stream have arrived")?;
        Ok(bytes as f64 / (ticks as f64 * tick_ns) * 1e9)
    })?;
    Ok(Series::of(values).with_notes(note(stage, path)))
}

fn received_all(stream: &mut impl Read, buffer: &mut [u8]) -> std::io::Result<u64> {
    let mut received = 0;
    loop {
        match stream.read(buffer)? {
            0 => return Ok(received),
            some => received += some as u64,
        }
    }
}

const CONNECTIONS: usize = 100;

/// Connections, made and closed.
pub(super) fn connecting(stage: &Stage, path: &str) -> Result<Series, Failure> {
    let tick_ns = stage.ns_per_tick()?;
    let other = OtherSide::start(&Service::Accept, path, stage.site)?;
    let mut down = vec![];
    let up = TrialProtocol::TEN.values(|| {
        let (mut connected, mut closed) = (0, 0);
        for _ in 0..CONNECTIONS {
            let (one, other) = connection(&other)?;
            connected += one;
            closed += other;
        }
        let ns = |ticks: i64| ticks as f64 * tick_ns / CONNECTIONS as f64;
        down.push(ns(closed));
        Ok(ns(connected))
    })?;
    let both = up.iter().zip(&down).map(|(up, down)| up + down).collect();
    let series = Series::default().and("set up", 0.0, up).and("taken down", 0.0, down).and("both", 0.0, both);
    Ok(series.with_notes(note(stage, path)))
}

/// Ticks of `connect` and of `close`.
fn connection(other: &OtherSide) -> Result<(i64, i64), Failure> {
    let socket = tcp_socket(other.address, TIMEOUT)?;
    let address = other.address.into();
    let up = CpuidRdtscRdtscp::try_ticks(|| socket.connect(&address)).map_err(broke("connect"))?;
    let mut stream = TcpStream::from(socket);
    stream.read_exact(&mut [0]).map_err(broke("waiting to be accepted"))?;
    Ok((up, CpuidRdtscRdtscp::ticks(|| drop(stream))))
}

/// A sentence where the other host is a virtual one.
fn note(stage: &Stage, path: &str) -> Option<String> {
    (path == PEER).then(|| virtual_host(stage)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_bytes_of_a_stream_are_received_and_counted() {
        let (first, second) = (vec![1; 100_000], [2]);
        let mut stream = first.as_slice().chain(&second[..]);
        assert_eq!(received_all(&mut stream, &mut [0; 4096]).unwrap(), 100_001);
    }
}
