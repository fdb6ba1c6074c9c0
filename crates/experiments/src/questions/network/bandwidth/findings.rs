//! Findings from the rates of streams: methods compared, the network's share, and the bottleneck.

use super::points::{
    CHUNK, FIGURE, PIPE, READ, READ_CHUNKS, RECEIVE, RECEIVER, SEND, SENDER, START, STREAMS, TCP, TRANSPORT,
    UNIX, WINDOWS, point, usual, usual_beside,
};
use super::processor_cost::{busy_share, is_full};
use super::{chunks, directions, fastest, processor_cost};
use crate::apparatus::memory::stream::kernel::Kind;
use crate::apparatus::memory::stream::working_set;
use crate::apparatus::network::path::{LOOPBACK, PEER, WITHIN};
use crate::apparatus::network::sending::{SENDFILE, SPLICE, ZERO_COPY};
use crate::expected::network::{adapter, chosen};
use crate::expected::rule_of_thumb::{self, RuleOfThumb};
use crate::questions::memory::bandwidth as memory_bandwidth;
use crate::questions::network::round_trip;
use fathom_core::prelude::*;
use fathom_core::quantity::declared;

const NAME: &str = "network/bandwidth";

pub fn findings(known: &Known) -> Vec<Finding> {
    let of_each_path = |finding: fn(&'static str, &Known) -> Option<Finding>| {
        [LOOPBACK, PEER].map(|path| finding(path, known))
    };
    let across_paths = [
        chunks::second_cpu(known),
        beside_memory(known),
        collapse(known),
        network_share(known),
        the_limit(known),
    ];
    [ways_compared(known), chunks::of_a_pipe(known)]
        .into_iter()
        .chain(of_each_path(several_streams))
        .chain(of_each_path(processor_cost::finding))
        .chain(of_each_path(other_streams))
        .chain(of_each_path(chunks::falls))
        .chain(across_paths)
        .chain(of_each_path(processor_cost::in_cycles))
        .chain(of_each_path(window_over_round_trip))
        .chain(of_each_path(read_sizes))
        .chain(of_each_path(reads_over_time))
        .flatten()
        .chain(directions::findings(known))
        .collect()
}

/// The figure for the reports' comparison: the best of a sweep over chunks, across CPUs.
fn best(by: &str, path: &str, known: &Known) -> Option<(u64, Found)> {
    fastest::best_at(Placement::AcrossCpus, by, path, known)
}

/// One window per round trip, as report 000 predicted loopback (R-NET-16): the maximum rate of a TCP without window scaling (RFC
/// 9293, RFC 7323).
fn window_over_round_trip(path: &str, known: &Known) -> Option<Finding> {
    const WINDOW: f64 = 65_536.0;
    let (_, measured) = best(TCP, path, known)?;
    let point = round_trip::closed(TCP, path, 1, Placement::AcrossCpus);
    let round_trip = known.found("network/round_trip", &point)?;
    let rule = RuleOfThumb {
        text: "a window of 64 KiB in each round trip",
        says: round_trip.inverse(WINDOW * 1e9, Unit::BytesPerSecond),
    };
    let what = if path == PEER {
        "one TCP stream to or from the peer"
    } else {
        "one TCP stream over loopback, across CPUs,"
    };
    rule_of_thumb::beside(what, measured, [rule])
}

fn ways_compared(known: &Known) -> Option<Finding> {
    let (chunk, tcp) = best(TCP, LOOPBACK, known)?;
    let on_one = fastest::best_at(Placement::OneCpu, TCP, LOOPBACK, known).map(|(chunk, rate)| {
        statement!(
            "; on one CPU {rate} ({chunk})",
            rate = rate.named("best of TCP, one CPU"),
            chunk = declared::size(chunk)
        )
    });
    Some(finding!(
        Question::Experiment,
        "Across CPUs one stream of TCP over loopback moves {tcp} in chunks of {chunk} ({by_chunk}){on_one}{others}.{fastest} Each \
         is in the first chunks that are not significantly worse than the best.",
        tcp = tcp.named("best of TCP, loopback, across CPUs"),
        chunk = declared::size(chunk),
        by_chunk = by_chunk(chunk, tcp, known),
        on_one,
        others = others_beside(tcp, known),
        fastest = fastest::finding(known)
    ))
}

/// Which other chunks the intervals do not tell from the one that was chosen.
fn by_chunk(chunk: u64, best: Found, known: &Known) -> String {
    let across = |direction| point(TCP, LOOPBACK, direction, 0, Placement::AcrossCpus);
    let all = [SEND, RECEIVE].into_iter().flat_map(|way| known.found_along(NAME, &across(way), &CHUNK));
    let others: Vec<(u64, Found)> = all.filter(|(other, _)| *other != chunk).collect();
    let sizes = |is_wanted: &dyn Fn(&Found) -> bool| {
        let mut sizes: Vec<u64> =
            others.iter().filter(|(_, rate)| is_wanted(rate)).map(|(other, _)| *other).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes.into_iter().map(declared::size).collect::<Vec<String>>().join(", ")
    };
    let alike = sizes(&|rate| rate.differs_from(&best) != Some(true));
    match &*alike {
        _ if others.is_empty() => "the only ones measured".to_owned(),
        // Some chunks may have no value.
        "" => format!("more than in {}", sizes(&|_| true)),
        alike => format!("not shown to differ from {alike}"),
    }
}

/// The same stream without the copy from memory beside it: the first way that is not significantly worse than the best.
fn other_streams(path: &'static str, known: &Known) -> Option<Finding> {
    let tcp = known.found(NAME, &usual(path))?;
    let others = [SENDFILE, SPLICE, ZERO_COPY].into_iter();
    let (by, rate) = known.best(NAME, others.map(|by| (by, usual(path).named(&TRANSPORT, by))))?;
    Some(
        finding!(
            Question::Experiment,
            "TCP {way} moves by {by} {rate} (written from memory {usual}).",
            way = processor_cost::way(path),
            by,
            rate = rate.beside(tcp, &format!("best way without a copy, {path}"), "written from memory"),
            usual = tcp.named(&format!("written from memory, {path}"))
        )
        .about(path),
    )
}

/// What several streams move together beside what one does, none of them pinned.
fn several_streams(path: &'static str, known: &Known) -> Option<Finding> {
    let streams = known.found_along(NAME, &usual_beside(path), &STREAMS);
    let ((_, one), several) = streams.split_first().filter(|((number, _), _)| *number == 1)?;
    let each = several.iter().map(|(number, rate)| {
        let rate = rate.named(&format!("{number} streams, not pinned, {path}"));
        statement!("{rate} by {number}", rate, number = number.to_string())
    });
    Some(
        finding!(
            Question::Experiment,
            "TCP {way}, not pinned, in chunks of {chunk}, moves {one} by one stream, {each}.",
            way = processor_cost::way(path),
            chunk = declared::size(usual_beside(path).number(&CHUNK)),
            one = one.named(&format!("one stream, not pinned, {path}")),
            each = Statement::joined(each, ", ")?
        )
        .about(path),
    )
}

/// The best of the ways without a network, beside that of TCP; together where neither differs.
fn others_beside(tcp: Found, known: &Known) -> Option<Statement> {
    let best = |by: &'static str| {
        let (chunk, rate) = best(by, WITHIN, known)?;
        Some((format!("best of a {by}"), format!("{by} ({})", declared::size(chunk)), rate))
    };
    let others: Vec<(String, String, Found)> = [UNIX, PIPE].into_iter().filter_map(best).collect();
    let is_like = |other: &Found| other.is_of_one_state() && other.differs_from(&tcp) == Some(false);
    if others.len() > 1 && tcp.is_of_one_state() && others.iter().all(|(.., rate)| is_like(rate)) {
        let each = others
            .iter()
            .map(|(name, by, rate)| statement!("a {by} {rate}", by = by.as_str(), rate = rate.named(name)));
        let each = Statement::joined(each, " and ")?;
        return Some(statement!("; {each}, neither significantly different from TCP", each));
    }
    let each = others.iter().map(|(name, by, rate)| {
        let rate = rate.beside(tcp, name, "TCP");
        statement!("; a {by} {rate}", by = by.as_str(), rate)
    });
    Statement::joined(each, "")
}

/// Loopback beside what one core copies in memory, each byte counted once (R-NET-17): the kernel copies every byte twice.
fn beside_memory(known: &Known) -> Option<Finding> {
    let (_, tcp) = best(TCP, LOOPBACK, known)?;
    let size = working_set::in_memory(known.machine);
    let (method, both) = memory_bandwidth::best(Kind::Copy, size, known)?;
    let copied = both.scaled(0.5);
    Some(finding!(
        Question::Experiment,
        "One core copies {copied} in memory (memory/bandwidth, {method}, each byte counted once): a TCP stream over loopback, \
         whose every byte is copied twice, reaches {share} of that.",
        copied = copied.named("copied in memory by one core, each byte once"),
        method = method.method,
        share = tcp.share_of(copied).named("loopback over a copy in memory")
    ))
}

/// Report 003 saw loopback drop to a hundredth with large buffers and attributed it to slow start (R-FIX-44).
fn collapse(known: &Known) -> Option<Finding> {
    let sizes = known.found_along(NAME, &usual(LOOPBACK), &CHUNK);
    let (at, best) = sizes.iter().max_by(|(_, one), (_, other)| one.value.total_cmp(&other.value))?;
    let (most, largest) = sizes.iter().max_by_key(|(chunk, _)| *chunk)?;
    let falls = largest.value < best.value / 4.0 && largest.differs_from(best) != Some(false);
    falls.then(|| {
        finding!(
            Question::Experiment,
            "With chunks of {most} TCP over loopback falls to {largest}, from {best} with {at}: buffers \
             larger than the caches are copied from and to memory. A fall to a hundredth would be an error \
             in the receiving loop.",
            most = declared::size(*most),
            largest = largest.named("largest chunks"),
            best = best.named("best chunks"),
            at = declared::size(*at)
        )
    })
}

/// The share of its buffer that a read fills: report 003 looked at every read (R-NET-14).
fn read_sizes(path: &str, known: &Known) -> Option<Finding> {
    let [small, large] = READ_CHUNKS;
    let read = |chunk| known.found(NAME, &usual(path).with(&CHUNK, chunk).named(&FIGURE, READ));
    let over = if path == PEER { "from this host to the peer" } else { "over loopback" };
    Some(
        finding!(
            Question::Experiment,
            "Of a TCP stream {over} a read brings {usual} on average with a buffer of {small}, and {largest} \
         with one of {large}: a read into a large buffer returns what has arrived since the previous read, \
         not a full buffer.",
            usual = read(small)?.named(&format!("bytes of a read, usual chunk, {path}")),
            small = declared::size(small),
            largest = read(large)?.named(&format!("bytes of a read, largest chunk, {path}")),
            large = declared::size(large)
        )
        .about(path),
    )
}

/// How a read grows with the stream, which report 003 explains by slow start (R-NET-14).
fn reads_over_time(path: &str, known: &Known) -> Option<Finding> {
    let read = |since: u64| known.found(NAME, &usual(path).named(&FIGURE, READ).with(&START, since));
    let (first, last) = (read(WINDOWS[0])?, read(WINDOWS[WINDOWS.len() - 1])?);
    let over = if path == PEER { "from this host to the peer" } else { "over loopback" };
    let judged = match first.differs_from(&last) {
        Some(true) if first.value < last.value => {
            "reads grow with the stream, as slow start lets more arrive between two"
        }
        Some(true) => "reads do not grow with the stream: the first find what the sender's buffers held",
        _ => "the two are not significantly different: no slow start is seen in reads",
    };
    Some(finding!(
        Question::Experiment,
        "Of a TCP stream {over} a read brings {first} in the first half of a millisecond and {last} from {from} ms on: {judged}.",
        first = first.named(&format!("bytes of a read, first, {path}")),
        last = last.named(&format!("bytes of a read, last, {path}")),
        from = (WINDOWS[WINDOWS.len() - 1] / 1_000_000).to_string()
    ).about(path))
}

fn network_share(known: &Known) -> Option<Finding> {
    let ((_, remote), (_, here)) = (best(TCP, PEER, known)?, best(TCP, LOOPBACK, known)?);
    let comparison = match here.differs_from(&remote) {
        Some(true) if here.value > remote.value => statement!(
            "the software alone moves {ratio} times as much",
            ratio = here.over(remote).named("loopback over peer, rate")
        ),
        Some(true) => {
            statement!(
                "more than the software alone within one machine, where both sides share the processors"
            )
        }
        _ => statement!("the two are not significantly different"),
    };
    Some(finding!(
        Question::Software,
        "To or from the peer one TCP stream moves at most {remote} of payload, over loopback {here}: {comparison}.",
        remote = remote.named("best of TCP, peer"),
        here = here.named("best of TCP, loopback, across CPUs"),
        comparison
    ))
}

/// Whether the adapter or the processors are used up by the usual stream to the peer (R-CMP-10).
fn the_limit(known: &Known) -> Option<Finding> {
    let rate = known.found(NAME, &usual(PEER))?;
    let busy = |aspect: &'static str| {
        let per_mib = known.found(NAME, &usual(PEER).named(&FIGURE, aspect))?;
        Some((aspect, busy_share(per_mib, rate)))
    };
    let sides: Vec<(&str, Found)> = [SENDER, RECEIVER].into_iter().filter_map(busy).collect();
    let busiest = sides.iter().max_by(|(_, one), (_, other)| one.value.total_cmp(&other.value));
    let wire = adapter(known).filter(|_| !known.virtual_peer).map(|(adapter, bits)| {
        let carried = Found::exact(bits / 8.0, rate.dimension);
        (&adapter.name, rate.share_of(carried))
    });
    let shares = [
        wire.as_ref().map(|(name, share)| {
            statement!(
                "{share} of the rate of {name} ({chosen})",
                share = share.named("payload over adapter's rate"),
                chosen = chosen(known)
            )
        }),
        busiest.map(|(side, share)| {
            statement!(
                "the {side} is {share} of the time",
                share = share.named(&format!("{side}, share of the time"))
            )
        }),
    ];
    let shares = Statement::joined(shares.into_iter().flatten(), "; ")?;
    let wire = wire.map(|(_, share)| share);
    let verdict = verdict(wire, busiest.map(|(side, share)| (*side, *share)), known);
    Some(finding!(
        Question::Adapter,
        "One stream to the peer moves {rate}: {shares}. {verdict}",
        rate = rate.named("usual stream, peer"),
        shares
    ))
}

fn verdict(wire: Option<Found>, busiest: Option<(&str, Found)>, known: &Known) -> String {
    match (wire, busiest) {
        (Some(share), _) if share.value <= 1.0 && is_full(share) => "The adapter is the limit.".to_owned(),
        (_, Some((side, share))) if is_full(share) => {
            format!("The {side} is the limit: software, not the adapter.")
        }
        _ => format!("These figures do not show what the limit is.{}", causes(known)),
    }
}

/// The observable properties of the adapter that slow a transfer.
fn causes(known: &Known) -> String {
    let on_the_way = adapter(known).filter(|_| !known.virtual_peer);
    let causes = on_the_way.map(|(adapter, _)| {
        let half = adapter.duplex.value().is_some_and(|duplex| duplex == "half");
        [
            (half, "it cannot send and receive at the same time (half duplex)"),
            (adapter.kind == "wireless", "its air is shared"),
        ]
    });
    let causes: Vec<&str> =
        causes.into_iter().flatten().filter(|(is_so, _)| *is_so).map(|(_, cause)| cause).collect();
    if causes.is_empty() { String::new() } else { format!(" About the adapter: {}.", causes.join("; ")) }
}

#[cfg(test)]
mod tests {
    use super::super::Bandwidth;
    use super::*;

    /// What is said of the ways where TCP reaches 2 GB/s across CPUs and 1 GB/s on one, a socket and a pipe so much.
    fn ways(socket: f64, pipe: f64) -> String {
        let at = |by, path, kib: u64, placement| point(by, path, SEND, kib << 10, placement);
        let all = [
            (at(TCP, LOOPBACK, 512, Placement::AcrossCpus), 2e9),
            (at(TCP, LOOPBACK, 128, Placement::OneCpu), 1e9),
            (at(UNIX, WITHIN, 64, Placement::AcrossCpus), socket),
            (at(PIPE, WITHIN, 4, Placement::AcrossCpus), pipe),
        ];
        fathom_described::statements(&Bandwidth, all, ways_compared)
    }

    #[test]
    fn other_ways_and_several_streams_stand_beside_the_usual_one() {
        let streams = |number: u64| usual_beside(LOOPBACK).with(&STREAMS, number);
        let planted = [
            (usual(LOOPBACK), 2e9),
            (usual(LOOPBACK).named(&TRANSPORT, SENDFILE), 4e9),
            (streams(1), 2e9),
            (streams(2), 3e9),
            (streams(4), 2.5e9),
        ];
        assert_eq!(
            fathom_described::statements(&Bandwidth, planted.clone(), |known| other_streams(LOOPBACK, known)),
            "TCP over loopback moves by sendfile {4000000000}, {2} times (written from memory {2000000000}).\n"
        );
        let several = |known: &Known| several_streams(LOOPBACK, known);
        assert_eq!(
            fathom_described::statements(&Bandwidth, planted.clone(), several),
            "TCP over loopback, not pinned, in chunks of 128 KiB, moves {2000000000} by one stream, {3000000000} by 2, {2500000000} by 4.\n"
        );
        assert_eq!(
            fathom_described::statements(&Bandwidth, planted[3..].to_vec(), several),
            "",
            "nothing is beside them"
        );
    }

    #[test]
    fn a_chunk_is_the_best_only_as_far_as_intervals_show_it() {
        let said = |other: f64| {
            let machine = fathom_described::machine();
            let mut known = Known::new(&machine, None);
            let at = |chunk| point(TCP, LOOPBACK, SEND, chunk, Placement::AcrossCpus);
            fathom_described::plant(&mut known, &Bandwidth, [(at(64 << 10), 2e9), (at(1 << 20), other)]);
            by_chunk(64 << 10, fathom_described::found(2e9, Unit::BytesPerSecond), &known)
        };
        assert_eq!(said(1e9), "more than in 1 MiB");
        assert_eq!(said(1.999e9), "not shown to differ from 1 MiB");
    }

    #[test]
    fn a_rate_on_one_cpu_names_its_chunk_and_ways_that_are_alike_are_told_together() {
        assert_eq!(
            ways(2.02e9, 2.01e9),
            "Across CPUs one stream of TCP over loopback moves {2000000000} in chunks of 512 KiB (the only ones measured); on one CPU \
             {1000000000} (128 KiB); a UNIX socket (64 KiB) {2020000000} and a pipe (4 KiB) {2010000000}, neither significantly different from TCP. Each is in the first chunks that \
             are not significantly worse than the best.\n"
        );
        let apart = ways(4e9, 2.01e9);
        assert!(
            apart.contains("; a UNIX socket (64 KiB) {4000000000}, {2} times; a pipe (4 KiB) {2010000000}, not significantly different. The \
                            fastest of these is a UNIX socket across CPUs in chunks of 64 KiB, {4000000000}. Each is in"),
            "{apart}"
        );
    }
}
