//! The gate with new runs of this machine: what looks worse is measured again.

use crate::described::doctored;
use crate::short_run::{fathom, made_short_run_with, text};
use crate::tier::{Outcome, Test, alone, inconclusive};
use std::path::{Path, PathBuf};

pub const TESTS: &[Test] =
    &alone![a_call_that_takes_three_times_as_long_is_a_regression_that_new_runs_confirm];

/// A run of a few points, kept as a baseline too.
fn baseline(folder: &Path) -> PathBuf {
    let file = folder.join("baseline.jsonl");
    made_short_run_with(&file, |run| {
        run.args(["--save-baseline", "main"]).env("XDG_DATA_HOME", folder);
    });
    file
}

fn gate(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = fathom();
    command.env("XDG_DATA_HOME", folder).env_remove("GITHUB_ACTIONS").arg("gate").args(arguments);
    let output = command.output().expect("it runs");
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// The sessions, each with a baseline of its own, of which one must decide.
const SESSIONS: usize = 4;

fn a_call_that_takes_three_times_as_long_is_a_regression_that_new_runs_confirm() -> Outcome {
    if (0..SESSIONS).any(|_| is_confirmed()) {
        return Ok(());
    }
    inconclusive(
        "the core was shared for most of each session, or alone on one side only: the gate did not decide",
    )
}

/// Whether a session's gate confirms the regression; on a host whose core is shared nearly always it may not decide, and says so.
fn is_confirmed() -> bool {
    let folder = tempfile::tempdir().expect("a folder");
    // The baseline had it three times as fast: this machine is three times as slow.
    let fast = doctored(&baseline(folder.path()), 1.0 / 3.0, "fast");
    let run = folder.path().join("now.jsonl");
    let summary = folder.path().join("summary.md");
    let asked = [
        "--baseline",
        fast.to_str().expect("a name"),
        "--margin",
        "90%",
        "--alongside",
        "--accept",
        "build",
        "--budget",
        "2s",
        "--confirmations",
        "1",
        "--annotations",
        "github",
        "--summary",
        summary.to_str().expect("a name"),
        "-o",
        run.to_str().expect("a name"),
    ];
    let (status, out, error) = gate(folder.path(), &asked);
    let words = out.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_undecided = match status {
        Some(0) => words.contains("But 1 point met another state of the machine"),
        Some(3) => words.contains("1 point may have got worse, and these runs do not decide it"),
        _ => false,
    };
    if is_undecided {
        return false;
    }
    assert_eq!(status, Some(1), "{out} {error}");
    assert!(out.contains("Regressed") && error.contains("measured again"), "{out} {error}");
    let annotation = out.lines().find(|line| line.starts_with("::error title=Performance regression::"));
    assert!(annotation.is_some_and(|line| line.contains("getppid")), "{out}");
    assert!(std::fs::read_to_string(&summary).expect("a summary").contains("Regressed"));
    assert!(folder.path().join("now.confirmation-1.jsonl").exists());
    true
}
