//! A way that holds every packet for a known time, in both directions.

use super::relay::Relay;
use super::rig::{Arranged, Rig};
use super::swept;
use super::truth::{Claim, each};
use crate::peer::Token;
use crate::peer::proof::chance;
use crate::peer::server::{End, Limits, Server};
use crate::peer::shared::Shared;
use crate::quantity::Unit;
use crate::record::Truth;
use crate::results::Results;
use crate::run::{Options, Peering, Reach};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

pub static RIG: Rig = Rig {
    name: "delay",
    sets: "a way over loopback that holds every packet for 10 ms",
    budget: Duration::from_secs(12),
    arrange: Some(arrange),
    points: |machine| {
        let round_trip = |transport| {
            let parameters =
                [("transport", transport), ("path", "peer"), ("payload", "56"), ("loop", "closed")];
            swept::points(machine, "network/round_trip", &parameters)
        };
        Ok([round_trip("UDP")?, round_trip("TCP")?].concat())
    },
    judge,
};

/// Each way. Long against the waking of a relay's thread, some tens of microseconds.
const DELAY: Duration = Duration::from_millis(10);

/// Some dozen round trips.
const TRIAL: Duration = Duration::from_millis(300);

/// Of the second host, and of the relay that stands in its place.
const PEER: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const RELAY: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 3));

/// A second host that this process is itself; it ends when this is dropped.
struct Host(Arc<Shared>);

impl Drop for Host {
    fn drop(&mut self) {
        self.0.end(End::Abandoned);
    }
}

fn arrange(options: &mut Options) -> Result<Arranged, String> {
    let told = |error: std::io::Error| format!("a second host on loopback: {error}");
    let token = Token(chance(32).map_err(told)?);
    let server = Server::bind(&[SocketAddr::new(PEER, 0)], token.clone(), Limits::default()).map_err(told)?;
    let address = server.addresses().map_err(told)?[0];
    let host = Host(server.shared());
    std::thread::spawn(move || server.run());
    let relay = Relay::start(address, RELAY, DELAY, None).map_err(told)?;
    let reach = Reach { wanted: relay.at.to_string(), address: None, token: Some(token) };
    let peering = Peering::reach(&reach).map_err(|error| format!("{error:#}"))?;
    options.trial = Some(TRIAL);
    Ok(Arranged { peering: Some(peering), ..Arranged::holding(host) })
}

fn judge(rig: &Rig, results: &Results, _: Option<f64>) -> Vec<Truth> {
    each(rig, results, |point| {
        let transport = point.point.get("transport").map(ToString::to_string).unwrap_or_default();
        let set = 2.0 * DELAY.as_nanos() as f64;
        Claim::of(rig, format!("a round trip by {transport}"), Some(Unit::Nanoseconds), set)
    })
}
