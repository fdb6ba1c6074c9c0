//! Page faults on whatever machine this is: known waits, and counts against claims.

use crate::short_run::fathom;
use crate::tier::{Outcome, Test, alone, skipped};
use serde_json::Value;

pub const TESTS: &[Test] =
    &alone![faults_counted_are_faults_claimed, a_folder_in_memory_gives_no_major_faults_and_says_what_to_do,];

/// The points of a run of a few seconds.
fn measured(experiments: &[&str], budget: &str, folder: Option<&str>) -> Vec<Value> {
    let place = tempfile::tempdir().unwrap();
    let mut command = fathom();
    command.args(["run", "--alongside", "--budget", budget, "--precision", "99%", "--format", "json", "-o"]);
    command.arg(place.path().join("run.jsonl")).args(experiments);
    if let Some(folder) = folder {
        command.args(["--dir", folder]);
    }
    let output = command.assert().success().get_output().stdout.clone();
    serde_json::from_slice::<Value>(&output).unwrap()["points"].as_array().unwrap().clone()
}

fn of<'points>(points: &'points [Value], parameter: &str, value: &str) -> Vec<&'points Value> {
    points.iter().filter(|point| point["parameters"][parameter] == value).collect()
}

fn is_skipped(point: &Value) -> bool {
    point["outcome"] == "skipped"
}

/// Whatever kind of fault is measured, the kernel counts as many as are claimed; where the folder's files live in memory
/// none can wait for a device, and that is said.
fn faults_counted_are_faults_claimed() -> Outcome {
    let points = measured(&["minor_fault", "major_fault", "user_fault"], "12s", None);
    let mut claims = 0;
    for point in points.iter().filter(|point| !is_skipped(point)) {
        for check in point["evidence"].as_array().unwrap() {
            let claim = check["claim"].as_str().unwrap();
            if claim.contains("faults counted by the kernel") {
                claims += 1;
                assert_eq!(check["holds"], true, "{}: {check}", point["parameters"]);
            }
        }
    }
    assert!(claims >= 10, "{claims} claims of counted faults were judged");
    Ok(())
}

/// Files that live in memory cannot be evicted: no fault on them is a major one, and none is called so.
fn a_folder_in_memory_gives_no_major_faults_and_says_what_to_do() -> Outcome {
    let shm = "/dev/shm";
    let in_memory = std::fs::read_to_string("/proc/self/mounts")
        .is_ok_and(|mounts| mounts.lines().any(|line| line.contains(" /dev/shm tmpfs rw")));
    if !in_memory {
        return skipped("needs a tmpfs at /dev/shm");
    }
    let points = measured(&["major_fault", "minor_fault"], "6s", Some(shm));
    let shuffled = of(&points, "access", "shuffled pages, no read-ahead");
    for point in &shuffled {
        assert!(is_skipped(point), "{point}");
        assert!(point["reason"].as_str().unwrap().contains("is in memory"), "{point}");
    }
    assert!(!shuffled.is_empty());
    let left = std::fs::read_dir(shm).unwrap().flatten();
    let own = left.filter(|entry| entry.file_name().to_string_lossy().starts_with(".fathom-"));
    assert_eq!(own.count(), 0, "files were left in {shm}");
    Ok(())
}
