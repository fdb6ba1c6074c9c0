//! Causes that account for a miss, and candidates that do not.

use super::*;
use crate::results::planted::{self, Plant as _};
use crate::results::{CoreState, Evidence, Outcome, PointCore, ProcessorTime};
use fathom_core::experiment::At::{Any, Name};
use fathom_core::experiment::{
    Basis, Check, Dimension, Parameter, Placement, Point, Prediction, Selector, TermEvent,
};
use fathom_core::machine::{Fact, Machine};
use fathom_core::quantity::Unit;
use fathom_core::statistics::{self, Estimate, Interval};

pub(super) const CALLS: &str = "cpu/system_call";
const GETPPID: Selector = Selector::only(CALLS, &[("call", Name("getppid"))]);
pub(super) const ENTRY: &str = "entering and leaving the kernel";

/// A point with this measured value and an interval of a tenth on each side.
pub(super) fn result(unit: Unit, measured: f64, prediction: Prediction) -> PointResult {
    let interval = Some(Interval { low: 0.9 * measured, high: 1.1 * measured });
    let (trials, observations) = (8, 80);
    let estimate =
        Estimate { value: measured, interval, level: 0.95, min: None, max: None, trials, observations };
    PointResult { unit, ..planted::result("a/test", estimate, Some(prediction)) }
}

/// A cost that was predicted from entering the kernel, for 50 ns, and from other work, for 10 ns.
pub(super) fn cost(measured: f64) -> PointResult {
    let basis = |value| Basis::published(value, "a paper");
    let entry = Prediction::new().software(ENTRY, 1.0, basis(50.0)).being(TermEvent::KernelEntry);
    result(Unit::Nanoseconds, measured, entry.software("work", 1.0, basis(10.0)))
}

/// The misses of these points, with the same figures before and after them.
pub(super) fn explain_from(names: &[&str], points: &mut [PointResult], known: &Known) -> Misses {
    let whole = WholeRun::of_one_state(known);
    crate::results::by_end::mark(points, &whole);
    explain(
        names,
        points,
        Figures { supported: known, whole: &whole, shared: &[], levels: &[], one_core_ns: &[] },
    )
}

/// The method of [`CALLS`].
pub(super) fn calls() -> &'static dyn fathom_core::experiment::Experiment {
    fathom_core::experiment::registry::find(CALLS).unwrap()
}

/// Judges points in a run that measured getppid at this value, on this machine.
pub(super) fn judged_on(machine: &Machine, getppid: Option<f64>, points: &mut [PointResult]) -> Vec<String> {
    let mut known = Known::new(machine, None);
    if let Some(value) = getppid {
        GETPPID.plant(&mut known, value);
    }
    let misses = explain_from(&["a/test", "a/other"], points, &known);
    let others = misses.others.into_iter().flat_map(|(_, findings)| findings);
    let all = misses.overall.into_iter().chain(others);
    all.map(|finding| finding.statement.plain()).collect()
}

pub(super) fn judged(getppid: Option<f64>, points: &mut [PointResult]) -> Vec<String> {
    judged_on(&planted::machine(), getppid, points)
}

#[test]
fn within_a_factor_of_two_nothing_is_told() {
    let mut points = [cost(119.0), cost(31.0)];
    assert_eq!(judged(None, &mut points), Vec::<String>::new());
    assert!(points.iter().all(|point| point.explanation.is_none()));
}

#[test]
fn a_term_that_the_run_measured_at_the_size_of_the_miss_is_the_cause() {
    let mut points = [cost(190.0)];
    let text = judged(Some(180.0), &mut points).join("\n");
    assert!(
        text.contains("Entering and leaving the kernel: {180} in this run, {50} in the prediction"),
        "{text}"
    );
    assert!(text.contains("with the measured value the prediction is {190}."), "{text}");
    let cause = Explanation::Cause { mechanism: ENTRY.to_owned(), changes: Some(3.6) };
    assert_eq!(points[0].explanation, Some(cause));
}

#[test]
fn one_that_is_too_small_or_changes_nothing_is_excluded_with_its_size() {
    let mut points = [cost(500.0)];
    let text = judged(Some(80.0), &mut points).join("\n");
    assert!(text.contains("Not explained. Excluded: entering and leaving the kernel: {80}"), "{text}");
    assert!(text.contains("which would make the prediction {90}"), "30 of 440: {text}");
    assert_eq!(points[0].explanation, Some(Explanation::NotExplained));
    let text = judged(Some(50.0), &mut points).join("\n");
    assert!(
        text.contains("Not explained. The terms that this run measures in another way are as predicted"),
        "{text}"
    );
}

/// A term measured elsewhere that leads past the result by less than a factor of 1.25, beyond its interval.
#[test]
fn a_candidate_near_the_result_is_not_excluded_and_says_how_far_it_leads() {
    let text = judged(Some(180.0), &mut [cost(165.0)]).join("\n");
    assert!(!text.contains("Excluded"), "{text}");
    assert!(
        text.contains("Near the measured value, but beyond its interval: entering and leaving"),
        "{text}"
    );
    assert!(text.contains("overshoots: would predict {190}, {1.15"), "{text}");
    let text = judged(Some(150.0), &mut [cost(190.0)]).join("\n");
    assert!(
        text.contains("falls short: would predict {160}, {0.84") && !text.contains("the whole"),
        "{text}"
    );
}

/// With a wide interval a candidate may lead to a value within it that is further than a factor of two from the median.
#[test]
fn a_candidate_that_leads_into_a_wide_interval_is_not_excluded() {
    let mut wide = cost(600.0);
    let Outcome::Value(estimate) = &mut wide.outcome else { panic!("it was measured") };
    estimate.interval = Some(Interval { low: 180.0, high: 650.0 });
    let text = judged(Some(180.0), &mut [wide]).join("\n");
    assert!(!text.contains("Excluded: entering"), "{text}");
    assert!(text.contains("not accepted as the cause: entering and leaving the kernel: {180}"), "{text}");
}

/// What takes longer than the whole was measured with more around it: as a part of the whole it is not named.
#[test]
fn a_candidate_that_takes_longer_than_the_whole_is_not_named() {
    let text = judged(Some(190.0), &mut [cost(165.0)]).join("\n");
    assert!(text.contains("Not explained."), "{text}");
    assert!(!text.contains("entering and leaving"), "{text}");
}

/// 12 of the 21 parts that are missing, far from the result: most of the miss, so it is not excluded.
#[test]
fn a_candidate_that_accounts_for_most_of_a_miss_takes_part_and_is_not_excluded() {
    let text = judged(Some(170.0), &mut [cost(270.0)]).join("\n");
    assert!(!text.contains("Excluded"), "{text}");
    assert!(text.contains("Takes part, but does not account for all: entering"), "{text}");
    assert!(text.contains("{0.57"), "{text}");
    let little = judged(Some(90.0), &mut [cost(500.0)]).join("\n");
    assert!(little.contains("Excluded: entering and leaving the kernel"), "{little}");
}

/// A clock read by a system call: "Excluded: entering and leaving the kernel, which would make the prediction 194 ns (35.5 % of what is
/// missing)".
#[test]
fn what_accounts_for_a_third_of_a_miss_is_not_excluded() {
    let mut points = [cost(251.0)];
    let text = judged(Some(118.1), &mut points).join("\n");
    assert!(!text.contains("Excluded"), "{text}");
    assert!(text.contains("Takes part, but does not account for all: entering"), "{text}");
    assert!(text.contains("{0.356"), "68.1 of 191: {text}");
    assert_eq!(points[0].explanation, Some(Explanation::NotExplained));
}

#[test]
fn a_measured_term_is_the_cause_however_far_the_published_one_was() {
    let mut points = [cost(310.0)];
    let text = judged(Some(300.0), &mut points).join("\n");
    assert!(text.contains("with the measured value the prediction is {310}"), "{text}");
    assert!(matches!(points[0].explanation, Some(Explanation::Cause { .. })));
}

#[test]
fn without_an_interval_no_cause_is_confirmed() {
    let mut point = cost(190.0);
    if let Outcome::Value(estimate) = &mut point.outcome {
        estimate.interval = None;
    }
    let text = judged(Some(180.0), &mut [point]).join("\n");
    assert!(text.contains("Not explained: the result has no interval"), "{text}");
}

#[test]
fn an_interval_that_reaches_the_prediction_is_no_certain_miss() {
    let text = judged(Some(180.0), &mut [cost(130.0)]).join("\n");
    assert!(text.contains("Whether it missed is not certain"), "{text}");
    assert!(text.contains("{1} predictions missed") && text.contains("{1} may not have missed"), "{text}");
}

#[test]
fn without_evidence_the_measurement_is_in_doubt() {
    let mut point = cost(1000.0);
    point.evidence = Evidence::judged(vec![Check::missing("it was the one named")]);
    let text = judged(Some(180.0), &mut [point]).join("\n");
    assert!(text.contains("in doubt, not the prediction") && !text.contains("Excluded"), "{text}");
}

#[test]
fn a_cause_of_several_misses_is_named_once() {
    let mut other = cost(200.0);
    "a/other".clone_into(&mut other.experiment);
    let texts = judged(Some(180.0), &mut [cost(190.0), other]);
    assert_eq!(texts.len(), 2, "the count and the cause: {texts:?}");
    assert!(texts[1].contains("explains {2} wrong predictions of a/other, a/test"), "{texts:?}");
}

#[test]
fn misses_with_the_same_candidates_are_reported_together_by_the_furthest() {
    const COUNT: Parameter = Parameter::count("count", "a count");
    let mut further = cost(2000.0);
    further.point = Point::new().with(&COUNT, 7);
    let texts = judged(None, &mut [cost(1000.0), further]);
    assert_eq!(texts.len(), 2, "{texts:?}");
    let lead =
        "{2} points missed; the furthest is <count=7 placement=one-cpu>: {2000} measured, {60} predicted";
    assert!(texts[1].starts_with(lead), "{texts:?}");
}

/// A median of 600 that may be 130 was "the furthest", and in the conclusion one of 400 that is 360 at least.
#[test]
fn the_furthest_is_so_by_the_end_that_is_nearest_to_the_prediction() {
    const COUNT: Parameter = Parameter::count("count", "a count");
    let within = |value: f64, low, high| {
        let mut point = cost(value);
        point.outcome = Outcome::Value(Estimate {
            interval: Some(Interval { low, high }),
            ..point.estimate().cloned().expect("a value")
        });
        point
    };
    let mut wide = within(600.0, 130.0, 900.0);
    wide.point = Point::new().with(&COUNT, 7);
    let text = judged(None, &mut [wide.clone(), within(400.0, 360.0, 440.0)]).join("\n");
    assert!(text.contains("the furthest is <placement=one-cpu>: {400} measured"), "{text}");
    let mut wider = within(600.0, 70.0, 900.0);
    wider.point = Point::new().with(&COUNT, 9);
    let text = judged(None, &mut [within(400.0, 70.0, 440.0), wider]).join("\n");
    assert!(text.contains("{2} points may have missed; the furthest is <count=9"), "{text}");
}

#[test]
fn what_did_not_take_the_time_is_excluded_by_its_measurement() {
    let mut point = cost(1000.0);
    point.disturbance.core_hz = Some((2e9, 2.1e9));
    let unrelated = judged(None, &mut [point.clone()]).join("\n");
    assert!(!unrelated.contains("frequency"), "the cost does not follow it: {unrelated}");
    point.core_cycles = statistics::estimate(&vec![vec![2000.0]; 8]);
    point.disturbance.lost_share = Some(0.02);
    let spent = ProcessorTime { passed_ns: 1000.0, ran_ns: 960.0 };
    point.processor_time = Some(spent);
    let text = judged(None, &mut [point.clone()]).join("\n");
    for excluded in ["it varied by {0.05", "other work on the CPU ({0.02}", "its children is {0.96}"] {
        assert!(text.contains(excluded), "{excluded}: {text}");
    }
    point.disturbance.core_hz = Some((2e9, 2e9 * (1.0 + f64::EPSILON)));
    let text = judged(None, &mut [point.clone()]).join("\n");
    assert!(text.contains("no change of it shows"), "{text}");
    point.processor_time = Some(ProcessorTime { ran_ns: 300.0, ..spent });
    point.disturbance.lost_share = Some(0.97);
    let text = judged(None, &mut [point]).join("\n");
    assert!(
        !text.contains("processor time") && !text.contains("other work"),
        "these may have taken it: {text}"
    );
}

#[test]
fn what_a_run_cannot_separate_from_the_entry_is_named() {
    let mut machine = planted::machine();
    let sentences = [("spectre_v2", "Mitigation: Retpolines; STIBP: disabled"), ("meltdown", "Not affected")];
    let sentences = sentences.map(|(name, text)| (name.to_owned(), text.to_owned()));
    machine.kernel.mitigations = Fact::known(sentences.into(), "a test");
    machine.kernel.command_line = Fact::known("quiet nested_pvm=1".to_owned(), "a test");
    let text = judged_on(&machine, None, &mut [cost(1000.0)]).join("\n");
    let names = "Not separable in a run: Retpolines (spectre_v2), the hypervisor of a guest that is probably nested (nested_pvm=1).";
    assert!(text.contains(names), "{text}");
}

#[test]
fn a_neighbour_that_was_always_there_is_not_separable() {
    let named = |alone: Option<f64>| {
        let mut point = cost(1000.0);
        let observations = [0, 99, 0];
        point.core = Some(PointCore { alone, observations, ..planted::core(CoreState::Shared) });
        judged(None, &mut [point])
            .join("\n")
            .contains("another hardware thread on the core (no observation without one)")
    };
    assert!(named(None) && !named(Some(990.0)));
}

/// A clock's reading that enters the kernel lacks the same time: most of it is not in the service. It is no measurement of the entry.
#[test]
fn what_a_clocks_reading_by_system_call_lacks_too_is_in_the_entry() {
    let told = |by_call: f64, getppid: Option<f64>| {
        let machine = planted::machine();
        let mut known = Known::new(&machine, None);
        if let Some(ns) = getppid {
            GETPPID.plant(&mut known, ns);
        }
        for (reading, ns) in [("monotonic-coarse by syscall", by_call), ("monotonic-coarse by library", 20.0)]
        {
            let clock = [("measure", serde_json::json!("cost")), ("reading", serde_json::json!(reading))];
            let at = Selector::of("cpu/timing_overhead", &[]).point(&clock);
            known.learn(
                "cpu/timing_overhead",
                &at,
                fathom_described::found(ns, Dimension::Of(Unit::Nanoseconds)),
            );
        }
        let basis = Basis::published(25.0, "a paper");
        let prediction = Prediction::new().hardware("mode switches, in and out", 2.0, basis);
        let mut points = [result(Unit::Nanoseconds, 113.0, prediction)];
        let misses = explain_from(&["a/test"], &mut points, &known);
        assert_eq!(points[0].explanation, Some(Explanation::NotExplained));
        misses.others[0].1[0].statement.plain()
    };
    assert!(
        told(157.0, None)
            .contains("Not explained. Part of what is missing may be in entering and leaving the kernel")
    );
    assert!(told(157.0, None).contains("takes {137} more than one by the library"));
    assert!(!told(60.0, None).contains("entering and leaving the kernel:"), "as predicted");
    assert!(!told(157.0, Some(45.0)).contains("Part of what is missing"), "the entry was measured");
}

#[test]
fn an_operation_across_cpus_may_have_to_wake_one() {
    const HAND_OVER: Selector =
        Selector::only("cpu/context_switch", &[("mechanism", Name("pipe")), ("between", Name("processes"))]);
    let machine = planted::machine();
    let mut known = Known::new(&machine, None);
    HAND_OVER.plant(&mut known, 1_000.0);
    HAND_OVER.at(Placement::AcrossCpus).plant(&mut known, 21_000.0);
    let across = |measured| PointResult { point: Point::at(Placement::AcrossCpus), ..cost(measured) };
    let mut points = [across(20_060.0), across(60_000.0), cost(20_060.0)];
    explain_from(&["a/test"], &mut points, &known);
    let woken = Explanation::Cause { mechanism: "one wake-up of an idle CPU".to_owned(), changes: None };
    assert_eq!(points[0].explanation, Some(woken));
    let others = points[1..].iter().map(|point| point.explanation.clone());
    assert!(others.into_iter().all(|explanation| explanation == Some(Explanation::NotExplained)));
}

/// The point and its finding where a call's prediction took one time for getppid, in a run in which that takes another by its end; measured
/// is what is made of the prediction, then and by the end.
pub(super) fn of_an_input(ns: [f64; 2], measured: impl FnOnce(f64, f64) -> f64) -> (PointResult, String) {
    let machine = planted::machine();
    let [first, last] = ns.map(|ns| {
        let mut known = Known::new(&machine, None);
        GETPPID.plant(&mut known, ns);
        known
    });
    let call = Point::new().named(&Parameter::named("call", "the service"), "fstat");
    let method = calls();
    let [then, now] = [&first, &last].map(|known| method.predict(&call, known).unwrap());
    let measured = measured(then.total(), now.total());
    let point = PointResult {
        experiment: CALLS.to_owned(),
        point: call,
        method_version: method.about().version,
        ..result(Unit::Nanoseconds, measured, then)
    };
    let mut points = [point];
    let misses = explain_from(&[CALLS], &mut points, &last);
    let [point] = points;
    (point, misses.others[0].1[0].statement.plain())
}

#[test]
fn every_measured_term_is_of_points_that_exist() {
    assert!(measured_terms::selectors().all(|points| points.exist(&planted::machine())));
}

/// No work takes a negative time: a term that is longer than the whole is too long, whatever the others are.
#[test]
fn a_term_longer_than_the_whole_is_where_the_miss_lies() {
    let mut points = [cost(20.0)];
    let text = judged(None, &mut points).join("\n");
    assert!(
        text.contains("One term of the prediction is too high: it has {50} for entering and leaving the kernel, which this run does not measure"),
        "{text}"
    );
    assert!(
        text.contains("leaves {20} for it at most")
            && text.contains("{1} would not be so far too high without one term"),
        "{text}"
    );
    assert_eq!(points[0].explanation, Some(Explanation::Overstated { term: ENTRY.to_owned() }));
    let told = |prediction: Prediction| {
        let mut points = [result(Unit::Nanoseconds, 20.0, prediction)];
        (judged(None, &mut points).join("\n"), points[0].explanation.clone())
    };
    let term = |what: &str, value| Prediction::new().software(what, 1.0, Basis::published(value, "a paper"));
    let two = term("one", 50.0).software("other", 1.0, Basis::published(50.0, "a paper"));
    assert_eq!(
        told(two).1,
        Some(Explanation::NotExplained),
        "each of two is too long: it is not one of them"
    );
    let alone = told(term("a connection", 60.0));
    assert_eq!(alone.1, Some(Explanation::NotExplained), "the whole is the miss itself: {}", alone.0);
    let (text, explanation) = told(term("a connection", 60.0).within(Some([15.0, 240.0])));
    assert!(
        text.contains("Published of it are {15} to {240}") && text.contains("so far apart they tell little"),
        "{text}"
    );
    assert_eq!(explanation, Some(Explanation::Overstated { term: "a connection".to_owned() }));
    assert_eq!(
        told(term("a connection", 60.0).within(Some([40.0, 90.0]))).1,
        Some(Explanation::NotExplained)
    );
}

#[test]
fn what_the_run_measured_of_the_other_terms_bounds_the_one() {
    let measured = Basis::measured(8.0, "cpu/system_call", Point::new());
    let prediction = Prediction::new().software("entering", 1.0, measured).software(
        "a name made, assumed: as on one laptop",
        1.0,
        Basis::assumed(100.0, "an order of magnitude"),
    );
    let text = judged(None, &mut [result(Unit::Nanoseconds, 20.0, prediction)]).join("\n");
    assert!(
        text.contains("it has {100} for a name made, which this run does not measure, and the result leaves {12} for it at most"),
        "{text}"
    );
}

#[test]
fn a_move_of_the_cpus_is_excluded_by_the_looks_at_their_distance() {
    let told = |placement: Placement, distances: &[f64]| {
        let machine = planted::machine();
        let mut known = Known::new(&machine, None);
        let look = |ns: &f64| fathom_core::experiment::LineLooks { line_ns: *ns, share: 0.5, looks: 287 };
        known.line_looks = distances.iter().map(look).collect();
        let mut points = [PointResult { point: Point::at(placement), ..cost(1000.0) }];
        let misses = explain_from(&["a/test"], &mut points, &known);
        misses.others.iter().flat_map(|(_, of)| of).map(|of| of.statement.plain()).collect::<String>()
    };
    let excluded =
        "a move of the two CPUs by the host ({287} looks at a line between them found one distance)";
    assert!(told(Placement::AcrossCpus, &[80.0]).contains(excluded));
    assert!(!told(Placement::AcrossCpus, &[25.0, 200.0]).contains("a move of the two"));
    assert!(!told(Placement::OneCpu, &[80.0]).contains("a move of the two"));
}

#[test]
fn a_pair_of_readings_is_not_explained_by_a_reading() {
    const CLOCK: &str = "cpu/timing_overhead";
    const COST: Selector = Selector::only(CLOCK, &[("measure", Name("cost")), ("reading", Name("rdtscp"))]);
    let machine = planted::machine();
    let mut known = Known::new(&machine, None);
    COST.plant(&mut known, 31.0);
    let of = |measure: &str| {
        let prediction = Prediction::new().hardware("reading", 1.0, Basis::published(14.0, "a paper"));
        let point = Selector::only(CLOCK, &[("measure", Any), ("reading", Name("rdtscp"))])
            .point(&[("measure", measure.into())]);
        PointResult { experiment: CLOCK.to_owned(), point, ..result(Unit::Nanoseconds, 32.0, prediction) }
    };
    let mut points = [of("pair"), of("resolution")];
    explain_from(&[CLOCK], &mut points, &known);
    assert_eq!(points[0].explanation, Some(Explanation::NotExplained), "the same work, timed again");
    assert!(matches!(points[1].explanation, Some(Explanation::Cause { .. })), "{:?}", points[1].explanation);
}

#[test]
fn what_no_run_measures_is_a_probable_cause_of_results_that_exceed_their_prediction() {
    const NOISE: Selector = Selector::only("cpu/noise", &[("cpu", Any), ("figure", Name("longest"))]);
    let told = |measured: f64| {
        let prediction = Prediction::new().software("a tick", 1.0, Basis::assumed(2000.0, "a test"));
        let point = NOISE.point(&[("cpu", 0_u64.into())]);
        let noise = PointResult {
            experiment: "cpu/noise".to_owned(),
            point,
            ..result(Unit::Nanoseconds, measured, prediction)
        };
        let mut points = [noise];
        let machine = planted::machine();
        let known = Known::new(&machine, None);
        let misses = explain_from(&["cpu/noise"], &mut points, &known);
        let all = misses.overall.iter().chain(misses.others.iter().flat_map(|(_, of)| of));
        (points[0].explanation.clone(), all.map(|of| of.statement.plain()).collect::<String>())
    };
    let (explanation, text) = told(50_000.0);
    assert!(matches!(explanation, Some(Explanation::Probable { .. })), "{explanation:?}");
    assert!(
        text.contains("Probably what other work on this machine") && !text.contains("Not explained"),
        "{text}"
    );
    assert!(text.contains("{1} has a probable cause"), "{text}");
    assert_eq!(told(500.0).0, Some(Explanation::NotExplained), "shorter than a tick: of no other work");
}
