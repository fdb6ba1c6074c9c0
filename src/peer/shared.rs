//! What the threads of a peer share: its limits, who is being served, and why it ends.

use super::Token;
use std::collections::BTreeMap;
use std::net::{IpAddr, Shutdown, TcpStream};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What a peer grants at most.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// Control connections at a time, of those that have shown the token.
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

/// Callers at a time that have not shown the token: a place for each of a burst of trials, and a few threads for whoever
/// else calls.
const STRANGERS: usize = 16;

/// How long to wait for a caller that was sent away, before it is sent away again.
const MOMENT: Duration = Duration::from_millis(100);

/// Why a peer has ended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum End {
    /// Its run has ended.
    #[error("its client has left")]
    ClientLeft,
    /// Nobody was heard of.
    #[error("there was no contact for {} s", .0.as_secs())]
    Idle(Duration),
    /// It has lived as long as it may.
    #[error("it has run for {} s, its limit", .0.as_secs())]
    Lifetime(Duration),
    /// It has moved as much as it may.
    #[error("it has transferred {0} bytes, its limit")]
    Bytes(u64),
    /// Whoever started it has gone.
    #[error("the process that started it has ended")]
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
    /// By their numbers, which are in the order in which they came.
    callers: BTreeMap<u64, Caller>,
    threads: Vec<JoinHandle<()>>,
    called: u64,
}

/// Whoever has called and not left.
struct Caller {
    stream: TcpStream,
    from: IpAddr,
    /// Whether it has shown the token.
    let_in: bool,
}

impl State {
    fn strangers(&self) -> impl Iterator<Item = &Caller> {
        self.callers.values().filter(|caller| !caller.let_in)
    }

    /// The stranger that has waited longest, of those from where most of them are: one host's calls displace each other.
    fn first_to_go(&self) -> Option<&Caller> {
        let from = |address| self.strangers().filter(|caller| caller.from == address).count();
        // The first of equals: `max_by_key` would take the last.
        self.strangers().min_by_key(|caller| std::cmp::Reverse(from(caller.from)))
    }
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
            callers: BTreeMap::new(),
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

    /// Sees to it that there is a place for one more stranger.
    pub(super) fn make_room(&self) {
        let mut state = self.state();
        while state.end.is_none() && state.strangers().count() >= STRANGERS {
            if let Some(caller) = state.first_to_go() {
                let _ = caller.stream.shutdown(Shutdown::Both);
            }
            let woken = self.changed.wait_timeout(state, MOMENT);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Somebody has called; its number.
    pub(super) fn entered(&self, stream: TcpStream, from: IpAddr) -> u64 {
        let mut state = self.state();
        let number = state.called;
        state.called += 1;
        state.callers.insert(number, Caller { stream, from, let_in: false });
        number
    }

    /// A caller has shown the token; false where there are as many as there may be.
    pub(super) fn let_in(&self, number: u64) -> bool {
        let mut state = self.state();
        let is_full = state.callers.len() - state.strangers().count() >= self.limits.connections;
        match state.callers.get_mut(&number) {
            Some(caller) if !is_full => caller.let_in = true,
            _ => return false,
        }
        true
    }

    /// A caller has gone.
    pub(super) fn left(&self, number: u64) {
        self.state().callers.remove(&number);
        self.changed.notify_all();
    }

    /// A thread to be waited for at the end.
    pub(super) fn keep(&self, thread: JoinHandle<()>) {
        let mut state = self.state();
        state.threads.retain(|thread| !thread.is_finished());
        state.threads.push(thread);
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
