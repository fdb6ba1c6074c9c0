//! Terms of predictions that were published or assumed, and that the run measured by another operation.

use super::Figures;
use super::miss::Missed;
use super::set_loads;
use fathom_core::experiment::At::{Any, Cache, Memory, Name, Number};
use fathom_core::experiment::{Found, Known, Levels, Placement, Selector, Statement, Term, statement};
use fathom_core::quantity::declared;

use super::candidate::MissCandidate;
use crate::results::accuracy::distance;

/// What the run measured in place of a term.
pub(super) struct MeasuredTerm {
    pub(super) mechanism: String,
    /// Whether the same experiment measured it: of a term that is nearly the whole, it is the same work again.
    pub(super) is_same_work: bool,
    /// The measured value, in the prediction's unit.
    pub(super) each: Found,
    /// How often the prediction contains it.
    pub(super) times: f64,
}

/// A rule: a term of this name is measured by that.
struct Rule {
    /// The beginning of the term's name.
    term: &'static str,
    mechanism: &'static str,
    /// The measurement; must not be the point that missed.
    measured: fn(&Known) -> Option<Found>,
    /// The points that it uses.
    uses: &'static [Selector],
}

const GETPPID: Selector = Selector::only("cpu/system_call", &[("call", Name("getppid"))]);
const NO_CALL: Selector = Selector::only("cpu/system_call", &[("call", Name("a number that is no call's"))]);
const CLOCK: &str = "cpu/timing_overhead";
const BY_CALL: Selector =
    Selector::only(CLOCK, &[("measure", Name("cost")), ("reading", Name("monotonic-coarse by syscall"))]);
const BY_LIBRARY: Selector =
    Selector::only(CLOCK, &[("measure", Name("cost")), ("reading", Name("monotonic-coarse by library"))]);
const COUNTER: Selector = Selector::only(CLOCK, &[("measure", Name("cost")), ("reading", Name("rdtsc"))]);
const HAND_OVER: Selector =
    Selector::only("cpu/context_switch", &[("mechanism", Name("pipe")), ("between", Name("processes"))]);
const ROUND_TRIP: Selector = Selector::only(
    "network/round_trip",
    &[
        ("loop", Name("closed")),
        ("path", Name("loopback")),
        ("transport", Name("TCP")),
        ("payload", Number(1)),
    ],
);
pub(super) const LOADS: &str = "memory/load_latency";
const L1: Selector =
    Selector::only(LOADS, &[("order", Name("random cycle")), ("pages", Name("huge")), ("size", Cache(1))]);
const L2: Selector =
    Selector::only(LOADS, &[("order", Name("random cycle")), ("pages", Name("huge")), ("size", Cache(2))]);
const L3: Selector =
    Selector::only(LOADS, &[("order", Name("random cycle")), ("pages", Name("huge")), ("size", Cache(3))]);
const MEMORY: Selector =
    Selector::only(LOADS, &[("order", Name("random cycle")), ("pages", Name("huge")), ("size", Memory)]);
const CLEARED: Selector = Selector::only(
    "memory/minor_fault",
    &[("access", Name("no fault: cleared by the program")), ("batch", Any)],
);

const RDTSCP: Selector = Selector::only(CLOCK, &[("measure", Name("cost")), ("reading", Name("rdtscp"))]);
const ONE_CPUID: Selector =
    Selector::only(CLOCK, &[("measure", Name("cost")), ("reading", Name("cpuid-rdtsc rdtscp"))]);
const SMALL_READ: Selector = Selector::only(
    "filesystem/read",
    &[
        ("state", Name("direct")),
        ("order", Name("random")),
        ("call", Name("pread")),
        ("block", Number(4096)),
        ("file", Number(64 << 20)),
    ],
);

/// Entering and leaving the kernel, without a service where that was measured.
pub(super) fn entered(known: &Known) -> Option<Found> {
    NO_CALL.found(known).or_else(|| GETPPID.found(known))
}

const READING_THE_COUNTER: &str = "reading the counter";
const L1_LOAD: &str = "a load from the first-level cache";
const L2_LOAD: &str = "a load from the second-level cache";
const L3_LOAD: &str = "a load from the third-level cache";
const MEMORY_LOAD: &str = "a load from memory";
const ENTRY: &str = "entering and leaving the kernel";
const WAKING_BY_TRIPS: &str =
    "waking an idle CPU, as half of what a TCP round trip takes across CPUs beyond one CPU";
const WAKING_BY_HAND_OVERS: &str =
    "waking an idle CPU, as what a pipe's hand-over takes across CPUs beyond one CPU";
const CPUID: &str = "a CPUID, as one reading with it takes beyond one without";
const DEVICE: &str = "a small direct read of the device";
const RULES: [Rule; 15] = [
    Rule::each("serialising CPUID", CPUID, by_one_cpuid, &[ONE_CPUID, RDTSCP]),
    Rule::each("the device's answer", DEVICE, |known| SMALL_READ.found(known), &[SMALL_READ]),
    Rule::each("the device's time for 4 KiB", DEVICE, |known| SMALL_READ.found(known), &[SMALL_READ]),
    Rule::each("the device's first answer", DEVICE, |known| SMALL_READ.found(known), &[SMALL_READ]),
    Rule::each("entering and leaving the kernel", ENTRY, entered, &[NO_CALL, GETPPID]),
    Rule::each(READING_THE_COUNTER, READING_THE_COUNTER, |known| COUNTER.found(known), &[COUNTER]),
    Rule::each(
        "an idle virtual CPU woken through the hypervisor",
        WAKING_BY_TRIPS,
        by_round_trips,
        &[ROUND_TRIP, ROUND_TRIP.at(Placement::AcrossCpus)],
    ),
    Rule::each(
        "an idle CPU woken",
        WAKING_BY_TRIPS,
        by_round_trips,
        &[ROUND_TRIP, ROUND_TRIP.at(Placement::AcrossCpus)],
    ),
    Rule::each(
        "the timer's interrupt reaches a sleeping CPU",
        WAKING_BY_HAND_OVERS,
        by_hand_overs,
        &[HAND_OVER, HAND_OVER.at(Placement::AcrossCpus)],
    ),
    Rule::each("loads that hit L1", L1_LOAD, |known| L1.found(known), &[L1]),
    Rule::each("loads that hit L2", L2_LOAD, |known| L2.found(known), &[L2]),
    Rule::each("loads that hit L3", L3_LOAD, |known| L3.found(known), &[L3]),
    Rule::each("loads that hit memory", MEMORY_LOAD, |known| MEMORY.found(known), &[MEMORY]),
    Rule::each("a load of a line that no cache holds", MEMORY_LOAD, |known| MEMORY.found(known), &[MEMORY]),
    Rule::each(
        "a page stored through",
        "a page cleared by the program",
        |known| CLEARED.found(known),
        &[CLEARED],
    ),
];

impl Rule {
    const fn each(
        term: &'static str,
        mechanism: &'static str,
        measured: fn(&Known) -> Option<Found>,
        uses: &'static [Selector],
    ) -> Self {
        Rule { term, mechanism, measured, uses }
    }

    /// The mechanism; of a load from a level with the size of the array that was measured.
    fn named(&self, measured: &Selector, known: &Known) -> String {
        let points = measured.all(known);
        let of_loads = points.first().filter(|_| measured.experiment == LOADS);
        match of_loads.and_then(|(point, _)| point.number_of("size")) {
            Some(size) => format!("{} ({})", self.mechanism, declared::size(size)),
            None => self.mechanism.to_owned(),
        }
    }
}

/// The mechanisms that are loads from a cache, with the name of its level.
const CACHES: [(&str, &str); 3] = [(L1_LOAD, "L1"), (L2_LOAD, "L2"), (L3_LOAD, "L3")];

/// Whether a load is one of a level that the results show; where they show none, too little is known to leave one out.
fn shows(levels: &[(String, Levels)], name: &str, load: f64) -> bool {
    let of_loads = levels.iter().find(|(experiment, _)| experiment == LOADS);
    of_loads.is_none_or(|(_, shown)| shown.levels.iter().any(|level| level.name == name && level.has(load)))
}

/// The measurement of a term; `None` if the run has none, or only the result that missed.
pub(super) fn of(term: &Term, missed: &Missed, figures: Figures) -> Option<MeasuredTerm> {
    let known = figures.supported;
    let of_the_set = set_loads::of(term, missed, known);
    let measured = of_the_set.or_else(|| by_rule(term, missed, figures))?;
    // Of what has several levels and is computed, nothing tells what it is at each.
    let each = measured.each;
    let is_of_levels = each.is_of_one_state() && each.is_mixture;
    let is_positive = each.in_each_state().iter().all(|each| each.value > 0.0);
    let comparable = each.dimension == missed.measured.dimension && is_positive && !is_of_levels;
    comparable.then_some(measured)
}

fn by_rule(term: &Term, missed: &Missed, figures: Figures) -> Option<MeasuredTerm> {
    let known = figures.supported;
    let rule = RULES.iter().find(|rule| term.what.starts_with(rule.term))?;
    let (experiment, point) = missed.place();
    if rule.uses.iter().any(|selector| selector.selects(experiment, point, known.machine)) {
        return None;
    }
    let each = (rule.measured)(known)?;
    // What the curve of loads does not show as a level has no load of its own.
    let is_hidden = |(mechanism, level): &(&str, &str)| {
        *mechanism == rule.mechanism && !shows(figures.levels, level, each.value)
    };
    if CACHES.iter().any(is_hidden) {
        return None;
    }
    let first = rule.uses.first()?;
    let is_same_work = first.experiment == experiment;
    Some(MeasuredTerm { mechanism: rule.named(first, known), is_same_work, each, times: term.times })
}

/// The points of all rules that this architecture has, for tests.
#[cfg(test)]
pub(super) fn selectors() -> impl Iterator<Item = Selector> {
    let has_rdtsc = cfg!(target_arch = "x86_64");
    let rules = RULES
        .iter()
        .filter(move |rule| has_rdtsc || ![READING_THE_COUNTER, "serialising CPUID"].contains(&rule.term));
    rules.flat_map(|rule| rule.uses.iter().copied()).chain(set_loads::selectors())
}

/// What a clock's reading by a system call takes beyond one by the library, which does not enter the kernel: the entry, and the kernel's own
/// reading. It is more than an entry alone, and no measurement of it.
pub(super) fn beyond_the_library(known: &Known) -> Option<Found> {
    Some(BY_CALL.found(known)?.minus(BY_LIBRARY.found(known)?))
}

/// What a reading of the counter with one CPUID takes beyond one without.
fn by_one_cpuid(known: &Known) -> Option<Found> {
    of_one_state(ONE_CPUID.found(known)?.minus(RDTSCP.found(known)?))
}

/// Half of what a round trip, which wakes both sides, takes across CPUs beyond one CPU.
fn by_round_trips(known: &Known) -> Option<Found> {
    Some(beyond(ROUND_TRIP, known)?.scaled(0.5))
}

/// What a hand-over takes across CPUs beyond one CPU.
fn by_hand_overs(known: &Known) -> Option<Found> {
    beyond(HAND_OVER, known)
}

fn beyond(points: Selector, known: &Known) -> Option<Found> {
    of_one_state(points.at(Placement::AcrossCpus).found(known)?.minus(points.found(known)?))
}

/// A difference above zero, unless part of it is what a neighbour on the core costs.
fn of_one_state(more: Found) -> Option<Found> {
    let is_more = more.in_each_state().iter().all(|more| more.value > 0.0);
    (is_more && more.is_of_one_core_state()).then_some(more)
}

/// Waking an idle CPU, by an operation of another experiment than this, and by which.
pub(super) fn wake_up(known: &Known, experiment: &str) -> Option<(&'static str, Found)> {
    let (how, wake) = if experiment == HAND_OVER.experiment {
        (WAKING_BY_TRIPS, by_round_trips(known))
    } else {
        (WAKING_BY_HAND_OVERS, by_hand_overs(known))
    };
    Some((how, wake?))
}

/// For the resolution of a clock, or the time between two of its readings: the cost of a reading, which is the least step that
/// can be seen.
pub(super) fn same_reading(missed: &Missed, known: &Known) -> Option<MissCandidate> {
    let (experiment, point) = missed.place();
    if experiment != CLOCK || !matches!(point.name_of("measure"), Some("resolution" | "pair")) {
        return None;
    }
    let is_same = |other: &&fathom_core::experiment::Point| {
        other.name_of("measure") == Some("cost")
            && other.name_of("reading") == point.name_of("reading")
            && other.placement() == point.placement()
    };
    let cost = known.found(CLOCK, known.points(CLOCK).find(is_same)?)?;
    let mechanism = "the cost of one reading, the least step that can be seen";
    Some(MissCandidate {
        mechanism: mechanism.to_owned(),
        sizes: statement!(
            "{mechanism}: {cost} in this run, {used} in the prediction",
            mechanism = Statement::from(mechanism),
            cost = cost.named("a reading"),
            used = missed.figure(missed.prediction.total()).named("a reading, in the prediction")
        ),
        again: cost,
        changes: Some(distance(cost.value / missed.prediction.total())),
        part: None,
        // Two readings are a reading timed again, which explains nothing of it.
        is_again: point.name_of("measure") == Some("pair"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::experiment::{Level, Point};

    #[test]
    fn a_cache_that_the_curve_does_not_show_has_no_load_of_its_own() {
        let level = |name: &str| Level { name: name.to_owned(), from: None, to: None, end: None, value: 4.0 };
        let shown = Levels {
            of: Point::new(),
            along: "size",
            levels: vec![level("L1"), level("memory")],
            elsewhere: vec![],
        };
        let levels = [(LOADS.to_owned(), shown)];
        assert!(shows(&levels, "L1", 4.4) && !shows(&levels, "L3", 4.4));
        assert!(!shows(&levels, "L1", 9.0), "a load from an array that shows another level");
        assert!(shows(&[], "L3", 4.4), "without a curve too little is known");
    }
}
