//! A transfer from its first byte to its last: sent by one side, timed on arrival by the other.

use super::datagrams;
use super::sending::{Supply, WRITE, supply};
use super::tcp_info::tcp_info;
use fathom_core::prelude::*;
use fathom_core::sampling::partner::pipe;
use fathom_equipment::peer::other_side::{Helper, OtherSide};
use fathom_equipment::peer::service::drain::drain;
use fathom_equipment::peer::service::{
    Arrival, Arrivals, Enough, Running, StreamBeginning, StreamOptions, is_searching, processor_time, sink,
};
use fathom_equipment::peer::{Place, Service, ServiceReport};
use socket2::SockRef;
use std::io::{Error, Read};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// A connection without progress for longer is broken.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Bytes between two readings of the clock: a reading after every chunk of 512 bytes would slow the stream.
const BETWEEN_LOOKS: u64 = 64 << 10;

/// The description of a transfer.
#[derive(Debug, Clone)]
pub struct TransferOrder {
    /// The method of sending, if this side sends.
    pub by: String,
    pub path: String,
    /// Bytes per read and write.
    pub chunk: u32,
    /// Number of concurrent connections.
    pub streams: usize,
    /// Requested size of the socket buffers.
    pub buffers: Option<u32>,
    /// The condition that ends the transfer.
    pub enough: Enough,
    /// Time for which the receiver of a TCP stream does not read at first; if there is one, the condition counts from the end of
    /// the stream's beginning: see `bandwidth`'s method.
    pub reads_after: Duration,
}

impl TransferOrder {
    /// Whether the condition counts from the end of each stream's beginning.
    fn begins_before(&self) -> bool {
        !self.reads_after.is_zero()
    }

    fn options(&self) -> StreamOptions {
        StreamOptions { chunk: self.chunk, buffers: self.buffers }
    }
}

#[derive(Debug, Clone, Default)]
pub struct Transfer {
    pub sent: u64,
    pub received: u64,
    /// Bytes sent in the beginnings of the streams, which do not count.
    pub beginning: u64,
    /// Arrivals over time, by the receiver's clock.
    pub arrivals: Vec<Arrival>,
    /// Number of reads, or of datagrams received.
    pub reads: u64,
    /// Processor time of the sender, nanoseconds.
    pub sender_ns: f64,
    /// Processor time of the receiver, nanoseconds.
    pub receiver_ns: f64,
    /// Retransmitted segments, as far as this side knows.
    pub sent_again: u64,
    /// Size of the send buffer of this side's socket at the end, bytes.
    pub send_buffer: u64,
    /// Size of the receive buffer of this side's socket at the end, bytes.
    pub receive_buffer: u64,
    /// Sends without a copy, and sends that the kernel copied after all, if it reports them.
    pub uncopied: Option<(u64, u64)>,
}

impl Transfer {
    fn reported(report: ServiceReport, sent: u64, sender_ns: f64) -> Self {
        Transfer {
            sent,
            received: report.received_bytes,
            arrivals: report.arrivals,
            reads: report.messages,
            sender_ns,
            receiver_ns: report.cpu_ns.unwrap_or_default() as f64,
            ..Transfer::default()
        }
    }

    /// The arrivals after the beginning.
    pub fn lasting(&self) -> &[Arrival] {
        let from = self.arrivals.partition_point(|arrival| arrival.bytes < self.beginning);
        &self.arrivals[from..]
    }

    fn note_socket(&mut self, stream: &TcpStream) {
        let socket = SockRef::from(stream);
        self.send_buffer = socket.send_buffer_size().unwrap_or(0) as u64;
        self.receive_buffer = socket.recv_buffer_size().unwrap_or(0) as u64;
        self.sent_again += tcp_info(stream).map_or(0, |info| info.sent_again);
    }
}

/// Processor time of this process alone, nanoseconds.
fn used_ns() -> f64 {
    processor_time().map_or(0.0, |time| time.as_nanos() as f64)
}

/// A stream whose bytes leave at once; without progress for this long it is broken.
pub fn connected(options: StreamOptions, other: &OtherSide, timeout: Duration) -> std::io::Result<TcpStream> {
    let socket = options.socket(other.address)?;
    socket.connect_timeout(&other.address.into(), timeout)?;
    let stream = TcpStream::from(socket);
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(timeout))?;
    stream.set_write_timeout(Some(timeout))?;
    Ok(stream)
}

fn connections(order: &TransferOrder, other: &OtherSide) -> Result<Vec<TcpStream>, Failure> {
    let connect = |_| connected(order.options(), other, TIMEOUT);
    (0..order.streams).map(connect).collect::<std::io::Result<_>>().map_err(|error| broke("connect", &error))
}

/// Sends over TCP; the other side times the arrivals.
pub fn send(order: &TransferOrder, site: &Site) -> Result<Transfer, Failure> {
    let reads_after_ns = order.reads_after.as_nanos() as u64;
    let service = Service::Sink { stream: order.options(), acknowledged: None, reads_after_ns };
    let other = OtherSide::start(&service, &order.path, site)?;
    let streams = connections(order, &other)?;
    let before = used_ns();
    let sent = beside_each_other(&streams, |stream| send_one(stream, order, site.stopwatch))?;
    let sender_ns = used_ns() - before;
    let sum = |part: fn(&Sent) -> u64| sent.iter().map(part).sum::<u64>();
    let mut transfer = Transfer::reported(other.stop()?, sum(|stream| stream.bytes), sender_ns);
    transfer.beginning = sum(|stream| stream.beginning);
    transfer.uncopied = sent.first().and_then(|stream| stream.uncopied);
    for stream in &streams {
        transfer.note_socket(stream);
    }
    Ok(transfer)
}

/// Runs `work` for every stream concurrently: a single one in this thread, several in threads on the same CPU.
fn beside_each_other<T: Send>(
    streams: &[TcpStream],
    work: impl Fn(&TcpStream) -> Result<T, Failure> + Sync,
) -> Result<Vec<T>, Failure> {
    if let [only] = streams {
        return Ok(vec![work(only)?]);
    }
    std::thread::scope(|scope| {
        let started: Vec<_> = streams.iter().map(|stream| scope.spawn(|| work(stream))).collect();
        let joined = started.into_iter().map(|thread| {
            thread.join().map_err(|_| Failure::Broke("a stream's thread panicked".to_owned()))?
        });
        joined.collect()
    })
}

/// What was sent on one stream.
struct Sent {
    bytes: u64,
    /// Those of its beginning.
    beginning: u64,
    /// Sends without a copy, and sends that the kernel copied after all, if it reports them.
    uncopied: Option<(u64, u64)>,
}

fn send_one(stream: &TcpStream, order: &TransferOrder, watch: &dyn Stopwatch) -> Result<Sent, Failure> {
    let mut supply = supply(&order.by, stream.as_fd(), order.chunk as usize)?;
    let mut beginning = StreamBeginning::new(order.begins_before());
    let bytes = send_until(&mut *supply, order, watch, (&mut beginning, &|| is_searching(stream)))?;
    stream.shutdown(Shutdown::Write).map_err(|error| broke("shutdown", &error))?;
    let mut stream = stream;
    // The sink closes after it has read everything.
    let end = stream.read(&mut [0]).map_err(|error| broke("waiting for the receiver", &error))?;
    if end != 0 {
        return Err(Failure::Broke("the receiver sent something".to_owned()));
    }
    Ok(Sent { bytes, beginning: beginning.bytes(), uncopied: supply.settle()? })
}

/// Sends until the condition is met, counted from the end of the beginning; returns the number of bytes.
fn send_until(
    supply: &mut dyn Supply,
    order: &TransferOrder,
    watch: &dyn Stopwatch,
    (beginning, is_searching): (&mut StreamBeginning, &dyn Fn() -> bool),
) -> Result<u64, Failure> {
    let (began, chunk, mut sent) = (watch.now_ns(), u64::from(order.chunk), 0);
    let least = Duration::from_nanos(order.enough.ns);
    loop {
        let passed = Duration::from_nanos((watch.now_ns() - began) as u64);
        beginning.look(is_searching, passed, sent);
        if beginning.is_enough((sent, passed), (order.enough.bytes, least)) {
            return Ok(sent);
        }
        let look_at = sent + BETWEEN_LOOKS;
        while sent < look_at {
            supply.put()?;
            sent += chunk;
        }
    }
}

/// The same where nothing searches for a limit.
fn send_all(supply: &mut dyn Supply, order: &TransferOrder, watch: &dyn Stopwatch) -> Result<u64, Failure> {
    send_until(supply, order, watch, (&mut StreamBeginning::new(false), &|| false))
}

/// Receives over TCP; this side times the arrivals.
pub fn receive(order: &TransferOrder, site: &Site) -> Result<Transfer, Failure> {
    let begins_before = order.begins_before();
    let service =
        Service::Source { stream: order.options(), enough: order.enough, acknowledged: false, begins_before };
    let other = OtherSide::start(&service, &order.path, site)?;
    let (total, all_reads) = (AtomicU64::new(0), AtomicU64::new(0));
    let arrivals = Mutex::new(Arrivals::default());
    let arrived = |bytes, reads| {
        let mut arrivals = arrivals.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = total.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let reads = all_reads.fetch_add(reads, Ordering::Relaxed) + reads;
        let at_ns = site.stopwatch.now_ns() as u64;
        arrivals.push(Arrival { at_ns, bytes, reads });
        at_ns
    };
    let before = used_ns();
    let streams = connections(order, &other)?;
    let read = beside_each_other(&streams, |mut stream| {
        let mut buffer = vec![1; order.chunk as usize];
        std::thread::sleep(order.reads_after);
        drain(&mut stream, &mut buffer, arrived).map_err(|error| broke("receiving", &error))
    })?;
    let receiver_ns = used_ns() - before;
    let mut transfer = Transfer::default();
    for stream in &streams {
        transfer.note_socket(stream);
    }
    drop(streams);
    let report = other.stop()?;
    let arrivals = arrivals.into_inner().unwrap_or_else(PoisonError::into_inner).take();
    Ok(Transfer {
        sent: report.sent_bytes,
        beginning: report.beginning_bytes,
        received: read.iter().map(|(bytes, _)| bytes).sum(),
        arrivals,
        reads: read.iter().map(|(_, reads)| reads).sum(),
        sender_ns: report.cpu_ns.unwrap_or_default() as f64,
        receiver_ns,
        ..transfer
    })
}

/// Sends over a UNIX stream socket or a pipe to a forked process, which times the arrivals.
pub fn send_within(order: &TransferOrder, socket: bool, site: &Site) -> Result<Transfer, Failure> {
    let (read, write): (OwnedFd, OwnedFd) = if socket {
        let (near, far) = UnixStream::pair().map_err(|error| broke("socketpair", &error))?;
        (far.into(), near.into())
    } else {
        pipe()?
    };
    let (near, chunk, cpu) = (write.as_raw_fd(), order.chunk as usize, site.partner);
    let helper = Helper::start(cpu, move || {
        // SAFETY: the forked process's own copy of the sender's end, which nothing here uses: as long as it is open, the stream
        // has no end.
        unsafe { libc::close(near) };
        let mut running = Running::new(0);
        let mut read = std::fs::File::from(read);
        running.thread(&Place::loopback(cpu), move |tally| {
            sink::swallow(&mut read, chunk, tally).map_err(|error| broke("receiving", &error))
        })?;
        Ok(running)
    })?;
    let before = used_ns();
    let sent = send_all(&mut *supply(WRITE, write.as_fd(), chunk)?, order, site.stopwatch)?;
    let sender_ns = used_ns() - before;
    drop(write);
    Ok(Transfer::reported(helper.stop()?, sent, sender_ns))
}

/// Sends datagrams as fast as this side can; the other side counts and times those that arrive.
pub fn send_datagrams(order: &TransferOrder, site: &Site) -> Result<Transfer, Failure> {
    let other = OtherSide::start(&Service::Datagrams { bytes: order.chunk }, &order.path, site)?;
    let socket = datagrams::connected(other.address)?;
    let before = used_ns();
    let sent = send_all(&mut *supply(WRITE, socket.as_fd(), order.chunk as usize)?, order, site.stopwatch)?;
    let sender_ns = used_ns() - before;
    // Datagrams in flight arrive.
    std::thread::sleep(Duration::from_millis(if order.path == PEER { 50 } else { 1 }));
    Ok(Transfer::reported(other.stop()?, sent, sender_ns))
}

fn broke(attempt: &str, error: &Error) -> Failure {
    Failure::Broke(format!("a transfer: {attempt}: {error}"))
}
