//! Pairs of operations of which one contains the other, and therefore costs no less.

use super::Agreement;

use crate::results::place::Place;
use fathom_core::experiment::{Known, Placement, Statement, capitalize, statement};

/// An operation that costs no more than another.
pub(super) struct Ordered {
    what: &'static str,
    less: (&'static str, Place),
    more: (&'static str, Place),
    /// The reason why it cannot cost more.
    because: &'static str,
}

const TCP_PEER: Place =
    Place::of("network/round_trip", &[("loop", "closed"), ("path", "peer"), ("transport", "TCP")])
        .with(&[("payload", 56)])
        .at(Placement::AcrossCpus);
const PING_PEER: Place =
    Place::of("network/round_trip", &[("loop", "closed"), ("path", "peer"), ("transport", "ICMP echo")])
        .with(&[("payload", 56)]);
const TCP_HERE: Place =
    Place::of("network/round_trip", &[("loop", "closed"), ("path", "loopback"), ("transport", "TCP")])
        .with(&[("payload", 56)]);
const PING_HERE: Place =
    Place::of("network/round_trip", &[("loop", "closed"), ("path", "loopback"), ("transport", "ICMP echo")])
        .with(&[("payload", 56)]);
const fn connection(names: &'static [(&'static str, &'static str)]) -> Place {
    Place::of("network/connection", names)
}
const CONNECT_HERE: Place = connection(&[("ip_version", "IPv4"), ("path", "loopback"), ("phase", "connect")]);
const CONNECT_PEER: Place =
    connection(&[("ip_version", "IPv4"), ("path", "peer"), ("phase", "connect")]).at(Placement::AcrossCpus);

pub(super) const ORDERED: &[Ordered] = &[
    Ordered {
        what: "creating a thread and a process",
        less: (
            "creating and joining a thread",
            Place::of("cpu/thread_creation", &[("measure", "create and join")]),
        ),
        more: ("fork, exit and wait", Place::of("cpu/process_creation", &[("measure", "fork, exit, wait")])),
        because: "a process also has its own address space",
    },
    Ordered {
        what: "switching between threads and processes",
        less: (
            "a switch between threads",
            Place::of("cpu/context_switch", &[("between", "threads"), ("mechanism", "pipe")]),
        ),
        more: (
            "a switch between processes",
            Place::of("cpu/context_switch", &[("between", "processes"), ("mechanism", "pipe")]),
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
    /// The name of the check, whether the order holds, and the sentence.
    pub(super) fn judge(&self, known: &Known) -> Option<(&'static str, Agreement, Statement)> {
        let ((less, lower), (more, upper)) = (self.less, self.more);
        let (low, high) = (lower.found(known)?, upper.found(known)?);
        let turned = low.differs_from(&high)? && low.value > high.value;
        let verdict = if turned { "it does, so one of the two is wrong" } else { "the order holds" };
        let agreement = if turned { Agreement::Contradicts } else { Agreement::Agrees };
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
    use crate::results::place::tests as planted;

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
            assert_eq!(judged(60e3, 60e3), Some(Agreement::Agrees), "{}", check.what);
            assert_eq!(judged(60e3, 8e3), Some(Agreement::Contradicts), "{}", check.what);
        }
    }

    #[test]
    fn every_figure_of_this_machine_is_of_a_point_that_there_is() {
        let machine = planted::machine();
        for place in ORDERED.iter().flat_map(|check| [check.less.1, check.more.1]) {
            let names = format!("{place:?}");
            assert!(names.contains("\"peer\"") || place.stands(&machine), "no point is meant by {names}");
        }
    }
}
