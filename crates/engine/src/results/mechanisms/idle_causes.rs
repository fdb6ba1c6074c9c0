//! What may make the wake-up of a CPU longer the longer it was idle, as far as a machine tells: idle states, the polling of a guest, its host.

use fathom_core::experiment::At::{Name, Number};
use fathom_core::experiment::{Found, Known, Placement, Selector, Statement, statement};
use fathom_core::machine::{IdleState, Machine};
use fathom_core::sorting;

/// A timer that wakes a thread on an idle CPU after [`IDLE_NS`] or more, by another experiment.
pub(super) const IDLE: Selector = Selector::only(
    "cpu/scheduling_latency",
    &[
        ("wake", Name("timer")),
        ("busy", Number(0)),
        ("policy", Name("none")),
        ("quota_use", Number(0)),
        ("figure", Name("lateness")),
    ],
)
.at(Placement::Spread);
const IDLE_NS: u64 = 250_000;

/// What another experiment has against a growth of a timer's lateness with the idle time: its timer wakes a CPU that was idle for longer than
/// the shortest time, and is sooner than `what` after that; `None` if this is not certain.
pub(super) fn sooner_after_more(what: &str, shortest: (u64, Found), known: &Known) -> Option<Statement> {
    let (least, late) = shortest;
    let other = IDLE.found(known).filter(|other| !other.is_mixture && !late.is_mixture)?;
    let is_sooner = other.value < late.value && other.differs_from(&late) == Some(true);
    (least < IDLE_NS && is_sooner).then(|| {
        statement!(
            "Against it is cpu/scheduling_latency, whose timer wakes a CPU that was idle for 0.25 to 0.75 ms and is {other} late, less than \
             {what} after the shorter time: why, the run does not say. ",
            other = Found { core: None, ..other }.named("a timer's wake-up of an idle CPU"),
            what
        )
    })
}

/// What may be behind it, and what would tell the causes apart.
pub(super) fn causes(machine: &Machine) -> Statement {
    let kernel = of_the_kernel(machine);
    if !machine.is_virtual() {
        return kernel.unwrap_or_default();
    }
    let is_kvm = machine.virtualization.hypervisor.value().and_then(Option::as_deref) == Some("KVM");
    let polled = if is_kvm {
        " (KVM waits for up to 200 µs by default: the Linux kernel's documentation, halt polling)"
    } else {
        ""
    };
    let host = statement!(
        "This machine is virtual: an idle CPU halts, and after a while its host gives the core away{polled} or lets it sleep more deeply. The \
         same run on the host, or with a host that waits longer, would tell these apart; this run does not."
    );
    match kernel {
        Some(kernel) => statement!("{kernel} {host}", kernel, host),
        None => host,
    }
}

/// The idle states from which the kernel chooses, the deeper the longer it expects to be idle.
fn of_the_kernel(machine: &Machine) -> Option<Statement> {
    if machine.conditions.idle_governor.value().is_some_and(|governor| governor == "haltpoll") {
        return Some(of_halt_polling(machine).into());
    }
    let states = &machine.conditions.idle_states;
    let Some(states) = states.value() else {
        // Of a virtual machine there is nothing more to say: its host chooses.
        return (!machine.is_virtual()).then(|| {
            statement!(
                "The idle states of its CPUs are unknown: {why}.",
                why = states.reason().unwrap_or("no reason")
            )
        });
    };
    let mut allowed: Vec<(u64, &IdleState)> = states
        .iter()
        .filter(|state| !state.disabled)
        .filter_map(|state| Some((state.exit_latency_us?, state)))
        .collect();
    sorting::by_key(&mut allowed, |(latency, _)| *latency);
    let ((least, shallow), (most, deep)) = allowed.first().copied().zip(allowed.last().copied())?;
    if least == most {
        return Some("The kernel has no deeper idle state to choose.".into());
    }
    let (shallow, deep) = (
        format!("{} ({least} µs to leave it, as declared)", shallow.name),
        format!("{} ({most} µs)", deep.name),
    );
    Some(statement!(
        "The kernel chooses among idle states from {shallow} to {deep}, the deeper the longer it expects to idle; a run with the deeper ones \
         switched off would tell whether they are the cause."
    ))
}

/// What the governor haltpoll does, which expects no length of idle time (drivers/cpuidle/governors/haltpoll.c of Linux): it polls up to a
/// limit, and halts then; with a limit of 0 it always halts, and the limit does not grow.
fn of_halt_polling(machine: &Machine) -> &'static str {
    let line = machine.kernel.command_line.value();
    let is_off = line.is_some_and(|line| line.split_whitespace().any(|word| word == NO_POLLING));
    if is_off {
        "The kernel has no choice of idle states: its governor, haltpoll, was started with a limit of 0 for polling \
         (haltpoll.guest_halt_poll_ns=0), with which an idle CPU always halts."
    } else {
        "The kernel's governor, haltpoll, lets an idle CPU poll up to a limit and halt then; a run with a limit of 0 \
         (haltpoll.guest_halt_poll_ns) would tell whether the polling is the cause."
    }
}

const NO_POLLING: &str = "haltpoll.guest_halt_poll_ns=0";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::planted::{self, Plant as _};
    use fathom_core::experiment::Dimension;
    use fathom_core::machine::Fact;
    use fathom_core::quantity::Unit;

    #[test]
    fn the_possible_causes_are_those_of_the_machine() {
        let mut machine = planted::machine();
        machine.virtualization.hypervisor = Fact::known(None, "a test");
        let state = |name: &str, latency: u64, disabled| IdleState {
            name: name.to_owned(),
            exit_latency_us: Some(latency),
            disabled,
        };
        let mut said = |states: Vec<IdleState>| {
            machine.conditions.idle_states = Fact::known(states, "a test");
            causes(&machine).plain()
        };
        let deep = said(vec![state("POLL", 0, false), state("C1", 2, false), state("C6", 133, false)]);
        assert!(deep.starts_with("The kernel chooses among idle states from POLL (0 µs to leave it, as declared) to C6 (133 µs)"), "{deep}");
        let one = said(vec![state("C1", 2, false), state("C6", 133, true)]);
        assert_eq!(one, "The kernel has no deeper idle state to choose.");
        machine.conditions.idle_states = Fact::unknown("no driver", "a test");
        assert_eq!(causes(&machine).plain(), "The idle states of its CPUs are unknown: no driver.");
        machine.virtualization.hypervisor = Fact::known(Some("KVM".to_owned()), "a test");
        let guest = causes(&machine).plain();
        assert!(guest.starts_with("This machine is virtual") && guest.contains("halt polling"), "{guest}");
    }

    #[test]
    fn a_governor_that_always_halts_chooses_no_state() {
        let mut machine = planted::machine();
        machine.virtualization.hypervisor = Fact::known(Some("KVM".to_owned()), "a test");
        let state = |name: &str, latency: u64| IdleState {
            name: name.to_owned(),
            exit_latency_us: Some(latency),
            disabled: false,
        };
        machine.conditions.idle_states =
            Fact::known(vec![state("POLL", 0), state("haltpoll idle", 1)], "a test");
        let mut said = |governor: &str, line: &str| {
            machine.conditions.idle_governor = Fact::known(governor.to_owned(), "a test");
            machine.kernel.command_line = Fact::known(line.to_owned(), "a test");
            causes(&machine).plain()
        };
        let halts = said("haltpoll", "quiet haltpoll.guest_halt_poll_ns=0 (and 3 others)");
        assert!(halts.contains("always halts") && !halts.contains("the deeper the longer"), "{halts}");
        let polls = said("haltpoll", "quiet");
        assert!(polls.contains("poll up to a limit") && !polls.contains("the deeper the longer"), "{polls}");
        assert!(said("menu", "quiet").contains("the deeper the longer"));
    }

    #[test]
    fn a_timer_that_is_sooner_after_longer_idling_is_against_a_growth() {
        let machine = planted::machine();
        let late = |ns| fathom_described::found_within(0.02, ns, Dimension::Of(Unit::Nanoseconds));
        let said = |least: u64, other: f64| {
            let mut known = Known::new(&machine, None);
            known.learn(IDLE.experiment, &IDLE.point(&[]), late(other));
            sooner_after_more("a timerfd", (least, late(24.5e3)), &known).map(|text| text.plain())
        };
        let text = said(100_000, 20.3e3).expect("it is sooner");
        assert!(text.contains("0.25 to 0.75 ms and is {20300} late, less than a timerfd after"), "{text}");
        assert_eq!([said(100_000, 24.4e3), said(1_000_000, 20.3e3)], [None, None]);
    }
}
