//! `fathom around` on this machine: the command keeps its streams, its signals and its exit status, is never left stopped, and a
//! quota that begins with it is named.

use crate::control_group::Group;
use crate::short_run::{copied_program, wait_for};
use crate::tier::{Outcome, Test, alone, beside, inconclusive, needs_root};
use serde_json::Value;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

pub const TESTS: &[Test] = &beside![
    the_exit_status_is_that_of_the_command,
    the_streams_are_those_of_the_command,
    the_report_in_a_file_leaves_a_sentence_on_standard_error,
    ctrl_c_ends_the_command_once_and_the_report_says_so,
    a_signal_to_fathom_is_passed_on,
    a_command_is_not_left_stopped_when_fathom_is_killed,
    a_pause_stops_the_command_and_is_in_the_report,
];

pub const MEASURING: &[Test] = &alone![a_quota_that_begins_with_the_command_is_named];

/// `fathom around` with short phases; tests run side by side, so it does not ask to be alone.
fn around(program: &Path, options: &[&str], command: &[&str]) -> Command {
    let mut around = Command::new(program);
    around.args(["around", "--alongside", "--length", "1s"]).args(options).arg("--").args(command);
    around
}

fn fathom() -> std::path::PathBuf {
    assert_cmd::cargo::cargo_bin("fathom")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn the_exit_status_is_that_of_the_command() -> Outcome {
    let status = |command: &[&str]| around(&fathom(), &[], command).output().unwrap().status.code();
    assert_eq!(status(&["sh", "-c", "exit 5"]), Some(5));
    assert_eq!(status(&["sh", "-c", "kill -KILL $$"]), Some(137));
    assert_eq!(status(&["/no/such/program"]), Some(127));
    assert_eq!(status(&["/etc/passwd"]), Some(126));
    Ok(())
}

fn the_streams_are_those_of_the_command() -> Outcome {
    let mut child = around(&fathom(), &[], &["cat"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"one\ntwo\n").unwrap();
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    assert!(status.success());
    assert_eq!(text(&stdout), "one\ntwo\n");
    assert!(text(&stderr).contains("Anchors"), "{}", text(&stderr));
    Ok(())
}

fn the_report_in_a_file_leaves_a_sentence_on_standard_error() -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("host.json");
    let options = ["--format", "json", "-o", file.to_str().unwrap()];
    let Output { stdout, stderr, .. } = around(&fathom(), &options, &["true"]).output().unwrap();
    let report: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(text(&stderr).trim_end(), report["sentence"].as_str().unwrap().replace('\u{a0}', " "));
    assert!(stdout.is_empty() && report["status"] == 0 && report["command"][0] == "true", "{report}");
    assert!(report["dimensions"].as_array().unwrap().len() >= 12, "{report}");
    Ok(())
}

/// A command that tells in a file when it has begun, and how often it was interrupted.
fn counting(folder: &Path) -> [String; 3] {
    let (begun, log) = (folder.join("begun"), folder.join("log"));
    let script = format!(
        "trap 'echo x >> {log}' INT; trap 'exit 3' TERM; touch {begun}; while :; do sleep 0.05; test -s {log} && exit 4; done",
        log = log.display(),
        begun = begun.display()
    );
    ["sh".to_owned(), "-c".to_owned(), script]
}

fn begun(folder: &Path, options: &[&str]) -> Child {
    let command = counting(folder);
    let words: Vec<&str> = command.iter().map(String::as_str).collect();
    let mut around = around(&fathom(), options, &words);
    around.process_group(0).stderr(Stdio::piped()).stdout(Stdio::null());
    // A shell that started this test in the background ignores what Ctrl-C sends, and so would all that it starts.
    // SAFETY: between fork and exec only a system call is made.
    unsafe {
        around.pre_exec(|| {
            libc::signal(libc::SIGINT, libc::SIG_DFL);
            Ok(())
        });
    }
    let child = around.spawn().unwrap();
    wait_for(Duration::from_secs(60), "the command begins", || folder.join("begun").exists());
    child
}

/// The output of a program that ends soon.
fn ended(mut child: Child) -> Output {
    let soon = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        wait_for(Duration::from_secs(60), "it ends", || child.try_wait().unwrap().is_some());
    }));
    if soon.is_err() {
        // SAFETY: a signal to the group of our own child.
        unsafe { libc::kill(-(child.id() as libc::pid_t), libc::SIGKILL) };
    }
    let output = child.wait_with_output().unwrap();
    assert!(soon.is_ok(), "it never ends: {}", text(&output.stderr));
    output
}

fn ctrl_c_ends_the_command_once_and_the_report_says_so() -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let child = begun(folder.path(), &[]);
    // A terminal sends it to the whole group.
    // SAFETY: a signal to the group of our own child.
    unsafe { libc::kill(-(child.id() as libc::pid_t), libc::SIGINT) };
    let Output { status, stderr, .. } = ended(child);
    assert_eq!(status.code(), Some(4), "{}", text(&stderr));
    assert!(text(&stderr).starts_with("Interrupted. "), "{}", text(&stderr));
    Ok(())
}

fn a_signal_to_fathom_is_passed_on() -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let child = begun(folder.path(), &[]);
    // SAFETY: a signal to our own child.
    unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGTERM) };
    let Output { status, stderr, .. } = ended(child);
    assert_eq!(status.code(), Some(3), "{}", text(&stderr));
    Ok(())
}

/// The state of a process as `/proc` has it: `T` is stopped.
fn state(process: u32) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    stat.rsplit(") ").next()?.chars().next()
}

fn number_in(file: &Path) -> Option<u32> {
    std::fs::read_to_string(file).ok()?.trim().parse().ok()
}

/// A command that writes down its number and then waits.
fn waiting(file: &Path, seconds: u32) -> [String; 3] {
    let script = format!("echo $$ > {}; exec sleep {seconds}", file.display());
    ["sh".to_owned(), "-c".to_owned(), script]
}

fn a_command_is_not_left_stopped_when_fathom_is_killed() -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let (program, file) = (copied_program(folder.path()), folder.path().join("number"));
    let command = waiting(&file, 60);
    let words: Vec<&str> = command.iter().map(String::as_str).collect();
    let mut child = around(&program, &["--every", "100ms"], &words)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let stopped = || number_in(&file).and_then(state) == Some('T');
    wait_for(Duration::from_secs(60), "the command is stopped", stopped);
    child.kill().unwrap();
    child.wait().unwrap();
    let process = number_in(&file).unwrap();
    wait_for(Duration::from_secs(5), "the command continues", || state(process) == Some('S'));
    // SAFETY: a signal to a process of this test.
    unsafe { libc::kill(process as libc::pid_t, libc::SIGKILL) };
    Ok(())
}

fn a_pause_stops_the_command_and_is_in_the_report() -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("host.json");
    let options = ["--every", "300ms", "--format", "json", "-o", file.to_str().unwrap()];
    let output = around(&fathom(), &options, &["sleep", "1"]).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert!(report["phases"].as_array().unwrap().len() >= 3, "{report}");
    Ok(())
}

/// Half of a CPU for this program and the command, from a second after the command has begun to the end.
fn a_quota_that_begins_with_the_command_is_named() -> Outcome {
    needs_root()?;
    let (group, folder) = (Group::new("cpu")?, tempfile::tempdir().unwrap());
    let (mark, file) = (folder.path().join("begun"), folder.path().join("host.json"));
    let script = format!(
        "touch {}; end=$(($(date +%s) + 4)); while [ $(date +%s) -lt $end ]; do :; done",
        mark.display()
    );
    let inner = "echo $$ > \"$1\"; shift; exec \"$@\"";
    let mut child = Command::new("sh")
        .args(["-c", inner, "sh", &group.entrance()])
        .arg(fathom())
        .args(["around", "--alongside", "--format", "json", "-o"])
        .arg(&file)
        .args(["--", "sh", "-c", &script])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for(Duration::from_secs(2 * 60), "the command begins", || mark.exists());
    let set = group.set(("cpu.cfs_quota_us", "50000".to_owned()), ("cpu.max", "50000 100000".to_owned()));
    child.wait().unwrap();
    set?;
    let report: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let dimensions = report["dimensions"].as_array().unwrap();
    let is_named =
        |name: &str| dimensions.iter().any(|each| each["name"] == name && each["verdict"] == "moved");
    if is_named("stopped by a CPU quota") || is_named("processor time") {
        Ok(())
    } else {
        inconclusive(report["sentence"].as_str().unwrap_or_default())
    }
}
