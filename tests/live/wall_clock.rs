//! A clock on the wall that is set back while a run measures: its budget, its durations and its figures are of other clocks.
//!
//! The clock of the machine stays as it is: libfaketime (Debian's package) shows the run another one.

use crate::short_run::{fathom, lines_of, text, wait_until};
use crate::tier::{Outcome, Test, beside, not_installed};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

pub const TESTS: &[Test] = &beside![a_clock_that_is_set_back_by_a_day_moves_neither_budget_nor_durations,];

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The library, where it is installed.
fn library() -> Option<PathBuf> {
    let folders = std::fs::read_dir("/usr/lib").ok()?.flatten();
    folders.map(|entry| entry.path().join("faketime/libfaketime.so.1")).find(|path| path.exists())
}

fn a_clock_that_is_set_back_by_a_day_moves_neither_budget_nor_durations() -> Outcome {
    let Some(library) = library() else {
        return not_installed("libfaketime (Debian: libfaketime)");
    };
    let folder = tempfile::tempdir().unwrap();
    let (file, offset) = (folder.path().join("run.jsonl"), folder.path().join("offset"));
    std::fs::write(&offset, "-1d").unwrap();
    let began = Instant::now();
    let run = Command::new(assert_cmd::cargo::cargo_bin("fathom"))
        .args(["run", "--quick", "--alongside", "--budget", "3s", "--trial", "4ms", "cpu/system_call", "-o"])
        .arg(&file)
        .env("LD_PRELOAD", library)
        .env("FAKETIME_TIMESTAMP_FILE", &offset)
        .envs([
            ("FAKETIME_NO_CACHE", "1"),
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
            ("DONT_FAKE_MONOTONIC", "1"),
        ])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until("some trials ended", || lines_of(&file, "trial").len() >= 8);
    std::fs::write(&offset, "-2d").unwrap();
    let output = run.wait_with_output().unwrap();
    let whole = began.elapsed().as_secs_f64();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let header = &lines_of(&file, "header")[0];
    let started = humantime::parse_rfc3339(header["started"].as_str().unwrap()).unwrap();
    let age = SystemTime::now().duration_since(started).unwrap();
    assert!(age > DAY / 2 && age < DAY + DAY / 2, "the run saw another clock: {age:?}");
    let closing = &lines_of(&file, "closing")[0];
    let ended = humantime::parse_rfc3339(closing["at"].as_str().unwrap()).unwrap();
    assert!(ended < started, "the clock was set back meanwhile");
    let took_s = closing["took_s"].as_f64().unwrap();
    assert!(took_s > 0.5 && took_s <= whole, "{took_s} s of {whole} s");
    for trial in lines_of(&file, "trial") {
        let at = trial["began_s"].as_f64().unwrap();
        assert!((0.0..=whole).contains(&at), "a trial at {at} s of {whole} s");
    }
    fathom().arg("report").arg(&file).assert().success();
    Ok(())
}
