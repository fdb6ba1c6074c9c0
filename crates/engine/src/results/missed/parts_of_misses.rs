//! What takes part in a miss, and what measured the same work again.

use super::tests::{self, CALLS, ENTRY, cost, judged, result};
use super::*;
use crate::results::planted::{self, Plant as _};
use crate::results::{CoreState, Outcome, PointCore, ProcessorTime, PublishedStatistics, vm_exit};
use fathom_core::experiment::At::Name;
use fathom_core::experiment::{Basis, CoreUse, Dimension, Parameter, Prediction, Selector};
use fathom_core::machine::Fact;
use fathom_core::quantity::Unit;
use fathom_core::statistics::{self, Interval, Measured};

/// What is said of the only point, in a run that measured getppid at this value.
fn said_of(point: PointResult, getppid: f64) -> (Option<Explanation>, String) {
    let mut points = [point];
    let _ = judged(Some(getppid), &mut points);
    let [point] = points;
    (point.explanation, point.because.map(|because| because.plain()).unwrap_or_default())
}

/// The same work, measured again by the same experiment, does not explain why it takes as long as it does.
#[test]
fn a_measurement_of_the_whole_operation_by_its_own_experiment_is_no_cause() {
    let entry = |term: f64| {
        let basis = |value| Basis::published(value, "a paper");
        let whole = Prediction::new().software(ENTRY, 1.0, basis(term));
        let whole = whole.software("work", 1.0, basis(60.0 - term));
        PointResult { experiment: CALLS.to_owned(), ..result(Unit::Nanoseconds, 190.0, whole) }
    };
    let (explanation, text) = said_of(entry(55.0), 180.0);
    assert_eq!(explanation, Some(Explanation::NotExplained));
    assert!(text.contains("but is the same work measured again"), "{text}");
    let (explanation, _) = said_of(entry(40.0), 170.0);
    assert!(matches!(explanation, Some(Explanation::Cause { .. })), "a part of it: {explanation:?}");
}

/// A neighbour beside which an operation takes twice as long may have a part in a miss; without an interval it is no more than that.
#[test]
fn a_neighbour_on_the_core_may_take_part_in_a_miss() {
    let beside_of = |alone: f64, of_alone: usize| {
        let core = PointCore {
            alone: Some(alone),
            observations: [of_alone, 90, 0],
            ..planted::core(CoreState::Shared)
        };
        PointResult { core: Some(core), ..cost(360.0) }
    };
    let beside = |alone| beside_of(alone, 40);
    let (_, text) = said_of(beside_of(200.0, 9), 50.0);
    assert!(!text.contains("Perhaps in part"), "a trial or two do not tell what it takes: {text}");
    assert!(
        text.contains("Not separable in a run: another hardware thread on the core (the observations"),
        "{text}"
    );
    let at_ends = |share| PointCore { shared_share: Some(share), ..planted::core(CoreState::AtEnds) };
    let (_, text) = said_of(PointResult { core: Some(at_ends(0.75)), ..cost(360.0) }, 50.0);
    assert!(text.contains("another hardware thread on the core (there 75.0 % of the time)"), "{text}");
    let waits = Some(ProcessorTime { passed_ns: 360.0, ran_ns: 40.0 });
    let (_, text) =
        said_of(PointResult { core: Some(at_ends(0.75)), processor_time: waits, ..cost(360.0) }, 50.0);
    assert!(!text.contains("another hardware thread"), "it waits: {text}");
    let (_, text) = said_of(PointResult { core: Some(at_ends(0.02)), ..cost(360.0) }, 50.0);
    assert!(!text.contains("another hardware thread"), "{text}");
    let (_, text) = said_of(beside(200.0), 50.0);
    assert!(
        text.contains("Perhaps in part another hardware thread") && text.contains("take {200}"),
        "{text}"
    );
    assert!(!text.contains("Takes part") && !text.contains("Excluded"), "{text}");
    let (_, text) = said_of(beside(355.0), 50.0);
    assert!(
        text.contains("Excluded: another hardware thread on the core (without one it takes {355})"),
        "{text}"
    );
}

/// An operation that ran for 69.6 % of its time had "waiting" excluded.
#[test]
fn waiting_is_excluded_of_what_hardly_waited() {
    let ran_for = |ran_ns| {
        let times = ProcessorTime { passed_ns: 300.0, ran_ns };
        said_of(PointResult { processor_time: Some(times), ..cost(360.0) }, 50.0).1
    };
    assert!(ran_for(291.0).contains("Excluded: waiting"), "{}", ran_for(291.0));
    assert!(!ran_for(208.8).contains("waiting"), "{}", ran_for(208.8));
}

#[test]
fn work_that_no_other_operation_has_by_itself_is_named() {
    let access = Parameter::named("access", "what is touched");
    let of = |access_of: &str| PointResult {
        experiment: "memory/minor_fault".to_owned(),
        point: Point::new().named(&access, access_of),
        ..cost(500.0)
    };
    let (_, text) = said_of(of("cached file, written, shared"), 50.0);
    assert!(
        text.contains("Not separable in a run: the call of the file system") && text.contains("page_mkwrite")
    );
    let (_, text) = said_of(of("cached file, read, page by page"), 50.0);
    assert!(!text.contains("page_mkwrite"), "{text}");
}

/// For an append of 10 ms retpolines were "not separable", which cost nanoseconds, and a look of 0.3 ms before half a second excluded other work.
#[test]
fn what_costs_a_hundredth_of_a_miss_or_was_looked_at_before_it_is_not_named() {
    let mut machine = planted::machine();
    let sentence = [("spectre_v2".to_owned(), "Mitigation: Retpolines; STIBP: disabled".to_owned())];
    machine.kernel.mitigations = Fact::known(sentence.into(), "a test");
    let text_of = |ns: f64| {
        let mut point = cost(ns);
        point.disturbance.lost_share = Some(0.0002);
        tests::judged_on(&machine, None, &mut [point]).join("\n")
    };
    for named in ["Not separable in a run: Retpolines", "other work on the CPU"] {
        assert!(text_of(1_000.0).contains(named), "{named}: {}", text_of(1_000.0));
        assert!(!text_of(10e6).contains(named), "{named}: {}", text_of(10e6));
    }
}

/// The explanation of such a call, and what is said of it.
fn of_an_input(ns: [f64; 2], measured: impl FnOnce(f64, f64) -> f64) -> (Option<Explanation>, String) {
    let (point, _) = tests::of_an_input(ns, measured);
    (point.explanation, point.because.map(|because| because.plain()).unwrap_or_default())
}

#[test]
fn a_figure_of_the_run_that_became_another_is_the_cause() {
    let (point, text) = tests::of_an_input([600.0, 100.0], |_, now| now);
    assert!(text.contains("{100} in the whole run, {600} when the prediction was made"), "{text}");
    assert!(matches!(point.explanation, Some(Explanation::Cause { .. })));
}

/// What an input became is no supposition that could be excluded: the prediction from it is judged as every prediction is, and where it misses
/// as well the input takes a part in the miss, or none.
#[test]
fn a_changed_input_explains_what_fits_and_takes_part_in_what_does_not() {
    for times in [0.9, 1.02, 1.2] {
        let (explanation, text) = of_an_input([100.0, 900.0], |_, now| times * now);
        assert!(matches!(explanation, Some(Explanation::Cause { .. })), "{text}");
    }
    let (explanation, text) = of_an_input([100.0, 900.0], |_, now| 0.6 * now);
    assert_eq!(explanation, Some(Explanation::NotExplained), "it leads past it, intervals apart: {text}");
    let (explanation, text) = of_an_input([100.0, 900.0], |_, now| 1.9 * now);
    assert_eq!(explanation, Some(Explanation::NotExplained), "{text}");
    assert!(text.contains("Takes part, but does not account for all: cpu/system_call"), "{text}");
    let (explanation, text) = of_an_input([100.0, 900.0], |_, now| 4.0 * now);
    assert_eq!(explanation, Some(Explanation::NotExplained), "{text}");
    assert!(text.contains("Takes part, but does not account for all: cpu/system_call"), "{text}");
    assert!(text.contains("remain)") && !text.contains("Excluded"), "{text}");
    let (_, text) = of_an_input([900.0, 100.0], |then, _| 3.0 * then);
    assert!(text.contains("Its input has changed") && !text.contains("Excluded"), "{text}");
}

/// What a call that was predicted from another at 100 is said to be, where that is this by the end of the run.
fn said_by_the_end(measured: f64, last: Found) -> (Option<Explanation>, String) {
    const ENTERED: Selector = Selector::only(CALLS, &[("call", Name("getppid"))]);
    let machine = planted::machine();
    let mut known = Known::new(&machine, None);
    ENTERED.plant(&mut known, 100.0);
    let call = Point::new().named(&Parameter::named("call", "the service"), "fstat");
    let prediction = tests::calls().predict(&call, &known).unwrap();
    known.learn(CALLS, &ENTERED.point(&[]), last);
    let missed = result(Unit::Nanoseconds, measured, prediction);
    let version = tests::calls().about().version;
    let mut points =
        [PointResult { experiment: CALLS.to_owned(), method_version: version, point: call, ..missed }];
    tests::explain_from(&[CALLS], &mut points, &known);
    let [point] = points;
    (point.explanation, point.because.map(|because| because.plain()).unwrap_or_default())
}

/// Where nothing shows that an input became another, a result that is near what is predicted from it by now has not missed for certain.
#[test]
fn a_miss_of_an_input_that_may_be_another_is_not_certain() {
    let ns = Dimension::Of(Unit::Nanoseconds);
    let wide = Found { is_mixture: false, ..fathom_described::found_within(0.9, 900.0, ns) };
    let (explanation, text) = said_by_the_end(900.0, wide);
    assert_eq!(explanation, Some(Explanation::NotCertain), "{text}");
    assert!(
        text.starts_with(
            "Not certain: an input of the prediction may have become another figure. cpu/system_call"
        ),
        "{text}"
    );
    assert!(
        text.contains("when the prediction was made; from what its inputs are by the end of the run"),
        "{text}"
    );
    let (explanation, text) = said_by_the_end(900.0, Found { is_mixture: true, ..Found::bare(900.0, ns) });
    assert_eq!(explanation, Some(Explanation::NotCertain), "in one of several states: {text}");
    let (explanation, text) = said_by_the_end(900.0, Found::exact(100.0, ns));
    assert_eq!(explanation, Some(Explanation::NotExplained), "{text}");
    assert!(text.contains("From what its inputs are by the end of the run the prediction is"), "{text}");
    assert!(!text.contains("none of its terms"), "{text}");
}

/// An input is shown to have become 300, from which the result of 140 (130 to 170) is 2.1 times off, and not for certain.
#[test]
fn a_miss_whose_interval_reaches_what_its_inputs_became_is_not_certain() {
    let explained = |high: f64| {
        let machine = planted::machine();
        let mut known = Known::new(&machine, None);
        let ns = Dimension::Of(Unit::Nanoseconds);
        let call = Point::new().named(&Parameter::named("call", "the service"), "fstat");
        let entered = |ns: f64| {
            let mut known = Known::new(&machine, None);
            Selector::only(CALLS, &[("call", Name("getppid"))]).plant(&mut known, ns);
            known
        };
        let [then, now] = [1000.0, 300.0].map(|ns| tests::calls().predict(&call, &entered(ns)).unwrap());
        let measured = now.total() / 2.1;
        known.learn(
            CALLS,
            &Selector::only(CALLS, &[("call", Name("getppid"))]).point(&[]),
            Found::exact(300.0, ns),
        );
        let version = tests::calls().about().version;
        let missed = result(Unit::Nanoseconds, measured, then);
        let mut point =
            PointResult { experiment: CALLS.to_owned(), method_version: version, point: call, ..missed };
        let Outcome::Value(estimate) = &mut point.outcome else { panic!("it was measured") };
        estimate.interval = Some(Interval { low: 0.95 * measured, high: high * measured });
        let mut points = [point];
        tests::explain_from(&[CALLS], &mut points, &known);
        let [point] = points;
        (point.explanation, point.because.map(|because| because.plain()).unwrap_or_default())
    };
    let (explanation, text) = explained(1.2);
    assert_eq!(explanation, Some(Explanation::NotCertain), "{text}");
    assert!(
        text.contains("and with the result's interval it may be within a factor of 2 of the result"),
        "{text}"
    );
    assert_eq!(explained(1.02).0, Some(Explanation::NotExplained));
}

/// The prediction from what was measured is 190 (136 to 244) and the result 290 (195 to 390): they touch, and most of the miss is open.
#[test]
fn intervals_that_only_touch_do_not_explain_a_miss() {
    const ENTERED: Selector = Selector::only(CALLS, &[("call", Name("getppid"))]);
    let explained = |high: f64| {
        let machine = planted::machine();
        let mut known = Known::new(&machine, None);
        let ns = Dimension::Of(Unit::Nanoseconds);
        let value = fathom_described::found(180.0, ns);
        let interval = Some(Interval { low: 126.0, high });
        let measured = Measured { value: 180.0, interval };
        known.learn(CALLS, &ENTERED.point(&[]), Found { measured, ..value });
        let mut wide = cost(290.0);
        let Outcome::Value(estimate) = &mut wide.outcome else { panic!("it was measured") };
        estimate.interval = Some(Interval { low: 195.0, high: 390.0 });
        let mut points = [wide];
        tests::explain_from(&["a/test"], &mut points, &known);
        matches!(points[0].explanation, Some(Explanation::Cause { .. }))
    };
    assert!(!explained(234.0));
    assert!(explained(290.0), "the one holds the other");
}

/// A mean over many operations may lack a fraction of an exit.
#[test]
fn an_exit_is_excluded_by_what_is_missing_of_all_operations_of_a_reading() {
    let mut machine = planted::machine();
    machine.virtualization.hypervisor = Fact::known(Some("KVM".to_owned()), "a test");
    let mut known = Known::new(&machine, None);
    if !cfg!(target_arch = "x86_64") {
        return;
    }
    vm_exit::TWO.plant(&mut known, 9_000.0);
    vm_exit::ONE.plant(&mut known, 1_000.0);
    let text_of = |operations: f64| {
        let trials = [vec![200.0; 8], vec![200.0; 8]].concat();
        let published = PublishedStatistics {
            observations: statistics::summary(&trials).unwrap(),
            trials: statistics::mean(&trials).unwrap(),
            operations: Some(operations),
        };
        let mut points = [PointResult { published: Some(published), ..cost(200.0) }];
        tests::explain_from(&["a/test"], &mut points, &known);
        points[0].because.as_ref().unwrap().plain()
    };
    let excluded =
        "an exit to the hypervisor that takes as long as a CPUID's ({8000}, longer than the missing";
    assert!(text_of(1.0).contains(&format!("{excluded} {{140}})")), "{}", text_of(1.0));
    assert!(text_of(10.0).contains(&format!("{excluded} {{1400}} of all operations")), "{}", text_of(10.0));
    assert!(!text_of(512.0).contains("exit to the hypervisor"), "{}", text_of(512.0));
}

/// A result with the core shared that is near its prediction with the core alone has not missed for certain, unless an input was of the core
/// shared.
#[test]
fn a_result_with_the_core_shared_is_judged_by_its_value_alone_where_its_inputs_are_alone() {
    let text_of = |alone: f64, input: CoreUse| {
        let machine = planted::machine();
        let mut known = Known::new(&machine, None);
        let call = Point::new().named(&Parameter::named("call", "the service"), "fstat");
        let cost = fathom_described::found(60.0, Dimension::Of(Unit::Nanoseconds));
        known.learn(CALLS, &call, Found { core: Some(input), ..cost });
        let prediction = Prediction::new().software("a call", 1.0, Basis::measured(60.0, CALLS, call));
        let core =
            PointCore { alone: Some(alone), observations: [50, 90, 0], ..planted::core(CoreState::Shared) };
        let mut points = [PointResult { core: Some(core), ..result(Unit::Nanoseconds, 170.0, prediction) }];
        tests::explain_from(&["a/test"], &mut points, &known);
        let [point] = points;
        (point.explanation, point.because.map(|because| because.plain()).unwrap_or_default())
    };
    let (explanation, text) = text_of(115.0, CoreUse::Alone);
    assert_eq!(explanation, Some(Explanation::NotCertain), "{text}");
    assert!(
        text.contains("Not certain: with the core alone, as what it was predicted from, it takes {115}"),
        "{text}"
    );
    assert_eq!(text_of(125.0, CoreUse::Alone).0, Some(Explanation::NotExplained));
    assert_eq!(text_of(115.0, CoreUse::Shared).0, Some(Explanation::NotExplained), "like beside like");
}

/// Of 174 µs (164 to 179) 80.8 µs was predicted, from 40.0 to 308 by published values: "further than a factor of two, not explained".
#[test]
fn a_result_in_the_range_of_its_prediction_is_said_to_be() {
    let text_in = |range: [f64; 2]| {
        let term = Prediction::new().software("a process", 1.0, Basis::published(80.8, "a paper"));
        let mut points = [result(Unit::Nanoseconds, 190.0, term.within(Some(range)))];
        (judged(None, &mut points).join("\n"), points[0].explanation.clone())
    };
    let (wide, explanation) = text_in([40.0, 308.0]);
    assert_eq!(explanation, Some(Explanation::InRange), "{wide}");
    assert!(
        wide.contains("from {40} to {308}, which is so wide that it holds nearly any result.")
            && wide.contains(
                "{1} lies in the range that published values give for the prediction, {0} are not explained"
            )
            && !wide.contains("Not explained"),
        "{wide}"
    );
    let (narrow, explanation) = text_in([70.0, 250.0]);
    assert_eq!(explanation, Some(Explanation::InRange), "{narrow}");
    assert!(narrow.contains("from {70} to {250}.") && !narrow.contains("so wide"), "{narrow}");
    assert_eq!(text_in([40.0, 170.0]).1, Some(Explanation::NotExplained), "beyond it");
}
