//! Runs whose messages nobody can hear: standard error on a full disk, closed, or a terminal that has gone. They are complete.

use crate::short_run::{fathom, lines_of, short_run, text};
use crate::tier::{Outcome, Test, beside};
use std::fs::{File, OpenOptions};
use std::os::fd::{FromRawFd, OwnedFd};
use std::path::Path;
use std::process::{Command, Stdio};

pub const TESTS: &[Test] = &beside![
    a_run_whose_messages_cannot_be_written_is_complete,
    a_run_whose_results_cannot_be_written_is_complete_and_says_so,
];

fn full() -> Stdio {
    OpenOptions::new().write(true).open("/dev/full").unwrap().into()
}

/// A pipe whose reader has gone.
fn closed() -> Stdio {
    let mut ends = [-1; 2];
    // SAFETY: both numbers are filled.
    let made = unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) };
    assert_eq!(made, 0, "{}", std::io::Error::last_os_error());
    // SAFETY: both descriptors were just opened.
    let [_reader, writer] = ends.map(|end| unsafe { OwnedFd::from_raw_fd(end) });
    writer.into()
}

/// A terminal whose other end has gone.
fn gone() -> Stdio {
    let (mut master, mut slave) = (-1, -1);
    let none = std::ptr::null_mut();
    // SAFETY: both numbers are filled, and nothing else is asked for.
    let made = unsafe { libc::openpty(&raw mut master, &raw mut slave, none, none.cast(), none.cast()) };
    assert_eq!(made, 0, "{}", std::io::Error::last_os_error());
    // SAFETY: both descriptors were just opened.
    let [_master, slave] = unsafe { [OwnedFd::from_raw_fd(master), OwnedFd::from_raw_fd(slave)] };
    File::from(slave).into()
}

/// A short run, with these options, as a command whose streams can be set.
fn run(file: &Path, options: &[&str]) -> Command {
    let short = short_run(file);
    let mut command = Command::new(short.get_program());
    command.args(short.get_args()).args(options).stdout(Stdio::null());
    command
}

fn ended(file: &Path) {
    assert!(!lines_of(file, "trial").is_empty());
    assert_eq!(lines_of(file, "closing").len(), 1);
    assert!(file.with_extension("html").exists(), "its page");
    fathom().arg("report").arg(file).assert().success();
}

/// A name and a standard error that cannot be written.
type Way = (&'static str, fn() -> Stdio);

fn a_run_whose_messages_cannot_be_written_is_complete() -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let ways: [Way; 3] = [("full", full), ("closed", closed), ("gone", gone)];
    for (name, stream) in ways {
        for progress in ["auto", "json", "quiet"] {
            let file = folder.path().join(format!("{name}-{progress}.jsonl"));
            let status = run(&file, &["--progress", progress]).stderr(stream()).status().unwrap();
            assert_eq!(status.code(), Some(0), "{name} {progress}");
            ended(&file);
        }
    }
    Ok(())
}

fn a_run_whose_results_cannot_be_written_is_complete_and_says_so() -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let [told, left] = ["told.jsonl", "left.jsonl"].map(|name| folder.path().join(name));
    let output = run(&told, &[]).stdout(full()).stderr(Stdio::piped()).output().unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("standard output") && !said.contains("panicked"), "{said}");
    ended(&told);
    // A reader that has gone has seen what it wanted.
    let status = run(&left, &[]).stdout(closed()).stderr(Stdio::null()).status().unwrap();
    assert_eq!(status.code(), Some(0));
    ended(&left);
    Ok(())
}
