//! `fathom peer`: serves one run of whoever knows its token, and ends with it.

use super::Token;
use super::guest;
use super::waking::waker;
use std::collections::BTreeMap;
use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long to wait where a caller could not be accepted.
const MOMENT: Duration = Duration::from_millis(100);

/// What a peer grants at most.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// Control connections at a time.
    pub connections: usize,
    /// Bytes that all services move together.
    pub bytes: u64,
    /// How long the peer lives.
    pub lifetime: Duration,
    /// How long one service runs.
    pub service: Duration,
    /// How long nobody needs to be heard of.
    pub idle: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            connections: 32,
            bytes: 10_000_000_000_000,
            lifetime: Duration::from_hours(12),
            service: Duration::from_mins(2),
            idle: Duration::from_mins(2),
        }
    }
}

/// Why a peer has ended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum End {
    /// Its run has ended.
    #[error("its client has left")]
    ClientLeft,
    /// Nobody was heard of.
    #[error("nobody was heard of for {} s", .0.as_secs())]
    Idle(Duration),
    /// It has lived as long as it may.
    #[error("it has lived for {} s, the most it may", .0.as_secs())]
    Lifetime(Duration),
    /// It has moved as much as it may.
    #[error("it has moved {0} bytes, the most it may")]
    Bytes(u64),
    /// Whoever started it has gone.
    #[error("whoever started it has gone")]
    Abandoned,
}

/// A peer that is about to serve.
pub struct Server {
    listeners: Vec<TcpListener>,
    /// What its guests share.
    shared: Arc<Shared>,
}

/// What the threads of a peer share.
pub struct Shared {
    pub(super) token: Token,
    pub(super) limits: Limits,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    end: Option<End>,
    began: Instant,
    heard: Instant,
    held: bool,
    moved: u64,
    guests: BTreeMap<u64, TcpStream>,
    threads: Vec<JoinHandle<()>>,
    called: u64,
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
        let now = Instant::now();
        let state = State {
            end: None,
            began: now,
            heard: now,
            held: false,
            moved: 0,
            guests: BTreeMap::new(),
            threads: vec![],
            called: 0,
        };
        let (state, changed) = (Mutex::new(state), Condvar::new());
        Ok(Server { listeners, shared: Arc::new(Shared { token, limits, state, changed }) })
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
            Ok((stream, _)) if !shared.has_ended() => shared.welcome(stream),
            Ok(_) => {}
            Err(_) if shared.has_ended() => return,
            // Of a caller that has gone already, or for want of descriptors: the next may fare better, a little later.
            Err(_) => std::thread::sleep(MOMENT),
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has the peer end; the first reason is kept.
    pub fn end(&self, why: End) {
        self.state().end.get_or_insert(why);
        self.changed.notify_all();
    }

    fn has_ended(&self) -> bool {
        self.state().end.is_some()
    }

    /// Somebody who was let in has spoken, or is being served.
    pub(super) fn heard(&self) {
        self.state().heard = Instant::now();
    }

    /// So many more bytes were moved; the reason to end where they are too many.
    pub(super) fn moved(&self, bytes: u64) -> Option<End> {
        let moved = {
            let mut state = self.state();
            state.moved += bytes;
            state.moved
        };
        (moved > self.limits.bytes).then_some(End::Bytes(self.limits.bytes))
    }

    /// Takes the peer for one run; false where another has it.
    pub(super) fn hold(&self) -> bool {
        !std::mem::replace(&mut self.state().held, true)
    }

    fn welcome(self: &Arc<Self>, stream: TcpStream) {
        let mut state = self.state();
        state.threads.retain(|thread| !thread.is_finished());
        let crowded = state.guests.len() >= self.limits.connections;
        let (Ok(other), number) = (stream.try_clone(), state.called) else { return };
        state.called += 1;
        if !crowded {
            state.guests.insert(number, other);
        }
        let shared = Arc::clone(self);
        let attend = move || {
            if crowded {
                guest::turn_away(stream, "it has as many connections as it may");
            } else {
                guest::attend(stream, &shared);
                shared.state().guests.remove(&number);
            }
        };
        match std::thread::Builder::new().spawn(attend) {
            Ok(thread) => state.threads.push(thread),
            Err(_) => drop(state.guests.remove(&number)),
        }
    }

    /// Waits for a reason to end, without waking before there can be one.
    fn wait(&self) -> End {
        let mut state = self.state();
        loop {
            let idle = self.limits.idle.saturating_sub(state.heard.elapsed());
            let life = self.limits.lifetime.saturating_sub(state.began.elapsed());
            let overdue = match (idle.is_zero(), life.is_zero()) {
                (true, _) => Some(End::Idle(self.limits.idle)),
                (_, true) => Some(End::Lifetime(self.limits.lifetime)),
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
    fn close(&self) {
        let threads = {
            let mut state = self.state();
            for stream in state.guests.values() {
                let _ = stream.shutdown(Shutdown::Both);
            }
            std::mem::take(&mut state.threads)
        };
        for thread in threads {
            let _ = thread.join();
        }
    }
}
