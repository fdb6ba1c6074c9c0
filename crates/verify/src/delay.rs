//! A path that delays every packet by a known time, in both directions.

use super::relay::Unreliable;
use super::relay::host_behind;
use super::rig::{Arranged, Rig, points_of};
use super::truth::{Claim, each};
use fathom_core::experiment::At::{self, Name, Number};
use fathom_core::experiment::Selector;
use fathom_core::quantity::Unit;
use fathom_engine::record::Truth;
use fathom_engine::results::Results;
use fathom_engine::run::Options;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

pub static RIG: Rig = Rig {
    name: "delay",
    sets: "a path over loopback that delays every packet by 10 ms",
    touches: &["sockets: a relay on loopback, between two ports of its own, delays what passes"],
    budget: Duration::from_secs(12),
    arrange: Some(arrange),
    points: |machine| {
        let round_trip = |settings| points_of(machine, &Selector::of("network/round_trip", settings));
        Ok([round_trip(&const { closed("UDP") })?, round_trip(&const { closed("TCP") })?].concat())
    },
    judge,
};

const fn closed(transport: &'static str) -> [(&'static str, At); 4] {
    [
        ("transport", Name(transport)),
        ("path", Name("peer")),
        ("payload", Number(56)),
        ("loop", Name("closed")),
    ]
}

/// The delay in each direction, which is long against waking a relay's thread, some tens of microseconds.
const DELAY: Duration = Duration::from_millis(10);

/// Some dozen round trips.
const TRIAL: Duration = Duration::from_millis(300);

const RELAY: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 3));

fn arrange(options: &mut Options) -> Result<Arranged, String> {
    options.trial = Some(TRIAL);
    let (arranged, _) = host_behind(RELAY, DELAY, Unreliable::default())?;
    Ok(arranged)
}

fn judge(rig: &Rig, results: &Results, _: Option<f64>) -> Vec<Truth> {
    each(rig, results, |point| {
        let transport = point.point.get("transport").map(ToString::to_string).unwrap_or_default();
        let set = 2.0 * DELAY.as_nanos() as f64;
        Claim::of(rig, format!("a round trip by {transport}"), Some(Unit::Nanoseconds), set)
    })
}
