//! The report's chapter on the network, whose sections are numbered 4.1 to 4.3 again.

use crate::operations::{broke, echo_ns, listener, tcp_socket, tcp_stream};
use crate::{Series, Stage};
use fathom_core::experiment::{Failure, PEER, ensure};
use fathom_core::sampling::partner::PartnerProcess;
use fathom_equipment::peer::Service;
use fathom_equipment::peer::other_side::OtherSide;
use fathom_equipment::peer::ping::{Ping, THIS_HOST};
use fathom_equipment::peer::service::{Arrival, StreamOptions, Transport};
use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

/// The other side has died if it is silent for this long.
const TIMEOUT: Duration = Duration::from_secs(8);

/// The report's payload, which is that of ping, bytes.
const PAYLOAD: usize = 56;
const SAMPLES: u64 = 100;

/// The pause between two pings.
const PAUSE: Duration = Duration::from_millis(100);
const QUICK_PAUSE: Duration = Duration::from_millis(10);

pub(super) fn tcp_local(stage: &Stage) -> Result<Series, Failure> {
    let (listener, address) = listener()?;
    let _server = PartnerProcess::start(stage.site.partner, move || echo_server(&listener))?;
    conversation(TcpStream::connect(address).map_err(broke("connect"))?)
}

pub(super) fn tcp_remote(stage: &Stage) -> Result<Series, Failure> {
    let echo = Service::Echo { transport: Transport::Tcp, bytes: PAYLOAD as u32 };
    let other = OtherSide::start(&echo, PEER, stage.site)?;
    let series = conversation(tcp_stream(other.address, TIMEOUT)?)?;
    other.stop()?;
    Ok(of_peer(stage, series))
}

/// Adds a sentence where the peer is a virtual one.
pub(super) fn of_peer(stage: &Stage, series: Series) -> Series {
    match &stage.site.peer {
        Some(peer) if peer.is_virtual => series.with_note(
            "The remote side is a virtual peer, a network namespace of this machine: no wire is between them."
                .to_owned(),
        ),
        _ => series,
    }
}

/// A hundred messages and their echoes.
pub fn conversation(mut stream: TcpStream) -> Result<Series, Failure> {
    stream.set_read_timeout(Some(TIMEOUT)).map_err(broke("SO_RCVTIMEO"))?;
    let (message, mut echo) = ([0x5a; PAYLOAD], [0; PAYLOAD]);
    let mut values = vec![];
    for _ in 0..SAMPLES {
        let began = Instant::now();
        stream.write_all(&message).map_err(broke("send"))?;
        stream.read_exact(&mut echo).map_err(broke("recv of the echo"))?;
        values.push(began.elapsed().as_nanos() as f64);
    }
    Ok(Series::of(values))
}

/// Waits with `select` for clients and their data, and sends the data back.
pub fn echo_server(listener: &TcpListener) -> Result<(), Failure> {
    let mut clients: Vec<TcpStream> = vec![];
    let mut buffer = [0; 4096];
    loop {
        let descriptors = clients.iter().map(AsRawFd::as_raw_fd).chain([listener.as_raw_fd()]);
        let ready = select(&descriptors.collect::<Vec<_>>())?;
        if ready.contains(&listener.as_raw_fd()) {
            let (client, _) = listener.accept().map_err(broke("accept"))?;
            clients.push(client);
        }
        let echoed = |mut client: &TcpStream, buffer: &mut [u8]| {
            let bytes = client.read(buffer)?;
            client.write_all(&buffer[..bytes]).map(|()| bytes > 0)
        };
        clients.retain(|client| {
            !ready.contains(&client.as_raw_fd()) || echoed(client, &mut buffer).unwrap_or(false)
        });
    }
}

/// Waits until some of the descriptors can be read, and returns these.
fn select(descriptors: &[i32]) -> Result<Vec<i32>, Failure> {
    let most = descriptors.iter().copied().max().unwrap_or(0);
    if most >= libc::FD_SETSIZE as i32 {
        return Err(Failure::Broke("more descriptors than select() takes".to_owned()));
    }
    // SAFETY: descriptors are below the number of bits of the set; select changes the set alone.
    unsafe {
        let mut set: libc::fd_set = std::mem::zeroed();
        for descriptor in descriptors {
            libc::FD_SET(*descriptor, &raw mut set);
        }
        let null = std::ptr::null_mut();
        if libc::select(most + 1, &raw mut set, null, null, null.cast()) < 0 {
            return Err(Failure::last("select"));
        }
        Ok(descriptors
            .iter()
            .copied()
            .filter(|descriptor| libc::FD_ISSET(*descriptor, &raw const set))
            .collect())
    }
}

pub(super) fn ping_local(stage: &Stage) -> Result<Series, Failure> {
    pings(THIS_HOST, stage)
}

pub(super) fn ping_remote(stage: &Stage) -> Result<Series, Failure> {
    match &stage.site.peer {
        Some(peer) => Ok(of_peer(stage, pings(peer.address, stage)?)),
        None => Err(Failure::Unsupported("there is no peer".to_owned())),
    }
}

fn pings(host: IpAddr, stage: &Stage) -> Result<Series, Failure> {
    let mut ping = Ping::open(host, PAYLOAD)?;
    ping.set_timeout(Duration::from_secs(1)).map_err(broke("SO_RCVTIMEO"))?;
    let pause = if stage.quick { QUICK_PAUSE } else { PAUSE };
    let (mut values, mut lost) = (vec![], 0_u64);
    for sequence in 0.. {
        if values.len() as u64 == SAMPLES {
            break;
        }
        if lost == SAMPLES / 4 {
            return Err(Failure::Broke(format!("{lost} echo requests were not answered within a second")));
        }
        std::thread::sleep(pause);
        match echo_ns(stage, &mut ping, sequence) {
            Ok(ns) => values.push(ns),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => lost += 1,
            Err(error) => return Err(broke("an echo request or reply")(error)),
        }
    }
    let series = Series::of(values);
    let note = format!("{lost} requests were not answered; they are not in the figure.");
    Ok(if lost == 0 { series } else { series.with_note(note) })
}

/// Sizes of the buffers, bytes.
pub const SIZES: [usize; 9] =
    [512, 2 << 10, 8 << 10, 32 << 10, 128 << 10, 512 << 10, 2 << 20, 8 << 20, 16 << 20];

const REPETITIONS: u64 = 100;
const QUICK_REPETITIONS: u64 = 10;

/// With a peer, where each repetition needs a connection of its own to Fathom's peer.
const REMOTE_REPETITIONS: u64 = 10;
const QUICK_REMOTE_REPETITIONS: u64 = 3;

pub(super) fn bandwidth_local(stage: &Stage) -> Result<Series, Failure> {
    let repetitions = stage.count(REPETITIONS, QUICK_REPETITIONS);
    let (listener, address) = listener()?;
    let _client = PartnerProcess::start(stage.site.partner, move || send_all(address, repetitions))?;
    let (mut series, mut last) = (Series::default(), vec![]);
    for size in SIZES {
        let (mut buffer, mut rates) = (vec![0; size], vec![]);
        for _ in 0..repetitions {
            let (rate, reads) = received(&listener, &mut buffer)?;
            rates.push(rate);
            // The last message of the largest buffer is shown in a figure, read by read.
            last = reads;
        }
        series = series.and("", size as f64, rates);
    }
    Ok(by_number(series, last.into_iter()))
}

/// Adds the bytes that each read received, by its number.
fn by_number(series: Series, reads: impl Iterator<Item = f64>) -> Series {
    (1_u32..)
        .zip(reads)
        .fold(series, |series, (number, bytes)| series.and("received", f64::from(number), vec![bytes]))
}

/// The client: sends every buffer on a connection of its own and waits until the server closes it.
pub fn send_all(server: SocketAddr, repetitions: u64) -> Result<(), Failure> {
    for size in SIZES {
        let buffer = vec![0x5a; size];
        for _ in 0..repetitions {
            let mut stream = TcpStream::connect(server).map_err(broke("connect"))?;
            stream.write_all(&buffer).map_err(broke("send"))?;
            stream.read(&mut [0]).map_err(broke("waiting for the server"))?;
        }
    }
    Ok(())
}

/// The server: bytes per second of one buffer, from the moment when there is something to read, and the bytes of each read.
pub fn received(listener: &TcpListener, buffer: &mut [u8]) -> Result<(f64, Vec<f64>), Failure> {
    readable(listener.as_raw_fd())?;
    let (mut stream, _) = listener.accept().map_err(broke("accept"))?;
    stream.set_read_timeout(Some(TIMEOUT)).map_err(broke("SO_RCVTIMEO"))?;
    readable(stream.as_raw_fd())?;
    let began = Instant::now();
    let (mut got, mut reads) = (0, vec![]);
    while got < buffer.len() {
        let bytes = stream.read(&mut buffer[got..]).map_err(broke("recv"))?;
        ensure(bytes > 0, "the client closed before it had sent all of the buffer")?;
        got += bytes;
        reads.push(bytes as f64);
    }
    Ok((buffer.len() as f64 / began.elapsed().as_secs_f64().max(1e-9), reads))
}

fn readable(descriptor: i32) -> Result<(), Failure> {
    let mut poll = libc::pollfd { fd: descriptor, events: libc::POLLIN, revents: 0 };
    // SAFETY: one valid pollfd.
    let ready = unsafe { libc::poll(&raw mut poll, 1, TIMEOUT.as_millis() as libc::c_int) };
    ensure(ready == 1, "the client did not send its data in time")
}

pub(super) fn bandwidth_remote(stage: &Stage) -> Result<Series, Failure> {
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
    series = by_number(series, received_each(&last));
    let all = repetitions * SIZES.len() as u64;
    Ok(of_peer(
        stage,
        series.with_note(format!("{whole} of {all} messages arrived in one piece, which has no duration.")),
    ))
}

/// Sends one buffer to the peer, and returns when its parts arrived there.
fn sent(size: usize, stage: &Stage) -> Result<Vec<Arrival>, Failure> {
    let stream = StreamOptions { chunk: size as u32, buffers: None };
    let other =
        OtherSide::start(&Service::Sink { stream, acknowledged: None, reads_after_ns: 0 }, PEER, stage.site)?;
    let mut stream = tcp_stream(other.address, TIMEOUT)?;
    stream.write_all(&vec![0x5a; size]).map_err(broke("send"))?;
    stream.shutdown(Shutdown::Write).map_err(broke("shutdown"))?;
    // The sink closes when it has read all.
    stream.read(&mut [0]).map_err(broke("waiting for the peer"))?;
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

const CONNECTIONS: usize = 100;

pub(super) fn connections_local(stage: &Stage) -> Result<Series, Failure> {
    let (listener, address) = listener()?;
    let _server = PartnerProcess::start(stage.site.partner, move || {
        loop {
            let (mut client, _) = listener.accept().map_err(broke("accept"))?;
            client.read(&mut [0]).map_err(broke("waiting for the client"))?;
        }
    })?;
    connections(address, false)
}

pub(super) fn connections_remote(stage: &Stage) -> Result<Series, Failure> {
    let other = OtherSide::start(&Service::Accept, PEER, stage.site)?;
    let series = connections(other.address, true)?;
    other.stop()?;
    Ok(of_peer(stage, series))
}

/// Connections to a server, one after the other: the times of opening and of closing each.
pub fn connections(server: SocketAddr, greeted: bool) -> Result<Series, Failure> {
    let (mut opened, mut closed) = (vec![], vec![]);
    for _ in 0..CONNECTIONS {
        let mut socket = tcp_socket(server, TIMEOUT)?;
        let began = Instant::now();
        socket.connect(&server.into()).map_err(broke("connect"))?;
        opened.push(began.elapsed().as_nanos() as f64);
        if greeted {
            socket.read_exact(&mut [0]).map_err(broke("the server's greeting"))?;
        }
        let began = Instant::now();
        drop(socket);
        closed.push(began.elapsed().as_nanos() as f64);
    }
    Ok(Series::default().and("connect", 0.0, opened).and("close", 0.0, closed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_of_all_bytes_from_the_first_arrival_to_the_last_and_one_arrival_has_none() {
        let at = |at_ns, bytes| Arrival { at_ns, bytes, reads: 0 };
        assert_eq!(rate(&[at(5, 1000)], 1000), None);
        let rate = rate(&[at(1000, 400), at(1500, 800), at(3000, 1000), at(9000, 1000)], 1000).unwrap();
        assert!((rate - 0.5e9).abs() < 1.0, "{rate}");
    }
}
