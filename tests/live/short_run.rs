//! Short runs of the real binary, and how tests look at them.

#![allow(dead_code, reason = "each test file uses a part")]

use assert_cmd::Command;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub fn fathom() -> Command {
    let mut command = Command::cargo_bin("fathom").unwrap();
    command.timeout(Duration::from_secs(2 * 60));
    command
}

/// A short run of a few points into a file; tests run side by side, so it does not ask to be alone.
pub fn short_run(output: &Path) -> Command {
    short_run_within("3s", output)
}

/// What such a run prints, once made: on a host so busy that nothing fitted into its budget it is made once more with a longer one.
pub fn made_short_run(output: &Path) -> std::process::Output {
    made_short_run_with(output, |_| ())
}

/// The same with other arguments besides.
pub fn made_short_run_with(output: &Path, with: impl Fn(&mut Command)) -> std::process::Output {
    let run = |budget: &str| {
        let mut command = short_run_within(budget, output);
        with(&mut command);
        command.output().unwrap()
    };
    let first = run("3s");
    if first.status.code() != Some(3) || !text(&first.stderr).contains("nothing fitted into the budget") {
        assert!(first.status.success(), "{first:?}");
        return first;
    }
    for left in [output.to_owned(), output.with_extension("html")] {
        let _ = std::fs::remove_file(left);
    }
    let second = run("60s");
    assert!(second.status.success(), "{second:?}");
    second
}

fn short_run_within(budget: &str, output: &Path) -> Command {
    let mut command = fathom();
    command.args([
        "run",
        "--quick",
        "--alongside",
        "--budget",
        budget,
        "--trial",
        "4ms",
        "cpu/system_call",
        "-o",
    ]);
    command.arg(output);
    command
}

/// A copy of the program in a folder, whose processes are no other test's.
pub fn copied_program(folder: &Path) -> PathBuf {
    let program = folder.join("fathom-copy");
    // Another program writes it: a process that another test forks meanwhile would keep a file that is written here busy.
    let copied =
        std::process::Command::new("cp").arg(assert_cmd::cargo::cargo_bin("fathom")).arg(&program).status();
    assert!(copied.unwrap().success(), "the program is not copied");
    program
}

/// The processes of a program.
pub fn processes_of(program: &Path) -> Vec<libc::pid_t> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let of_program = |number: &libc::pid_t| {
        std::fs::read_link(format!("/proc/{number}/exe")).is_ok_and(|exe| exe == program)
    };
    numbers.filter(of_program).collect()
}

/// Those of them that measure trials.
pub fn trials_of(program: &Path) -> Vec<libc::pid_t> {
    let is_trial = |number: &libc::pid_t| {
        let words = std::fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
        words.split(|byte| *byte == 0).nth(1) == Some(b"trial")
    };
    processes_of(program).into_iter().filter(is_trial).collect()
}

/// The process of a trial of this program, as soon as there is one.
pub fn running_trial(program: &Path) -> libc::pid_t {
    let mut trial = None;
    wait_until("a trial runs", || {
        trial = trials_of(program).first().copied();
        trial.is_some()
    });
    trial.unwrap()
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub fn lines_of(path: &Path, kind: &str) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let lines = whole
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("a whole line is JSON"));
    lines.filter(|line| line["line"] == kind).collect()
}

pub fn wait_until(what: &str, holds: impl FnMut() -> bool) {
    wait_for(Duration::from_secs(30), what, holds);
}

pub fn wait_for(patience: Duration, what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + patience;
    while !holds() {
        assert!(Instant::now() < deadline, "never: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
