//! Nothing that was measured is ever overwritten, by whichever name and whatever was asked; and files that others have sent
//! open nothing but themselves.

use crate::committed::{content, fathom, run_file, text};
use crate::described::header;
use fathom::replicate::record::{Header, Line, SCHEMA_VERSION};
use std::path::{Path, PathBuf};

/// A replication of report 000 beside a run, whose header names that run.
fn replication(folder: &Path, run: &str) -> PathBuf {
    let header = Header {
        schema: SCHEMA_VERSION,
        tool: header(vec![]).tool,
        report: "000".to_owned(),
        started: "2026-01-01T00:00:00Z".to_owned(),
        quick: true,
        thorough: false,
        only: vec![],
        run: run.to_owned(),
    };
    let path = folder.join("replication.jsonl");
    std::fs::write(&path, serde_json::to_string(&Line::Replication(header)).unwrap() + "\n").unwrap();
    path
}

/// What the program says when it refuses.
fn refusal(arguments: &[&str], paths: &[&Path]) -> String {
    let output = fathom().args(arguments).args(paths).assert().code(2).get_output().clone();
    assert!(!text(&output.stderr).contains("panicked"), "{}", text(&output.stderr));
    text(&output.stderr)
}

fn files(folder: &Path) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}

#[test]
fn no_command_writes_onto_what_it_reads() {
    let folder = tempfile::tempdir().unwrap();
    let run = run_file(folder.path());
    let replication = replication(folder.path(), "run.jsonl");
    let [link, second, margins, list] =
        ["link.html", "second.html", "margins.toml", "list"].map(|name| folder.path().join(name));
    std::os::unix::fs::symlink(&run, &link).unwrap();
    std::fs::hard_link(&run, &second).unwrap();
    std::fs::write(&margins, "margin = 0.05\n").unwrap();
    std::fs::write(&list, format!("{}\n", run.display())).unwrap();
    let count = files(folder.path());
    let onto = |command: &[&str], output: &Path, others: &[&Path]| {
        let before = std::fs::read(output).unwrap();
        for force in [&[][..], &["--force"]] {
            refusal(&[command, force, &["--output"]].concat(), &[&[output], others].concat());
            assert_eq!(std::fs::read(output).unwrap(), before, "{command:?} {}", output.display());
        }
    };
    for output in [&run, &link, &second] {
        onto(&["report", "--format", "synopsis"], output, &[&run]);
    }
    onto(&["report", "--format", "markdown"], &run, &[&replication]);
    onto(&["export", "--format", "bencher"], &run, &[&run]);
    onto(&["export", "--points"], &run, &[&run]);
    onto(&["compare", "--accept", "build"], &run, &[&run, &run]);
    onto(&["report"], &replication, &[&replication]);
    onto(&["compare", "--accept", "build", "--margins", margins.to_str().unwrap()], &margins, &[&run, &run]);
    onto(&["export", "--points", "--files-from", list.to_str().unwrap()], &list, &[]);
    // A run that is no source of this command is data all the same.
    let other = folder.path().join("other.html");
    std::fs::write(&other, content()).unwrap();
    onto(&["report", "--format", "html"], &other, &[&run]);
    assert_eq!(files(folder.path()), count + 1, "something was left behind");
}

#[test]
fn a_summary_is_never_added_to_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let run = run_file(folder.path());
    let name = run.to_str().unwrap();
    let gate = ["gate", "--accept", "build", "--baseline", name, "--candidate", name, "--summary"];
    let said = refusal(&gate, &[&run]);
    assert!(said.contains("never overwritten"), "{said}");
    assert_eq!(std::fs::read_to_string(&run).unwrap(), content());
    let summary = folder.path().join("summary.md");
    std::fs::write(&summary, "# Mine\n").unwrap();
    fathom().args(gate).arg(&summary).output().unwrap();
    let added = std::fs::read_to_string(&summary).unwrap();
    assert!(added.starts_with("# Mine\n") && added.len() > 20, "{added}");
}

#[test]
fn an_earlier_report_gives_way_and_a_file_of_the_users_to_force_alone() {
    let folder = tempfile::tempdir().unwrap();
    let run = run_file(folder.path());
    let report = |form: &str, force: &[&str], output: &Path| {
        fathom().args(["report", "--format", form]).args(force).arg("--output").arg(output).arg(&run).assert()
    };
    for form in ["text", "html", "markdown", "latex", "synopsis", "json", "csv"] {
        let output = folder.path().join(form);
        report(form, &[], &output).success();
        let first = std::fs::read(&output).unwrap();
        report(form, &[], &output).success();
        assert_eq!(std::fs::read(&output).unwrap(), first, "{form}");
        std::fs::write(&output, "mine\n").unwrap();
        let said = text(&report(form, &[], &output).code(2).get_output().stderr);
        assert!(said.contains("--force"), "{form}: {said}");
        assert_eq!(std::fs::read_to_string(&output).unwrap(), "mine\n");
        report(form, &["--force"], &output).success();
        assert_eq!(std::fs::read(&output).unwrap(), first, "{form}");
    }
}

#[test]
fn a_report_goes_to_a_device_and_leaves_it_one() {
    use std::os::unix::fs::FileTypeExt;
    let folder = tempfile::tempdir().unwrap();
    let run = run_file(folder.path());
    fathom().args(["report", "--output", "/dev/null"]).arg(&run).assert().success();
    assert!(Path::new("/dev/null").metadata().unwrap().file_type().is_char_device());
    let full = refusal(&["report", "--output", "/dev/full"], &[&run]);
    assert!(full.contains("/dev/full"), "{full}");
}

#[test]
fn a_replication_opens_a_file_beside_it_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    run_file(folder.path());
    fathom().arg("report").arg(replication(folder.path(), "run.jsonl")).assert().success();
    let below = folder.path().join("below");
    std::fs::create_dir(&below).unwrap();
    std::fs::write(below.join("run.jsonl"), content()).unwrap();
    for name in [
        "/dev/zero",
        "/etc/shadow",
        "../run.jsonl",
        "below/run.jsonl",
        "./run.jsonl",
        "..",
        ".",
        "",
        "run.jsonl/",
    ] {
        let said = refusal(&["report"], &[&replication(folder.path(), name)]);
        assert!(said.contains("no name of a file beside it"), "{name}: {said}");
    }
    std::os::unix::fs::symlink("/dev/zero", folder.path().join("zero")).unwrap();
    let said = refusal(&["report"], &[&replication(folder.path(), "zero")]);
    assert!(said.contains("a link"), "{said}");
    assert!(refusal(&["report"], &[&replication(folder.path(), "below")]).contains("a folder"));
}

/// Each of these would wait for ever, or fill the memory.
#[test]
fn only_regular_files_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let run = run_file(folder.path());
    let pipe = folder.path().join("pipe.jsonl");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    for (path, what) in [(pipe.as_path(), "a pipe"), (Path::new("/dev/zero"), "a device")] {
        assert!(refusal(&["report"], &[path]).contains(what));
        assert!(refusal(&["compare"], &[&run, path]).contains(what));
        assert!(refusal(&["export", "--format", "csv"], &[path]).contains(what));
        assert!(refusal(&["compare", "--margins"], &[path, &run, &run]).contains(what));
        assert!(refusal(&["export", "--points", "--files-from"], &[path]).contains(what));
        let left_out =
            fathom().args(["export", "--points"]).arg(path).assert().success().get_output().clone();
        assert!(text(&left_out.stdout).contains(what), "{}", text(&left_out.stdout));
    }
    // In a shared folder, the pipe is one of many, and the runs beside it are listed.
    let listed =
        fathom().args(["history", "--folder"]).arg(folder.path()).assert().success().get_output().clone();
    assert!(text(&listed.stdout).contains("47 values"), "{}", text(&listed.stdout));
}
