//! `fathom peer`: serves one run of whoever knows its token, and ends with it.

use super::Token;
use super::guest;
pub use super::shared::{End, Limits, Shared};
use super::waking::waker;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

/// How long to wait where a caller could not be accepted.
const MOMENT: Duration = Duration::from_millis(100);

/// A peer that is about to serve.
pub struct Server {
    listeners: Vec<TcpListener>,
    /// What its guests share.
    shared: Arc<Shared>,
}

impl Server {
    /// Listens at the addresses, the later ones at the port of the first where theirs is 0.
    pub fn bind(addresses: &[SocketAddr], token: Token, limits: Limits) -> io::Result<Self> {
        let mut listeners: Vec<TcpListener> = vec![];
        for address in addresses {
            let mut address = *address;
            if let (0, Some(first)) = (address.port(), listeners.first()) {
                address.set_port(first.local_addr()?.port());
            }
            listeners.push(TcpListener::bind(address)?);
        }
        Ok(Server { listeners, shared: Arc::new(Shared::new(token, limits)) })
    }

    /// Where it listens.
    pub fn addresses(&self) -> io::Result<Vec<SocketAddr>> {
        self.listeners.iter().map(TcpListener::local_addr).collect()
    }

    /// By what somebody else may end it.
    pub fn shared(&self) -> Arc<Shared> {
        Arc::clone(&self.shared)
    }

    /// Serves until its client has left or a limit is reached. Afterwards nothing of it listens.
    pub fn run(self) -> io::Result<End> {
        let wakers = self.listeners.iter().map(waker).collect::<io::Result<Vec<_>>>()?;
        let mut doors = vec![];
        for listener in self.listeners {
            let shared = Arc::clone(&self.shared);
            doors.push(std::thread::Builder::new().spawn(move || keep_door(&listener, &shared))?);
        }
        let end = self.shared.wait();
        for wake in &wakers {
            wake();
        }
        self.shared.close();
        for door in doors {
            let _ = door.join();
        }
        Ok(end)
    }
}

/// Lets callers in, each into a thread of its own.
fn keep_door(listener: &TcpListener, shared: &Arc<Shared>) {
    while !shared.has_ended() {
        match listener.accept() {
            Ok((stream, caller)) if !shared.has_ended() => welcome(shared, stream, caller.ip()),
            Ok(_) => {}
            Err(_) if shared.has_ended() => return,
            // Of a caller that has gone already, or for want of descriptors: the next may fare better, a little later.
            Err(_) => std::thread::sleep(MOMENT),
        }
    }
}

/// Serves a caller in a thread of its own.
fn welcome(shared: &Arc<Shared>, stream: TcpStream, from: IpAddr) {
    shared.make_room();
    let Ok(other) = stream.try_clone() else { return };
    let (number, peer) = (shared.entered(other, from), Arc::clone(shared));
    let serve = move || {
        guest::serve(stream, number, &peer);
        peer.left(number);
    };
    match std::thread::Builder::new().spawn(serve) {
        Ok(thread) => shared.keep(thread),
        Err(_) => shared.left(number),
    }
}
