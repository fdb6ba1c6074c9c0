//! Paths that delay every packet by a known time, in both directions; one of them delays every fifth datagram longer, and drops every
//! fiftieth.

use super::prelude::*;
use super::relay::{Unreliable, host_behind};
use fathom_experiments::apparatus::network::datagrams::LOST as DATAGRAMS_LOST;
use std::net::{IpAddr, Ipv4Addr};

pub static RIG: Rig = Rig {
    name: "delay",
    sets: "a path over loopback that delays every packet by 10 ms",
    touches: &["sockets: a relay on loopback, between two ports of its own, delays what passes"],
    budget: Duration::from_secs(12),
    arrange: Some(|options| {
        // Some dozen round trips.
        options.trial = Some(Duration::from_millis(300));
        host_behind(relay(3), DELAY, Unreliable::default()).map(|(arranged, _)| arranged)
    }),
    points: |machine| Ok([points_of(machine, &UDP)?, points_of(machine, &TCP)?].concat()),
    judge: |rig, results, _| {
        each(rig, results, |point| {
            let transport = point.point.name_of("transport").unwrap_or_default();
            Claim::time(rig, format!("a round trip by {transport}"), ROUND_TRIP_NS)
        })
    },
};

pub static JITTER: Rig = Rig {
    name: "jitter",
    sets: "a path over loopback that delays some packets and loses others",
    touches: &[
        "sockets: a relay on loopback, between two ports of its own, delays and drops some of what passes",
    ],
    budget: Duration::from_secs(8),
    arrange: Some(|options| {
        // Some dozen round trips, and the wait for one that is lost.
        options.trial = Some(Duration::from_millis(500));
        let datagrams = Unreliable { late: Some((LATE_EVERY, LATER)), drop_every: Some(DROP_EVERY) };
        let (arranged, relay) = host_behind(relay(4), DELAY, datagrams)?;
        Ok(Arranged { account: Some(Box::new(move || relay.dropped() as f64)), ..arranged })
    }),
    points: |machine| points_of(machine, &UDP),
    judge: judge_jitter,
};

const UDP: Selector = Selector::of("network/round_trip", &closed("UDP"));
const TCP: Selector = Selector::of("network/round_trip", &closed("TCP"));

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
const ROUND_TRIP_NS: f64 = 2.0 * DELAY.as_nanos() as f64;

/// The additional delay of one datagram in five; one in fifty is dropped. The 95th percentile of the returned ones is well
/// among the late ones.
const LATER: Duration = Duration::from_millis(10);
const LATE_EVERY: u64 = 5;
const DROP_EVERY: u64 = 50;
const TAIL: f64 = 0.95;

/// The address of a relay, one for each rig.
const fn relay(last: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(127, 0, 0, last))
}

fn judge_jitter(rig: &Rig, results: &Results, dropped: Option<f64>) -> Vec<Truth> {
    let Some(point) = results.points.first() else {
        return vec![NoFigure::skipped("it is not in the plan").of(rig)];
    };
    // The evidence of few losses fails, as intended, so figures that are off become inconclusive instead of wrong.
    let median = estimate(point).map(|estimate| TruthFigure::of(estimate, &[point]));
    let late_ns = ROUND_TRIP_NS + LATER.as_nanos() as f64;
    vec![
        Claim::time(rig, "a round trip by UDP", ROUND_TRIP_NS).judged(median),
        Claim::time(rig, "95th percentile, one in five 10 ms late", late_ns).judged(tail(point, TAIL)),
        Claim::of(rig, "lost datagrams over dropped ones", None, dropped.unwrap_or_default())
            .judged(lost(results, point)),
    ]
}

/// The number of lost datagrams over all trials.
fn lost(results: &Results, point: &PointResult) -> Result<TruthFigure, NoFigure> {
    estimate(point)?;
    let counted = results.run.samples().filter_map(|sample| sample.witnessed.get(DATAGRAMS_LOST));
    Ok(TruthFigure::exactly(counted.fold(0.0, |sum, lost| sum + lost)))
}
