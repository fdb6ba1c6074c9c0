//! The address on which a service listens, its permitted callers, and its CPU.

use std::net::{IpAddr, SocketAddr};

/// The address on which a service listens, its permitted callers, and its CPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The address of this host that it listens on.
    pub listen: IpAddr,
    /// The only address that is served; any caller if `None`.
    pub only: Option<IpAddr>,
    /// The CPU to which its threads are pinned; chosen by the scheduler if `None`.
    pub cpu: Option<usize>,
}

impl Place {
    /// On this host only.
    pub fn loopback(cpu: Option<usize>) -> Self {
        Place { listen: IpAddr::from([127, 0, 0, 1]), only: None, cpu }
    }

    /// The address with a port that the system chooses.
    pub(super) fn any_port(&self) -> SocketAddr {
        SocketAddr::new(self.listen, 0)
    }

    /// Whether a caller with this address is served. A socket for both versions of the protocol shows IPv4 addresses inside
    /// IPv6 ones.
    pub(super) fn serves(&self, caller: IpAddr) -> bool {
        self.only.is_none_or(|only| only.to_canonical() == caller.to_canonical())
    }
}
