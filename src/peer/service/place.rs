//! Where a service listens, and for whom.

use std::net::{IpAddr, SocketAddr};

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
    pub(super) fn any_port(&self) -> SocketAddr {
        SocketAddr::new(self.listen, 0)
    }

    /// Whether whoever calls from there is served. A socket for both versions of the protocol shows IPv4 inside IPv6.
    pub(super) fn serves(&self, caller: IpAddr) -> bool {
        self.only.is_none_or(|only| only.to_canonical() == caller.to_canonical())
    }
}
