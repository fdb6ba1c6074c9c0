//! Pairs of operations of which one contains the other, and therefore costs no less.

use super::{Agreement, CrossCheck, Denial, OF_STATES, are_apart};
use crate::results::accuracy::CLOSE;
use fathom_core::experiment::At::{self, Name, Number};
use fathom_core::experiment::{Found, Known, Placement, Selector, Statement, capitalize, statement};

/// An operation that costs no more than another.
pub(super) struct Ordered {
    what: &'static str,
    less: (&'static str, Selector),
    more: (&'static str, Selector),
    /// The reason why it cannot cost more.
    because: &'static str,
    /// What can make it cost a little more all the same; empty if nothing is known to.
    unless: &'static str,
    /// Both operations without the part that this reason is about, where a run may have measured them so.
    without: Option<(&'static str, [Selector; 2])>,
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

const fn thread(measure: &'static str) -> [(&'static str, At); 1] {
    [("measure", Name(measure))]
}

const fn net(between: &'static str) -> [(&'static str, At); 2] {
    [("between", Name(between)), ("mechanism", Name("pipe less its cost"))]
}

const NET_OF_THREADS: Selector = Selector::only("cpu/context_switch", &net("threads"));
const NET_OF_PROCESSES: Selector = Selector::only("cpu/context_switch", &net("processes"));

const JOINED: Selector = Selector::only("cpu/thread_creation", &thread("create and join"));
const CREATED: Selector = Selector::only("cpu/thread_creation", &thread("create"));
const STARTED: Selector = Selector::only("cpu/thread_creation", &thread("to first instruction"));

pub(super) const ORDERED: &[Ordered] = &[
    Ordered {
        what: "creating a thread, and joining it as well",
        less: ("creating a thread, as its creator sees it", CREATED),
        more: ("creating and joining it", JOINED),
        because: "it contains the creation",
        unless: "",
        without: None,
    },
    Ordered {
        what: "a thread's first instruction, and its end",
        less: ("a thread's first instruction after its creation began", STARTED),
        more: ("creating and joining it", JOINED),
        because: "a thread ends after its first instruction",
        unless: "",
        without: None,
    },
    Ordered {
        what: "creating a thread and a process",
        less: ("creating and joining a thread", JOINED),
        more: (
            "fork, exit and wait",
            Selector::only("cpu/process_creation", &[("measure", Name("fork, exit, wait"))]),
        ),
        because: "a process also has its own address space",
        unless: "",
        without: None,
    },
    Ordered {
        what: "switching between threads and processes",
        less: (
            "a pipe's hand-over between threads",
            Selector::only(
                "cpu/context_switch",
                &[("between", Name("threads")), ("mechanism", Name("pipe"))],
            ),
        ),
        more: (
            "one between processes",
            Selector::only(
                "cpu/context_switch",
                &[("between", Name("processes")), ("mechanism", Name("pipe"))],
            ),
        ),
        because: "the switch in it also changes the address space",
        unless: "threads share a table of open files, so that each read and write also takes a reference to its file",
        without: Some(("without what the pipes themselves cost", [NET_OF_THREADS, NET_OF_PROCESSES])),
    },
    Ordered {
        what: "a ping and TCP, loopback",
        less: ("an ICMP echo of 56 bytes over loopback", PING_HERE),
        more: ("a round trip of 56 bytes by TCP over loopback on one CPU", TCP_HERE),
        because: "the kernel answers an echo, the other process answers over TCP",
        unless: "",
        without: None,
    },
    Ordered {
        what: "a ping and a connection, loopback",
        less: ("an ICMP echo of 56 bytes over loopback", PING_HERE),
        more: ("connect over loopback", CONNECT_HERE),
        because: "connect waits for an answer to its first segment",
        unless: "",
        without: None,
    },
    Ordered {
        what: "a ping and TCP, peer",
        less: ("an ICMP echo of 56 bytes to the peer", PING_PEER),
        more: ("a round trip of 56 bytes by TCP to the peer", TCP_PEER),
        because: "the kernel answers an echo, the other process answers over TCP",
        unless: "",
        without: None,
    },
    Ordered {
        what: "a ping and a connection, peer",
        less: ("an ICMP echo of 56 bytes to the peer", PING_PEER),
        more: ("connect to the peer", CONNECT_PEER),
        because: "connect waits for the answer to its first segment, which is a round trip",
        unless: "",
        without: None,
    },
];

impl Ordered {
    /// The check of the order (undecided where the intervals overlap).
    pub(super) fn judge(&self, known: &Known) -> Option<CrossCheck> {
        let ((less, lower), (more, upper)) = (self.less, self.more);
        let ([(lower_point, low)], [(upper_point, high)]) = (&lower.all(known)[..], &upper.all(known)[..])
        else {
            return None;
        };
        let (low, high) = (*low, *high);
        let (agreement, verdict) = match (low.differs_from(&high)?, low.value > high.value) {
            _ if low.is_mixture || high.is_mixture => (Agreement::Undecided, OF_STATES.into()),
            (true, true) => self.reversed(&low, &high, known),
            (true, false) => (Agreement::Agrees, "the order holds".into()),
            (false, _) => {
                (Agreement::Undecided, "their intervals overlap, so this run does not decide it".into())
            }
        };
        let statement = statement!(
            "{less} ({low}) {cannot} cost more than {more} ({high}), because {because}: {verdict}.",
            less = capitalize(less),
            low = low.named(less),
            cannot = if self.unless.is_empty() { "cannot" } else { "should not" },
            high = high.named(more),
            because = self.because,
            verdict
        );
        let bare = |value: &Found, name| Found::bare(value.value, value.dimension).named(name);
        let brief = statement!(
            "{less}, {low}, costs more than {more}, {high}",
            low = bare(&low, less),
            high = bare(&high, more)
        );
        // One of the two is wrong, and which is not known.
        let denials = match agreement {
            Agreement::Contradicts => {
                vec![Denial::of(&lower, lower_point, low, high), Denial::of(&upper, upper_point, high, low)]
            }
            _ => vec![],
        };
        Some(CrossCheck { what: self.what, agreement, statement, brief, denials })
    }

    /// The verdict of an order that the intervals show to be reversed.
    fn reversed(&self, low: &Found, high: &Found, known: &Known) -> (Agreement, Statement) {
        let apart = low.over(*high).named("reversed by a factor of");
        let is_by_much = are_apart(high, low);
        if is_by_much && (self.unless.is_empty() || low.value > CLOSE * high.value) {
            let verdict = statement!("it does, by a factor of {apart}, so one of the two is wrong", apart);
            return (Agreement::Contradicts, verdict);
        }
        let unless = self.unless;
        let reason = match self.accounted(known) {
            Some(accounted) => accounted,
            None if unless.is_empty() => "; the intervals lie next to each other".into(),
            None => statement!(". What may be the reason, not measured by itself: {unless}"),
        };
        (Agreement::Differs, statement!("it does, by a factor of {apart}{reason}", apart, reason))
    }

    /// That the order holds without the part that the reason is about, as the run measured it.
    fn accounted(&self, known: &Known) -> Option<Statement> {
        let (without, both) = self.without?;
        let [low, high] = both.map(|of| match &of.all(known)[..] {
            [(_, figure)] if !figure.is_mixture => Some(*figure),
            _ => None,
        });
        let (low, high) = (low?, high?);
        (low.value <= high.value).then_some(())?;
        let accounts = if low.differs_from(&high)? { "accounts" } else { "may account" };
        Some(statement!(
            ". What {accounts} for it: {unless}; {without} the first takes {low} and the second {high}",
            low = low.named("the first, without it"),
            high = high.named("the second, without it"),
            unless = self.unless
        ))
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
                check.judge(&known).map(|judged| judged.agreement)
            };
            assert_eq!(judged(8e3, 60e3), Some(Agreement::Agrees), "{}", check.what);
            assert_eq!(judged(60e3, 60e3), Some(Agreement::Undecided), "{}", check.what);
            assert_eq!(judged(60e3, 8e3), Some(Agreement::Contradicts), "{}", check.what);
            // The intervals planted reach a hundredth to each side: these are just apart, also as they are printed.
            assert_eq!(judged(61.6e3, 60e3), Some(Agreement::Differs), "{}", check.what);
            let by_a_tenth =
                if check.unless.is_empty() { Agreement::Contradicts } else { Agreement::Differs };
            assert_eq!(judged(66e3, 60e3), Some(by_a_tenth), "{}", check.what);
        }
    }

    #[test]
    fn what_the_run_measured_of_the_reason_accounts_for_it() {
        let machine = planted::machine();
        let check = ORDERED.iter().find(|check| check.without.is_some()).expect("a check with a reason");
        let judged = |net: f64| {
            let mut known = Known::new(&machine, None);
            let values = [2590.0, 2510.0, net, 1890.0];
            let of = [check.less.1, check.more.1, NET_OF_THREADS, NET_OF_PROCESSES];
            of.iter().zip(values).for_each(|(of, ns)| of.plant(&mut known, ns));
            let judged = check.judge(&known).expect("a verdict");
            (judged.agreement, judged.statement.plain())
        };
        let (agreement, text) = judged(1790.0);
        assert_eq!(agreement, Agreement::Differs);
        assert!(text.contains("What accounts for it: threads share"), "{text}");
        assert!(text.contains("the first takes {1790} and the second {1890}"), "{text}");
        assert!(judged(1880.0).1.contains("What may account for it"), "the intervals overlap");
        assert!(
            judged(1950.0).1.contains("What may be the reason, not measured by itself"),
            "still reversed"
        );
    }

    #[test]
    fn a_median_of_several_states_decides_no_order() {
        let machine = planted::machine();
        let mut known = Known::new(&machine, None);
        let check = &ORDERED[0];
        check.less.1.plant(&mut known, 60e3);
        check.more.1.plant(&mut known, 8e3);
        let (experiment, point) = (check.less.1.experiment, check.less.1.point(&[]));
        let figure = known.found(experiment, &point).expect("a planted figure");
        known.learn(experiment, &point, Found { is_mixture: true, ..figure });
        assert_eq!(check.judge(&known).map(|judged| judged.agreement), Some(Agreement::Undecided));
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
