//! The gate and what leads to it, as users meet them: baselines compared, and told by the exit status.

use crate::committed::{fathom, part_file, text};
use crate::described::doctored;
use std::path::{Path, PathBuf};

/// A part of the committed run, kept as a baseline too.
fn baseline(folder: &Path) -> PathBuf {
    let kept = folder.join("fathom/baselines/main");
    std::fs::create_dir_all(&kept).expect("a folder");
    let file = part_file(folder);
    std::fs::copy(&file, kept.join("2026-11-23T20-28-23Z-000001.jsonl")).expect("a copy");
    file
}

fn gate(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = fathom();
    command.env("XDG_DATA_HOME", folder).env_remove("GITHUB_ACTIONS").arg("gate").args(arguments);
    let output = command.output().expect("it runs");
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn the_verdict_on_the_same_two_files_is_always_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = baseline(folder.path());
    let slow = doctored(&file, 3.0, "slow");
    let judged = |baseline: &str, candidate: &Path| {
        let candidate = candidate.to_str().expect("a name");
        gate(
            folder.path(),
            &["--baseline", baseline, "--candidate", candidate, "--accept", "build", "--format", "json"],
        )
    };
    let first = judged("main", &slow);
    assert_eq!(first.0, Some(1), "{} {}", first.1, first.2);
    assert_eq!(first, judged("main", &slow));
    // Against itself nothing has moved, whatever its intervals are.
    let (_, itself, _) = judged("main", &file);
    let told: serde_json::Value = serde_json::from_str(&itself).expect("JSON");
    let points = told["comparisons"][0]["points"].as_array().expect("points");
    assert!(
        points.iter().all(|point| point["verdict"] == "equivalent" || point["verdict"] == "inconclusive")
    );
    // What is the same run passes nothing, and says so first.
    assert_eq!(told["decision"], "inconclusive", "{itself}");
    assert_eq!(told["comparisons"][0]["of_itself"], true);
    let said = told["comparisons"][0]["verdict"].as_str().expect("a sentence");
    assert!(said.starts_with("The same run is on both sides"), "{said}");
    let (status, _, error) = judged("nothing-of-that-name", &file);
    assert!(status == Some(2) && error.contains("--save-baseline nothing-of-that-name"), "{error}");
}

#[test]
fn a_comparison_is_told_in_every_form_and_a_misspelt_margin_before_anything_is_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = baseline(folder.path());
    let slow = doctored(&file, 3.0, "slow");
    let compare = |arguments: &[&str]| {
        let mut command = fathom();
        command.arg("compare").args(arguments).args(["--accept", "build"]).arg(&file).arg(&slow);
        let output = command.output().expect("it runs");
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    for form in ["text", "html", "markdown", "latex", "synopsis", "json", "csv"] {
        let (status, out, error) = compare(&["--format", form]);
        assert_eq!(status, Some(0), "{form}: {error}");
        assert!(out.contains("getppid") && out.contains("worse"), "{form}: {out}");
        assert_eq!(compare(&["--format", form]).1, out, "{form}");
    }
    let margins = folder.path().join("margins.toml");
    std::fs::write(&margins, "[experiments]\n\"cpu/sytem_call\" = 0.1\n").expect("a file");
    let (status, _, error) = compare(&["--margins", margins.to_str().expect("a name")]);
    assert!(status == Some(2) && error.contains("did you mean `cpu/system_call`"), "{error}");
}

#[test]
fn a_history_lists_runs_and_marks_where_a_level_changed() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = baseline(folder.path());
    let runs = folder.path().join("runs");
    std::fs::create_dir(&runs).expect("a folder");
    // Eight runs, the later four of which take twice as long; the day is part of the name and of the header.
    for day in 1..=8 {
        let times = if day > 4 { 2.0 } else { 1.0 } * (1.0 + 0.001 * f64::from(day % 3));
        let copy = doctored(&file, times, "copy");
        let told = std::fs::read_to_string(copy).expect("a run file");
        let (header, rest) = told.split_once('\n').expect("a header");
        let mut header: serde_json::Value = serde_json::from_str(header).expect("JSON");
        header["started"] = format!("2026-01-{day:02}T00:00:00Z").into();
        std::fs::write(runs.join(format!("2026-01-{day:02}.jsonl")), format!("{header}\n{rest}"))
            .expect("a file");
    }
    let history = |arguments: &[&str]| {
        let mut command = fathom();
        command.arg("history").args(arguments).arg("--folder").arg(&runs);
        let output = command.output().expect("it runs");
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    assert_eq!(history(&[]).lines().filter(|line| line.starts_with("2026-01-")).count(), 8);
    let told = history(&["system_call", "--point", "call=getppid"]);
    let changed = told.lines().position(|line| line.contains("changed")).expect("a change");
    assert!(told.lines().nth(changed + 1).is_some_and(|line| line.contains("2026-01-05")), "{told}");
    assert_eq!(told.matches("changed").count(), 1, "{told}");
    let json: serde_json::Value =
        serde_json::from_str(&history(&["system_call", "--changed", "--format", "json"])).expect("JSON");
    assert!(json["points"].as_array().is_some_and(|points| points.len() == 1), "{json}");
}
