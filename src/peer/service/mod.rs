//! What an experiment needs done at the other end of a connection, on loopback and on a second host alike.
//!
//! Each service is a file. It binds a port that the system chooses, works in threads of its own, counts what it does in
//! a [`Tally`], and ends when its [`Running`] handle is stopped or dropped.

mod echo;
mod processor_time;
mod running;

pub use running::{Arrival, Running, ServiceReport, Tally, Waking};

use crate::experiment::Failure;
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, SocketAddr};

/// What is asked of the other end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "service", rename_all = "snake_case")]
pub enum Service {
    /// Sends back every message.
    Echo {
        /// By which protocol.
        transport: Transport,
        /// Bytes of a message; a stream is cut into such.
        bytes: u32,
    },
}

/// How messages travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// A stream, without delay (`TCP_NODELAY`).
    Tcp,
    /// Datagrams.
    Udp,
}

/// Where a service listens, and for whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The address of this host that it listens on.
    pub listen: IpAddr,
    /// The only address that is served; anybody who reaches us where it is `None`.
    pub only: Option<IpAddr>,
    /// The CPU that its threads are pinned to; wherever the scheduler likes where it is `None`.
    pub cpu: Option<usize>,
}

impl Place {
    /// On this host alone.
    pub fn loopback(cpu: Option<usize>) -> Self {
        Place { listen: IpAddr::from([127, 0, 0, 1]), only: None, cpu }
    }

    /// A port that the system chooses.
    fn any_port(&self) -> SocketAddr {
        SocketAddr::new(self.listen, 0)
    }

    /// Whether whoever calls from there is served. A socket for both versions of the protocol shows IPv4 inside IPv6.
    fn serves(&self, caller: IpAddr) -> bool {
        self.only.is_none_or(|only| only.to_canonical() == caller.to_canonical())
    }
}

/// Begins a service: when this returns, its port can be reached.
pub fn serve(service: &Service, place: &Place) -> Result<Running, Failure> {
    match service {
        Service::Echo { transport: Transport::Tcp, bytes } => echo::tcp(*bytes as usize, place),
        Service::Echo { transport: Transport::Udp, bytes } => echo::udp(*bytes as usize, place),
    }
}
