//! The program and a run that was made once: what it prints of it is the same on every machine.

use crate::part_of_run::with_points;
use assert_cmd::Command;
use fathom::record::Run;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A run of `cpu/system_call` and `cpu/loop_overhead`, 8 s on a virtual machine of two CPUs, with the labels `host=n1` and
/// `rack=7`.
pub const RUN: &[u8] = include_bytes!("../fixtures/runs/system-calls.jsonl.gz");

/// Quick runs of guests whose cores other guests shared for part of the time, one of which has too few trials for some intervals.
pub const SHARED_CORES: [(&str, &[u8]); 2] = [
    ("zen3-shared-quick-1", include_bytes!("../fixtures/runs/zen3-shared-quick-1.jsonl.gz")),
    ("emerald-rapids-quick", include_bytes!("../fixtures/runs/emerald-rapids-quick.jsonl.gz")),
];

/// The run of a packed file, with all experiments made known.
pub fn run(compressed: &[u8]) -> Run {
    fathom::experiments::register();
    Run::parse(&unpacked(compressed)).expect("a run file")
}

fn unpacked(compressed: &[u8]) -> String {
    let mut text = String::new();
    flate2::read::GzDecoder::new(compressed).read_to_string(&mut text).expect("a packed text");
    text
}

/// The program.
pub fn fathom() -> Command {
    let mut command = Command::cargo_bin("fathom").unwrap();
    command.timeout(std::time::Duration::from_secs(2 * 60));
    command
}

/// The run, as `run.jsonl` in a folder.
pub fn run_file(folder: &Path) -> PathBuf {
    let path = folder.join("run.jsonl");
    std::fs::write(&path, content()).unwrap();
    path
}

/// The same with every fourth of its points, `getppid` and a write of nothing among them: for tests that have the program
/// read it many times.
pub fn part_file(folder: &Path) -> PathBuf {
    let path = folder.join("run.jsonl");
    let lines = with_points(&content(), |place, _| place % 4 == 1);
    std::fs::write(&path, crate::part_of_run::text(&lines)).unwrap();
    path
}

/// The text of its file.
pub fn content() -> String {
    unpacked(RUN)
}

/// The lines of a kind in the run's file.
pub fn lines(kind: &str) -> Vec<serde_json::Value> {
    let content = content();
    let lines = content.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    lines.filter(|line| line["line"] == kind).collect()
}

/// A text without its line ends, and with one space between words.
pub fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
