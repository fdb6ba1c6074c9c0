//! Files on an overlay, as those of containers are: what the page cache holds of them is another file system's.

use super::{in_namespace, points, read_in};
use crate::tier::{Outcome, Test, alone, inconclusive, needs_root};
use serde_json::Value;
use std::path::Path;

pub const TESTS: &[Test] = &alone![
    files_on_an_overlay_are_seen_in_the_page_cache,
    pages_of_a_cold_file_on_an_overlay_are_faulted_in,
];

const OVERLAY: &str = "mkdir \"$WORK\"/{lower,upper,work}; mount -t overlay overlay \
    -o \"lowerdir=$WORK/lower,upperdir=$WORK/upper,workdir=$WORK/work\" \"$MOUNT\";";

/// Points have values, and all that shows what they are holds; nothing is decided where others took the CPU of trials.
fn all_hold(points: &[Value], least: usize) -> Outcome {
    let measured = points.iter().filter(|point| point["median"].is_f64());
    assert!(measured.count() >= least, "{points:#?}");
    let checks: Vec<&Value> = points.iter().flat_map(|point| point["evidence"].as_array().unwrap()).collect();
    let failures: Vec<&str> = checks
        .iter()
        .filter(|check| check["holds"] != true)
        .map(|check| check["seen"].as_str().unwrap_or_default())
        .collect();
    assert!(!checks.is_empty(), "{points:#?}");
    if !failures.is_empty() && failures.iter().all(|seen| seen.contains("had its CPU all the time")) {
        return inconclusive(failures.join("; "));
    }
    assert!(failures.is_empty(), "{failures:?}: {points:#?}");
    Ok(())
}

/// What the page cache holds of a container's files is seen: warm and cold are told apart, and each proves what it was.
fn files_on_an_overlay_are_seen_in_the_page_cache() -> Outcome {
    needs_root()?;
    let work = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (output, left) = read_in(work.path(), &format!("{OVERLAY} export BUDGET=20s;"));
    for state in ["warm", "cold"] {
        let found: Vec<Value> =
            points(&output).into_iter().filter(|point| point["parameters"]["state"] == state).collect();
        let measured = found.iter().filter(|point| point["median"].is_f64());
        assert!(measured.count() >= 4, "{found:#?}");
        let checks = found.iter().flat_map(|point| point["evidence"].as_array().unwrap());
        assert!(
            checks.clone().count() > 0 && checks.clone().all(|check| check["holds"] == true),
            "{found:#?}"
        );
    }
    assert_eq!(left.trim(), "");
    Ok(())
}

/// The other points that stand on what the page cache holds: pages of a cold file that are touched.
fn pages_of_a_cold_file_on_an_overlay_are_faulted_in() -> Outcome {
    needs_root()?;
    let work = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    all_hold(&faults_in(work.path()), 2)
}

fn faults_in(work: &Path) -> Vec<Value> {
    let script = format!(
        "{OVERLAY} \"$FATHOM\" run memory/major_fault memory/fault_extent --quick --budget 12s --precision 99% --alongside \
         --dir \"$MOUNT\" -o \"$RUN\" --format json || true"
    );
    points(&in_namespace(work, &script))
}
