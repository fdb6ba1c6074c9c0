//! Reasons of missed predictions in runs of real machines: with a printed cause the prediction is near what was measured, and no point
//! has two.

use crate::committed::{SHARED_CORES, run};
use fathom::experiment::{Dimension, Finding, Found, Question, statement};
use fathom::record::{Run, Trial};
use fathom::results::{Explanation, FAIR, PointResult, PredictionNearness, Results, distance};

/// What a sentence with a cause says of it.
const CAUSE: [&str; 2] = ["with the measured value the prediction is", "wrong predictions of"];

/// The name of the prediction with the measured value in it.
const AGAIN: &str = "predicted with the measured value";

fn is_explained(point: &PointResult) -> bool {
    matches!(point.explanation, Some(Explanation::Cause { .. }))
}

/// Everything about the causes that cannot be so.
fn violations(results: &Results) -> Vec<String> {
    let findings = || results.findings.iter().flat_map(|(_, of)| of).chain(&results.overall);
    let misses = || findings().filter(|finding| finding.is_miss());
    let mut violations: Vec<String> = misses().flat_map(impossible).collect();
    for point in &results.points {
        let missed = point.nearness(FAIR) == Some(PredictionNearness::Beyond);
        if missed != point.explanation.is_some() {
            violations.push(format!("{} {}: {:?}", point.experiment, point.point, point.explanation));
        }
    }
    // Each explained point is counted by one sentence.
    let counted: usize = misses().map(explained).sum();
    let causes = results.points.iter().filter(|point| is_explained(point)).count();
    if counted != causes {
        violations.push(format!("{counted} points in sentences with a cause, {causes} explained"));
    }
    violations
}

/// Relations in one finding that cannot be.
fn impossible(finding: &Finding) -> Vec<String> {
    let text = finding.statement.plain();
    let causes: usize = CAUSE.iter().map(|words| text.matches(words).count()).sum();
    let figures: Vec<_> = finding.statement.figures().collect();
    let of = |name: &str| figures.iter().find(|figure| figure.name == name).map(|figure| figure.found.value);
    let far =
        of("measured").zip(of(AGAIN)).is_some_and(|(measured, again)| distance(measured / again) > FAIR);
    let broken = causes > 1 || (causes == 1 && (far || text.contains("Not explained")));
    broken.then(|| text.clone()).into_iter().collect()
}

/// The number of points that the finding gives a cause for.
fn explained(finding: &Finding) -> usize {
    let text = finding.statement.plain();
    let value = |name: &str| finding.statement.figures().find(|figure| figure.name == name);
    let counted = |name: &str| value(name).map_or(1, |figure| figure.found.value as usize);
    match CAUSE.iter().position(|words| text.contains(words)) {
        Some(0) => counted("points"),
        Some(_) => counted("predictions explained"),
        None => 0,
    }
}

#[test]
fn causes_in_real_runs_are_possible_and_one_for_a_point() {
    for (name, compressed) in SHARED_CORES {
        let run = run(compressed);
        let results = Results::of(&run);
        let missed = results.points.iter().filter(|point| point.explanation.is_some()).count();
        assert!(missed > 50, "{name}: {missed}");
        assert_eq!(violations(&results), Vec::<String>::new(), "{name}");
    }
}

/// The run of a guest, on a kernel that takes three times as long to enter and leave.
fn with_a_slow_kernel() -> Run {
    let mut run = run(SHARED_CORES[0].1);
    let is_entry = |trial: &Trial| {
        let by = trial.point.name_of("reading").is_some_and(|reading| reading.ends_with("by syscall"));
        trial.experiment == "cpu/system_call" || by
    };
    let entries = run.trials.iter_mut().filter(|trial| is_entry(trial));
    for sample in entries.filter_map(crate::described::sample_of) {
        crate::described::each_time(sample, |ticks| *ticks *= 3);
    }
    run
}

#[test]
fn a_slow_kernel_is_the_cause_of_what_enters_it() {
    let run = with_a_slow_kernel();
    let results = Results::of(&run);
    assert_eq!(violations(&results), Vec::<String>::new());
    let explained: Vec<_> = results.points.iter().filter(|point| is_explained(point)).collect();
    assert!(!explained.is_empty(), "there is something to judge");
    assert!(explained.iter().any(|point| point.experiment == "cpu/timing_overhead"), "{explained:?}");
}

#[test]
fn an_impossible_cause_and_a_second_one_are_found() {
    let run = with_a_slow_kernel();
    let broken = |change: &dyn Fn(&mut Results)| {
        let mut results = Results::of(&run);
        change(&mut results);
        !violations(&results).is_empty()
    };
    assert!(broken(&|results| {
        let point = results.points.iter_mut().find(|point| point.explanation.is_none()).unwrap();
        point.explanation = Some(Explanation::Cause { mechanism: "a guess".to_owned(), changes: None });
    }));
    let far = |measured: f64, again: f64| {
        let figure = |value| Found::exact(value, Dimension::Ratio);
        let statement = statement!(
            "{measured} measured: with the measured value the prediction is {again}.",
            measured = figure(measured).named("measured"),
            again = figure(again).named(AGAIN)
        );
        Finding::of(Question::Miss, "a miss", statement)
    };
    assert!(!impossible(&far(21.0, 10.0)).is_empty() && impossible(&far(19.0, 10.0)).is_empty());
    // A second sentence about a point that has its cause.
    assert!(broken(&|results| {
        let is_cause =
            |finding: &&Finding| CAUSE.iter().any(|words| finding.statement.plain().contains(words));
        let findings = results.findings.iter().flat_map(|(_, of)| of).chain(&results.overall);
        let cause = findings.filter(|finding| finding.is_miss()).find(is_cause).cloned();
        results.overall.push(cause.unwrap());
    }));
}
