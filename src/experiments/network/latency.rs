//! What is expected of round trips, and what their figures say together.

use super::expected;
use super::path::{LOOPBACK, PATH, PEER};
use super::round_trip::{BY, ICMP, LOOP, OPEN, PAYLOAD, PIPE, TCP, UDP, UNIX, closed};
use crate::experiment::{
    AXIS_PLACEMENT, Basis, Finding, Found, Known, Placement, Point, Prediction, Question, Statement, said,
};
use crate::experiments::cpu::null_write;

const NAME: &str = "network/round_trip";

/// Prediction of a point of the round-trip experiment.
pub fn expected(point: &Point, known: &Known) -> Prediction {
    let peer = point.name(&PATH) == PEER;
    let here = over_loopback(point);
    match known.median(NAME, &here).filter(|_| peer) {
        Some(_) => {
            let loopback = known.measured_or(NAME, &here, 0.0, "");
            network(Prediction::new().software("the same over loopback", 1.0, loopback), point, known)
        }
        None if peer => network(software(point, known), point, known),
        None => software(point, known),
    }
}

/// The same point where there is no network between the two sides; the kernel answers its own ping where it was sent.
fn over_loopback(point: &Point) -> Point {
    let here = point.clone().named(&PATH, LOOPBACK);
    if point.name(&BY) == ICMP { here.named(&AXIS_PLACEMENT, Placement::OneCpu.name()) } else { here }
}

/// The software of both sides.
fn software(point: &Point, known: &Known) -> Prediction {
    let (calls, protocol, work_ns) = match point.name(&BY) {
        PIPE => (4.0, "two pipes' locks, copies and wake-up checks", 400.0),
        UNIX => (4.0, "two passages of a UNIX socket: a buffer made, queued and freed", 1_200.0),
        UDP => (4.0, "two passages of UDP and IP through the loopback device", 4_000.0),
        ICMP => (2.0, "an echo request and its reply through IP and the loopback device", 2_500.0),
        _ => (4.0, "two passages of TCP and IP through the loopback device, with acknowledgements", 5_000.0),
    };
    let prediction = Prediction::new()
        .hardware(
            "copies of the payload, in and out, on both sides",
            4.0 * point.number(&PAYLOAD) as f64,
            expected::copy_ns(known),
        )
        .software("system calls of both sides", calls, null_write::entry(known));
    let prediction = null_write::assumed(prediction, protocol, work_ns, known);
    match (point.name(&BY), point.name(&LOOP)) {
        (ICMP, _) => prediction,
        (_, OPEN) => {
            let (what, each) = expected::hand_over(point.placement(), known);
            prediction.software(&format!("{what}: only the other side sleeps"), 1.0, each)
        }
        _ => {
            let (what, each) = expected::hand_over(point.placement(), known);
            prediction.software(what, 2.0, each)
        }
    }
}

/// Beside the software, the way between two hosts. To a namespace of this machine there is none, but packets have the size
/// of Ethernet's, and larger datagrams are cut.
fn network(prediction: Prediction, point: &Point, known: &Known) -> Prediction {
    if known.virtual_peer {
        let further = expected::further_fragments(point.number(&PAYLOAD) as f64);
        let cut = point.name(&BY) != TCP && further > 0.0;
        let what = "further packets that the datagram is cut into, there and back";
        return if cut {
            prediction.software(what, 2.0 * further, expected::packet_ns(known))
        } else {
            prediction
        };
    }
    let rate = expected::link_rate(known);
    let bit = Basis { value: 1e9 / rate.value, source: rate.source };
    prediction
        .hardware(
            "two adapters and what stands between them, there and back",
            1.0,
            expected::network_round_trip(),
        )
        .hardware(
            "the payload's bits onto the wire, there and back",
            16.0 * point.number(&PAYLOAD) as f64,
            bit,
        )
}

/// What the figures say together.
pub fn findings(known: &Known) -> Vec<Finding> {
    [tcp_against_ping(known), network_share(known), what_bytes_cost(known)].into_iter().flatten().collect()
}

/// 56 bytes there and back.
fn told(known: &Known, by: &str, path: &str, placement: Placement) -> Option<Found> {
    known.found(NAME, &closed(by, path, 56, placement))
}

/// TCP against ping on either path, and why they differ.
fn tcp_against_ping(known: &Known) -> Option<Finding> {
    let on = |path: &str, placement| {
        let (tcp, ping) = (told(known, TCP, path, placement)?, told(known, ICMP, path, placement)?);
        let way = if path == PEER { "to the peer" } else { "over loopback, on one CPU," };
        Some(said![
            format!("{way} 56 bytes take "),
            tcp.named(&format!("TCP, {path}")),
            " by TCP and ",
            ping.named(&format!("ICMP echo, {path}")),
            " by ICMP echo: ",
            tcp.times_as("long", ping, &format!("TCP over ICMP echo, {path}"))
        ])
    };
    let both = [on(LOOPBACK, Placement::OneCpu), on(PEER, Placement::AcrossCpus)];
    let told = Statement::joined(both.into_iter().flatten().collect(), "; ")?;
    Some(Finding::of(
        Question::Ping,
        said![
            "There and back, ",
            told,
            ". The kernel answers a ping itself; TCP's answer needs the other process, two switches or wake-ups and two more \
             system calls."
        ],
    ))
}

/// Software is what the same takes over loopback, where both sides' kernels and processes do all that they do otherwise.
fn network_share(known: &Known) -> Option<Finding> {
    let remote = told(known, TCP, PEER, Placement::AcrossCpus)?;
    let here = told(known, TCP, LOOPBACK, Placement::AcrossCpus)?;
    Some(Finding::of(
        Question::Software,
        said![
            "To the peer 56 bytes take ",
            remote.named("TCP, peer"),
            " by TCP and back, over loopback ",
            here.named("TCP, loopback"),
            ": ",
            software_and_network(here, remote, "round trip"),
            "."
        ],
    ))
}

/// What is software of a time that holds the same work as over loopback, and the network besides.
pub fn software_and_network(here: Found, remote: Found, what: &str) -> Statement {
    match here.differs_from(&remote) {
        Some(false) => said!["the two cannot be told apart, and what the network takes cannot be told"],
        _ if here.value >= remote.value => {
            said!["no more than over loopback; what the network takes cannot be told"]
        }
        apart => said![
            "software is ",
            here.share_of(remote).named(&format!("software over whole, {what}")),
            " of it, the network takes ",
            remote.minus(here).named(&format!("network, {what}")),
            if apart.is_none() { ", as far as so few trials tell" } else { "" }
        ],
    }
}

fn what_bytes_cost(known: &Known) -> Option<Finding> {
    let group = closed(TCP, LOOPBACK, 0, Placement::OneCpu);
    let sizes = known.found_along(NAME, &group, &PAYLOAD);
    let (least, short) = sizes.iter().min_by_key(|(bytes, _)| bytes)?;
    let (most, long) = sizes.iter().max_by_key(|(bytes, _)| bytes)?;
    (most > least).then(|| {
        Finding::of(
            Question::Experiment,
            said![
                format!(
                    "By TCP over loopback, on one CPU, a message of {most} bytes against one of {least}: "
                ),
                long.times_as("long", *short, "longest over shortest message"),
                "."
            ],
        )
    })
}
