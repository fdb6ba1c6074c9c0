//! The state shared by the threads of a peer: its limits, its callers, and the reason why it ends.

use super::Token;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr, Shutdown, TcpStream};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

#[derive(Debug, Clone, PartialEq)]
pub struct PeerLimits {
    /// Simultaneous control connections that have proved the token.
    pub connections: usize,
    /// Total bytes moved by all services.
    pub bytes: u64,
    pub lifetime: Duration,
    pub service: Duration,
    /// The longest time without contact.
    pub idle: Duration,
}

impl Default for PeerLimits {
    fn default() -> Self {
        PeerLimits {
            connections: 32,
            bytes: 10_000_000_000_000,
            lifetime: Duration::from_secs(12 * 60 * 60),
            service: Duration::from_secs(2 * 60),
            idle: Duration::from_secs(2 * 60),
        }
    }
}

/// Simultaneous callers that have not proved the token: one for each of a burst of trials, and a few threads for other
/// callers.
const MOST_UNAUTHENTICATED: usize = 16;

/// The time to wait for a disconnected caller, before it is disconnected again.
const DISCONNECT_TIMEOUT: Duration = Duration::from_millis(100);

/// The reason why a peer has ended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PeerEnd {
    #[error("its client has left")]
    ClientLeft,
    #[error("there was no contact for {} s", .0.as_secs())]
    Idle(Duration),
    #[error("it has run for {} s, its limit", .0.as_secs())]
    Lifetime(Duration),
    /// It has reached its limit of bytes.
    #[error("it has transferred {0} bytes, its limit")]
    Bytes(u64),
    /// The process that started it has gone.
    #[error("the process that started it has ended")]
    Abandoned,
}

/// The state shared by the threads of a peer.
pub struct PeerShared {
    pub(super) token: Token,
    pub(super) limits: PeerLimits,
    state: Mutex<PeerState>,
    changed: Condvar,
}

pub(super) struct PeerState {
    end: Option<PeerEnd>,
    began: Instant,
    last_contact: Instant,
    held: bool,
    moved: u64,
    /// By their numbers, in the order of arrival.
    callers: BTreeMap<u64, ConnectedCaller>,
    threads: Vec<JoinHandle<()>>,
    next_number: u64,
}

struct ConnectedCaller {
    stream: TcpStream,
    /// Its address, or that of its network (`network_of`).
    from: IpAddr,
    /// Whether it has proved the token.
    is_authenticated: bool,
}

impl PeerState {
    fn unauthenticated(&self) -> impl Iterator<Item = &ConnectedCaller> {
        self.callers.values().filter(|caller| !caller.is_authenticated)
    }

    /// The unauthenticated caller to disconnect first: of the address with the most of them, the one that has waited longest,
    /// so that the calls of one host displace one another.
    fn next_to_disconnect(&self) -> Option<&ConnectedCaller> {
        let from = |address| self.unauthenticated().filter(|caller| caller.from == address).count();
        // The first of equals: `max_by_key` would return the last.
        self.unauthenticated().min_by_key(|caller| std::cmp::Reverse(from(caller.from)))
    }
}

/// What shares one place among unauthenticated callers: an address, or in version 6 the network of 64 bits that every host may draw its
/// addresses from (RFC 4291, 2.5.4), so that one host is not counted as many.
fn network_of(from: IpAddr) -> IpAddr {
    match from.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into(),
        address @ IpAddr::V4(_) => address,
    }
}

impl PeerShared {
    /// The state before the first call.
    pub(super) fn new(token: Token, limits: PeerLimits) -> Self {
        let now = Instant::now();
        let state = PeerState {
            end: None,
            began: now,
            last_contact: now,
            held: false,
            moved: 0,
            callers: BTreeMap::new(),
            threads: vec![],
            next_number: 0,
        };
        PeerShared { token, limits, state: Mutex::new(state), changed: Condvar::new() }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, PeerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the peer; the first reason is kept.
    pub fn end(&self, why: PeerEnd) {
        self.state().end.get_or_insert(why);
        self.changed.notify_all();
    }

    pub(super) fn has_ended(&self) -> bool {
        self.state().end.is_some()
    }

    /// Records contact with an authenticated caller.
    pub(super) fn touch(&self) {
        self.state().last_contact = Instant::now();
    }

    /// Adds moved bytes; returns the reason to end if they exceed the limit.
    pub(super) fn add_bytes(&self, bytes: u64) -> Option<PeerEnd> {
        let moved = {
            let mut state = self.state();
            state.moved += bytes;
            state.moved
        };
        (moved > self.limits.bytes).then_some(PeerEnd::Bytes(self.limits.bytes))
    }

    /// Makes room for one more unauthenticated caller, by disconnecting others.
    pub(super) fn make_room(&self) {
        let mut state = self.state();
        while state.end.is_none() && state.unauthenticated().count() >= MOST_UNAUTHENTICATED {
            if let Some(caller) = state.next_to_disconnect() {
                let _ = caller.stream.shutdown(Shutdown::Both);
            }
            let woken = self.changed.wait_timeout(state, DISCONNECT_TIMEOUT);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Adds a caller and returns its number.
    pub(super) fn add(&self, stream: TcpStream, from: IpAddr) -> u64 {
        let mut state = self.state();
        let number = state.next_number;
        state.next_number += 1;
        state
            .callers
            .insert(number, ConnectedCaller { stream, from: network_of(from), is_authenticated: false });
        number
    }

    /// Records that a caller has proved the token; false if there are as many as the limit allows.
    pub(super) fn authenticate(&self, number: u64) -> bool {
        let mut state = self.state();
        let is_full = state.callers.len() - state.unauthenticated().count() >= self.limits.connections;
        match state.callers.get_mut(&number) {
            Some(caller) if !is_full => caller.is_authenticated = true,
            _ => return false,
        }
        true
    }

    pub(super) fn remove(&self, number: u64) {
        self.state().callers.remove(&number);
        self.changed.notify_all();
    }

    /// Keeps a thread that is joined at the end.
    pub(super) fn keep(&self, thread: JoinHandle<()>) {
        let mut state = self.state();
        state.threads.retain(|thread| !thread.is_finished());
        state.threads.push(thread);
    }

    /// Reserves the peer for one run; false if another has it.
    pub(super) fn hold(&self) -> bool {
        !std::mem::replace(&mut self.state().held, true)
    }

    /// Waits for a reason to end, without waking before there can be one.
    pub(super) fn wait(&self) -> PeerEnd {
        let mut state = self.state();
        loop {
            let idle = self.limits.idle.saturating_sub(state.last_contact.elapsed());
            let life = self.limits.lifetime.saturating_sub(state.began.elapsed());
            let overdue = match (idle.is_zero(), life.is_zero()) {
                (true, _) => Some(PeerEnd::Idle(self.limits.idle)),
                (_, true) => Some(PeerEnd::Lifetime(self.limits.lifetime)),
                _ => None,
            };
            if let Some(end) = state.end.clone().or(overdue) {
                state.end = Some(end.clone());
                return end;
            }
            let woken = self.changed.wait_timeout(state, idle.min(life));
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Shuts every connection, and with it its service, and waits for their threads.
    pub(super) fn close(&self) {
        let threads = {
            let mut state = self.state();
            for caller in state.callers.values() {
                let _ = caller.stream.shutdown(Shutdown::Both);
            }
            std::mem::take(&mut state.threads)
        };
        for thread in threads {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn a_network_of_many_addresses_displaces_its_own_callers_and_no_other() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = PeerShared::new(Token("t".repeat(32)), PeerLimits::default());
        let calls = |from: &str| shared.add(TcpStream::connect(address).unwrap(), from.parse().unwrap());
        calls("2001:db8:1::7");
        calls("192.0.2.7");
        for host in 0..4 {
            calls(&format!("2001:db8:2::{host}"));
        }
        calls("::ffff:192.0.2.8");
        let first = shared.state().next_to_disconnect().unwrap().from;
        assert_eq!(first, "2001:db8:2::".parse::<IpAddr>().unwrap());
        assert_eq!(network_of("::ffff:192.0.2.8".parse().unwrap()), "192.0.2.8".parse::<IpAddr>().unwrap());
    }
}
