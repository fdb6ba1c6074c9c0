//! Run files that gzip has packed: read wherever a run file is, and never appended to.

use crate::committed::{fathom, run_file, text};
use std::path::{Path, PathBuf};

/// The committed run twice in a folder each: as it is, and packed, under the same name but for `.gz`.
fn both(folder: &Path) -> (PathBuf, PathBuf) {
    let [plain, packed] = ["plain", "packed"].map(|name| folder.join(name));
    std::fs::create_dir(&plain).unwrap();
    std::fs::create_dir(&packed).unwrap();
    let file = run_file(&plain);
    let copy = packed.join("run.jsonl.gz");
    std::fs::write(&copy, crate::committed::RUN).unwrap();
    (file, copy)
}

#[test]
fn a_packed_run_is_read_wherever_a_run_is() {
    let folder = tempfile::tempdir().unwrap();
    let (plain, packed) = both(folder.path());
    let said = |arguments: &[&str], file: &Path| {
        let name = file.to_str().unwrap();
        let arguments = arguments.iter().map(|word| if *word == "RUN" { name } else { word });
        let output = fathom().args(arguments).assert().success().get_output().stdout.clone();
        // The name of the file is the only difference.
        text(&output).replace(".jsonl.gz", ".jsonl").replace("/packed/", "/plain/")
    };
    for arguments in [
        &["report", "RUN"][..],
        &["report", "RUN", "--format", "json"],
        &["compare", "RUN", "RUN", "--accept", "build"],
        &["compare", "000", "RUN", "--accept", "build"],
        &["export", "RUN", "--format", "csv"],
        &["export", "--points", "RUN"],
    ] {
        assert_eq!(said(arguments, &packed), said(arguments, &plain), "{arguments:?}");
    }
    // Folders of runs have it too.
    for arguments in [&["history", "--folder", "RUN"][..], &["export", "--points", "RUN"]] {
        let [packed, plain] = [&packed, &plain].map(|file| said(arguments, file.parent().unwrap()));
        assert_eq!(packed.replace("/packed", "/plain"), plain, "{arguments:?}");
        assert!(plain.contains("system") || plain.contains("run"), "{plain}");
    }
}

#[test]
fn a_packed_run_that_is_torn_says_so_and_none_is_appended_to() {
    let folder = tempfile::tempdir().unwrap();
    let (_, packed) = both(folder.path());
    let refused = |arguments: &[&str]| {
        text(&fathom().args(arguments).arg(&packed).assert().code(2).get_output().stderr)
    };
    let resumed = refused(&["run", "--alongside", "--resume"]);
    assert!(resumed.contains("packed by gzip") && resumed.contains("gunzip"), "{resumed}");
    assert_eq!(std::fs::read(&packed).unwrap(), crate::committed::RUN);
    std::fs::write(&packed, &crate::committed::RUN[..crate::committed::RUN.len() / 2]).unwrap();
    let torn = refused(&["report"]);
    assert!(torn.contains("is torn") && torn.contains("gzip -dc"), "{torn}");
}

#[test]
fn a_packed_run_is_a_measurement_that_no_report_overwrites() {
    let folder = tempfile::tempdir().unwrap();
    let (plain, packed) = both(folder.path());
    let mut command = fathom();
    command.args(["report", "--format", "json", "--force", "-o"]).arg(&packed).arg(&plain);
    let refused = text(&command.assert().code(2).get_output().stderr);
    assert!(refused.contains("never overwritten"), "{refused}");
    assert_eq!(std::fs::read(&packed).unwrap(), crate::committed::RUN);
}
