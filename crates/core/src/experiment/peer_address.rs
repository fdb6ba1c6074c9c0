//! The address of the peer in remote experiments.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::IpAddr;

/// The data by which a trial reaches the peer of its run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeerAddress {
    /// The address at which it listens.
    pub address: IpAddr,
    /// The address at which the same peer also listens, in the other version of the Internet protocol.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub also: Option<IpAddr>,
    /// The port of its control connections, the same at both addresses.
    pub port: u16,
    /// The secret by which the peer admits the run and proves its own identity.
    pub token: Token,
    /// Whether it is not a real second host: a network namespace of this machine, which shares its processors.
    pub is_virtual: bool,
}

impl PeerAddress {
    /// The same peer over IPv4; `None` if it does not listen there.
    pub fn by_ipv4(&self) -> Option<Self> {
        self.by(IpAddr::is_ipv4)
    }

    /// The same peer over IPv6; `None` if it does not listen there.
    pub fn by_ipv6(&self) -> Option<Self> {
        self.by(IpAddr::is_ipv6)
    }

    fn by(&self, version: impl Fn(&IpAddr) -> bool) -> Option<Self> {
        let address = [Some(self.address), self.also].into_iter().flatten().find(version)?;
        let also = [Some(self.address), self.also].into_iter().flatten().find(|other| *other != address);
        Some(PeerAddress { address, also, ..self.clone() })
    }
}

/// A secret shared by a run and its peer. It is never printed by accident.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Token(pub String);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_is_reached_by_either_version_where_it_listens_by_both() {
        let (four, six): (IpAddr, IpAddr) = ([198, 18, 0, 2].into(), [0x2001, 2, 0, 0, 0, 0, 0, 2].into());
        let token = Token("secret".to_owned());
        let peer = PeerAddress { address: four, also: Some(six), port: 7, token, is_virtual: true };
        assert_eq!(peer.by_ipv4().unwrap(), peer);
        let by_six = peer.by_ipv6().unwrap();
        assert_eq!((by_six.address, by_six.also, by_six.port), (six, Some(four), 7));
        assert!(PeerAddress { also: None, ..peer.clone() }.by_ipv6().is_none());
        assert!(!format!("{peer:?}").contains("secret"), "tokens are not printed");
    }
}
