//! Standard output and standard error: either may be closed or on a full disk, and a terminal may be on their other end, which
//! no name of a file and no field may command.

use crate::committed::{content, fathom, run_file, text};
use std::fs::{File, OpenOptions};
use std::path::Path;
use std::process::{Command, Stdio};

/// Sets the title, hides, reverses and ends lines: as ESC, as C1, and as marks of direction.
const HOSTILE: &str = "a\u{1b}]0;pwned\u{7}\u{1b}[8m\u{9b}8m\u{202e}\u{2066}\u{200f}\u{61c}\u{2028}b";

fn program() -> Command {
    Command::new(assert_cmd::cargo::cargo_bin("fathom"))
}

fn full() -> File {
    OpenOptions::new().write(true).open("/dev/full").unwrap()
}

/// Every command that the letters on a terminal contain, besides our own paints.
fn commands(text: &str) -> Vec<char> {
    let mut plain = text.to_owned();
    for paint in ["0", "1", "2", "31", "32", "33"] {
        plain = plain.replace(&format!("\u{1b}[{paint}m"), "");
    }
    let is_command = |letter: &char| {
        (letter.is_control() && !matches!(letter, '\n' | '\t'))
            || matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}')
            || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    plain.chars().filter(is_command).collect()
}

/// What a command prints, in colour: neither stream commands the terminal.
fn harmless(arguments: &[&str], paths: &[&Path]) {
    let output = program().args(["--color", "always"]).args(arguments).args(paths).output().unwrap();
    for stream in [&output.stdout, &output.stderr] {
        let text = text(stream);
        assert_eq!(commands(&text), [], "{arguments:?}: {text}");
    }
    assert!(!output.stdout.is_empty() || !output.stderr.is_empty(), "{arguments:?}");
}

#[test]
fn no_name_of_a_file_commands_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let named = |ending: &str| folder.path().join(format!("{HOSTILE}{ending}"));
    let (run, torn, damaged) = (named(".jsonl"), named("-torn.jsonl"), named("-damaged.jsonl"));
    std::fs::write(&run, content()).unwrap();
    std::fs::write(&torn, content() + "{").unwrap();
    std::fs::write(&damaged, "x").unwrap();
    // What the other forms make of a name is tested without the program (`hostile.rs`).
    for form in ["text", "json"] {
        harmless(&["report", "--format", form], &[&run]);
    }
    harmless(&["compare", "--accept", "build"], &[&run, &torn]);
    harmless(&["report"], &[&torn]);
    harmless(&["report"], &[&damaged]);
    harmless(&["report", "--output"], &[&run, &run]);
    harmless(&["history", "--folder"], &[folder.path()]);
    harmless(&["history", "cpu/*", "--folder"], &[folder.path()]);
    harmless(&["history", "--format", "json", "--folder"], &[folder.path()]);
    harmless(&["export", "--points"], &[&run, &damaged]);
    harmless(&["export", "--points", "--output"], &[&run, &run]);
    harmless(&["gate", "--accept", "build", "--baseline"], &[&run, Path::new("--candidate"), &torn]);
    harmless(&["gate", "--baseline"], &[&named("-missing")]);
    harmless(&["compare", "--margins"], &[&damaged, &run, &torn]);
    harmless(&["run", "--alongside", "noise", "--output"], &[&run]);
    harmless(&["run", "--resume"], &[&damaged]);
}

#[test]
fn no_field_commands_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let planted = serde_json::to_string(HOSTILE).unwrap();
    let planted = planted.trim_matches('"');
    let mut text = content();
    let header: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let model = header["machine"]["processor"]["model_name"]["value"].as_str().unwrap();
    let (started, version) =
        (header["started"].as_str().unwrap(), header["tool"]["version"].as_str().unwrap());
    for value in [model, started, "n1"] {
        text = text.replace(&format!("\"{value}\""), &format!("\"{value}{planted}\""));
    }
    text = text.replacen(&format!("\"version\":\"{version}\""), &format!("\"version\":\"{planted}\""), 1);
    // The names of experiments are fields, too.
    text = text.replace("\"cpu/loop_overhead\"", &format!("\"cpu/loop{planted}\""));
    let runs = ["one.jsonl", "two.jsonl"].map(|name| folder.path().join(name));
    for run in &runs {
        std::fs::write(run, &text).unwrap();
    }
    let [one, two] = &runs;
    for form in ["text", "json", "csv"] {
        harmless(&["report", "--full", "--format", form], &[one]);
    }
    harmless(&["compare", "--full", "--accept", "build"], &[one, two]);
    for format in ["google-benchmark", "bencher", "open-metrics"] {
        harmless(&["export", "--format", format], &[one]);
    }
    harmless(&["export", "--points"], &[one, two]);
    for format in ["text", "json"] {
        harmless(&["history", "--format", format, "--folder"], &[folder.path()]);
        harmless(&["history", "*", "--format", format, "--folder"], &[folder.path()]);
    }
    for system in ["github", "azure", "teamcity"] {
        harmless(
            &["gate", "--annotations", system, "--accept", "build", "--baseline"],
            &[one, Path::new("--candidate"), two],
        );
    }
}

#[test]
fn a_standard_error_that_cannot_be_written_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let torn = folder.path().join("run.jsonl");
    std::fs::write(&torn, content() + "{").unwrap();
    let wanted = fathom().arg("report").arg(&torn).assert().success().get_output().stdout.clone();
    let told = program().arg("report").arg(&torn).stderr(full()).output().unwrap();
    assert_eq!((told.status.code(), &told.stdout), (Some(0), &wanted));
    // A refusal is known by its status even where its words are lost.
    let refused = program().args(["report", "/no/such/file"]).stderr(full()).status().unwrap();
    assert_eq!(refused.code(), Some(2));
}

#[test]
fn a_standard_output_that_is_full_is_told_and_one_that_is_closed_is_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let run = run_file(folder.path());
    let run = run.to_str().unwrap();
    let commands: [&[&str]; 8] = [
        &["report", run],
        &["list"],
        &["explain", "cpu/*"],
        &["machine"],
        &["schema"],
        &["references"],
        &["export", "--points", run],
        &["export", "--format", "csv", run],
    ];
    for command in commands {
        let output = program().args(command).stdout(full()).stderr(Stdio::piped()).output().unwrap();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{command:?}: {said}");
        assert!(said.starts_with("fathom: ") && !said.contains("panicked"), "{command:?}: {said}");
        let mut child =
            program().args(command).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()), "{command:?}");
    }
    // Both at once.
    let both = program().args(["report", run]).stdout(full()).stderr(full()).status().unwrap();
    assert_eq!(both.code(), Some(2));
}
