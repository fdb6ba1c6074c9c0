//! The other half of remote experiments: this same program on a second host.
//!
//! A [`service`] does the work that an experiment needs at the other end: echo, sink, source. The same code serves loopback,
//! inside a trial, and a remote client, inside `fathom peer`. With the [`protocol`] a run requests services of its peer;
//! [`server`] and `client` are its two ends, and `launch` starts a peer.
//!
//! The code requires nothing of the peer's operating system except sockets and threads, so that other systems can be
//! supported later.

pub(crate) mod client;
mod connection;
pub mod launch;
pub mod other_side;
pub mod ping;
pub mod ports;
pub mod proof;
pub mod protocol;
pub mod server;
pub mod service;
mod seals;
pub mod shared;
mod waking;
mod wire;

pub use client::PeerSession;
pub use fathom_core::experiment::{PeerAddress, Token};
pub use service::{Place, Running, Service, ServiceReport};
