//! Processor cost per byte, in time beside the rate of the same stream, and in core cycles, as in report 000 (R-NET-11).

use super::points::{ACKNOWLEDGED, CHUNK, FIGURE, RECEIVER, SEND, SENDER, point, usual};
use crate::apparatus::network::path::PEER;
use fathom_core::prelude::*;
use fathom_core::quantity::{Nanoseconds, declared};

const NAME: &str = "network/bandwidth";
/// Bytes per MiB.
const MIB: f64 = 1_048_576.0;
const RATE: Dimension = Dimension::Of(Unit::BytesPerSecond);

/// The share from which a resource counts as used up: of Ethernet's rate TCP's payload is at most 94 % (1448 of 1538 bytes of a
/// full packet), and a processor that is hardly ever idle has no more to give.
pub const ALL: f64 = 0.9;

/// Processor time per MiB of the usual stream, for each side, and the rate that either could reach with it, beside that of the stream: all
/// of one size of chunk.
pub fn finding(path: &str, known: &Known) -> Option<Finding> {
    let sides = sides(path, known);
    let rate = known.found(NAME, &usual(path));
    let times = sides.iter().enumerate().map(|(place, (side, time))| {
        let whose = if place == 0 { (*side).to_owned() } else { format!("{}'s", host(side)) };
        statement!("{time} of the {whose}", time = time.named(&format!("{side} per MiB, {path}")), whose)
    });
    let times = Statement::joined(times, " and ")?;
    let at = rate
        .map(|rate| statement!(", at {rate},", rate = rate.named(&format!("rate, processor time, {path}"))));
    Some(
        finding!(
            Question::Experiment,
            "In chunks of {chunk}{at} a MiB by TCP {way} takes {times}{allowed}.",
            chunk = declared::size(usual(path).number(&CHUNK)),
            at,
            way = way(path),
            times,
            allowed = rate.and_then(|rate| allowed(path, &sides, rate))
        )
        .about(path),
    )
}

/// The same in cycles per byte, with report 000's figure.
pub fn in_cycles(path: &str, known: &Known) -> Option<Finding> {
    let hertz = known.core_hz?;
    let sides = sides(path, known).into_iter().map(|(side, time)| {
        let cycles = time.counted(Nanoseconds(1.0 / MIB).cycles(hertz).0, Dimension::Cycles);
        statement!("{cycles} of the {side}", cycles = cycles.named(&format!("{side} per byte, {path}")), side)
    });
    let sides = Statement::joined(sides, " and ")?;
    Some(
        finding!(
            Question::Experiment,
            "A byte by TCP {way} takes {sides}.{by_the_clock}",
            way = way(path),
            sides,
            by_the_clock = by_the_clock(path, known)
        )
        .about(path),
    )
}

pub fn way(path: &str) -> &'static str {
    if path == PEER { "to the peer" } else { "over loopback" }
}

/// The processor time per MiB that was measured, with its side.
fn sides(path: &str, known: &Known) -> Vec<(&'static str, Found)> {
    let time = |side: &'static str| {
        let time = known.found(NAME, &usual(path).named(&FIGURE, side))?;
        Some((side, time))
    };
    [SENDER, RECEIVER].into_iter().filter_map(time).collect()
}

/// The rates that the sides' processors allow, and what follows for the limit.
fn allowed(path: &str, sides: &[(&'static str, Found)], rate: Found) -> Option<Statement> {
    let rates = sides.iter().map(|(side, time)| {
        let most = time.inverse(MIB * 1e9, RATE);
        statement!("{most}", most = most.named(&format!("rate that the {side} allows, {path}")))
    });
    let (rates, limit) = (Statement::joined(rates, " and ")?, limit(sides, rate).unwrap_or_default());
    Some(statement!(", which allows {rates}{limit}", rates, limit))
}

/// Which side is the limit, or is not, by the whole interval of the share of the time in which it is busy.
fn limit(sides: &[(&'static str, Found)], rate: Found) -> Option<String> {
    let busy = sides.iter().map(|(side, time)| (host(side), busy_share(*time, rate)));
    let busy: Vec<(&str, Found)> = busy.collect();
    let full = busy.iter().filter(|(_, share)| is_full(*share));
    match full.map(|(side, _)| *side).collect::<Vec<_>>()[..] {
        [side] => return Some(format!(": the {side} is the limit")),
        [_, _] => return Some(": both are busy all the time".to_owned()),
        _ => {}
    }
    let is_idle = |share: &Found| share.ends().is_some_and(|(_, high)| high < ALL);
    // Busy all the time by its value, and not by its whole interval.
    let may_be_full = |share: &Found| {
        share.value >= ALL && share.ends().is_some_and(|(low, high)| low <= 1.0 && high >= 1.0)
    };
    let likely = busy.iter().find(|(_, share)| may_be_full(share)).map(|(side, _)| *side);
    let idle = busy.iter().filter(|(_, share)| is_idle(share));
    match idle.map(|(side, _)| *side).collect::<Vec<_>>()[..] {
        [side] => {
            let other = likely.map(|other| format!(", the {other} probably is"));
            Some(format!(": the {side} is not the limit{}", other.unwrap_or_default()))
        }
        [_, _] => Some(": neither is busy all the time".to_owned()),
        _ => None,
    }
}

fn host(side: &str) -> &'static str {
    if side == SENDER { "sender" } else { "receiver" }
}

/// Processor time at a rate, as a share of one processor's time.
pub fn busy_share(ns_per_mib: Found, rate: Found) -> Found {
    let mib_per_ns = rate.counted(1e-9 / MIB, RATE);
    let idle = mib_per_ns.inverse(1.0, Unit::Nanoseconds);
    ns_per_mib.share_of(idle)
}

/// Whether a resource is used up, by the whole interval of its share.
pub fn is_full(share: Found) -> bool {
    share.at_least() >= ALL
}

/// Report 000's figure: elapsed cycles per byte, whoever uses them, if each chunk is acknowledged.
fn by_the_clock(path: &str, known: &Known) -> Option<Statement> {
    let group = point(ACKNOWLEDGED, path, SEND, 0, Placement::AcrossCpus);
    let (_, rate): (u64, Found) = known.found_along(NAME, &group, &CHUNK).into_iter().next()?;
    let cycles = Found::measured(known.frequency()?.over(rate.measured), Dimension::Cycles);
    Some(statement!(
        " With a byte back per chunk, {cycles} pass for each byte sent (report 000's figure, in core \
         cycles).",
        cycles = cycles.named(&format!("cycles that pass per byte, {path}"))
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apparatus::network::path::LOOPBACK;

    /// What is said where a MiB takes this time of the sender and half of the receiver, at this rate.
    fn text(core_hz: Option<f64>, sender: f64, rate: f64) -> String {
        let machine = fathom_described::machine();
        let mut known = Known::new(&machine, core_hz);
        let figures = [
            (usual(LOOPBACK).named(&FIGURE, SENDER), sender),
            (usual(LOOPBACK).named(&FIGURE, RECEIVER), sender / 2.0),
            (usual(LOOPBACK), rate),
            (point(ACKNOWLEDGED, LOOPBACK, SEND, 16_000_000, Placement::AcrossCpus), 1e9),
        ];
        fathom_described::plant(&mut known, &super::super::Bandwidth, figures);
        let all = [finding(LOOPBACK, &known), in_cycles(LOOPBACK, &known)];
        all.into_iter().flatten().map(|finding| finding.statement.plain() + "\n").collect()
    }

    #[test]
    fn time_per_mib_stands_beside_the_rate_of_the_same_chunk() {
        let said = text(Some(4e9), MIB / 2.0, 1.95e9);
        assert!(
            said.starts_with(
                "In chunks of 128 KiB, at {1950000000}, a MiB by TCP over loopback takes {524288} of the sender's processor \
                 time and {262144} of the receiver's, which allows {2000000000} and {4000000000}: the sender \
                 is the limit.\n"
            ),
            "{said}"
        );
        assert!(
            said.contains("takes {2} of the sender's processor time and {1} of the receiver's"),
            "{said}"
        );
        assert!(said.contains("With a byte back per chunk, {4} pass for each byte"), "{said}");
    }

    #[test]
    fn a_side_that_may_be_busy_all_the_time_is_probably_the_limit() {
        let side = |share: f64, width| fathom_described::found_within(width, share * MIB, Unit::Nanoseconds);
        let rate = fathom_described::found_within(0.001, 1e9, RATE);
        let said = |sender| limit(&[(SENDER, sender), (RECEIVER, side(0.5, 0.1))], rate);
        assert_eq!(
            said(side(0.98, 0.2)).as_deref(),
            Some(": the receiver is not the limit, the sender probably is")
        );
        assert_eq!(said(side(0.85, 0.2)).as_deref(), Some(": the receiver is not the limit"));
    }

    #[test]
    fn the_limit_is_said_only_as_far_as_intervals_show_it() {
        let said = |rate| text(None, MIB / 2.0, rate);
        assert!(said(1.8e9).contains("{4000000000}: the receiver is not the limit.\n"), "{}", said(1.8e9));
        assert!(said(1e9).contains("{4000000000}: neither is busy all the time.\n"), "{}", said(1e9));
    }

    #[test]
    fn where_the_frequency_is_not_known_no_cycles_are_told() {
        let said = text(None, MIB / 2.0, 1e9);
        assert!(!said.contains("a byte") && !said.contains("byte back"), "{said}");
    }
}
