//! Where the time of an operation went: on its CPU, or waiting.

use fathom::experiment::Counters;
use fathom::record::{Trial, TrialOutcome};
use fathom::results::{ProcessorTime, Results};
use fathom::sampling::{Observations, Sample};

/// Ten operations of 1000 ns each, with so much processor time in all.
fn sample(user_ns: u64, system_ns: u64, baseline_iterations: u64) -> Sample {
    let observations = Observations::Ticks {
        operations: 1,
        each: true,
        overhead_ticks: 0.0,
        beyond_ns: 0.0,
        operation: vec![1000; 10],
        baseline: vec![],
    };
    let counters = Counters { user_ns, system_ns, ..Counters::default() };
    Sample { observations, operations: 10, baseline_iterations, counters, ..Sample::default() }
}

fn where_time_went(sample: Sample) -> Option<ProcessorTime> {
    let mut run = crate::described::fake_run();
    let planned = crate::described::planned();
    let trial = Trial { outcome: TrialOutcome::Measured { sample }, ..crate::described::trial(planned, 1) };
    run.trials = vec![trial];
    Results::of(&run).points[0].processor_time
}

#[test]
fn where_the_time_went_is_told_only_of_what_was_timed() {
    let spent = where_time_went(sample(2_000, 6_000, 0)).expect("counted");
    assert_eq!((spent.passed_ns, spent.ran_ns), (1000.0, 800.0));
    assert!((spent.waited_ns() - 200.0).abs() < 1e-9);
    assert_eq!(
        where_time_went(sample(5_000, 6_000, 0)),
        None,
        "more ran than passed: other work was counted too"
    );
    assert_eq!(where_time_went(sample(2_000, 6_000, 10)), None, "a baseline was counted too");
}
