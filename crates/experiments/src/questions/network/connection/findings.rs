//! Findings from opening and ending connections: in round trips, and as shares of software and network.

use super::{CLOSE, CONNECT, GRACEFUL, phase};
use crate::apparatus::network::path::{LOOPBACK, PEER};
use crate::apparatus::network::software_share::software_and_network;
use crate::expected::rule_of_thumb::{self, RuleOfThumb};
use crate::questions::network::round_trip::{self, TCP};
use fathom_core::prelude::*;

const NAME: &str = "network/connection";

pub fn findings(known: &Known) -> Vec<Finding> {
    let shares = [CONNECT, GRACEFUL].into_iter().filter_map(|of| share(of, known));
    let others = [
        in_round_trips(known),
        graceful_in_round_trips(known),
        close_against_end(known),
        close_far_and_near(known),
        by_rule(known),
    ];
    others.into_iter().flatten().chain(shares).collect()
}

/// What report 000 predicted a connection over loopback by: lmbench's figure as it is.
fn by_rule(known: &Known) -> Option<Finding> {
    let opened = duration(CONNECT, LOOPBACK, known)?;
    let rule = RuleOfThumb::of_time("report 000 (lmbench's 238 µs)", 238e3, opened);
    rule_of_thumb::beside("opening a connection by TCP over loopback", opened, [rule])
}

fn duration(of: &str, path: &str, known: &Known) -> Option<Found> {
    known.found(NAME, &phase(of, path))
}

/// A message of one byte and its echo by TCP.
fn round_trip(path: &str, known: &Known) -> Option<Found> {
    let point = round_trip::closed(TCP, path, 1, Placement::AcrossCpus);
    known.found("network/round_trip", &point)
}

/// A phase in round trips of one byte.
fn round_trips(of: &str, path: &str, known: &Known) -> Option<Statement> {
    let (whole, round_trip) = (duration(of, path, known)?, round_trip(path, known)?);
    let way = if path == PEER { "to the peer" } else { "over loopback across CPUs" };
    // A machine in several states has no one ratio.
    let has_one = whole.is_of_one_state() && round_trip.is_of_one_state();
    let in_trips = has_one.then(|| {
        statement!(
            ", or {ratio} round trips of a byte by TCP",
            ratio = whole.over(round_trip).named(&format!("{of} over round trip, {path}"))
        )
    });
    Some(statement!("{whole} {way}{in_trips}", whole = whole.named(&format!("{of}, {path}")), in_trips))
}

/// Opening takes at least one round trip between the kernels: a result that contradicts this is reported as such (R-FIX-47).
fn in_round_trips(known: &Known) -> Option<Finding> {
    let paths = [LOOPBACK, PEER].into_iter().filter_map(|path| round_trips(CONNECT, path, known));
    let paths = Statement::joined(paths, "; ")?;
    Some(finding!(
        Question::SetUp,
        "Opening a connection takes {paths}.{answered}{against_ping}",
        paths,
        answered = answered(known),
        against_ping = against_ping(known)
    ))
}

/// Why opening a connection may take less than a round trip: the process on the other side is not woken for it.
fn answered(known: &Known) -> Option<Statement> {
    let (connect, trip) = (duration(CONNECT, LOOPBACK, known)?, round_trip(LOOPBACK, known)?);
    (connect.value < trip.value).then(|| {
        " The kernel answers it where a byte has to wake the process on the other CPU, so it may take less than a round \
         trip of a byte."
            .into()
    })
}

/// A ping is a round trip between the kernels, and no connection to the peer opens faster.
fn against_ping(known: &Known) -> Option<Statement> {
    let ping = known.found("network/round_trip", &round_trip::ping(PEER))?;
    let connect = duration(CONNECT, PEER, known)?;
    let shorter = connect.value < 0.8 * ping.value && connect.differs_from(&ping) == Some(true);
    let judged = if shorter { ", a contradiction: one of the two is wrong" } else { ", as it must" };
    Some(statement!(
        " A ping to the peer takes {ping}; opening includes a round trip{judged}.",
        ping = ping.named("ping, peer")
    ))
}

fn graceful_in_round_trips(known: &Known) -> Option<Finding> {
    let paths = [LOOPBACK, PEER].into_iter().filter_map(|path| round_trips(GRACEFUL, path, known));
    let paths = Statement::joined(paths, "; ")?;
    Some(finding!(Question::SetUp, "Time until both sides have ended a connection: {paths}.", paths))
}

/// The `close()` call alone, which published reports called teardown (R-FIX-48).
fn close_against_end(known: &Known) -> Option<Finding> {
    let (close, end) = (duration(CLOSE, LOOPBACK, known)?, duration(GRACEFUL, LOOPBACK, known)?);
    Some(finding!(
        Question::SetUp,
        "Over loopback across CPUs close returns after {close}; until both sides have ended it takes {end}: \
         {ratio}.",
        close = close.named("close, loopback"),
        end = end.named("graceful end, loopback"),
        ratio = end.times_as("long", close, "graceful end over close, loopback")
    ))
}

/// Whether the `close()` call alone depends on the distance of the other side.
fn close_far_and_near(known: &Known) -> Option<Finding> {
    let (near, far) = (duration(CLOSE, LOOPBACK, known)?, duration(CLOSE, PEER, known)?);
    Some(finding!(
        Question::SetUp,
        "close of a connection to the peer returns after {far}, of one over loopback after {near}: {ratio}. \
         It does not wait for the other side.",
        far = far.named("close, peer"),
        near = near.named("close, loopback"),
        ratio = far.times_as("long", near, "close, peer over loopback")
    ))
}

/// Shares of software and network in a phase that waits for the other side.
fn share(of: &str, known: &Known) -> Option<Finding> {
    let (here, remote) = (duration(of, LOOPBACK, known)?, duration(of, PEER, known)?);
    let what = if of == CONNECT { "Opening a connection" } else { "Ending a connection gracefully" };
    Some(
        finding!(
            Question::Software,
            "{what} takes {remote} to the peer, {here} over loopback: {software_and_network}.",
            remote = remote.named(&format!("{of}, peer")),
            here = here.named(&format!("{of}, loopback")),
            software_and_network = software_and_network(here, remote, of)
        )
        .about(of),
    )
}
