//! The client side: opens connections to an accepting service, times one part of each, and ends them.

use super::tcp_info::tcp_info;
use fathom_core::prelude::*;
use fathom_equipment::peer::ports;
use socket2::{Domain, Protocol, Socket, Type};
use std::any::Any;
use std::cell::Cell;
use std::io::{Error, Read};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::rc::Rc;
use std::time::Duration;

/// A connection that is silent for longer is broken: the opening segment is retransmitted after one second.
const TIMEOUT: Duration = Duration::from_secs(4);

/// Counts of connections.
#[derive(Debug, Default)]
pub struct Calls {
    pub connected: Cell<u64>,
    /// Connections whose accept was confirmed by the greeting.
    pub accepted: Cell<u64>,
    /// Opening segments that were retransmitted.
    pub opened_again: Cell<u64>,
}

/// Witness: connections opened.
pub const CONNECTED: &str = "connections_made";
pub const ACCEPTED: &str = "connections_accepted";
/// Witness: opening segments retransmitted.
pub const OPENED_AGAIN: &str = "opening_segments_sent_again";
/// Witness: connections that found a full backlog, in the whole network namespace.
pub const OVERFLOWS: &str = "backlog_overflows";

impl Calls {
    /// The counts as witnesses, for the evidence.
    pub fn witness(&self) -> Vec<(&'static str, f64)> {
        let count = |name, counter: &Cell<u64>| (name, counter.get() as f64);
        let mut counts = vec![
            count(CONNECTED, &self.connected),
            count(ACCEPTED, &self.accepted),
            count(OPENED_AGAIN, &self.opened_again),
        ];
        counts.extend(ports::backlog_overflows().map(|overflows| (OVERFLOWS, overflows as f64)));
        counts
    }
}

/// A client of one service.
pub struct Caller {
    address: SocketAddr,
    /// The counts so far.
    pub calls: Rc<Calls>,
    _other: Box<dyn Any>,
}

impl Caller {
    /// A client of the service at this address, which it keeps alive.
    pub fn of(address: SocketAddr, other: impl Any) -> Self {
        Caller { address, calls: Rc::default(), _other: Box::new(other) }
    }

    /// A socket that is not connected yet.
    pub fn socket(&self) -> Result<Socket, Failure> {
        let socket = Socket::new(Domain::for_address(self.address), Type::STREAM, Some(Protocol::TCP));
        let socket = socket.map_err(|error| broke("socket", &error))?;
        socket.set_read_timeout(Some(TIMEOUT)).map_err(|error| broke("SO_RCVTIMEO", &error))?;
        Ok(socket)
    }

    /// Calls `connect`, and waits until it returns.
    pub fn connect(&self, socket: &Socket) -> Result<(), Failure> {
        socket.connect(&self.address.into()).map_err(|error| broke("connect", &error))
    }

    /// Waits for the greeting: the connection was accepted.
    pub fn await_greeting(&self, socket: Socket) -> Result<TcpStream, Failure> {
        let mut stream = TcpStream::from(socket);
        self.calls.connected.set(self.calls.connected.get() + 1);
        let greeting = stream.read(&mut [0]).map_err(|error| broke("waiting to be accepted", &error))?;
        ensure(greeting == 1, "a connection was ended before its first byte")?;
        self.calls.accepted.set(self.calls.accepted.get() + 1);
        let again = tcp_info(&stream).map_or(0, |info| info.sent_again);
        self.calls.opened_again.set(self.calls.opened_again.get() + again);
        Ok(stream)
    }

    /// Opens a connection that both sides have established.
    pub fn open(&self) -> Result<TcpStream, Failure> {
        let socket = self.socket()?;
        self.connect(&socket)?;
        self.await_greeting(socket)
    }
}

/// Shuts down this direction, and waits for the other side to do the same. The socket itself remains to be closed.
pub fn end_gracefully(mut stream: TcpStream) -> Result<Option<TcpStream>, Failure> {
    stream.shutdown(Shutdown::Write).map_err(|error| broke("shutdown", &error))?;
    let end = stream.read(&mut [0]).map_err(|error| broke("waiting for the other side's end", &error))?;
    ensure(end == 0, "bytes came where the end of the stream was expected")?;
    Ok(Some(stream))
}

/// Makes `close` reset the connection (`SO_LINGER` of zero, socket(7)): neither side waits, and no port stays in `TIME_WAIT`.
pub fn to_be_reset(stream: &TcpStream) -> Result<(), Failure> {
    socket2::SockRef::from(stream)
        .set_linger(Some(Duration::ZERO))
        .map_err(|error| broke("SO_LINGER", &error))
}

/// The duration of an action, nanoseconds.
pub fn timed<T>(
    watch: &dyn Stopwatch,
    act: impl FnOnce() -> Result<T, Failure>,
) -> Result<(T, f64), Failure> {
    let began = watch.now_ns();
    let done = act()?;
    Ok((done, watch.now_ns() - began))
}

fn broke(attempt: &str, error: &Error) -> Failure {
    Failure::Broke(format!("a connection: {attempt}: {error}"))
}
