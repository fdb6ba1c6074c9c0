//! The run file: read back without loss, whole up to wherever a kill tore it, and never a panic on anything else.

use fathom::experiment::Prediction;
use fathom::record::{
    Closing, Ending, LeftOut, Line, PredictionLine, ReadError, Run, Settled, Trial, TrialOutcome,
};
use fathom::results::{Outcome, Results};
use fathom::sampling::{Conditions, Observations, Sample};
use proptest::prelude::*;

fn sample(operation: Vec<i64>) -> TrialOutcome {
    let observations = Observations::Ticks {
        operations: 3,
        each: false,
        overhead_ticks: 20.0,
        beyond_ns: 0.1,
        baseline: operation.clone(),
        operation,
    };
    TrialOutcome::Measured { sample: Sample { observations, ..Sample::default() } }
}

fn lines(outcomes: &[TrialOutcome]) -> Vec<Line> {
    let planned = crate::described::planned();
    let predicted = PredictionLine {
        experiment: planned.experiment.clone(),
        point: planned.point.clone(),
        prediction: Some(Prediction::new()),
        unpredicted: None,
        bound: None,
    };
    let closing = Closing {
        at: "2026-01-01T00:01:00Z".to_owned(),
        took_s: 60.0,
        rounds: 1,
        ended: Ending::Budget,
        conditions: Conditions::default(),
        peer_lost: Some("it hangs".to_owned()),
    };
    let trial = |(round, outcome): (usize, &TrialOutcome)| {
        Line::Trial(Box::new(Trial {
            outcome: outcome.clone(),
            ..crate::described::trial(crate::described::planned(), round as u32 + 1)
        }))
    };
    let header = Line::Header(Box::new(crate::described::header(vec![planned])));
    let middle = outcomes.iter().enumerate().map(trial);
    [header, Line::Prediction(predicted)].into_iter().chain(middle).chain([Line::Closing(closing)]).collect()
}

fn text(lines: &[Line]) -> String {
    lines.iter().map(|line| serde_json::to_string(line).unwrap() + "\n").collect()
}

fn some_run() -> String {
    text(&lines(&[
        sample(vec![130, 131, -4]),
        TrialOutcome::Failed { reason: "a \"quoted\"\nreason".to_owned() },
        sample(vec![1]),
    ]))
}

#[test]
fn of_a_file_torn_anywhere_every_whole_line_is_kept() {
    let whole = some_run();
    let ends: Vec<usize> = whole.match_indices('\n').map(|(at, _)| at + 1).collect();
    let complete = Run::parse(&whole).unwrap();
    for cut in (0..whole.len()).filter(|cut| whole.is_char_boundary(*cut)) {
        let lines = ends.iter().filter(|end| **end <= cut).count();
        match Run::parse(&whole[..cut]) {
            Err(error) => assert!(lines == 0 && matches!(error, ReadError::Empty(_)), "{cut}: {error}"),
            Ok(run) => {
                assert_eq!(run.trials[..], complete.trials[..lines.saturating_sub(2).min(3)]);
                assert_eq!(run.torn, !ends.contains(&cut));
                assert_eq!(run.whole_bytes as usize, ends[lines - 1]);
            }
        }
    }
}

#[test]
fn a_damaged_line_is_named_by_its_number() {
    let broken = some_run().replacen("\"round\":2", "\"round\":\"two\"", 1);
    assert!(matches!(Run::parse(&broken), Err(ReadError::Damaged { number: 4, .. })));
}

#[test]
fn fields_of_a_later_version_are_ignored() {
    let later = some_run().replace("\"took_s\":", "\"phase_of_the_moon\":0.3,\"took_s\":");
    assert_eq!(
        Run::parse(&later).unwrap(),
        Run { whole_bytes: later.len() as u64, ..Run::parse(&some_run()).unwrap() }
    );
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(observed in prop::collection::vec(prop::collection::vec(any::<i64>(), 1..20), 1..8)) {
        let outcomes: Vec<TrialOutcome> = observed.into_iter().map(sample).collect();
        let run = Run::parse(&text(&lines(&outcomes))).unwrap();
        let read: Vec<TrialOutcome> = run.trials.iter().map(|trial| trial.outcome.clone()).collect();
        prop_assert_eq!(read, outcomes);
        // Huge and negative numbers included, results are made without a panic.
        let _ = Results::of(&run);
    }

    #[test]
    fn no_text_makes_reading_panic(garbage in ".{0,300}") {
        let _ = Run::parse(&garbage);
        let _ = Run::parse(&(some_run() + &garbage + "\n"));
    }
}

#[test]
fn a_point_that_did_not_fit_into_the_budget_is_skipped_with_its_price_unless_it_has_its_interval() {
    let planned = crate::described::planned();
    let settled = |experiment: &str| {
        let left_out = LeftOut {
            experiment: experiment.to_owned(),
            point: planned.point.clone(),
            cost_s: 12.2,
            more: false,
        };
        Line::Settled(Settled {
            at_s: 3.0,
            budget_s: 90.0,
            points: 0,
            trials: 0,
            least_trials: 0,
            most_trials: 0,
            trial_ns: 4_000_000,
            end_s: 3.0,
            left_out: vec![left_out],
            enough_budget_s: 180.0,
        })
    };
    let outcome = |outcomes: &[TrialOutcome], settled: Vec<Line>| {
        let mut all = lines(outcomes);
        all.extend(settled);
        let run = Run::parse(&text(&all)).unwrap();
        let point = Results::of(&run).points.remove(0);
        let is_seen = point.estimate().or(point.outcome.unusable()).is_some();
        (point.outcome, is_seen)
    };
    let trials = |number: usize| vec![sample(vec![130, 131, 132]); number];
    let (skipped, is_seen) = outcome(&trials(3), vec![settled(&planned.experiment)]);
    let reason = skipped.reason().unwrap();
    assert!(matches!(skipped, Outcome::Skipped { .. }) && !is_seen, "{skipped:?}");
    assert!(reason.contains("about 10 s") && reason.contains("--budget 3m"), "{reason}");
    assert!(outcome(&trials(3), vec![]).1, "without that line it stands");
    assert!(outcome(&trials(6), vec![settled(&planned.experiment)]).1, "with an interval it stands");
    let later = vec![settled(&planned.experiment), settled("another/one")];
    assert!(outcome(&trials(5), later).1, "the last settlement holds");
    let failed = vec![TrialOutcome::Failed { reason: "it broke".to_owned() }];
    assert!(matches!(outcome(&failed, vec![settled(&planned.experiment)]).0, Outcome::Failed { .. }));
}
