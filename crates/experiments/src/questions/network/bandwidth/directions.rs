//! Whether a path has the same bandwidth in both directions.

use super::points::{CHUNK, DIRECTION, RECEIVE, SEND, STREAMS, usual, usual_beside};
use crate::apparatus::network::path::{LOOPBACK, PEER};
use fathom_core::prelude::*;
use fathom_core::quantity::declared;

const NAME: &str = "network/bandwidth";

/// The same transfer in both directions, whose rates differ.
struct DirectionPair {
    what: String,
    sent: Found,
    received: Found,
}

impl DirectionPair {
    /// The ratio of the faster direction's rate to the slower one's.
    fn times(&self) -> f64 {
        self.sent.over(self.received).value.max(self.received.over(self.sent).value)
    }
}

/// One finding for every path whose directions differ in any transfer: the largest difference, with both rates.
pub fn findings(known: &Known) -> Vec<Finding> {
    [LOOPBACK, PEER].into_iter().filter_map(|path| differing(path, known)).collect()
}

fn differing(path: &str, known: &Known) -> Option<Finding> {
    let mut compared = pairs(&usual(path), &CHUNK, known);
    compared.extend(pairs(&usual_beside(path), &STREAMS, known));
    let differ = |pair: &&DirectionPair| pair.sent.differs_from(&pair.received) == Some(true);
    let differing: Vec<&DirectionPair> = compared.iter().filter(differ).collect();
    let widest = differing.iter().max_by(|one, other| one.times().total_cmp(&other.times()))?;
    let (way, how) = if path == PEER { ("To the peer", "from it") } else { ("Over loopback", "received") };
    let finding = finding!(
        Question::Experiment,
        "{way} TCP moves {sent} and {how} {received}, {what}: the two directions of one path differ in \
         {differing} of {settings} settings. {because}",
        sent = widest.sent.named(&format!("sent, {path}, {}", widest.what)),
        received = widest.received.named(&format!("received, {path}, {}", widest.what)),
        what = &widest.what,
        differing = differing.len(),
        settings = compared.len(),
        because = because(path, known)
    );
    Some(finding.about(path))
}

fn pairs(group: &Point, along: &Parameter, known: &Known) -> Vec<DirectionPair> {
    let of = |direction| known.found_along(NAME, &group.clone().named(&DIRECTION, direction), along);
    let received = of(RECEIVE);
    let pair = |(value, sent)| {
        let (_, back) = received.iter().find(|(other, _)| *other == value)?;
        let what = if along.name == CHUNK.name {
            format!("in chunks of {}", declared::size(value))
        } else {
            format!("by {value} streams wherever the scheduler puts them")
        };
        Some(DirectionPair { what, sent, received: *back })
    };
    of(SEND).into_iter().filter_map(pair).collect()
}

/// Over loopback both directions are the same work: the difference is due to flow control, or to the CPUs of the sides.
fn because(path: &str, known: &Known) -> Statement {
    if path == PEER {
        return "In either direction the same two hosts and adapters are involved.".into();
    }
    let control = known.machine.kernel.tcp_congestion_control.value();
    let control = control.map_or("unknown".to_owned(), |name| format!("`{name}`"));
    format!(
        "Both directions are the same work here; what can differ is the state of congestion control ({control}), and \
         other work on the two CPUs."
    )
    .into()
}
