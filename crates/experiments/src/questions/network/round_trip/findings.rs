//! Findings from the figures of round trips.

use super::points::{ICMP, PAYLOAD, PIPE, TCP, UDP, UNIX, closed};
use crate::apparatus::network::path::{LOOPBACK, PEER, WITHIN};

use crate::expected::network::software_and_network;
use crate::expected::rule_of_thumb::{self, RuleOfThumb};
use crate::questions::cpu::{context_switch, system_call};
use fathom_core::prelude::*;

const NAME: &str = "network/round_trip";

pub fn findings(known: &Known) -> Vec<Finding> {
    let all = [tcp_against_ping(known), across_cpus(known), network_share(known), what_bytes_cost(known)];
    all.into_iter().flatten().chain(by_rules(known)).collect()
}

/// The round trip of 56 bytes.
fn round_trip(known: &Known, by: &str, path: &str, placement: Placement) -> Option<Found> {
    known.found(NAME, &closed(by, path, 56, placement))
}

/// TCP compared with ping on either path, with the reason for the difference.
fn tcp_against_ping(known: &Known) -> Option<Finding> {
    let on = |path: &str, placement| {
        let (tcp, ping) =
            (round_trip(known, TCP, path, placement)?, round_trip(known, ICMP, path, placement)?);
        let way = if path == PEER { "to the peer" } else { "over loopback, on one CPU," };
        Some(statement!(
            "{way} 56 bytes take {tcp} by TCP and {ping} by ICMP echo: {ratio}{why}",
            tcp = tcp.named(&format!("TCP, {path}")),
            ping = ping.named(&format!("ICMP echo, {path}")),
            ratio = tcp.times_as("long", ping, &format!("TCP over ICMP echo, {path}")),
            why = why(tcp, ping, path, known)
        ))
    };
    let both = [on(LOOPBACK, Placement::OneCpu), on(PEER, Placement::AcrossCpus)];
    let paths = Statement::joined(both.into_iter().flatten(), "; ")?;
    Some(finding!(Question::Ping, "There and back, {paths}.", paths))
}

/// A byte there and back by each way within this machine, on one CPU and across two.
fn across_cpus(known: &Known) -> Option<Finding> {
    let ways = [(PIPE, WITHIN), (UNIX, WITHIN), (UDP, LOOPBACK), (TCP, LOOPBACK)];
    let each = ways.into_iter().filter_map(|(by, path)| {
        let trip = |placement| known.found(NAME, &closed(by, path, 1, placement));
        let (one, two) = (trip(Placement::OneCpu)?, trip(Placement::AcrossCpus)?);
        Some(statement!(
            "{by} {one} and {two}",
            one = one.named(&format!("a byte by {by}, on one CPU")),
            two = two.beside(one, &format!("a byte by {by}, across CPUs"), "one")
        ))
    });
    let each = Statement::joined(each, "; ")?;
    Some(finding!(Question::Experiment, "A byte there and back, on one CPU and across two: {each}.", each))
}

/// The reason for the difference, depending on which is faster; if they do not differ significantly, a note on that.
fn why(tcp: Found, ping: Found, path: &str, known: &Known) -> Statement {
    match tcp.differs_from(&ping) {
        Some(true) if tcp.value > ping.value => process_part(tcp.minus(ping), path, known),
        Some(true) if path == PEER => {
            ", although TCP's answer needs the other process: the echo takes longer, for example because hosts and \
             networks give ICMP a low priority or limit its rate"
                .into()
        }
        Some(true) => {
            ", although TCP's answer needs the other process: this kernel takes longer for ICMP than for an \
                       established connection's segments and both processes"
                .into()
        }
        Some(false) => ", so the cost of the other process in TCP's answer is not visible".into(),
        None => Statement::default(),
    }
}

/// The cost of the other process. On one CPU its switches and calls are known from other experiments, and so is how much of the difference
/// they are; on a peer it is woken there.
fn process_part(longer: Found, path: &str, known: &Known) -> Statement {
    let switch = known.found("cpu/context_switch", &context_switch::between_processes());
    let call = known.found("cpu/system_call", &system_call::bare());
    let longer_named = longer.named(&format!("TCP less ICMP echo, {path}"));
    let Some((switch, call)) = switch.zip(call).filter(|_| path != PEER) else {
        return statement!(
            ", because the kernel answers a ping itself and TCP's answer needs the other process, which must be woken and makes two more \
             system calls: {longer}",
            longer = longer_named
        );
    };
    let sum = switch.plus(call).scaled(2.0);
    let share = sum.share_of(longer);
    let is_part = share.ends().is_some_and(|(_, high)| high < 1.0);
    let sum = sum.named("two switches and two system calls");
    if is_part {
        statement!(
            ", in part because the kernel answers a ping itself and TCP's answer needs the other process: two switches and two more \
             system calls take {sum}, {share} of the {longer} between them; what the rest goes to is unknown",
            sum,
            share = share.named("the other process in what TCP takes longer"),
            longer = longer_named
        )
    } else {
        statement!(
            ", because the kernel answers a ping itself and TCP's answer needs the other process, two switches and two more system calls, \
             which take {sum} of the {longer} between them",
            sum,
            longer = longer_named
        )
    }
}

/// What reports predicted a round trip by.
struct PredictedTrip {
    by: &'static str,
    path: &'static str,
    bytes: u64,
    what: &'static str,
    /// Reports, and the time of each, nanoseconds.
    rules: &'static [(&'static str, f64)],
}

/// The rules of R-NET-08: over loopback the fastest of lmbench's tables as they are (000), a millisecond (003), and a tenth of one (001); to
/// another host by the network's rate and its routers.
const PREDICTED_TRIPS: [PredictedTrip; 4] = [
    PredictedTrip {
        by: TCP,
        path: LOOPBACK,
        bytes: 1,
        what: "a round trip of 1 byte by TCP over loopback, on one CPU,",
        rules: &[
            ("report 000 (lmbench's fastest, 162 µs)", 162e3),
            ("report 001 (0.1 ms)", 1e5),
            ("report 003 (1 ms)", 1e6),
        ],
    },
    PredictedTrip {
        by: ICMP,
        path: LOOPBACK,
        bytes: 56,
        what: "an ICMP echo of 56 bytes over loopback, on one CPU,",
        rules: &[("report 000 (lmbench's fastest by UDP, 93 µs)", 93e3)],
    },
    PredictedTrip {
        by: TCP,
        path: PEER,
        bytes: 1,
        what: "a round trip of 1 byte by TCP to the peer",
        rules: &[("report 000 (1 ms)", 1e6), ("report 001 (10 ms at most)", 1e7)],
    },
    PredictedTrip {
        by: ICMP,
        path: PEER,
        bytes: 56,
        what: "an ICMP echo of 56 bytes to the peer",
        rules: &[("report 000 (3 ms)", 3e6)],
    },
];

fn by_rules(known: &Known) -> impl Iterator<Item = Finding> {
    PREDICTED_TRIPS.into_iter().filter_map(|PredictedTrip { by, path, bytes, what, rules }| {
        let placement = if path == PEER { Placement::AcrossCpus } else { Placement::OneCpu };
        let trip = known.found(NAME, &closed(by, path, bytes, placement))?;
        let rules = rules.iter().map(|(text, ns)| RuleOfThumb::of_time(text, *ns, trip));
        rule_of_thumb::beside(what, trip, rules)
    })
}

/// The software's share is the same exchange over loopback, where the kernels and processes of both sides do the same work.
fn network_share(known: &Known) -> Option<Finding> {
    let remote = round_trip(known, TCP, PEER, Placement::AcrossCpus)?;
    let here = round_trip(known, TCP, LOOPBACK, Placement::AcrossCpus)?;
    Some(finding!(
        Question::Software,
        "To the peer 56 bytes take {remote} by TCP and back, over loopback {here}: {software_and_network}.",
        remote = remote.named("TCP, peer"),
        here = here.named("TCP, loopback"),
        software_and_network = software_and_network(here, remote, "round trip")
    ))
}

fn what_bytes_cost(known: &Known) -> Option<Finding> {
    let group = closed(TCP, LOOPBACK, 0, Placement::OneCpu);
    let sizes = known.found_along(NAME, &group, &PAYLOAD);
    let (least, short) = sizes.iter().min_by_key(|(bytes, _)| bytes)?;
    let (most, long) = sizes.iter().max_by_key(|(bytes, _)| bytes)?;
    (most > least).then(|| {
        finding!(
            Question::Experiment,
            "By TCP over loopback, on one CPU, {longer}.",
            longer = if long.differs_from(short) == Some(false) {
                statement!(
                    "the times of messages of {most} bytes and of {least} are not significantly different"
                )
            } else {
                statement!(
                    "messages of {most} bytes take {long}, those of {least} {short}: {ratio}",
                    ratio = long.times_as("long", *short, "longest over shortest message"),
                    long = long.named("longest message"),
                    short = short.named("shortest message")
                )
            }
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_described::plant;

    /// The finding for these times of TCP and ping on a path, and of a switch and a call.
    fn said_of(path: &str, tcp: f64, ping: f64) -> String {
        let machine = fathom_described::machine();
        let mut known = Known::new(&machine, None);
        let placement = if path == PEER { Placement::AcrossCpus } else { Placement::OneCpu };
        let both = [(closed(TCP, path, 56, placement), tcp), (closed(ICMP, path, 56, placement), ping)];
        plant(&mut known, &super::super::RoundTrip, both);
        plant(&mut known, &context_switch::ContextSwitch, [(context_switch::between_processes(), 1500.0)]);
        plant(&mut known, &system_call::SystemCall, [(system_call::bare(), 100.0)]);
        tcp_against_ping(&known).expect("a finding").statement.plain()
    }

    #[test]
    fn the_reason_follows_from_which_is_the_quicker() {
        let slower = said_of(LOOPBACK, 11.2e3, 8e3);
        assert!(
            slower.contains("two more system calls, which take {3200} of the {3200} between them"),
            "{slower}"
        );
        let in_part = said_of(LOOPBACK, 12e3, 8e3);
        let part = "take {3200}, {0.8} of the {4000} between them; what the rest goes to is unknown";
        assert!(in_part.contains(part) && in_part.contains(", in part because"), "{in_part}");
        let far = said_of(PEER, 60e3, 50e3);
        assert!(far.contains("which must be woken and makes two more system calls: {10000}"), "{far}");
        for (path, why) in [(LOOPBACK, "this kernel takes longer for ICMP"), (PEER, "a low priority")] {
            let quicker = said_of(path, 8e3, 12e3);
            assert!(quicker.contains(why) && !quicker.contains("two more system calls"), "{quicker}");
            let alike = said_of(path, 8e3, 8.01e3);
            assert!(alike.contains("is not visible") && !alike.contains("although"), "{alike}");
        }
    }

    #[test]
    fn what_the_reports_predicted_by_lmbench_is_as_it_was_printed_and_not_scaled() {
        let machine = fathom_described::machine();
        let mut known = Known::new(&machine, Some(4e9));
        let exact = |ns| Found::exact(ns, Unit::Nanoseconds);
        known.learn(NAME, &closed(TCP, LOOPBACK, 1, Placement::OneCpu), exact(8.1e3));
        known.learn(NAME, &closed(ICMP, LOOPBACK, 56, Placement::OneCpu), exact(9.3e3));
        known.learn(NAME, &closed(TCP, PEER, 1, Placement::AcrossCpus), exact(5e5));
        let said: Vec<String> = by_rules(&known).map(|of| of.statement.plain()).collect();
        let [tcp, ping, remote] = said.as_slice() else { panic!("{said:?}") };
        assert!(tcp.contains("predicts {162000}; measured is {0.05}"), "{tcp}");
        assert!(
            tcp.contains("predicts {1000000}") && tcp.contains("report 001 (0.1 ms) predicts {100000}"),
            "{tcp}"
        );
        assert!(
            remote.contains("to the peer") && remote.contains("report 000 (1 ms) predicts {1000000}"),
            "{remote}"
        );
        assert!(ping.contains("predicts {93000}; measured is {0.1}"), "{ping}");
    }
}
