//! `fathom peer`: serves one run of a client that knows its token, and ends with it.

use super::Token;
use super::connection;
pub use super::shared::{PeerEnd, PeerLimits, PeerShared};
use super::waking::waker;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

/// The delay after a caller could not be accepted.
const RETRY_DELAY: Duration = Duration::from_millis(100);

/// A peer before it serves.
pub struct Server {
    listeners: Vec<TcpListener>,
    /// The state shared by its threads.
    shared: Arc<PeerShared>,
}

impl Server {
    /// Listens at the addresses; those with port 0 get the port of the first.
    pub fn bind(addresses: &[SocketAddr], token: Token, limits: PeerLimits) -> io::Result<Self> {
        let mut listeners: Vec<TcpListener> = vec![];
        for address in addresses {
            let mut address = *address;
            if let (0, Some(first)) = (address.port(), listeners.first()) {
                address.set_port(first.local_addr()?.port());
            }
            listeners.push(TcpListener::bind(address)?);
        }
        Ok(Server { listeners, shared: Arc::new(PeerShared::new(token, limits)) })
    }

    pub fn addresses(&self) -> io::Result<Vec<SocketAddr>> {
        self.listeners.iter().map(TcpListener::local_addr).collect()
    }

    /// The shared state, by which another thread may end it.
    pub fn shared(&self) -> Arc<PeerShared> {
        Arc::clone(&self.shared)
    }

    /// Serves until its client has left or a limit is reached. Afterwards it no longer listens.
    pub fn run(self) -> io::Result<PeerEnd> {
        let wakers = self.listeners.iter().map(waker).collect::<io::Result<Vec<_>>>()?;
        let mut threads = vec![];
        for listener in self.listeners {
            let shared = Arc::clone(&self.shared);
            threads.push(std::thread::Builder::new().spawn(move || accept_callers(&listener, &shared))?);
        }
        let end = self.shared.wait();
        for wake in &wakers {
            wake();
        }
        self.shared.close();
        for thread in threads {
            let _ = thread.join();
        }
        Ok(end)
    }
}

/// Accepts callers, each into a separate thread.
fn accept_callers(listener: &TcpListener, shared: &Arc<PeerShared>) {
    while !shared.has_ended() {
        match listener.accept() {
            Ok((stream, caller)) if !shared.has_ended() => serve_in_thread(shared, stream, caller.ip()),
            Ok(_) => {}
            Err(_) if shared.has_ended() => return,
            // The caller has already gone, or descriptors are exhausted: the next accept may succeed a little later.
            Err(_) => std::thread::sleep(RETRY_DELAY),
        }
    }
}

/// Serves a caller in a separate thread.
fn serve_in_thread(shared: &Arc<PeerShared>, stream: TcpStream, from: IpAddr) {
    shared.make_room();
    let Ok(other) = stream.try_clone() else { return };
    let (number, peer) = (shared.add(other, from), Arc::clone(shared));
    let serve = move || {
        connection::serve(stream, number, &peer);
        peer.remove(number);
    };
    match std::thread::Builder::new().spawn(serve) {
        Ok(thread) => shared.keep(thread),
        Err(_) => shared.remove(number),
    }
}
