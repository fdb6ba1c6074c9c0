//! Section 4.2 (network): bandwidth, by one message on each connection.

use super::round_trip::of_peer;
use super::{LOOPBACK, PEER, TIMEOUT, broke, on_path};
use crate::{Fit, Method, Replica, Row, SameQuestion, Series, Stage, Statistic, Theirs};
use fathom_core::experiment::{Failure, Placement, Requirement, ensure};
use fathom_core::quantity::Unit;
use fathom_core::sampling::partner::PartnerProcess;
use fathom_equipment::peer::Service;
use fathom_equipment::peer::other_side::OtherSide;
use fathom_equipment::peer::service::{Arrival, StreamOptions};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_mins(2);
/// Sizes of the buffers, bytes.
pub const SIZES: [usize; 9] =
    [512, 2 << 10, 8 << 10, 32 << 10, 128 << 10, 512 << 10, 2 << 20, 8 << 20, 16 << 20];
const REPETITIONS: u64 = 100;
const QUICK_REPETITIONS: u64 = 10;
/// With a peer, where each repetition needs a connection of its own to Fathom's peer.
const REMOTE_REPETITIONS: u64 = 10;
const QUICK_REMOTE_REPETITIONS: u64 = 3;

const LOCAL: Method = Method {
    name: "peak bandwidth, loopback",
    text: "A client connects and sends one buffer of 512 B to 16 MiB, times 4. The server, which knows the size, starts its timer when \
           select() reports data and stops it when it has received everything. Each size is repeated 100 times; the greatest rate is the \
           result.",
    differs: "The report does not say whether each buffer had a connection of its own. It has one here, because the report explains its \
              results by slow start.",
    placement: Placement::OneCpu,
    needs: &[],
    limit: LIMIT,
    measure: local,
};

const REMOTE: Method = Method {
    name: "peak bandwidth, remote",
    text: "The client sends the same buffers to a second machine, which times them from the first data received to the last.",
    differs: "The receiver is Fathom's peer, which notes when each read ended. Its timer starts when it has read the first data, not when \
              they are announced, so a message that arrives in one piece has no duration and is left out. Each size is repeated 10 times \
              (with --quick 3 times) instead of 100.",
    placement: Placement::AcrossCpus,
    needs: &[Requirement::Peer],
    limit: LIMIT,
    measure: remote,
};

/// Over loopback.
pub const LOCAL_ROW: Row = Row {
    section: "4.2 (network)",
    operation: "peak bandwidth, TCP, loopback",
    unit: Unit::BytesPerSecond,
    per: "",
    theirs: Theirs::Printed("s003-0532"),
    replica: Replica::By(&LOCAL),
    statistic: Statistic::of(Fit::Maximum),
    fathom: SameQuestion::Point("network/bandwidth", |machine| {
        let names = [("transport", "TCP"), ("direction", "send"), ("figure", "steady")];
        on_path("network/bandwidth", machine, LOOPBACK, &names, &[("chunk", 128 << 10), ("streams", 1)])
    }),
    misleads: MISLEADS,
};

/// To a second machine.
pub const REMOTE_ROW: Row = Row {
    operation: "peak bandwidth, TCP, remote",
    theirs: Theirs::Printed("s003-0533"),
    replica: Replica::By(&REMOTE),
    fathom: SameQuestion::Point("network/bandwidth", |machine| {
        let names = [("transport", "TCP"), ("direction", "send"), ("figure", "steady")];
        on_path("network/bandwidth", machine, PEER, &names, &[("chunk", 512 << 10), ("streams", 1)])
    }),
    ..LOCAL_ROW
};

const MISLEADS: &str = "Data that arrived before the timer started are counted but not timed: of a buffer that fits into the kernels' \
                        buffers, the server times only the copy. The greatest of hundreds of such figures is not a rate that a stream \
                        sustains. With larger buffers the report's figure fell from 446 to 3 MB/s. The report explains this by slow start, \
                        but loopback does not start slowly: something in its programs was wrong.";

fn local(stage: &Stage) -> Result<Series, Failure> {
    let repetitions = stage.count(REPETITIONS, QUICK_REPETITIONS);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(|error| broke("bind", &error))?;
    let address = listener.local_addr().map_err(|error| broke("getsockname", &error))?;
    let _client = PartnerProcess::start(stage.site.partner, move || send_all(address, repetitions))?;
    let mut series = Series::default();
    for size in SIZES {
        let mut buffer = vec![0; size];
        let rates = (0..repetitions).map(|_| received(&listener, &mut buffer)).collect::<Result<_, _>>()?;
        series = series.and("", size as f64, rates);
    }
    Ok(series)
}

/// The client: sends every buffer on a connection of its own and waits until the server closes it.
pub fn send_all(server: SocketAddr, repetitions: u64) -> Result<(), Failure> {
    for size in SIZES {
        let buffer = vec![0x5a; size];
        for _ in 0..repetitions {
            let mut stream = TcpStream::connect(server).map_err(|error| broke("connect", &error))?;
            stream.write_all(&buffer).map_err(|error| broke("send", &error))?;
            stream.read(&mut [0]).map_err(|error| broke("waiting for the server", &error))?;
        }
    }
    Ok(())
}

/// The server: bytes per second of one buffer, from the moment when there is something to read.
pub fn received(listener: &TcpListener, buffer: &mut [u8]) -> Result<f64, Failure> {
    readable(listener.as_raw_fd())?;
    let (mut stream, _) = listener.accept().map_err(|error| broke("accept", &error))?;
    stream.set_read_timeout(Some(TIMEOUT)).map_err(|error| broke("SO_RCVTIMEO", &error))?;
    readable(stream.as_raw_fd())?;
    let began = Instant::now();
    stream.read_exact(buffer).map_err(|error| broke("recv", &error))?;
    Ok(buffer.len() as f64 / began.elapsed().as_secs_f64().max(1e-9))
}

fn readable(descriptor: i32) -> Result<(), Failure> {
    let mut poll = libc::pollfd { fd: descriptor, events: libc::POLLIN, revents: 0 };
    // SAFETY: one valid pollfd.
    let ready = unsafe { libc::poll(&raw mut poll, 1, TIMEOUT.as_millis() as libc::c_int) };
    ensure(ready == 1, "the client did not send its data in time")
}

fn remote(stage: &Stage) -> Result<Series, Failure> {
    let repetitions = stage.count(REMOTE_REPETITIONS, QUICK_REMOTE_REPETITIONS);
    let (mut series, mut whole, mut last) = (Series::default(), 0_u64, vec![]);
    for size in SIZES {
        let (mut rates, mut arrived) = (vec![], vec![]);
        for _ in 0..repetitions {
            arrived = sent(size, stage)?;
            match rate(&arrived, size) {
                Some(rate) => rates.push(rate),
                None => whole += 1,
            }
        }
        series = series.and("", size as f64, rates);
        // The last message of the largest buffer is shown in a figure, read by read.
        last = arrived;
    }
    for (number, bytes) in (1_u32..).zip(received_each(&last)) {
        series = series.and("received", f64::from(number), vec![bytes]);
    }
    let all = repetitions * SIZES.len() as u64;
    Ok(of_peer(
        stage,
        series.seen(format!("{whole} of {all} messages arrived in one piece, which has no duration.")),
    ))
}

/// Sends one buffer to the peer, and returns when its parts arrived there.
fn sent(size: usize, stage: &Stage) -> Result<Vec<Arrival>, Failure> {
    let stream = StreamOptions { chunk: size as u32, buffers: None };
    let other =
        OtherSide::start(&Service::Sink { stream, acknowledged: None, reads_after_ns: 0 }, PEER, stage.site)?;
    let connected = TcpStream::connect_timeout(&other.address, TIMEOUT);
    let mut stream = connected.map_err(|error| broke("connect", &error))?;
    stream.set_read_timeout(Some(TIMEOUT)).map_err(|error| broke("SO_RCVTIMEO", &error))?;
    stream.write_all(&vec![0x5a; size]).map_err(|error| broke("send", &error))?;
    stream.shutdown(Shutdown::Write).map_err(|error| broke("shutdown", &error))?;
    // The sink closes when it has read all.
    stream.read(&mut [0]).map_err(|error| broke("waiting for the peer", &error))?;
    let report = other.stop()?;
    ensure(report.received_bytes == size as u64, "the peer did not receive all bytes that were sent")?;
    Ok(report.arrivals)
}

/// The bytes that each read received.
fn received_each(arrivals: &[Arrival]) -> impl Iterator<Item = f64> {
    let before = std::iter::once(0).chain(arrivals.iter().map(|arrival| arrival.bytes));
    arrivals.iter().zip(before).map(|(arrival, before)| (arrival.bytes - before) as f64)
}

/// All bytes divided by the time from the first arrival to the last; `None` where there is only one arrival.
fn rate(arrivals: &[Arrival], size: usize) -> Option<f64> {
    let last = arrivals.iter().find(|arrival| arrival.bytes >= size as u64)?;
    let ns = last.at_ns.saturating_sub(arrivals.first()?.at_ns);
    (ns > 0).then(|| size as f64 / ns as f64 * 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_of_all_bytes_from_the_first_arrival_to_the_last_and_one_arrival_has_none() {
        let at = |at_ns, bytes| Arrival { at_ns, bytes };
        assert_eq!(rate(&[at(5, 1000)], 1000), None);
        let rate = rate(&[at(1000, 400), at(1500, 800), at(3000, 1000), at(9000, 1000)], 1000).unwrap();
        assert!((rate - 0.5e9).abs() < 1.0, "{rate}");
    }
}
