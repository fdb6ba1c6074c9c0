//! Trials that did something else than the operation named, and times below nothing, planted into a run.

use crate::part_of_run::edited;
use fathom::record::Run;
use fathom::report::{Facts, RunReport};
use fathom::results::{PointResult, Results};
use serde_json::{Value, json};

/// The fixed run, with those trials changed that are of this experiment and of a point with these parameters.
fn changed(experiment: &str, wanted: &[(&str, Value)], change: impl Fn(u64, &mut Value)) -> Run {
    let edit = |line: &mut Value| {
        let of_point = wanted.iter().all(|(name, value)| line["point"][name] == *value);
        if line["line"] == "trial" && line["experiment"] == experiment && of_point {
            let round = line["round"].as_u64().unwrap();
            change(round, &mut line["outcome"]["sample"]);
        }
    };
    crate::fixture::parse(&edited(&crate::reported::FIXED.text, edit))
}

/// The run in which some trials of a call with three arguments called something else, which took ten times as long.
fn calling_something_else(is_wrong: impl Fn(u64) -> bool) -> Run {
    let point = [("form", json!("abi")), ("arguments", json!(3))];
    changed("cpu/procedure_call", &point, |round, sample| {
        if is_wrong(round) {
            sample["stated"]["instructions_listed"] = json!(99.0);
            for tick in sample["observations"]["operation"].as_array_mut().unwrap() {
                *tick = json!(tick.as_i64().unwrap() * 10);
            }
        }
    })
}

fn with_call<T>(run: &Run, look: impl FnOnce(&PointResult) -> T) -> T {
    let results = Results::of(run);
    let wanted = |point: &&PointResult| point.point.to_string().contains("arguments=3 ");
    let mut calls = results.of_experiment("cpu/procedure_call").filter(wanted);
    look(calls.find(|point| point.point.to_string().contains("form=abi")).expect("the call"))
}

#[test]
fn trials_whose_own_evidence_fails_are_left_out_and_counted() {
    let sound = with_call(&calling_something_else(|_| false), |point| point.estimate().cloned().unwrap());
    with_call(&calling_something_else(|round| round == 3 || round == 5), |point| {
        assert_eq!((point.trials, point.left_out), ((6, 8), 2));
        assert!(point.evidence_holds(), "{:?}", point.evidence);
        assert!(
            point.evidence.checks().iter().any(|check| check.seen.contains("6 of 8")),
            "{:?}",
            point.evidence
        );
        let found = point.estimate().unwrap();
        assert!(found.interval.is_some() && (found.value / sound.value - 1.0).abs() < 0.01, "{found:?}");
    });
}

#[test]
fn where_too_few_are_sound_all_are_kept_and_the_point_is_marked() {
    // The last states what it should, so that nothing is seen in the sums.
    with_call(&calling_something_else(|round| round % 2 == 1), |point| {
        assert_eq!((point.trials, point.left_out), ((8, 8), 0));
        assert!(!point.evidence_holds(), "{:?}", point.evidence);
    });
}

/// Six sound trials of sixteen may be sound by chance.
#[test]
fn where_most_trials_fail_the_others_are_not_preferred() {
    let mut run = calling_something_else(|round| ![1, 4, 8].contains(&round));
    let again: Vec<_> = run.trials.clone();
    run.trials.extend(again);
    with_call(&run, |point| {
        assert_eq!((point.trials, point.left_out), ((16, 16), 0));
        assert!(!point.evidence_holds(), "{:?}", point.evidence);
    });
}

#[test]
fn a_time_below_nothing_is_counted_and_never_the_best() {
    let point = [("placement", json!("across-cpus"))];
    let run = changed("test/<b>bold</b>|pipe", &point, |round, sample| {
        if round == 2 && sample["observations"]["each"] == true {
            sample["observations"]["operation"][0] = json!(-7);
        }
    });
    let results = Results::of(&run);
    let times: Vec<&PointResult> = results.points.iter().filter(|point| point.negative > 0).collect();
    assert_eq!(times.len(), 1);
    assert_eq!((times[0].negative, times[0].best()), (1, None));
    assert!(times[0].estimate().is_some_and(|found| found.min == Some(-7.0)), "nothing is removed");
    let report: Value = serde_json::from_str(&RunReport::of(&results).json()).unwrap();
    let told: Vec<&Value> =
        report["points"].as_array().unwrap().iter().filter(|one| one["negative"] != 0).collect();
    assert!(told.len() == 1 && told[0]["best"].is_null(), "{told:?}");
}
