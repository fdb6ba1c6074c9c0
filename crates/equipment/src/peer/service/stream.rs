//! Streams: a listener whose connections are served in parallel.

use super::place::Place;
use super::running::{Running, ServiceTally};
use crate::peer::waking::waker;
use fathom_core::experiment::Failure;
use serde::{Deserialize, Serialize};
use socket2::{Domain, Protocol, Socket, Type};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamOptions {
    /// Bytes of each read and write.
    pub chunk: u32,
    /// The requested size of the socket's buffers, bytes; the system's default if `None`.
    pub buffers: Option<u32>,
}

/// The largest chunk that is served, bytes: a client cannot fill a peer's memory.
const LARGEST_CHUNK: u32 = 64 << 20;

/// The most connections served at once.
const MOST_CONNECTIONS: u64 = 64;

/// The most connections that may wait for accept.
const BACKLOG: i32 = 128;

impl StreamOptions {
    /// A socket of this kind for an address. The size of buffers must be set before a connection is made, because it
    /// determines the offered window (tcp(7)). With the privilege `CAP_NET_ADMIN` it is independent of the system's limits,
    /// which are not changed; without, it is at most these limits (socket(7)).
    pub fn socket(&self, address: SocketAddr) -> std::io::Result<Socket> {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
        if let Some(bytes) = self.buffers {
            if set(&socket, libc::SO_SNDBUFFORCE, bytes).is_err() {
                socket.set_send_buffer_size(bytes as usize)?;
            }
            if set(&socket, libc::SO_RCVBUFFORCE, bytes).is_err() {
                socket.set_recv_buffer_size(bytes as usize)?;
            }
        }
        Ok(socket)
    }

    fn listener(&self, place: &Place) -> std::io::Result<TcpListener> {
        let socket = self.socket(place.any_port())?;
        socket.bind(&place.any_port().into())?;
        socket.listen(BACKLOG)?;
        Ok(socket.into())
    }
}

fn set(socket: &Socket, option: libc::c_int, value: u32) -> std::io::Result<()> {
    let value = value as libc::c_int;
    // SAFETY: the option is a c_int, which lives across the call.
    let done = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            option,
            (&raw const value).cast(),
            size_of_val(&value) as libc::socklen_t,
        )
    };
    if done == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

/// Listens, and serves every connection with `serve` in a separate thread. A failed connection is handled by the client: it
/// sees the end of its stream, and its counts do not agree.
pub fn accept_all(
    options: StreamOptions,
    place: &Place,
    serve: impl Fn(TcpStream, &Arc<ServiceTally>) -> std::io::Result<()> + Send + Sync + 'static,
) -> Result<Running, Failure> {
    if !(1..=LARGEST_CHUNK).contains(&options.chunk) {
        return Err(Failure::Unsupported(format!("chunks of {} bytes are not served", options.chunk)));
    }
    let listener = options.listener(place).map_err(|error| broke("listen", &error))?;
    let address = listener.local_addr().map_err(|error| broke("getsockname", &error))?;
    let mut running = Running::new(address.port());
    let wake = waker(&listener).map_err(|error| broke("dup of a socket", &error))?;
    let waking = running.tally().on_end(wake);
    let guests = place.clone();
    running.thread(place, move |tally| {
        let _waking = waking;
        // The threads inherit the CPU of this one.
        std::thread::scope(|connections| {
            while !tally.is_ending() {
                let (stream, caller) = listener.accept().map_err(|error| broke("accept", &error))?;
                let accepted = tally.connections.load(Ordering::Relaxed);
                if tally.is_ending() || !guests.serves(caller.ip()) || accepted >= MOST_CONNECTIONS {
                    continue;
                }
                tally.connections.fetch_add(1, Ordering::Relaxed);
                let serve = &serve;
                connections.spawn(move || serve_connection(stream, tally, serve));
            }
            Ok(())
        })
    })?;
    Ok(running)
}

fn serve_connection(
    stream: TcpStream,
    tally: &Arc<ServiceTally>,
    serve: &impl Fn(TcpStream, &Arc<ServiceTally>) -> std::io::Result<()>,
) {
    let Ok(other) = stream.try_clone() else { return };
    let _waking = tally.on_end(move || drop(other.shutdown(Shutdown::Both)));
    // Any error means that the client has left, which ends the service of this connection.
    let _ = stream.set_nodelay(true).and_then(|()| serve(stream, tally));
}

fn broke(attempt: &str, error: &std::io::Error) -> Failure {
    Failure::Broke(format!("a stream service: {attempt}: {error}"))
}
