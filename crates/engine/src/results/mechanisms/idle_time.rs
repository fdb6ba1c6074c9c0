//! After its longest idle time a CPU's wake-up takes longer than after its shortest: one cause behind the times of everything that sleeps for long.

use super::idle_causes::{IDLE, causes, sooner_after_more};
use super::{Conclusion, MechanismKind, Premises, Rule};
use crate::results::PointResult;
use crate::results::accuracy::FAIR;
use crate::results::point_states::LEAST_SHARED;
use fathom_core::experiment::At::{Any, Name, Number};
use fathom_core::experiment::{CoreUse, Dimension, Found, Placement, Point, Selector, Statement, statement};
use fathom_core::quantity::Unit;
use fathom_core::sorting;

pub(super) const RULE: Rule = Rule {
    name: "idle_time",
    condition: "what wakes an idle CPU takes longer after its longest idle time than after its shortest: the intervals are apart, and, where the \
                core was shared for more of the time after the longest (by 5 % of it or more), also from that of the shorter with the core \
                shared; a cause if the core was shared as much at both, the growth is known within a factor of 2, and no timer of another experiment \
                is sooner after more",
    judge,
    points: &[NANOSLEEP, TIMERFD, FUTEX, IDLE],
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

/// Of a growth whose interval reaches over a factor of ten not even the first digit is known: it is told by what it is at least.
const OPEN: f64 = 10.0;

/// What both ends show: of the times between them, and beyond, they say nothing.
const LATER: &str = "After its longest idle time a CPU's wake-up takes longer than after its shortest";

/// An operation after its shortest and after its longest idle time.
struct BothEnds {
    what: &'static str,
    shortest: (u64, Found),
    longest: (u64, Found),
    /// The share of the time in which the core was shared at both; `None` of what is not known.
    shared: [Option<f64>; 2],
    /// Whether it takes longer after the longest for certain; `None` of two states of the core that show neither.
    grows: Option<bool>,
}

fn judge(premises: &Premises) -> Option<Conclusion> {
    let measured: Vec<BothEnds> =
        OPERATIONS.into_iter().filter_map(|of| BothEnds::of(of, premises)).collect();
    let of = |grows: Option<bool>| measured.iter().filter(move |ends| ends.grows == grows);
    let mut growing: Vec<&BothEnds> = of(Some(true)).collect();
    sorting::by_number(&mut growing, |ends| -ends.growth().value);
    sorting::by_key(&mut growing, |ends| !ends.is_well_known());
    let first = growing.first()?;
    // What one of several shows is said of that one.
    let claim = match (growing.len(), measured.len()) {
        (1, _) if first.is_poorly_known() => {
            format!(
                "In this run {} was later after a longer idle time, by how much is poorly known",
                first.what
            )
        }
        (1, _) => format!("After its longest idle time {} is later than after its shortest", first.what),
        (all, of) if all == of => LATER.to_owned(),
        (some, of) => format!("{LATER}, by {some} of {of} that were measured"),
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
        format!("Of other wake-ups nothing is said, because nothing shows that the core was in one state at both ends ({unlike}). ")
    });
    let against = growing
        .iter()
        .filter(|ends| ends.what != OPERATIONS[2].0)
        .find_map(|ends| sooner_after_more(ends.what, ends.shortest, premises.known));
    let is_known = first.is_well_known() && against.is_none();
    let why = causes(premises.known.machine);
    let because = statement!(
        "{more}{others}{unlike}{against}{why}",
        more,
        others,
        unlike = unlike.unwrap_or_default(),
        against,
        why
    );
    let kind = if is_known { MechanismKind::Effect } else { MechanismKind::Uncaused };
    Some(Conclusion { kind, ..Conclusion::of(headline, because) })
}

impl BothEnds {
    fn of((what, points, along): (&'static str, Selector, &str), premises: &Premises) -> Option<Self> {
        let mut all = points.all(premises.known);
        sorting::by_key(&mut all, |(point, _)| point.number_of(along));
        let ((shorter, before), (longer, after)) = (*all.first()?, *all.last()?);
        let (least, most) = (shorter.number_of(along)?, longer.number_of(along)?);
        let at_each = after.in_each_state();
        let is_later = |before: &Found| {
            let is_later =
                |after: &Found| after.value > before.value && after.differs_from(before) == Some(true);
            at_each.iter().all(is_later)
        };
        let (shorter, longer) = ((points.experiment, shorter), (points.experiment, longer));
        let shared = [share(premises, shorter, before.core), share(premises, longer, after.core)];
        let ends = BothEnds { what, shortest: (least, before), longest: (most, after), shared, grows: None };
        let with_a_neighbour = ends.beside_a_neighbour(premises, shorter);
        let is_shown = is_later(&before) && with_a_neighbour.is_some_and(|before| is_later(&before));
        // What a neighbour adds at one end of two can hide growth as well as look like it.
        let grows = (is_shown || ends.is_like_with_like()).then_some(is_shown);
        (least < most).then_some(BothEnds { grows, ..ends })
    }

    fn growth(&self) -> Found {
        let growth = self.longest.1.minus(self.shortest.1);
        Found { core: None, ..growth }
    }

    /// Whether the core was shared for as much of the time at both ends.
    fn is_like_with_like(&self) -> bool {
        match self.shared {
            [Some(before), Some(after)] => (after - before).abs() < LEAST_SHARED,
            [None, None] => self.shortest.1.core == self.longest.1.core,
            _ => false,
        }
    }

    /// How much it grows; `None` where that is of no one state of the machine, or in part a neighbour's.
    fn known_growth(&self) -> Option<Found> {
        let growth = self.growth();
        (self.grows == Some(true) && self.is_like_with_like() && !growth.is_mixture).then_some(growth)
    }

    /// Whether the growth is known within a factor of [`FAIR`], as the number of wake-ups in an operation has to be: of one whose interval
    /// begins near zero little is known but that it is there.
    fn is_well_known(&self) -> bool {
        let is_within = |growth: &Found| {
            growth.ends().is_none_or(|(low, high)| FAIR * low >= growth.value && high <= FAIR * growth.value)
        };
        self.known_growth().as_ref().is_some_and(is_within)
    }

    /// Whether it grows for certain, by something between a little and a lot: that is what one run found, and no law.
    fn is_poorly_known(&self) -> bool {
        self.known_growth().is_some() && !self.is_well_known()
    }

    /// What the shorter takes at most, so that what the longer takes beyond it is not a neighbour's on the core: itself if the longer has no
    /// more of it, else its value with the core shared. `None` if it was not seen so in a run that has seen others so.
    fn beside_a_neighbour(&self, premises: &Premises, shorter: (&str, &Point)) -> Option<Found> {
        let (before, after) = (self.shortest.1, self.longest.1);
        let has_more = match self.shared {
            [Some(before), Some(after)] => before > after,
            _ => before.core == Some(CoreUse::Shared) || after.core == Some(CoreUse::Alone),
        };
        if self.is_like_with_like() || has_more {
            return Some(before);
        }
        let of_shorter = result(premises, shorter);
        let shared = of_shorter.and_then(|point| Some(Found::of(point.shared()?, point.unit)));
        let is_short = before.core.is_some();
        let is_seen = |point: &PointResult| point.core.as_ref().is_some_and(|core| core.shared.is_some());
        shared.or_else(|| (is_short && !premises.results().any(is_seen)).then_some(before))
    }

    /// Both ends, of what is called `who` in the sentence.
    fn statement(&self, who: &str) -> Statement {
        let BothEnds { what, shortest: (least, before), longest: (most, after), .. } = *self;
        let idle = |ns: u64, which: &str| {
            Found::exact(ns as f64, Dimension::Of(Unit::Nanoseconds))
                .named(&format!("{what}, {which} idle time"))
        };
        // Each is of its own state of the core, which is named: whether the growth is a neighbour's was judged.
        let is_like = self.is_like_with_like();
        let late = |of: Found, share: Option<f64>, which: &str| {
            let state = match (of.core, share.filter(|share| !is_like && *share >= LEAST_SHARED)) {
                (Some(CoreUse::Shared), _) => " (core shared)".into(),
                (Some(CoreUse::Mixture | CoreUse::Both), _) => " (core shared part of the time)".into(),
                (Some(CoreUse::Alone), _) | (None, None) => Statement::default(),
                (None, Some(share)) => statement!(
                    " (core shared {share} of the time)",
                    share = Found::bare(share, Dimension::Share)
                        .named(&format!("{what}, {which}: share of the time, core shared"))
                ),
            };
            let late = Found { core: None, ..of }.named(&format!("{what}, late after the {which}"));
            statement!("{late}{state}", late, state)
        };
        statement!(
            "{who} is {before} late after {least} of idling and {after} after {most}{growth}",
            before = late(before, self.shared[0], "shortest"),
            least = idle(least, "shortest"),
            after = late(after, self.shared[1], "longest"),
            most = idle(most, "longest"),
            growth = self.known_growth().map(|growth| {
                let is_open = growth.ends().is_some_and(|(low, high)| high >= OPEN * low);
                let growth = if is_open { growth.lower_bound() } else { growth };
                let least = if is_open { "at least " } else { "" };
                statement!(", {least}{growth} more", growth = growth.named(&format!("{what}, growth")))
            })
        )
    }
}

/// The result of a point.
fn result<'run>(premises: &Premises<'run>, (experiment, point): (&str, &Point)) -> Option<&'run PointResult> {
    premises.results().find(|result| result.experiment == experiment && result.point == *point)
}

/// The share of the time in which the core was shared while a point was measured; `None` of a mixture, and where it was not seen.
fn share(premises: &Premises, point: (&str, &Point), core: Option<CoreUse>) -> Option<f64> {
    match core {
        Some(CoreUse::Alone) => Some(0.0),
        Some(CoreUse::Shared) => Some(1.0),
        Some(CoreUse::Mixture | CoreUse::Both) => None,
        None => result(premises, point)?.core.as_ref()?.shared_share,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::planted::{self, Plant as _};
    use crate::results::{CoreState, PointCore};
    use fathom_core::experiment::Known;
    use fathom_core::machine::Machine;
    use fathom_core::statistics::{self, Interval, Measured};

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
            "After its longest idle time a CPU's wake-up takes longer than after its shortest, by 2 of 3 that were measured: a waiter that a futex wakes is \
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
        assert!(all.headline.plain().starts_with(
            "After its longest idle time a CPU's wake-up takes longer than after its shortest: a waiter"
        ));
    }

    #[test]
    fn a_growth_that_another_timer_denies_is_no_cause() {
        let machine = planted::machine();
        let kind = |other: f64| {
            let mut known = Known::new(&machine, None);
            TIMERFD.plant_at(&mut known, &[("sleep", 100_000.into())], 24.5e3);
            TIMERFD.plant_at(&mut known, &[("sleep", 1_000_000.into())], 40e3);
            IDLE.plant(&mut known, other);
            judge(&Premises { known: &known, points: &[] }).map(|conclusion| conclusion.kind)
        };
        assert_eq!([kind(20e3), kind(30e3)], [MechanismKind::Uncaused, MechanismKind::Effect].map(Some));
    }

    #[test]
    fn what_one_of_several_shows_is_said_of_it_alone() {
        let machine = planted::machine();
        let one = conclusion(&machine, [[7e3, 32e3], [9e3, 9.05e3], [9e3, 9.05e3]]).expect("a mechanism");
        assert_eq!(
            one.headline.plain(),
            "After its longest idle time a waiter that a futex wakes is later than after its shortest: it is {7000} late after {10000} of idling and {32000} after \
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
            because.contains("in one state at both ends (the end of a timerfd's wait). ")
                && !because.contains("not shown by all"),
            "{because}"
        );
    }

    /// The conclusion from a futex alone, late by so much with the core shared for such a share of the time at each end.
    fn of_a_waiter(late: &[Found; 2], shares: [f64; 2]) -> Option<Conclusion> {
        let machine = planted::machine();
        let mut known = Known::new(&machine, None);
        let point = |length: u64| FUTEX.point(&[("length", length.into())]);
        for (latency, length) in late.iter().zip([10_000, 1_000_000]) {
            known.learn(FUTEX.experiment, &point(length), *latency);
        }
        let result = |(share, length)| {
            let core = PointCore { shared_share: Some(share), ..planted::core(CoreState::AtEnds) };
            let estimate = statistics::estimate(&[[12e3, 12e3]; 6]).expect("an estimate");
            let result = planted::result(FUTEX.experiment, estimate, None);
            PointResult { point: point(length), core: Some(core), ..result }
        };
        let points: Vec<PointResult> = shares.into_iter().zip([10_000, 1_000_000]).map(result).collect();
        judge(&Premises { known: &known, points: &points })
    }

    fn ns(value: f64, low: f64, high: f64) -> Found {
        let interval = Some(Interval { low, high });
        Found::measured(Measured { value, interval }, Dimension::Of(Unit::Nanoseconds))
    }

    #[test]
    fn ends_whose_core_was_shared_for_unlike_shares_of_the_time_are_not_compared() {
        let grown = [ns(20e3, 19e3, 21e3), ns(30e3, 29e3, 31e3)];
        let like = of_a_waiter(&grown, [0.5, 0.47]).expect("as much of a neighbour").headline.plain();
        assert!(like.ends_with(", {10000} more."), "{like}");
        assert!(of_a_waiter(&grown, [0.06, 0.18]).is_none(), "the growth may be the neighbour's");
        let less = of_a_waiter(&grown, [0.49, 0.08]).expect("in spite of the neighbour");
        let said = less.headline.plain();
        assert!(said.contains("{20000} (core shared {0.49} of the time) late after {10000}"), "{said}");
        assert!(!said.contains(" more."), "how much is not known: {said}");
        assert_eq!(less.kind, MechanismKind::Uncaused, "and stands out no more");
    }

    #[test]
    fn a_growth_that_is_known_to_no_factor_of_two_does_not_stand_out() {
        let kind = |after| of_a_waiter(&[ns(20e3, 19e3, 21e3), after], [0.1, 0.1]).map(|said| said.kind);
        assert_eq!(kind(ns(30e3, 29e3, 31e3)), Some(MechanismKind::Effect));
        let touching = ns(23e3, 21.2e3, 42e3);
        assert_eq!(kind(touching), Some(MechanismKind::Uncaused), "3 µs more, or 22");
        let said =
            of_a_waiter(&[ns(20e3, 19e3, 21e3), touching], [0.1, 0.1]).expect("it grows").headline.plain();
        assert!(
            said.contains(", at least {94") && said.ends_with("} more."),
            "no digit of 3 µs is known: {said}"
        );
    }

    #[test]
    fn a_time_of_two_states_has_no_growth() {
        let late = |ns: f64| fathom_described::found(ns, Dimension::Of(Unit::Nanoseconds));
        let said = |is_mixture| {
            let longest = (1_000_000, Found { is_mixture, ..late(33e3) });
            let shortest = (100_000, late(9e3));
            BothEnds { what: "it", shortest, longest, shared: [None; 2], grows: Some(true) }
                .statement("it")
                .plain()
        };
        assert!(said(false).ends_with("and {33000} after {1000000}, {24000} more"), "{}", said(false));
        assert!(said(true).ends_with("and {33000} after {1000000}"), "{}", said(true));
    }

    /// A growth of 3.89 us (0.70 to 5.73) in one run is no law.
    #[test]
    fn a_growth_that_is_poorly_known_is_no_law() {
        let machine = planted::machine();
        let said = |low: f64| {
            let mut known = Known::new(&machine, None);
            for (length, (low, value, high)) in [(10_000, (18.5, 19.1, 19.7)), (1_000_000, (low, 23.0, 24.8))]
            {
                let interval = Some(Interval { low: low * 1e3, high: high * 1e3 });
                let late = Measured { value: value * 1e3, interval };
                let point = FUTEX.point(&[("length", length.into())]);
                known.learn(FUTEX.experiment, &point, Found::measured(late, Unit::Nanoseconds));
            }
            judge(&Premises { known: &known, points: &[] }).expect("a mechanism").headline.plain()
        };
        assert!(said(19.8).starts_with(
            "In this run a waiter that a futex wakes was later after a longer idle time, by how much"
        ));
        assert!(said(22.5).starts_with("After its longest idle time a waiter"), "{}", said(22.5));
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
            let (shorter, before, after) = ((NANOSLEEP.experiment, &point), ns(before), ns(after));
            let shared = [share(&premises, shorter, before.core), share(&premises, shorter, after.core)];
            let (shortest, longest) = ((0, before), (1, after));
            let ends = BothEnds { what: "it", shortest, longest, shared, grows: None };
            ends.beside_a_neighbour(&premises, shorter).map(|most| most.value.round())
        };
        let (alone, shared) = (Some(CoreUse::Alone), Some(CoreUse::Shared));
        let other = Point::new();
        assert_eq!(beside(Some(&point), alone, alone), Some(9e3));
        assert_eq!(beside(Some(&point), shared, None), Some(9e3), "it has the neighbour already");
        assert_eq!(beside(Some(&point), alone, None), Some(12e3));
        assert_eq!(beside(Some(&other), alone, None), None, "it was not seen so, and others were");
        assert_eq!(beside(None, alone, None), Some(9e3), "nothing was seen so");
    }
}
