//! A path with jitter and loss: every fifth datagram is delayed longer, and every fiftieth dropped.

use super::relay::Unreliable;
use super::relay::host_behind;
use super::rig::{Arranged, Rig, points_of};
use super::truth::tail;
use super::truth::{Claim, NoFigure, TruthFigure, estimate};
use fathom_core::experiment::At::{Name, Number};
use fathom_core::experiment::Selector;
use fathom_core::quantity::Unit;
use fathom_engine::record::Truth;
use fathom_engine::results::{PointResult, Results};
use fathom_engine::run::Options;
use fathom_experiments::apparatus::network::datagrams::LOST as DATAGRAMS_LOST;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

pub static RIG: Rig = Rig {
    name: "jitter",
    sets: "a path over loopback that delays some packets and loses others",
    touches: &[
        "sockets: a relay on loopback, between two ports of its own, delays and drops some of what passes",
    ],
    budget: Duration::from_secs(8),
    arrange: Some(arrange),
    points: |machine| {
        points_of(
            machine,
            &Selector::of(
                "network/round_trip",
                &[
                    ("transport", Name("UDP")),
                    ("path", Name("peer")),
                    ("payload", Number(56)),
                    ("loop", Name("closed")),
                ],
            ),
        )
    },
    judge,
};

/// The delay in each direction, which is long against waking a relay's thread, some tens of microseconds.
const DELAY: Duration = Duration::from_millis(10);

/// The additional delay of one datagram in five; one in fifty is dropped. The 95th percentile of the returned ones is well
/// among the late ones.
const LATER: Duration = Duration::from_millis(10);
const LATE_EVERY: u64 = 5;
const DROP_EVERY: u64 = 50;
const TAIL: f64 = 0.95;

/// Some dozen round trips, and the wait for one that is lost.
const TRIAL: Duration = Duration::from_millis(500);

const RELAY: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 4));

fn arrange(options: &mut Options) -> Result<Arranged, String> {
    options.trial = Some(TRIAL);
    let datagrams = Unreliable { late: Some((LATE_EVERY, LATER)), drop_every: Some(DROP_EVERY) };
    let (arranged, relay) = host_behind(RELAY, DELAY, datagrams)?;
    Ok(Arranged { account: Some(Box::new(move || relay.dropped() as f64)), ..arranged })
}

fn judge(rig: &Rig, results: &Results, dropped: Option<f64>) -> Vec<Truth> {
    let Some(point) = results.points.first() else {
        return vec![NoFigure::skipped("it is not in the plan").of(rig)];
    };
    let set = 2.0 * DELAY.as_nanos() as f64;
    let of = |what: &str, set: f64| Claim::of(rig, what, Some(Unit::Nanoseconds), set);
    // The evidence of few losses fails, as intended, so figures that are off become inconclusive instead of wrong.
    let median = estimate(point).map(|estimate| TruthFigure::of(estimate, &[point]));
    vec![
        of("a round trip by UDP", set).judged(median),
        of("95th percentile, one in five 10 ms late", set + LATER.as_nanos() as f64)
            .judged(tail(point, TAIL)),
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
