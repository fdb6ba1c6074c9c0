//! The other half of remote experiments: this same program on a second host.
//!
//! A [`service`] is what an experiment needs done at the other end: echo, sink, source. The same code serves loopback,
//! inside a trial, and a remote client, inside `fathom peer`. The [`protocol`] is how a run asks its peer for a service;
//! [`server`] and `client` are its two ends, and `launch` gets a peer to where it is wanted.
//!
//! Nothing here needs more of the peer's operating system than sockets and threads, so that other systems can follow.

pub(crate) mod client;
mod guest;
pub(crate) mod launch;
pub(crate) mod other_side;
pub(crate) mod ping;
pub(crate) mod ports;
pub(crate) mod proof;
pub mod protocol;
pub mod server;
pub mod service;
mod seals;
pub(crate) mod shared;
mod waking;
mod wire;

pub use crate::experiment::{PeerAddress, Token};
pub use client::Session;
pub use service::{Place, Running, Service, ServiceReport};
