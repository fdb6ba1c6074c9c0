//! A second host within this process, behind a relay.

use super::relay::{Relay, Unreliable};
use super::rig::Arranged;
use fathom_engine::run::{Peering, Reach};
use fathom_equipment::peer::Token;
use fathom_equipment::peer::proof::chance;
use fathom_equipment::peer::server::{PeerEnd, PeerLimits, Server};
use fathom_equipment::peer::shared::PeerShared;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

const PEER: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// The second host; it ends when this is dropped.
struct Host(Arc<PeerShared>);

impl Drop for Host {
    fn drop(&mut self) {
        self.0.end(PeerEnd::Abandoned);
    }
}

/// A second host, and the relay at this address in front of it.
pub fn host_behind(
    relay: IpAddr,
    delay: Duration,
    datagrams: Unreliable,
) -> Result<(Arranged, Relay), String> {
    let told = |error: std::io::Error| format!("a second host on loopback: {error}");
    let token = Token(chance(32).map_err(told)?);
    let server =
        Server::bind(&[SocketAddr::new(PEER, 0)], token.clone(), PeerLimits::default()).map_err(told)?;
    let address = server.addresses().map_err(told)?[0];
    let host = Host(server.shared());
    std::thread::spawn(move || server.run());
    let relay = Relay::start(address, relay, delay, datagrams).map_err(told)?;
    let reach = Reach { spec: relay.at.to_string(), address: None, token: Some(token) };
    let peering = Peering::reach(&reach).map_err(|error| format!("{error:#}"))?;
    Ok((Arranged { peering: Some(peering), ..Arranged::holding(host) }, relay))
}
