//! Pairs of operations of which one contains the other, and therefore costs no less.

use super::Agreement;
use fathom_core::experiment::At::{self, Name, Number};
use fathom_core::experiment::{Known, Placement, Selector, Statement, capitalize, statement};

/// An operation that costs no more than another.
pub(super) struct Ordered {
    what: &'static str,
    less: (&'static str, Selector),
    more: (&'static str, Selector),
    /// The reason why it cannot cost more.
    because: &'static str,
}

const TCP_PEER: Selector =
    Selector::only("network/round_trip", &trip("peer", "TCP")).at(Placement::AcrossCpus);
const PING_PEER: Selector = Selector::only("network/round_trip", &trip("peer", "ICMP echo"));
const TCP_HERE: Selector = Selector::only("network/round_trip", &trip("loopback", "TCP"));
const PING_HERE: Selector = Selector::only("network/round_trip", &trip("loopback", "ICMP echo"));

const fn trip(path: &'static str, transport: &'static str) -> [(&'static str, At); 4] {
    [("loop", Name("closed")), ("path", Name(path)), ("transport", Name(transport)), ("payload", Number(56))]
}

const CONNECT_HERE: Selector = Selector::only("network/connection", &connect("loopback"));
const CONNECT_PEER: Selector =
    Selector::only("network/connection", &connect("peer")).at(Placement::AcrossCpus);

const fn connect(path: &'static str) -> [(&'static str, At); 3] {
    [("ip_version", Name("IPv4")), ("path", Name(path)), ("phase", Name("connect"))]
}

pub(super) const ORDERED: &[Ordered] = &[
    Ordered {
        what: "creating a thread and a process",
        less: (
            "creating and joining a thread",
            Selector::only("cpu/thread_creation", &[("measure", Name("create and join"))]),
        ),
        more: (
            "fork, exit and wait",
            Selector::only("cpu/process_creation", &[("measure", Name("fork, exit, wait"))]),
        ),
        because: "a process also has its own address space",
    },
    Ordered {
        what: "switching between threads and processes",
        less: (
            "a switch between threads",
            Selector::only(
                "cpu/context_switch",
                &[("between", Name("threads")), ("mechanism", Name("pipe"))],
            ),
        ),
        more: (
            "a switch between processes",
            Selector::only(
                "cpu/context_switch",
                &[("between", Name("processes")), ("mechanism", Name("pipe"))],
            ),
        ),
        because: "a switch between processes also changes the address space",
    },
    Ordered {
        what: "a ping and TCP, loopback",
        less: ("an ICMP echo over loopback", PING_HERE),
        more: ("a round trip by TCP over loopback", TCP_HERE),
        because: "the kernel answers an echo, the other process answers over TCP",
    },
    Ordered {
        what: "a ping and a connection, loopback",
        less: ("an ICMP echo over loopback", PING_HERE),
        more: ("connect over loopback", CONNECT_HERE),
        because: "connect waits for an answer to its first segment",
    },
    Ordered {
        what: "a ping and TCP, peer",
        less: ("an ICMP echo to the peer", PING_PEER),
        more: ("a round trip by TCP to the peer", TCP_PEER),
        because: "the kernel answers an echo, the other process answers over TCP",
    },
    Ordered {
        what: "a ping and a connection, peer",
        less: ("an ICMP echo to the peer", PING_PEER),
        more: ("connect to the peer", CONNECT_PEER),
        because: "connect waits for the answer to its first segment, which is a round trip",
    },
];

impl Ordered {
    /// The name of the check, whether the order holds (undecided where the intervals overlap), and the sentence.
    pub(super) fn judge(&self, known: &Known) -> Option<(&'static str, Agreement, Statement)> {
        let ((less, lower), (more, upper)) = (self.less, self.more);
        let (low, high) = (lower.found(known)?, upper.found(known)?);
        let (agreement, verdict) = match (low.differs_from(&high)?, low.value > high.value) {
            (true, true) => (Agreement::Contradicts, "it does, so one of the two is wrong"),
            (true, false) => (Agreement::Agrees, "the order holds"),
            (false, _) => (Agreement::Undecided, "their intervals overlap, so this run does not decide it"),
        };
        let statement = statement!(
            "{less} ({low}) cannot cost more than {more} ({high}), because {because}: {verdict}.",
            less = capitalize(less),
            low = low.named(less),
            high = high.named(more),
            because = self.because
        );
        Some((self.what, agreement, statement))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::planted::{self, Plant as _};

    #[test]
    fn an_order_that_is_turned_is_found() {
        let machine = planted::machine();
        for check in ORDERED {
            let judged = |less: f64, more: f64| {
                let mut known = Known::new(&machine, None);
                check.less.1.plant(&mut known, less);
                check.more.1.plant(&mut known, more);
                check.judge(&known).map(|(_, agreement, _)| agreement)
            };
            assert_eq!(judged(8e3, 60e3), Some(Agreement::Agrees), "{}", check.what);
            assert_eq!(judged(60e3, 60e3), Some(Agreement::Undecided), "{}", check.what);
            assert_eq!(judged(60e3, 8e3), Some(Agreement::Contradicts), "{}", check.what);
        }
    }

    #[test]
    fn every_figure_of_this_machine_is_of_a_point_that_there_is() {
        let machine = planted::machine();
        for place in ORDERED.iter().flat_map(|check| [check.less.1, check.more.1]) {
            let names = format!("{place:?}");
            assert!(names.contains("\"peer\"") || place.exist(&machine), "no point is meant by {names}");
        }
    }
}
