//! A process that is quicker than a thread breaks a bound, and the report says so.

use super::planned;
use fathom::experiment::Counters;
use fathom::record::{Run, Trial, TrialOutcome};
use fathom::results::Results;
use fathom::sampling::{Observations, Sample};

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
            Trial {
                outcome: TrialOutcome::Measured { sample },
                ..crate::described::trial(planned.clone(), round)
            }
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
    let report = fathom::report::RunReport::of(&results);
    let page =
        fathom::report::render(&report, fathom::report::Form::Markdown, fathom::report::Style::default());
    assert!(page.matches("a process is a thread with its own address space").count() >= 2, "{page}");
    assert!(results.has_failed(), "what is implausible makes the exit status");
}
