//! Every rule, and cases from which nothing follows.

use super::*;
use crate::results::{Disturbance, Evidence, Outcome, ProcessorTime};
use fathom_core::experiment::{Basis, Check, Dimension, Found, Parameter, Point, Prediction};
use fathom_core::quantity::Unit;
use fathom_core::statistics::{Estimate, Interval};

fn basis(value: f64) -> Basis {
    Basis::published(value, "a paper")
}

/// A point with this measured value and an interval of a tenth on each side.
fn result(unit: Unit, measured: f64, prediction: Prediction) -> PointResult {
    let interval = Some(Interval { low: 0.9 * measured, high: 1.1 * measured });
    let (trials, observations) = (8, 80);
    PointResult {
        experiment: "a/test".to_owned(),
        method_version: 1,
        point: Point::new(),
        parameters: vec![],
        unit,
        outcome: Outcome::Value(Estimate {
            value: measured,
            interval,
            level: 0.95,
            min: None,
            max: None,
            trials,
            observations,
        }),
        baseline: None,
        core: None,
        samples: vec![],
        by_round: vec![],
        each: false,
        percentiles: vec![],
        modes: vec![],
        negative: 0,
        published: None,
        outliers: None,
        prediction: Some(prediction),
        unpredicted: None,
        evidence: Evidence::judged(vec![]),
        trials: (trials, trials),
        left_out: 0,
        disturbance: Disturbance::default(),
        processor_time: None,
    }
}

fn cost(measured: f64, prediction: Prediction) -> PointResult {
    result(Unit::Nanoseconds, measured, prediction)
}

/// A cost of 1000 with a prediction of 100, and the distribution of its time.
fn spent(ran_ns: f64, kernel_share: f64, ticks: u64) -> PointResult {
    let in_kernel = (kernel_share * ticks as f64).round() as u64;
    let kernel_interval = fathom_core::statistics::share_interval(in_kernel, ticks);
    let predicted =
        Prediction::new().hardware("metal", 60.0, basis(1.0)).software("entries", 40.0, basis(1.0));
    let time = ProcessorTime { passed_ns: 1000.0, ran_ns, kernel_share, kernel_interval };
    PointResult { processor_time: Some(time), ..cost(1000.0, predicted) }
}

fn texts(points: &[PointResult]) -> Vec<String> {
    let machine = crate::results::planted::machine();
    let known = Known::new(&machine, None);
    by_reason(points.iter(), &known).iter().map(|finding| finding.statement.plain()).collect()
}

/// The finding about one miss.
fn why(point: PointResult) -> String {
    let texts = texts(&[point]);
    assert_eq!(texts.len(), 1, "{texts:?}");
    texts[0].clone()
}

fn two(one: f64, other: f64) -> Prediction {
    Prediction::new().hardware("one", 1.0, basis(one)).software("other", 1.0, basis(other))
}

#[test]
fn within_a_factor_of_two_nothing_is_told() {
    assert!(texts(&[cost(199.0, two(60.0, 40.0)), cost(51.0, two(60.0, 40.0))]).is_empty());
    assert_eq!(texts(&[cost(201.0, two(60.0, 40.0))]).len(), 1);
}

#[test]
fn without_evidence_the_measurement_is_in_doubt() {
    let mut point = cost(10.0, two(60.0, 40.0));
    point.evidence = Evidence::judged(vec![Check::missing("it was the one named")]);
    let text = why(point);
    assert!(text.contains("in doubt, not the prediction") && !text.contains("alone are larger"), "{text}");
}

#[test]
fn a_term_that_alone_is_more_than_was_measured_is_too_high_with_by_how_much() {
    let text = why(cost(10.0, two(60.0, 9.0)));
    assert!(text.contains("{10} measured, {69} predicted"), "{text}");
    assert!(
        text.contains("The whole operation took {10}; these terms alone are larger: one, {60}."),
        "{text}"
    );
    assert!(!text.contains("other"), "9 is less than 10: {text}");
    let both = why(cost(10.0, two(60.0, 12.0)));
    assert!(
        both.contains("The whole operation took {10}; these terms alone are larger: one, {60}; other, {12}."),
        "{both}"
    );
    // 10.5 is within the interval of 10.
    assert!(!why(cost(10.0, two(60.0, 10.5))).contains("other"));
}

#[test]
fn where_no_term_alone_is_more_all_together_are() {
    let three = Prediction::new().hardware("each", 1.0, basis(9.0)).software("next", 1.0, basis(8.0));
    let text = why(cost(10.0, three.software("last", 1.0, basis(7.0))));
    assert!(text.contains("No single term exceeds") && text.contains("too high by {14}"), "{text}");
    assert!(text.contains("the largest is: each ({9})"), "{text}");
}

#[test]
fn what_took_half_of_the_time_is_where_it_lacks() {
    let waiting = why(spent(300.0, 0.5, 1000));
    assert!(waiting.contains("Missing: {900}") && waiting.contains("this process did not run"), "{waiting}");
    let kernel = why(spent(900.0, 0.8, 1000));
    assert!(kernel.contains("the missing time is in the kernel, for which {40} was predicted"), "{kernel}");
    let program = why(spent(900.0, 0.1, 1000));
    assert!(
        program.contains("the missing time is in the processor, for which {60} was predicted"),
        "{program}"
    );
}

#[test]
fn a_split_that_ticks_do_not_resolve_tells_nothing() {
    let text = why(spent(900.0, 0.6, 10));
    assert!(text.contains("The wrong term is unknown. Too few kernel ticks"), "{text}");
    assert!(!text.contains("According to the kernel"), "a share of six of ten ticks is none: {text}");
    // Twelve ticks in the program may be nine: the share is too uncertain to be printed.
    let text = why(spent(900.0, 0.0, 12));
    assert!(text.contains("Too few kernel ticks") && !text.contains("in the processor"), "{text}");
    let text = why(cost(1000.0, two(60.0, 40.0)));
    assert!(text.contains("The wrong term is unknown. Processor time was not counted"), "{text}");
}

#[test]
fn a_mean_that_is_not_what_the_median_is_of_tells_nothing() {
    let mut point = spent(300.0, 0.5, 1000);
    point.processor_time = point.processor_time.map(|time| ProcessorTime { passed_ns: 9000.0, ..time });
    let text = why(point);
    assert!(text.contains("The wrong term is unknown"), "{text}");
}

#[test]
fn a_rate_is_held_against_what_terms_allow_and_what_they_take() {
    let rate = |measured, takes: f64| {
        let prediction =
            Prediction::new().hardware("the wire", 1.0, basis(100.0)).software("entries", 1.0, basis(takes));
        result(Unit::BytesPerSecond, measured, prediction)
    };
    let above = why(rate(300.0, -60.0));
    assert!(above.contains("before its deductions. These terms are too low: the wire."), "{above}");
    let between = why(rate(85.0, -60.0));
    assert!(between.contains("The deductions of the prediction are too large: entries."), "{between}");
    let unclear = why(rate(95.0, -60.0));
    assert!(unclear.contains("The wrong term is unknown"), "95 may have been 104: {unclear}");
    let slower = why(rate(10.0, -60.0));
    assert!(slower.contains("The wrong term is unknown"), "{slower}");
    let alone = Prediction::new().hardware("the wire", 1.0, basis(100.0));
    let alone = why(result(Unit::BytesPerSecond, 10.0, alone));
    assert!(alone.contains("The prediction has a single term, the wire: this term is too high."), "{alone}");
}

#[test]
fn misses_with_the_same_reason_are_told_together_by_the_furthest() {
    let mut further = cost(5.0, two(60.0, 4.0));
    further.point = Point::new().with(&COUNT, 7);
    let texts = texts(&[cost(10.0, two(60.0, 4.0)), further, cost(1000.0, two(60.0, 40.0))]);
    assert_eq!(texts.len(), 2, "{texts:?}");
    let lead = "{2} points missed; the furthest is <count=7 placement=one-cpu>: {5} measured, {64} predicted: a factor of {";
    assert!(texts[0].starts_with(lead), "{texts:?}");
}

const COUNT: Parameter = Parameter::count("count", "a count");

#[test]
fn a_term_that_an_earlier_result_has_changed_since_is_told_with_its_last_value() {
    // The library's getpid is predicted from getppid, which round one found at 1000 ns and the whole run at 100.
    let machine = crate::results::planted::machine();
    let (name, point) = ("cpu/system_call", call("getpid"));
    let predicted = |entry: f64| {
        let mut known = Known::new(&machine, None);
        let found = Found::bare(entry, Dimension::Of(Unit::Nanoseconds));
        known.learn(name, &call("getppid"), found);
        let prediction =
            fathom_core::experiment::registry::find(name).unwrap().predict(&point, &known).unwrap();
        (prediction, known)
    };
    let ((early, _), (_, last), (_, same)) = (predicted(1000.0), predicted(100.0), predicted(1000.0));
    let result =
        || PointResult { experiment: name.to_owned(), point: point.clone(), ..cost(100.0, early.clone()) };
    let text = |known: &Known| by_reason([result()].iter(), known)[0].statement.plain();
    assert!(text(&last).contains("changed during the run: {1000} became {100}."), "{}", text(&last));
    assert!(!text(&same).contains("changed during"), "{}", text(&same));
}

fn call(service: &str) -> Point {
    let meaning = "the service";
    Point::new().named(&Parameter::named("call", meaning), service)
}

#[test]
fn an_assumed_input_that_misses_ask_to_be_another_is_named_once() {
    let made = |name: &str, work: f64, measured: f64| {
        let assumed = Basis::assumed(100.0, "an order of magnitude");
        let prediction =
            Prediction::new().hardware("work", 1.0, basis(work)).software("waking", 1.0, assumed);
        PointResult { experiment: name.to_owned(), ..cost(measured, prediction) }
    };
    let machine = crate::results::planted::machine();
    let known = Known::new(&machine, None);
    // All require a wake-up of 1000.
    let alike = [made("a/one", 10.0, 1010.0), made("a/two", 50.0, 1050.0), made("a/three", 20.0, 1020.0)];
    let misses = findings(&["a/one", "a/two", "a/three"], &alike, &known);
    let roots: Vec<String> = misses.roots.iter().map(|root| root.statement.plain()).collect();
    assert_eq!(roots.len(), 1, "{roots:?}");
    assert!(roots[0].contains(
        "waking (assumed) should be {10} times the value used. This explains {3} wrong predictions"
    ));
    assert!(
        roots[0].contains("{1010} measured, {110} predicted, {1010} with the corrected input."),
        "{roots:?}"
    );
    assert!(misses.others.iter().all(|(_, findings)| findings.is_empty()), "they are told once");
    // They agree about no value.
    let unlike = [made("a/one", 10.0, 310.0), made("a/two", 50.0, 9050.0), made("a/three", 20.0, 90020.0)];
    let misses = findings(&["a/one", "a/two", "a/three"], &unlike, &known);
    assert!(misses.roots.is_empty() && misses.others.iter().all(|(_, findings)| findings.len() == 1));
}

#[test]
fn a_figure_of_the_run_that_became_another_is_named_once() {
    let machine = crate::results::planted::machine();
    let name = "cpu/system_call";
    let entry = |ns: f64| {
        let mut known = Known::new(&machine, None);
        known.learn(name, &call("getppid"), Found::bare(ns, Dimension::Of(Unit::Nanoseconds)));
        known
    };
    let method = fathom_core::experiment::registry::find(name).unwrap();
    let version = method.about().version;
    let made = |service: &str| {
        let prediction = method.predict(&call(service), &entry(1000.0)).unwrap();
        let measured = method.predict(&call(service), &entry(100.0)).unwrap().total();
        let point =
            PointResult { experiment: name.to_owned(), point: call(service), ..cost(measured, prediction) };
        PointResult { method_version: version, ..point }
    };
    let points = [made("getpid"), made("getpid by library"), made("fstat")];
    let missed = points.iter().filter(|point| Missed::of(point).is_some()).count();
    let misses = findings(&[name], &points, &entry(100.0));
    let roots: Vec<String> = misses.roots.iter().map(|root| root.statement.plain()).collect();
    assert!(missed > 1 && roots.len() == 1, "{missed}: {roots:?}");
    assert!(roots[0].contains("was taken as {1000} and measured as {100}"), "{roots:?}");
}
