//! What the figures of round trips say together.

use super::points::{ICMP, PAYLOAD, TCP, closed};
use crate::experiment::{Finding, Found, Known, Placement, Question, Statement, said};
use crate::experiments::network::path::{LOOPBACK, PEER};
use crate::experiments::network::software_share::software_and_network;

const NAME: &str = "network/round_trip";

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
