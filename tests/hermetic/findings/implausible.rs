//! What breaks a bound is implausible, and the report says so.

use super::planned;
use crate::described::measured;
use fathom::experiment::{Counters, Known};
use fathom::experiments;
use fathom::record::{PredictionLine, Run};
use fathom::report::{Form, RunReport, Style, render};
use fathom::results::Results;
use fathom::sampling::{Observations, Sample};
use serde_json::Value;

/// A run that has found, in eight trials each, that creating a thread and a process take this long, nanoseconds.
fn creating(thread: f64, process: f64) -> Run {
    let values = [
        ("cpu/thread_creation", "measure=create and join placement=one-cpu", thread),
        ("cpu/process_creation", "measure=fork, exit, wait placement=one-cpu", process),
    ];
    let mut run = crate::described::fake_run();
    run.header.plan.clear();
    run.trials.clear();
    for (name, words, value) in values {
        let planned = planned(name, words);
        let trial = |round: u32| {
            let each = value + f64::from(round);
            let observations = Observations::Values { values: vec![each; 5] };
            let witnessed = [("children_reaped".to_owned(), 1.0)].into();
            let counters = Counters { voluntary_switches: 1, ..Counters::default() };
            let sample = Sample { observations, operations: 1, witnessed, counters, ..Sample::default() };
            measured(&planned, round, sample)
        };
        run.trials.extend((1..=8).map(trial));
        run.header.plan.push(planned);
    }
    run
}

#[test]
fn a_process_quicker_than_its_thread_is_implausible_with_it_and_the_report_says_why() {
    let outcomes =
        |run: &Run| Results::of(run).points.iter().map(|point| point.outcome.name()).collect::<Vec<_>>();
    assert_eq!(outcomes(&creating(20_000.0, 60_000.0)), ["value", "value"]);
    assert_eq!(outcomes(&creating(20_003.0, 20_000.0)), ["value", "value"], "the intervals meet");
    let turned = creating(60_000.0, 20_000.0);
    assert_eq!(outcomes(&turned), ["implausible", "implausible"]);
    let results = Results::of(&turned);
    let page = render(&RunReport::of(&results), Form::Markdown, Style::default());
    assert!(page.matches("a process is a thread with its own address space").count() >= 2, "{page}");
    assert!(results.has_failed(), "what is implausible makes the exit status");
}

/// The forms of x86-64 whose readings are ordered, with and without CPUID.
#[cfg(target_arch = "x86_64")]
const ORDERED: [&str; 5] = [
    "cpuid-rdtsc rdtscp-cpuid",
    "cpuid-rdtsc rdtscp",
    "lfence-rdtsc-lfence rdtscp-lfence",
    "lfence-rdtsc-lfence nop rdtscp-lfence",
    "mfence-lfence-rdtsc",
];

/// A run in which a pair of readings took this multiple of its bound, and the bound, nanoseconds.
#[cfg(target_arch = "x86_64")]
fn reading_twice(form: &str, times: f64) -> (Run, f64) {
    let experiment = experiments::find("cpu/timing_overhead").expect("an experiment");
    let mut run = crate::described::fake_run();
    let known = Known::new(&run.header.machine, Some(3e9));
    let planned = planned("cpu/timing_overhead", &format!("measure=pair placement=one-cpu reading={form} "));
    let bound = experiment.bound(&planned.point, &known).expect("a bound");
    let limit = bound.limit;
    let trial = |round: u32| {
        let values = vec![limit * times * (1.0 + f64::from(round) / 1000.0); 5];
        let witnessed = [("negative".to_owned(), 0.0)].into();
        let observations = Observations::Values { values };
        let sample = Sample { observations, operations: 1, witnessed, ..Sample::default() };
        measured(&planned, round, sample)
    };
    run.trials = (1..=8).map(trial).collect();
    run.predictions = vec![PredictionLine {
        experiment: planned.experiment.clone(),
        point: planned.point.clone(),
        prediction: None,
        unpredicted: None,
        bound: Some(bound),
    }];
    run.header.plan = vec![planned];
    (run, limit)
}

#[cfg(target_arch = "x86_64")]
#[test]
fn a_pair_of_ordered_readings_below_its_bound_is_implausible_and_the_bound_that_was_kept_is_told() {
    for form in ORDERED {
        for (times, outcome) in [(0.9, "implausible"), (1.1, "value")] {
            let (run, limit) = reading_twice(form, times);
            let results = Results::of(&run);
            assert_eq!(results.points[0].outcome.name(), outcome, "{form}");
            let json = render(&RunReport::of(&results), Form::Json, Style::default());
            let json: Value = serde_json::from_str(&json).expect("JSON");
            let told = &json["points"][0]["bound"];
            assert_eq!(told["limit"].as_f64(), Some(limit), "{form}: {told}");
            assert!(told["because"].as_str().is_some_and(|why| why.contains("six cycles")), "{told}");
        }
    }
}
