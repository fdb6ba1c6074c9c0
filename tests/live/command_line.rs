//! The program as a user meets it when it measures: what it prints where, and what it leaves.

use crate::short_run::{fathom, lines_of, made_short_run, text};
use crate::tier::{Outcome, Test, beside};

pub const TESTS: &[Test] = &beside![
    a_run_prints_its_table_and_leaves_a_run_file_and_a_page,
    every_prediction_stands_in_the_file_before_the_first_trial_of_its_point,
    two_runs_at_once_are_refused_unless_accepted,
    a_dry_run_prints_the_plan_measures_nothing_and_forecasts_from_a_stored_run,
    the_run_file_keeps_what_the_program_was_built_with,
];

fn a_run_prints_its_table_and_leaves_a_run_file_and_a_page() -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.jsonl");
    let output = made_short_run(&file);
    let (table, said) = (text(&output.stdout), text(&output.stderr));
    // Which of its figures have their trials in so short a time is the host's, and a disturbed one is named with its fault.
    let is_named = ["\n  system call (getppid)", "Do not use cpu/system_call"];
    assert!(is_named.iter().any(|name| table.contains(name)) && table.contains("\nMain figures"), "{table}");
    assert!(table.lines().count() <= fathom::report::screen::MOST_LINES, "{table}");
    let shown = |full: &[&str]| {
        text(&fathom().arg("report").args(full).arg(&file).assert().success().get_output().stdout)
    };
    let screen = shown(&[]);
    assert!(table.starts_with(&screen), "the report shows the screen again: {screen}\n{table}");
    assert!(shown(&["--full"]).contains("cpu/system_call (one-cpu)"), "every figure stands in the tables");
    assert!(!said.contains("getppid"), "results go to standard output alone: {said}");
    assert_eq!(lines_of(&file, "header").len(), 1);
    assert_eq!(lines_of(&file, "closing").len(), 1);
    let (trials, plan) = (lines_of(&file, "trial"), lines_of(&file, "header")[0]["plan"].clone());
    let settled = lines_of(&file, "settled").pop().expect("it was settled which points get their trials");
    for point in plan.as_array().unwrap() {
        let is = |other: &serde_json::Value| other["point"] == point["point"];
        let priced = settled["left_out"].as_array().is_some_and(|out| out.iter().any(is));
        let kept = trials.iter().any(is) || point["skip"].is_string() || priced;
        assert!(kept, "neither visited nor skipped: {point}");
    }
    assert!(std::fs::read_to_string(folder.path().join("run.html")).unwrap().starts_with("<!doctype html>"));
    Ok(())
}

fn every_prediction_stands_in_the_file_before_the_first_trial_of_its_point() -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.jsonl");
    made_short_run(&file);
    let text = std::fs::read_to_string(&file).unwrap();
    let mut said = vec![];
    for line in text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()) {
        match line["line"].as_str() {
            Some("prediction") => said.push(line["point"].clone()),
            Some("trial") => {
                assert!(said.contains(&line["point"]), "measured before it was predicted: {}", line["point"]);
            }
            _ => {}
        }
    }
    assert!(said.len() > 10);
    Ok(())
}

fn two_runs_at_once_are_refused_unless_accepted() -> Outcome {
    let lock = fathom::run::MeasuringLock::take();
    let output =
        fathom().args(["run", "--quick", "noise", "-o", "/dev/null/x"]).assert().code(2).get_output().clone();
    assert!(text(&output.stderr).contains("--alongside"), "{}", text(&output.stderr));
    drop(lock);
    Ok(())
}

fn a_dry_run_prints_the_plan_measures_nothing_and_forecasts_from_a_stored_run() -> Outcome {
    let data = tempfile::tempdir().unwrap();
    let dry = |arguments: &[&str]| {
        let mut command = fathom();
        command.env("XDG_DATA_HOME", data.path()).args(["run", "--dry-run", "--quick", "cpu/system_call"]);
        let output = command.args(arguments).assert().success().get_output().clone();
        // Lines break anywhere between words.
        text(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let unknown = dry(&[]);
    assert!(unknown.contains("cpu/system_call") && unknown.contains("never fewer than 6"), "{unknown}");
    assert!(unknown.contains("there is no forecast"), "{unknown}");
    let runs = data.path().join("fathom/runs");
    assert!(!runs.exists(), "nothing is left behind");
    std::fs::create_dir_all(&runs).unwrap();
    made_short_run(&runs.join("2026-01-01T00-00-00Z-000001.jsonl"));
    let known = dry(&["--budget", "1m"]);
    assert!(known.contains("A run of 1 min") && known.contains("8 trials each, done after"), "{known}");
    assert!(!known.contains("left out,") && !known.contains("do not fit"), "{known}");
    let short = dry(&["--budget", "500ms"]);
    assert!(short.contains("do not fit") && short.contains("--budget"), "{short}");
    fathom().args(["run", "--dry-run", "--resume", "x"]).assert().code(2);
    Ok(())
}

fn the_run_file_keeps_what_the_program_was_built_with() -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.jsonl");
    made_short_run(&file);
    let compiler = lines_of(&file, "header")[0]["tool"]["compiler"].as_str().unwrap().to_owned();
    let version = text(&fathom().arg("--version").assert().success().get_output().stdout);
    assert!(version.lines().any(|line| line == format!("compiler: {compiler}")), "{version}{compiler}");
    Ok(())
}
