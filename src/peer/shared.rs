//! What the threads of a peer share: its limits, who is being served, and why it ends.

use super::Token;
use std::collections::BTreeMap;
use std::net::{Shutdown, TcpStream};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

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

/// What the threads of a peer share.
pub struct Shared {
    pub(super) token: Token,
    pub(super) limits: Limits,
    state: Mutex<State>,
    changed: Condvar,
}

pub(super) struct State {
    end: Option<End>,
    began: Instant,
    heard: Instant,
    held: bool,
    moved: u64,
    pub(super) guests: BTreeMap<u64, TcpStream>,
    pub(super) threads: Vec<JoinHandle<()>>,
    pub(super) called: u64,
}

impl Shared {
    /// Nobody has called yet.
    pub(super) fn new(token: Token, limits: Limits) -> Self {
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
        Shared { token, limits, state: Mutex::new(state), changed: Condvar::new() }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has the peer end; the first reason is kept.
    pub fn end(&self, why: End) {
        self.state().end.get_or_insert(why);
        self.changed.notify_all();
    }

    pub(super) fn has_ended(&self) -> bool {
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

    /// Waits for a reason to end, without waking before there can be one.
    pub(super) fn wait(&self) -> End {
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
    pub(super) fn close(&self) {
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
