//! `fathom export --points`: many run files as one stream, each with its machine and its points.

use crate::committed::{self, fathom, text};
use fathom::comparison::ReducedRun;
use fathom::record::Run;
use serde_json::Value;
use std::path::Path;

/// A run with labels.
fn labelled(file: &Path) {
    std::fs::write(file, committed::content()).unwrap();
}

fn exported(arguments: &[&str]) -> Vec<Value> {
    let output =
        fathom().args(["export", "--points"]).args(arguments).assert().success().get_output().clone();
    text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn each_file_is_a_line_in_their_order_and_what_is_torn_or_foreign_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let whole = place("a.jsonl");
    labelled(Path::new(&whole));
    let content = std::fs::read_to_string(&whole).unwrap();
    let unfinished = content.rfind("{\"line\":\"closing\"").unwrap();
    std::fs::write(place("b.jsonl"), &content[..unfinished]).unwrap();
    std::fs::write(place("c.jsonl"), &content[..content.len() - 10]).unwrap();
    std::fs::write(place("d.jsonl"), "{\"line\":\"other\"}\n").unwrap();
    std::fs::write(place("e.jsonl"), [0xff, 0xfe]).unwrap();
    std::fs::copy(&whole, place("f.jsonl")).unwrap();
    let lines = exported(&[folder.path().to_str().unwrap()]);
    let told: Vec<&str> = lines.iter().map(|line| line["left_out"].as_str().unwrap_or("run")).collect();
    assert_eq!(told.len(), 6);
    for (said, wanted) in
        told.iter().zip(["run", "has not ended", "incomplete", "damaged", "cannot read", "run"])
    {
        assert!(said.contains(wanted), "{told:?}");
    }
    assert!(lines.iter().zip('a'..='f').all(|(line, name)| line["file"] == place(&format!("{name}.jsonl"))));
    assert_eq!(lines[0]["content"], lines[5]["content"], "a copy is the same");
    let list = place("names");
    std::fs::write(&list, format!("{whole}\n/no/such/file\n")).unwrap();
    let named = exported(&["--files-from", &list]);
    assert_eq!(named[0], lines[0]);
    assert!(named[1]["left_out"].as_str().unwrap().contains("cannot read"));
}

#[test]
fn levels_are_those_of_a_comparison_and_the_machine_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.jsonl");
    labelled(&file);
    let reduced = ReducedRun::of_run(&Run::read(&file).unwrap());
    let [line] = exported(&["--trials", file.to_str().unwrap()]).try_into().unwrap();
    assert_eq!(line["labels"]["rack"], "7");
    let steal = committed::lines("closing")[0]["conditions"]["steal_ns"].as_f64();
    assert_eq!(line["steal_s"].as_f64(), steal.map(|ns| ns / 1e9));
    assert_eq!(line["kernel"], committed::lines("header")[0]["machine"]["kernel"]["release"]["value"]);
    let points = line["points"].as_array().unwrap();
    assert_eq!(points.len(), reduced.levels.len());
    for (point, level) in points.iter().zip(&reduced.levels) {
        assert_eq!(point["experiment"], level.experiment.as_str());
        assert_eq!(point["outcome"], level.outcome.name());
        assert_eq!(point["log"].as_f64(), level.logarithm().map(|log| log.value));
        assert_eq!(point["log_above"].as_f64(), level.logarithm().map(|log| log.above));
        assert_eq!(point["by_round"].as_array().map(Vec::len), Some(level.by_round.len()));
        assert_eq!(point["worse"], 1);
    }
    assert!(points.iter().any(|point| point["log"].is_f64()), "{line}");
    assert!(exported(&[file.to_str().unwrap()])[0]["points"][0].get("by_round").is_none());
}

#[test]
fn formats_of_other_tools_take_one_run() {
    let refused =
        fathom().args(["export", "--format", "csv", "a", "b"]).assert().code(2).get_output().clone();
    assert!(text(&refused.stderr).contains("--points"), "{}", text(&refused.stderr));
    fathom().args(["export"]).assert().code(2);
}

#[test]
fn a_run_that_no_data_set_can_hold_is_left_out_with_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.jsonl");
    let whole = committed::content();
    let edited = |pointer: &str, value: Value| {
        let edited = |line: &mut Value| {
            let (kind, path) = pointer.split_once('/').unwrap();
            if line["line"] == kind {
                line.pointer_mut(&format!("/{path}"))
                    .unwrap_or_else(|| panic!("{pointer}"))
                    .clone_from(&value);
            }
        };
        std::fs::write(&file, crate::part_of_run::edited(&whole, edited)).unwrap();
        let [line] = exported(&[file.to_str().unwrap()]).try_into().unwrap();
        line
    };
    for (pointer, value, said) in [
        ("header/started", "not a time".into(), "beginning"),
        ("header/started", "-infinity".into(), "beginning"),
        ("closing/at", "".into(), "end"),
        ("closing/took_s", (-1.0).into(), "impossible time"),
        ("closing/took_s", 1e300.into(), "impossible time"),
        ("header/machine/memory/total_bytes/value", u64::MAX.into(), "memory"),
        ("header/plan/0/method_version", u32::MAX.into(), "version"),
    ] {
        let line = edited(pointer, value);
        let reason = line["left_out"].as_str().unwrap_or_else(|| panic!("{pointer}: {}", line["started"]));
        assert!(reason.contains(said), "{pointer}: {reason}");
    }
    let leap = edited("header/started", "2016-12-31T23:59:60.5Z".into());
    assert_eq!(leap["started"], "2016-12-31T23:59:59Z");
}

#[test]
fn a_pipe_among_run_files_is_not_waited_for() {
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe.jsonl");
    let name = std::ffi::CString::new(pipe.as_os_str().as_bytes()).unwrap();
    // SAFETY: a path that ends in zero.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
    labelled(&folder.path().join("run.jsonl"));
    let [named, run] =
        exported(&[pipe.to_str().unwrap(), folder.path().to_str().unwrap()]).try_into().unwrap();
    assert!(named["left_out"].as_str().unwrap().contains("a pipe"), "{named}");
    assert!(run["points"].is_array());
    for arguments in [["compare", "."].as_slice(), &["history", "--folder", "."]] {
        let mut command = fathom();
        command.current_dir(&folder).timeout(std::time::Duration::from_secs(20)).args(arguments);
        // One that was ended for its time has no status.
        let ended = command.output().unwrap().status;
        assert!(ended.code().is_some(), "{arguments:?} waits for the pipe");
    }
}
