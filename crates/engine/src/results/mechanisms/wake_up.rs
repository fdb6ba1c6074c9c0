//! Waking an idle CPU: the extra cost of a hand-over across CPUs over one on the same CPU recurs, as a whole number of
//! wake-ups, in all other operations during which a CPU goes idle.

use super::{Conclusion, Premises, Rule};
use crate::results::PointResult;
use crate::results::accuracy::{CLOSE, FAIR, distance};
use fathom_core::experiment::At::{Name, Number};
use fathom_core::experiment::{Found, Known, Placement, Point, Selector, Statement, statement};
use fathom_core::machine::Machine;

pub(super) const RULE: Rule = Rule {
    name: "idle_wake_up",
    condition: "a hand-over across CPUs costs over twice as much as on one CPU, and the extra cost of another \
                operation across CPUs equals its number of wake-ups within a factor of 1.25, is known \
                within a factor of 2 and has one level",
    judge,
    points: &[HAND_OVER, HAND_OVER.at(Placement::AcrossCpus), TCP, SOCKET, USER_FAULT, SLEEP],
};

pub(super) const HAND_OVER: Selector =
    Selector::only("cpu/context_switch", &[("mechanism", Name("pipe")), ("between", Name("processes"))]);
pub(super) const TCP: Selector = Selector::only(
    "network/round_trip",
    &[
        ("loop", Name("closed")),
        ("path", Name("loopback")),
        ("transport", Name("TCP")),
        ("payload", Number(1)),
    ],
);
const SOCKET: Selector = Selector::only(
    "network/round_trip",
    &[
        ("loop", Name("closed")),
        ("path", Name("within")),
        ("transport", Name("UNIX socket")),
        ("payload", Number(1)),
    ],
);
const USER_FAULT: Selector =
    Selector::only("memory/user_fault", &[("fill", Name("a copy")), ("delay", Number(0))]);
const SLEEP: Selector = Selector::only(
    "cpu/wake_up",
    &[("timer", Name("timerfd")), ("slack", Number(1)), ("sleep", Number(1_000_000))],
);

/// Operations that wake an idle CPU, with the number of wake-ups.
const OTHERS: [(&str, Selector, f64); 3] = [
    ("a round trip of 1 byte by TCP over loopback", TCP, 2.0),
    ("a round trip of 1 byte by a UNIX socket", SOCKET, 2.0),
    ("a page fault that a program answers", USER_FAULT, 2.0),
];

/// The number of wake-ups in an operation across CPUs, and what it takes more than on one CPU, if that is their time.
pub(super) fn in_operation(experiment: &str, point: &Point, known: &Known) -> Option<(f64, Found)> {
    let is_it = |of: &Selector| of.at(Placement::AcrossCpus).selects(experiment, point, known.machine);
    let wake = beyond(HAND_OVER, known)?;
    if is_it(&HAND_OVER) {
        return Some((1.0, wake));
    }
    let (_, of, times) = *OTHERS.iter().find(|(_, of, _)| is_it(of))?;
    let extra = beyond(of, known)?;
    (Agreement::of(extra.value / (times * wake.value)) == Agreement::Alike).then_some((times, extra))
}

/// The extra cost of an operation across CPUs over one CPU.
fn beyond(points: Selector, known: &Known) -> Option<Found> {
    let (across, one) = (points.at(Placement::AcrossCpus).found(known)?, points.found(known)?);
    (!across.is_mixture && !one.is_mixture).then(|| across.minus(one))
}

/// Whether observations of an operation, on one CPU or across, cluster around several values: its median is then of several kinds of
/// operations, of which some may have found the other side awake, and no multiple of a wake-up.
fn has_levels(of: &Selector, premises: &Premises) -> bool {
    let places = [*of, of.at(Placement::AcrossCpus)];
    let is_it = |point: &&PointResult| {
        places.iter().any(|of| of.selects(&point.experiment, &point.point, premises.known.machine))
    };
    premises.results().filter(is_it).any(|point| point.modes.len() > 1)
}

fn judge(premises: &Premises) -> Option<Conclusion> {
    let known = premises.known;
    let (one, across) = (HAND_OVER.found(known)?, HAND_OVER.at(Placement::AcrossCpus).found(known)?);
    let wake = beyond(HAND_OVER, known)?;
    let dominates = wake.differs_from(&one) == Some(true) && wake.value > one.value;
    let counted = |agreement: Agreement| {
        let of = move |(what, points, times)| explained(what, beyond(points, known)?, times, wake, agreement);
        let of_one_level = OTHERS.into_iter().filter(|(_, points, _)| !has_levels(points, premises));
        Statement::joined(of_one_level.filter_map(of), "; ")
    };
    let others = counted(Agreement::Alike).filter(|_| dominates)?;
    let beyond =
        counted(Agreement::Longer).map(|list| statement!(" It does not account for all: {list}.", list));
    let short = counted(Agreement::Shorter)
        .map(|list| statement!(" In others a wake-up takes less than in a pipe's hand-over: {list}.", list));
    let headline = statement!(
        "A pipe's hand-over to a process on an idle CPU costs {wake} more than one on the same CPU, which takes {one}.",
        wake = wake.named("waking an idle CPU"),
        one = one.named("hand-over on one CPU")
    );
    let because = statement!(
        "Across CPUs the hand-over takes {across}. Other figures contain the same wake-up: \
         {others}.{beyond}{short}{asleep}{causes}",
        across = across.named("hand-over across CPUs"),
        others,
        beyond,
        short,
        asleep = asleep(known),
        causes = causes(known.machine)
    );
    Some(Conclusion::of(headline, because))
}

/// How the extra time of an operation across CPUs compares with that of its number of wake-ups.
#[derive(Clone, Copy, PartialEq)]
enum Agreement {
    Alike,
    Longer,
    Shorter,
}

impl Agreement {
    fn of(ratio: f64) -> Self {
        match ratio {
            ratio if distance(ratio) <= CLOSE => Agreement::Alike,
            ratio if ratio > 1.0 => Agreement::Longer,
            _ => Agreement::Shorter,
        }
    }
}

/// An operation whose extra cost across CPUs compares so with this number of wake-ups.
fn explained(what: &str, extra: Found, times: f64, wake: Found, agreement: Agreement) -> Option<Statement> {
    let counted = extra.over(wake);
    // What may be one or three says nothing.
    let is_known = counted.ends().is_none_or(|(low, high)| low > 0.0 && high <= FAIR * low);
    (is_known && Agreement::of(counted.value / times) == agreement).then(|| {
        statement!(
            "{what} takes {extra} more across CPUs than on one CPU, the time of {counted} wake-ups; the \
             operation has {times}",
            extra = extra.named(&format!("{what}, across CPUs beyond one")),
            counted = counted.named(&format!("{what}, wake-ups"))
        )
    })
}

/// A sleeper is woken by its own timer, without the other CPU's share of the cost.
fn asleep(known: &Known) -> Statement {
    SLEEP.found(known).map_or_else(Statement::default, |late| {
        statement!(
            " A thread that sleeps for 1 ms by a timerfd, without timer slack, wakes {late} late.",
            late = late.named("a timer's sleeper, late by")
        )
    })
}

/// The possible causes on this machine.
fn causes(machine: &Machine) -> Statement {
    let settings: Vec<&str> = machine.kernel.command_line.value().map_or(vec![], |line| {
        let tells = |word: &&str| IDLE_SETTINGS.iter().any(|setting| word.starts_with(setting));
        line.split_whitespace().filter(tells).collect()
    });
    let set = match settings.as_slice() {
        [] => String::new(),
        some => format!(" The kernel was started with {}.", some.join(" ")),
    };
    if machine.is_virtual() {
        return statement!(
            " This machine is virtual: an idle CPU halts, which leaves the guest, and the interrupt that \
             wakes it passes through the hypervisor.{set}"
        );
    }
    let states = machine.conditions.idle_states.value().into_iter().flatten();
    let deepest = states.filter(|state| !state.disabled).max_by_key(|state| state.exit_latency_us);
    let idle = deepest.and_then(|state| {
        let latency = state.exit_latency_us?;
        Some(format!(" The deepest idle state, {}, has a declared exit latency of {latency} µs.", state.name))
    });
    statement!("{idle}{set}", idle = idle.unwrap_or_default())
}

/// Settings of the kernel's command line that say how an idle CPU waits (Documentation/admin-guide/kernel-parameters.txt and
/// virt/guest-halt-polling.rst of Linux).
const IDLE_SETTINGS: [&str; 5] =
    ["idle=", "haltpoll.", "cpuidle_haltpoll.", "intel_idle.max_cstate=", "processor.max_cstate="];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::planted::{self, Plant as _};
    use fathom_core::machine::Fact;
    use fathom_core::statistics::{Estimate, Mode};

    /// A hand-over of 1 µs on one CPU, a wake-up of 28 µs, and a round trip with this number of wake-ups.
    fn conclusion(wake_ups: f64, without: Option<usize>) -> Option<Conclusion> {
        conclusion_of(wake_ups, without, &[])
    }

    /// The same, with these results of points.
    fn conclusion_of(wake_ups: f64, without: Option<usize>, points: &[PointResult]) -> Option<Conclusion> {
        let mut machine = planted::machine();
        machine.virtualization.hypervisor = Fact::known(Some("KVM".to_owned()), "a test");
        machine.kernel.command_line = Fact::known("quiet haltpoll.guest_halt_poll_ns=0".to_owned(), "a test");
        let mut known = Known::new(&machine, None);
        let across = Placement::AcrossCpus;
        let values = [
            (HAND_OVER, 1e3),
            (HAND_OVER.at(across), 29e3),
            (TCP, 5e3),
            (TCP.at(across), 5e3 + wake_ups * 28e3),
            (SOCKET, 3e3),
            (SOCKET.at(across), 3e3 + 14e3),
        ];
        for (index, (place, value)) in values.into_iter().enumerate() {
            if without != Some(index) {
                place.plant(&mut known, value);
            }
        }
        judge(&Premises { known: &known, points })
    }

    #[test]
    fn a_round_trip_of_two_wake_ups_is_explained_by_them() {
        let conclusion = conclusion(2.0, None).expect("a mechanism");
        assert!(
            conclusion
                .headline
                .plain()
                .contains("on an idle CPU costs {28000} more than one on the same CPU, which takes {1000}")
        );
        let because = conclusion.because.plain();
        assert!(
            because.contains(
                "{56000} more across CPUs than on one CPU, the time of {2} wake-ups; the operation has 2"
            ),
            "{because}"
        );
        assert!(
            because.contains(
                "In others a wake-up takes less than in a pipe's hand-over: a round trip of 1 byte by a UNIX socket"
            )
                && because.contains("the time of {0.5} wake-ups"),
            "{because}"
        );
        assert!(
            because.contains(
                "through the hypervisor. The kernel was started with haltpoll.guest_halt_poll_ns=0."
            )
        );
    }

    #[test]
    fn what_has_several_levels_is_no_multiple_of_a_wake_up() {
        let estimate = Estimate {
            value: 17e3,
            interval: None,
            level: 0.95,
            trials: 9,
            observations: 9,
            min: None,
            max: None,
        };
        let said = |centres: &[f64]| {
            let modes = centres.iter().map(|centre| Mode { centre: *centre, share: 0.5 }).collect();
            let point = SOCKET.at(Placement::AcrossCpus).point(&[]);
            let socket =
                PointResult { point, modes, ..planted::result(SOCKET.experiment, estimate.clone(), None) };
            conclusion_of(2.0, None, &[socket]).expect("a mechanism").because.plain()
        };
        assert!(said(&[17e3]).contains("by a UNIX socket"), "of one level");
        let of_levels = said(&[22.7e3, 36.2e3]);
        assert!(!of_levels.contains("UNIX socket") && !of_levels.contains("takes less"), "{of_levels}");
    }

    #[test]
    fn what_is_no_whole_number_of_them_or_not_known_is_not_explained() {
        assert!(conclusion(3.0, None).is_none());
        assert!((0..4).all(|missing| conclusion(2.0, Some(missing)).is_none()));
    }
}
