//! Findings from opening and ending connections: in round trips, and as shares of software and network.

use super::{CLOSE, CONNECT, FOUR, GRACEFUL, RESET, TO_ACCEPT, phase, point};
use crate::apparatus::network::path::{LOOPBACK, PEER};

use crate::expected::network::software_and_network;
use crate::expected::rule_of_thumb::{self, RuleOfThumb};
use crate::questions::cpu::context_switch;
use crate::questions::network::round_trip::{self, TCP};
use fathom_core::prelude::*;

const NAME: &str = "network/connection";

pub fn findings(known: &Known) -> Vec<Finding> {
    let shares = [CONNECT, GRACEFUL].into_iter().filter_map(|of| share(of, known));
    let others = [
        in_round_trips(known),
        shorter_across(known),
        graceful_in_round_trips(known),
        close_against_end(known),
        close_on_one_cpu(known),
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
            ", or {ratio} round trips of a byte by TCP ({round_trip} each)",
            round_trip = round_trip.named(&format!("round trip of a byte, {path}")),
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

/// What close takes on one CPU, where it takes longer than across CPUs: as far as the hand-overs to the other side and back account for it,
/// and beside the graceful end, of which it is a part.
fn close_on_one_cpu(known: &Known) -> Option<Finding> {
    let on_one = |of: &str| known.found(NAME, &point(of, LOOPBACK, FOUR, Placement::OneCpu));
    let (one, across) = (on_one(CLOSE)?, duration(CLOSE, LOOPBACK, known)?);
    let are_of_one_state = one.is_of_one_state() && across.is_of_one_state();
    let more = one.beyond(across).filter(|_| are_of_one_state)?;
    Some(finding!(
        Question::SetUp,
        "On one CPU close returns after {one}, {more} later than across CPUs. {hand_overs}{end}",
        one = one.named("close, loopback, one CPU"),
        more = more.named("close, one CPU beyond two"),
        hand_overs = hand_overs(more, known),
        end = on_one(GRACEFUL).map(|end| beside_the_end(one, end))
    ))
}

/// The other phases that take longer on one CPU than across two, for certain: one would expect the way to another CPU to cost something.
fn shorter_across(known: &Known) -> Option<Finding> {
    let of = |of: &'static str| {
        let one = known.found(NAME, &point(of, LOOPBACK, FOUR, Placement::OneCpu))?;
        let across = duration(of, LOOPBACK, known)?;
        let are_of_one_state = one.is_of_one_state() && across.is_of_one_state();
        one.beyond(across).filter(|_| are_of_one_state && one.differs_from(&across) == Some(true))?;
        Some(statement!(
            "{of} {one} and {across}, {ratio}",
            of,
            one = one.named(&format!("{of}, loopback, one CPU")),
            across = across.named(&format!("{of}, loopback")),
            ratio = one.times_as("long", across, &format!("{of}, one CPU over two"))
        ))
    };
    let each = Statement::joined([CONNECT, TO_ACCEPT, GRACEFUL, RESET].into_iter().filter_map(of), "; ")?;
    Some(finding!(
        Question::SetUp,
        "Longer on one CPU than across two: {each}. Across two the sides may work at the same time, on one they take turns; how much that \
         accounts for was not measured.",
        each
    ))
}

/// How much of that two hand-overs account for: the last segment wakes the other side, which takes the CPU before the call returns.
fn hand_overs(more: Found, known: &Known) -> Statement {
    let each = known.found(context_switch::NAME, &context_switch::between_processes());
    let Some(both) = each.filter(Found::is_of_one_state).map(|each| each.scaled(2.0)) else {
        return "This run measures nothing that accounts for it.".into();
    };
    let rest = more.beyond(both).map(|rest| {
        let rest = rest.named("close on one CPU, not explained");
        statement!("; {rest} are not explained", rest)
    });
    statement!(
        "If the other side, which the last segment wakes, runs before the call returns, two hand-overs between processes are {both} of that{rest}.",
        both = both.named("two hand-overs"),
        rest
    )
}

/// The graceful end, which waits for the other side, beside a close that takes as long.
fn beside_the_end(close: Found, end: Found) -> Statement {
    let is_judged = close.is_of_one_state() && end.is_of_one_state();
    let differs = close.differs_in_one_core_state(&end).filter(|_| is_judged);
    let judged = match differs {
        Some(true) if close.value > end.value => {
            ", less than close, though it waits for the other side, which is not explained"
        }
        Some(true) => ", longer than close",
        Some(false) => ", not significantly different from close",
        None => ", not compared",
    };
    statement!(
        " Until both sides have ended it takes {end}{judged}.",
        end = end.named("graceful end, loopback, one CPU"),
        judged
    )
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

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_described::plant;

    fn said(close: f64, end: f64, switch: Option<f64>) -> String {
        let machine = fathom_described::machine();
        let mut known = Known::new(&machine, None);
        let on_one = |of: &str| point(of, LOOPBACK, FOUR, Placement::OneCpu);
        let figures = [(on_one(CLOSE), close), (on_one(GRACEFUL), end), (phase(CLOSE, LOOPBACK), 10e3)];
        plant(&mut known, &super::super::Connection, figures);
        let switch = switch.map(|ns| (context_switch::between_processes(), ns));
        plant(&mut known, &context_switch::ContextSwitch, switch);
        close_on_one_cpu(&known).map(|finding| finding.statement.plain()).unwrap_or_default()
    }

    /// A connection opened in 31 us across CPUs and in 52 us on one, and nothing was said of it.
    #[test]
    fn what_takes_less_across_cpus_is_told() {
        let machine = fathom_described::machine();
        let said = |on_one: f64| {
            let mut known = Known::new(&machine, None);
            let one = |of: &str| point(of, LOOPBACK, FOUR, Placement::OneCpu);
            let figures = [
                (one(CONNECT), on_one),
                (phase(CONNECT, LOOPBACK), 31e3),
                (one(RESET), 20e3),
                (phase(RESET, LOOPBACK), 20e3),
            ];
            plant(&mut known, &super::super::Connection, figures);
            shorter_across(&known).map(|finding| finding.statement.plain()).unwrap_or_default()
        };
        let text = said(52e3);
        assert!(
            text.starts_with("Longer on one CPU than across two: connect {52000} and {31000}, {1.67"),
            "{text}"
        );
        assert!(!text.contains("reset"), "{text}");
        assert_eq!(said(31e3), "");
    }

    #[test]
    fn a_close_on_one_cpu_is_told_with_what_accounts_for_it_and_what_does_not() {
        let text = said(30e3, 20e3, Some(3e3));
        assert!(
            text.starts_with("On one CPU close returns after {30000}, {20000} later than across CPUs."),
            "{text}"
        );
        assert!(
            text.contains("two hand-overs between processes are {6000} of that; {14000} are not explained."),
            "{text}"
        );
        assert!(text.ends_with("it takes {20000}, less than close, though it waits for the other side, which is not explained."), "{text}");
        let alike = said(30e3, 30.1e3, None);
        assert!(alike.contains("measures nothing that accounts for it. Until"), "{alike}");
        assert!(alike.ends_with("not significantly different from close."), "{alike}");
        assert!(!said(30e3, 20e3, Some(11e3)).contains("are not explained"), "two hand-overs are all of it");
        assert_eq!(said(10e3, 20e3, Some(3e3)), "", "no later than across CPUs");
    }
}
