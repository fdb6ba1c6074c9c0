//! What does it cost two processes to wait for each other, by mechanism?

use super::context_switch::ContextSwitch;
use crate::expected::mode_switch;
use fathom_core::prelude::*;
use fathom_core::sampling::partner::PartnerProcess;
use fathom_core::sampling::turn::{self, Ends};
use fathom_core::sorting;

/// The experiment that measures a hand-over by pipe first.
const SWITCHES: &str = "cpu/context_switch";

const MECHANISM: Parameter = Parameter::named("mechanism", "the mechanism that hands over the turn");

pub struct Synchronisation;

static ABOUT: About = About {
    name: "cpu/synchronisation",
    question: "What does it cost two processes to wait for each other, by mechanism?",
    operation: "one hand-over of the turn; a round trip is two",
    method: "Two processes hand a turn to each other and do nothing else: by a futex, by two POSIX semaphores in \
             shared memory, by three rotating record locks on a file, by two named pipes, by event counters, and by \
             two pipes for comparison. On one CPU every hand-over is also a switch, as the kernel's count shows; \
             across two CPUs it wakes the other side, and is observed once that is steady.",
    caveats: "System V semaphores are not measured: they outlive a killed process, and a measurement must leave \
              nothing behind.",
    version: 4,
    timed: Some(TimedCode { of: "two turns", source: turn::SOURCE, begins: "pub fn rounds<" }),
    parameters: &[MECHANISM],
    trends: &[],
    shown: Shown::by(&[
        MainFigure::of(
            "by pipe, on one CPU",
            &[("mechanism", At::Name("pipe")), ("placement", At::Name("one-cpu"))],
        ),
        MainFigure::of(
            "by futex, across CPUs",
            &[("mechanism", At::Name("futex")), ("placement", At::Name("across-cpus"))],
        ),
    ]),
};

/// The mechanisms, with the number of system calls per hand-over.
const MECHANISMS: [(&str, f64); 6] = [
    ("pipe", 2.0),
    ("named pipe", 2.0),
    ("eventfd", 2.0),
    ("futex", 2.0),
    ("POSIX semaphore", 2.0),
    ("file lock", 2.0),
];

impl Experiment for Synchronisation {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn sweep(&self, _: &Machine) -> Vec<Point> {
        let placed = |placement| MECHANISMS.map(|(name, _)| Point::at(placement).named(&MECHANISM, name));
        [Placement::OneCpu, Placement::AcrossCpus].into_iter().flat_map(placed).collect()
    }

    fn core_share(&self, _: &Point, _: &Machine) -> Option<CoreShare> {
        Some(CoreShare::NEARLY_WHOLE)
    }

    fn requires(&self, point: &Point) -> Vec<Requirement> {
        match point.placement() {
            Placement::AcrossCpus => vec![Requirement::Cpus(2)],
            _ => vec![],
        }
    }

    fn predict(&self, point: &Point, known: &Known) -> Result<Prediction, String> {
        let switch = |mechanism| {
            let twin = Point::at(point.placement());
            twin.named(&Parameter { name: "mechanism", ..MECHANISM }, mechanism)
                .named(&Parameter { name: "between", ..MECHANISM }, "processes")
        };
        // What is published is of one CPU: across two the other one has to be woken.
        if point.placement() != Placement::OneCpu && known.measured(SWITCHES, &switch("pipe")).is_none() {
            return ContextSwitch.predict(&switch("pipe"), known);
        }
        let hand_over = known.measured_or(
            SWITCHES,
            &switch("pipe"),
            1_785.8 / 2.0,
            "half of report 000's round trip through pipes (table 7)",
        );
        Ok(Prediction::new().software(
            "a hand-over by pipe between processes, at the same placement",
            1.0,
            hand_over,
        ))
    }

    fn bound(&self, _: &Point, known: &Known) -> Option<Bound> {
        Some(mode_switch::bound(1.0, "waiting enters", known))
    }

    fn prepare<'site>(&self, point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
        let (near, far) = ends(point.name(&MECHANISM), site)?;
        let other = PartnerProcess::start(site.partner, move || turn::echo(far))?;
        Ok(turn::rounds(near, Some(other)).settling(point.placement() != Placement::OneCpu))
    }

    fn evidence(&self, point: &Point, observed: &Observed) -> Vec<Check> {
        let switches = observed.per_operation(observed.switches());
        // The other side may not yet be asleep when a trial begins, and the timer may preempt once: if hand-overs are slow, a
        // trial has few.
        let few = observed.others_per_operation(1.0);
        match point.placement() {
            Placement::OneCpu => {
                let claim = "this side was switched out once per round trip: switches per hand-over";
                vec![Check::within(claim, switches, 0.485 - few, 0.55 + few)]
            }
            _ => vec![Check::within(
                "this side slept at most once per round trip: switches per hand-over",
                switches,
                0.0,
                0.55 + few,
            )],
        }
    }

    fn findings(&self, known: &Known) -> Vec<Finding> {
        [(Placement::OneCpu, "on one CPU"), (Placement::AcrossCpus, "across CPUs")]
            .into_iter()
            .filter_map(|(placement, place)| extremes(placement, place, known))
            .collect()
    }
}

/// The quickest and the slowest mechanism of a placement; where the placement decides more than the mechanism, they hardly differ.
fn extremes(placement: Placement, place: &str, known: &Known) -> Option<Finding> {
    let of = |(name, _): &(&'static str, f64)| {
        Some((*name, known.found(ABOUT.name, &Point::at(placement).named(&MECHANISM, name))?))
    };
    let (mut all, others) = of_one_state(MECHANISMS.iter().filter_map(of).collect());
    sorting::by_number(&mut all, |(_, time)| time.value);
    let [(first, quickest), .., (last, slowest)] = &all[..] else { return None };
    let crossing = (placement == Placement::AcrossCpus).then(|| crossing(&all, known)).flatten();
    let of_place = |statement: Statement| {
        Finding::of(Question::Experiment, "hand-overs by mechanism", statement)
            .about(place)
            .comparing(all.len())
    };
    if slowest.differs_from(quickest) == Some(false) {
        let begin = if placement == Placement::AcrossCpus { "Across CPUs" } else { "On one CPU" };
        return Some(of_place(statement!(
            "{begin} {number} mechanisms take {quickest} to {slowest} a hand-over, not significantly different.{crossing}{others}",
            number = all.len().to_string(),
            quickest = quickest.named(&format!("least hand-over, {place}")),
            slowest = slowest.named(&format!("greatest hand-over, {place}")),
            crossing
        )));
    }
    let judged = if slowest.is_like(quickest) {
        statement!("what all of them do, waiting and waking, is the cost")
    } else {
        statement!(
            "{ratio}",
            ratio = slowest.times_as("much", *quickest, &format!("slowest over quickest, {place}"))
        )
    };
    Some(of_place(statement!(
        "Of {number} mechanisms {place} the quickest is {first}{as_quick}, {quickest} a hand-over, and the slowest {last}{as_slow}, {slowest}: {judged}.{crossing}{others}",
        number = all.len().to_string(),
        first = *first,
        as_quick = beside(&all[1..], quickest, "slower"),
        quickest = quickest.named(&format!("quickest hand-over, {place}")),
        last = *last,
        as_slow = beside(&all[..all.len() - 1], slowest, "quicker"),
        slowest = slowest.named(&format!("slowest hand-over, {place}")),
        judged,
        crossing
    )))
}

/// The mechanisms of which the intervals do not show that they are slower than the quickest, or quicker than the slowest: ` (futex is not
/// shown to be slower)`; nothing without any.
fn beside(others: &[(&'static str, Found)], end: &Found, than: &str) -> String {
    let is_unshown = |(_, time): &&(&'static str, Found)| time.differs_from(end) != Some(true);
    let names: Vec<&str> = others.iter().filter(is_unshown).map(|(name, _)| *name).collect();
    match names[..] {
        [] => String::new(),
        [name] => format!(" ({name} is not shown to be {than})"),
        _ => format!(" ({} are not shown to be {than})", names.join(", ")),
    }
}

/// What a hand-over across CPUs takes against one on one CPU, by the quickest mechanism of which both are known and of like state.
fn crossing(across: &[(&'static str, Found)], known: &Known) -> Option<Statement> {
    let of_one_state = |one: &Found| !one.is_mixture && one.is_of_one_state();
    let (name, across, one) =
        across.iter().filter(|(_, across)| of_one_state(across)).find_map(|(name, across)| {
            let one = known.found(ABOUT.name, &Point::at(Placement::OneCpu).named(&MECHANISM, name))?;
            let is_alike = of_one_state(&one) && across.is_of_the_state_of(&one);
            let differs = across.differs_from(&one) == Some(true);
            (is_alike && differs).then_some((*name, *across, one))
        })?;
    Some(statement!(
        " By {name} it takes {ratio} times as long across CPUs ({across}) as on one ({one}).",
        ratio = across.over(one).named("hand-over across CPUs over on one CPU"),
        across = across.named("the same hand-over, across CPUs"),
        one = one.named("the same hand-over, on one CPU")
    ))
}

/// Those of the state of the core that most of them are of, and that others are left out, in a sentence.
fn of_one_state(all: Vec<(&'static str, Found)>) -> (Vec<(&'static str, Found)>, String) {
    let alike = |state: Option<CoreUse>| all.iter().filter(|(_, time)| time.core == state).count();
    let most = all.iter().map(|(_, time)| time.core).max_by_key(|state| alike(*state)).flatten();
    let (those, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, time)| time.core == most);
    let names: Vec<&str> = others.iter().map(|(name, _)| *name).collect();
    let left_out = if names.is_empty() {
        String::new()
    } else {
        format!(" Left out, because it is known of another state of the core: {}.", names.join(", "))
    };
    (those, left_out)
}

fn ends(mechanism: &str, site: &Site) -> Result<Ends, Failure> {
    match mechanism {
        "pipe" => turn::pipes(),
        "named pipe" => turn::fifos(&site.own_folder),
        "eventfd" => turn::eventfds(),
        "futex" => turn::futexes(),
        "POSIX semaphore" => turn::posix_semaphores(),
        "file lock" => turn::file_locks(&site.own_folder),
        mechanism => Err(Failure::no_variant(&MECHANISM, mechanism)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mechanisms_are_compared_in_the_state_of_the_core_that_most_are_known_of() {
        let machine = fathom_described::machine();
        let mut known = Known::new(&machine, None);
        for (name, ns, core) in [
            ("pipe", 21e3, CoreUse::Alone),
            ("futex", 22e3, CoreUse::Alone),
            ("eventfd", 25e3, CoreUse::Shared),
            ("POSIX semaphore", 21e3, CoreUse::Alone),
        ] {
            let found = fathom_described::found(ns, Unit::Nanoseconds);
            let point = Point::at(Placement::AcrossCpus).named(&MECHANISM, name);
            known.learn(ABOUT.name, &point, Found { core: Some(core), ..found });
        }
        let text = extremes(Placement::AcrossCpus, "across CPUs", &known).expect("three").statement.plain();
        assert!(text.contains("Of 3 mechanisms") && text.contains("the slowest futex, {22000}"), "{text}");
        assert!(text.contains("another state of the core: eventfd."), "{text}");
    }

    #[test]
    fn what_is_not_shown_to_be_slower_stands_beside_the_quickest() {
        let all = [("eventfd", 3.00e3), ("futex", 3.01e3), ("pipe", 3.6e3), ("file lock", 6e3)];
        let all = all.map(|(name, ns)| (Point::at(Placement::OneCpu).named(&MECHANISM, name), ns));
        let of = |known: &Known| extremes(Placement::OneCpu, "on one CPU", known);
        let text = fathom_described::statements(&Synchronisation, all, of);
        assert!(text.contains("the quickest is eventfd (futex is not shown to be slower), {3000}"), "{text}");
        assert!(text.contains("and the slowest file lock, {6000}"), "{text}");
    }

    #[test]
    fn without_a_difference_no_mechanism_is_the_quickest_and_crossing_is_compared_in_like_states() {
        let machine = fathom_described::machine();
        let text = |state_on_one: CoreUse, share: f64| {
            let mut known = Known::new(&machine, None);
            let mut learn = |placement, name: &str, ns: f64, core: CoreUse| {
                let hand_over = fathom_described::found_within(share, ns, Unit::Nanoseconds);
                let point = Point::at(placement).named(&MECHANISM, name);
                known.learn(ABOUT.name, &point, Found { core: Some(core), ..hand_over });
            };
            learn(Placement::AcrossCpus, "futex", 20e3, CoreUse::Alone);
            learn(Placement::AcrossCpus, "file lock", 21e3, CoreUse::Alone);
            learn(Placement::OneCpu, "futex", 2e3, state_on_one);
            extremes(Placement::AcrossCpus, "across CPUs", &known).expect("two").statement.plain()
        };
        let none =
            "Across CPUs 2 mechanisms take {20000} to {21000} a hand-over, not significantly different.";
        let crossing = " By futex it takes {10} times as long across CPUs ({20000}) as on one ({2000}).";
        assert_eq!(text(CoreUse::Alone, 0.1), format!("{none}{crossing}"));
        assert_eq!(text(CoreUse::Shared, 0.1), none);
        let apart = text(CoreUse::Alone, 0.001);
        assert!(apart.contains("the quickest is futex") && apart.ends_with(crossing), "{apart}");
    }

    #[test]
    fn without_a_pipe_s_hand_over_of_this_run_one_across_cpus_is_predicted_with_a_wake_up() {
        let machine = fathom_described::machine();
        let known = Known::new(&machine, None);
        let predicted = |placement| {
            let point = Point::at(placement).named(&MECHANISM, "futex");
            Synchronisation.predict(&point, &known).expect("a prediction").total()
        };
        let [one, across] = [Placement::OneCpu, Placement::AcrossCpus].map(predicted);
        assert!(across > 2.0 * one, "{across} ns across CPUs, {one} on one");
    }

    #[test]
    fn every_mechanism_hands_the_turn_over_as_often_as_asked() {
        let folder = tempfile::tempdir().unwrap();
        let made = [
            turn::pipes(),
            turn::fifos(folder.path()),
            turn::eventfds(),
            turn::futexes(),
            turn::posix_semaphores(),
        ];
        for ends in made.into_iter().chain([turn::file_locks(folder.path())]) {
            let (mut near, mut far) = ends.unwrap();
            let echo =
                std::thread::spawn(move || (0..100).try_for_each(|_| far.wait().and_then(|()| far.give())));
            (0..100).try_for_each(|_| near.give().and_then(|()| near.wait())).unwrap();
            echo.join().unwrap().unwrap();
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "a name was left behind");
    }
}
