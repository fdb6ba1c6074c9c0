//! The longer a CPU was idle, the longer its wake-up takes: one cause behind the times of everything that sleeps for long.

use super::{Conclusion, Premises, Rule};
use crate::results::PointResult;
use fathom_core::experiment::At::{Any, Name, Number};
use fathom_core::experiment::{CoreUse, Dimension, Found, Placement, Point, Selector, Statement, statement};
use fathom_core::machine::{IdleState, Machine};
use fathom_core::quantity::Unit;
use fathom_core::sorting;

pub(super) const RULE: Rule = Rule {
    name: "idle_time",
    condition: "what wakes an idle CPU takes longer after its longest idle time than after its shortest: the intervals are apart, and also \
                from that of the shorter with the core shared where it was seen so",
    judge,
    points: &[NANOSLEEP, TIMERFD, FUTEX],
};

/// A sleep of several lengths, by a timer without slack.
const NANOSLEEP: Selector = Selector::only(
    "cpu/wake_up",
    &[("timer", Name("clock_nanosleep")), ("slack", Number(1)), ("sleep", Any)],
);
const TIMERFD: Selector =
    Selector::only("cpu/wake_up", &[("timer", Name("timerfd")), ("slack", Number(1)), ("sleep", Any)]);
/// A waiter that a futex wakes, by the length of its wait.
const FUTEX: Selector = Selector::only(
    "cpu/spin_or_sleep",
    &[("figure", Name("latency")), ("way", Name("futex")), ("length", Any)],
)
.at(Placement::AcrossCpus);

/// Operations that wake a CPU, with the parameter that says how long it was idle.
const OPERATIONS: [(&str, Selector, &str); 3] = [
    ("a clock_nanosleep", NANOSLEEP, "sleep"),
    ("the end of a timerfd's wait", TIMERFD, "sleep"),
    ("a waiter that a futex wakes", FUTEX, "length"),
];

/// An operation after its shortest and after its longest idle time.
struct BothEnds {
    what: &'static str,
    shortest: (u64, Found),
    longest: (u64, Found),
    /// Whether it takes longer after the longest for certain; `None` of two states of the core that show neither.
    grows: Option<bool>,
}

fn judge(premises: &Premises) -> Option<Conclusion> {
    let measured: Vec<BothEnds> =
        OPERATIONS.into_iter().filter_map(|of| BothEnds::of(of, premises)).collect();
    let of = |grows: Option<bool>| measured.iter().filter(move |ends| ends.grows == grows);
    let mut growing: Vec<&BothEnds> = of(Some(true)).collect();
    sorting::by_number(&mut growing, |ends| -ends.growth().value);
    let first = growing.first()?;
    // What one of several shows is said of that one.
    let claim = match (growing.len(), measured.len()) {
        (1, _) => format!("The longer a CPU was idle, the later is {}", first.what),
        (all, of) if all == of => "The longer a CPU was idle, the longer its wake-up takes".to_owned(),
        (some, of) => {
            format!(
                "The longer a CPU was idle, the longer its wake-up takes, by {some} of {of} that were measured"
            )
        }
    };
    let who = if growing.len() == 1 { "it" } else { first.what };
    let headline = statement!("{claim}: {most}.", claim, most = first.statement(who));
    let more = Statement::joined(growing[1..].iter().map(|ends| ends.statement(ends.what)), "; ");
    let more = more.map(|more| statement!("So it is with others: {more}. ", more));
    let others = Statement::joined(of(Some(false)).map(|ends| ends.statement(ends.what)), "; ");
    let others = others.map(|others| statement!("It is not shown by all: {others}. ", others));
    let unlike: Vec<&str> = of(None).map(|ends| ends.what).collect();
    let unlike = (!unlike.is_empty()).then(|| {
        let unlike = unlike.join(", ");
        format!("Not compared, because nothing shows that the core was in one state at both ends: {unlike}. ")
    });
    let why = causes(premises.known.machine);
    Some(Conclusion::of(
        headline,
        statement!("{more}{others}{unlike}{why}", more, others, unlike = unlike.unwrap_or_default(), why),
    ))
}

impl BothEnds {
    fn of((what, points, along): (&'static str, Selector, &str), premises: &Premises) -> Option<Self> {
        let mut all = points.all(premises.known);
        sorting::by_key(&mut all, |(point, _)| point.number_of(along));
        let ((shorter, before), (longer, after)) = (*all.first()?, *all.last()?);
        let (least, most) = (shorter.number_of(along)?, longer.number_of(along)?);
        let is_later =
            |before: &Found| after.value > before.value && after.differs_from(before) == Some(true);
        let shorter = (points.experiment, shorter);
        let with_a_neighbour = beside_a_neighbour(premises, shorter, before, after);
        let is_shown = is_later(&before) && with_a_neighbour.is_some_and(|before| is_later(&before));
        // What a neighbour adds at one end of two can hide growth as well as look like it.
        let grows = (is_shown || before.core == after.core).then_some(is_shown);
        (least < most).then_some(BothEnds { what, shortest: (least, before), longest: (most, after), grows })
    }

    fn growth(&self) -> Found {
        self.longest.1.minus(self.shortest.1)
    }

    /// Both ends, of what is called `who` in the sentence.
    fn statement(&self, who: &str) -> Statement {
        let BothEnds { what, shortest: (least, before), longest: (most, after), .. } = *self;
        let idle = |ns: u64, which: &str| {
            Found::exact(ns as f64, Dimension::Of(Unit::Nanoseconds))
                .named(&format!("{what}, {which} idle time"))
        };
        // Each is of its own state of the core, which is named: whether the growth is a neighbour's was judged.
        let late = |of: Found, which: &str| {
            let state = match of.core {
                Some(CoreUse::Shared) => " (core shared)",
                Some(CoreUse::Mixture | CoreUse::Both) => " (core shared part of the time)",
                Some(CoreUse::Alone) | None => "",
            };
            let late = Found { core: None, ..of }.named(&format!("{what}, late after the {which}"));
            statement!("{late}{state}", late, state)
        };
        statement!(
            "{who} is {before} late after {least} of idling and {after} after {most}{growth}",
            before = late(before, "shortest"),
            least = idle(least, "shortest"),
            after = late(after, "longest"),
            most = idle(most, "longest"),
            growth = (self.grows == Some(true) && !self.growth().is_mixture).then(|| {
                let growth = Found { core: None, ..self.growth() };
                statement!(", {growth} more", growth = growth.named(&format!("{what}, growth")))
            })
        )
    }
}

/// What the shorter takes at most, so that what the longer takes beyond it is not a neighbour's on the core: itself if both are of one state
/// of the core or it has more of the neighbour, else its value with the core shared. `None` if it was not seen so in a run that has seen
/// others so.
fn beside_a_neighbour(
    premises: &Premises,
    (experiment, shorter): (&str, &Point),
    before: Found,
    after: Found,
) -> Option<Found> {
    let has_more = before.core == Some(CoreUse::Shared) || after.core == Some(CoreUse::Alone);
    if before.core == after.core || has_more {
        return Some(before);
    }
    let is_it = |point: &&PointResult| point.experiment == experiment && point.point == *shorter;
    let of_shorter = premises.points.iter().find(is_it);
    let shared = of_shorter.and_then(|point| Some(Found::of(point.shared()?, point.unit)));
    let is_seen = |point: &PointResult| point.core.as_ref().is_some_and(|core| core.shared.is_some());
    shared.or_else(|| (!premises.points.iter().any(is_seen)).then_some(before))
}

/// What may be behind it, and what would tell the causes apart.
fn causes(machine: &Machine) -> Statement {
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
    use crate::results::{CoreState, PointCore};
    use fathom_core::experiment::Known;
    use fathom_core::machine::Fact;
    use fathom_core::statistics;

    /// The conclusion from a futex, a `clock_nanosleep` and a timerfd, each after its shortest and its longest idle time.
    fn conclusion(machine: &Machine, latencies: [[f64; 2]; 3]) -> Option<Conclusion> {
        let mut known = Known::new(machine, None);
        let lengths = [[10_000_u64, 1_000_000], [100_000, 1_000_000], [100_000, 1_000_000]];
        let of = [(FUTEX, "length"), (NANOSLEEP, "sleep"), (TIMERFD, "sleep")];
        for (((points, along), lengths), latencies) in of.into_iter().zip(lengths).zip(latencies) {
            for (length, latency) in lengths.into_iter().zip(latencies) {
                points.plant_at(&mut known, &[(along, length.into())], latency);
            }
        }
        judge(&Premises { known: &known, points: &[] })
    }

    #[test]
    fn what_grows_is_told_with_both_ends_and_what_does_not_beside_it() {
        let machine = planted::machine();
        let grown = conclusion(&machine, [[7e3, 32e3], [9e3, 33e3], [9e3, 9.05e3]]).expect("a mechanism");
        assert_eq!(
            grown.headline.plain(),
            "The longer a CPU was idle, the longer its wake-up takes, by 2 of 3 that were measured: a waiter that a futex wakes is \
             {7000} late after {10000} of idling and {32000} after {1000000}, {25000} more."
        );
        let because = grown.because.plain();
        assert!(
            because.starts_with(
                "So it is with others: a clock_nanosleep is {9000} late after {100000} of idling and {33000} after {1000000}, {24000} more. \
                 It is not shown by all: the end of a timerfd's wait is {9000} late after {100000} of idling and {9050} after {1000000}. "
            ),
            "{because}"
        );
        assert!(conclusion(&machine, [[7e3, 7e3], [9e3, 8e3], [9e3, 9.05e3]]).is_none());
        let all = conclusion(&machine, [[7e3, 32e3], [9e3, 33e3], [9e3, 30e3]]).expect("a mechanism");
        assert!(
            all.headline
                .plain()
                .starts_with("The longer a CPU was idle, the longer its wake-up takes: a waiter")
        );
    }

    #[test]
    fn what_one_of_several_shows_is_said_of_it_alone() {
        let machine = planted::machine();
        let one = conclusion(&machine, [[7e3, 32e3], [9e3, 9.05e3], [9e3, 9.05e3]]).expect("a mechanism");
        assert_eq!(
            one.headline.plain(),
            "The longer a CPU was idle, the later is a waiter that a futex wakes: it is {7000} late after {10000} of idling and {32000} after \
             {1000000}, {25000} more."
        );
    }

    #[test]
    fn ends_of_unlike_states_of_the_core_are_not_evidence_against_it() {
        let machine = planted::machine();
        let mut known = Known::new(&machine, None);
        FUTEX.plant_at(&mut known, &[("length", 10_000.into())], 7e3);
        FUTEX.plant_at(&mut known, &[("length", 1_000_000.into())], 32e3);
        let mut plant = |sleep: u64, ns: f64, core| {
            let late = fathom_described::found(ns, Dimension::Of(Unit::Nanoseconds));
            let point = TIMERFD.point(&[("sleep", sleep.into())]);
            known.learn(TIMERFD.experiment, &point, Found { core: Some(core), ..late });
        };
        plant(100_000, 25e3, CoreUse::Shared);
        plant(1_000_000, 24e3, CoreUse::Mixture);
        let because = judge(&Premises { known: &known, points: &[] }).expect("a mechanism").because.plain();
        assert!(
            because.contains("in one state at both ends: the end of a timerfd's wait. ")
                && !because.contains("not shown by all"),
            "{because}"
        );
    }

    #[test]
    fn a_time_of_two_states_has_no_growth() {
        let late = |ns: f64| fathom_described::found(ns, Dimension::Of(Unit::Nanoseconds));
        let said = |is_mixture| {
            let longest = (1_000_000, Found { is_mixture, ..late(33e3) });
            BothEnds { what: "it", shortest: (100_000, late(9e3)), longest, grows: Some(true) }
                .statement("it")
                .plain()
        };
        assert!(said(false).ends_with("and {33000} after {1000000}, {24000} more"), "{}", said(false));
        assert!(said(true).ends_with("and {33000} after {1000000}"), "{}", said(true));
    }

    #[test]
    fn growth_that_may_be_a_neighbours_is_none() {
        let machine = planted::machine();
        let known = Known::new(&machine, None);
        let point = NANOSLEEP.point(&[("sleep", 100_000.into())]);
        let ns = |core| Found { core, ..fathom_described::found(9e3, Dimension::Of(Unit::Nanoseconds)) };
        let beside = |seen: Option<&Point>, before, after| {
            let estimate = statistics::estimate(&[[12e3, 12e3]; 6]).expect("an estimate");
            let (alone, shared) = (Some(9e3), Some(estimate.clone()));
            let core = PointCore { alone, shared, ..planted::core(CoreState::Alone) };
            let result = |point: &Point| PointResult {
                point: point.clone(),
                core: Some(core.clone()),
                ..planted::result(NANOSLEEP.experiment, estimate.clone(), None)
            };
            let points: Vec<PointResult> = seen.into_iter().map(result).collect();
            let premises = Premises { known: &known, points: &points };
            let most = beside_a_neighbour(&premises, (NANOSLEEP.experiment, &point), ns(before), ns(after));
            most.map(|most| most.value.round())
        };
        let (alone, shared) = (Some(CoreUse::Alone), Some(CoreUse::Shared));
        let other = Point::new();
        assert_eq!(beside(Some(&point), alone, alone), Some(9e3));
        assert_eq!(beside(Some(&point), shared, None), Some(9e3), "it has the neighbour already");
        assert_eq!(beside(Some(&point), alone, None), Some(12e3));
        assert_eq!(beside(Some(&other), alone, None), None, "it was not seen so, and others were");
        assert_eq!(beside(None, alone, None), Some(9e3), "nothing was seen so");
    }

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
}
