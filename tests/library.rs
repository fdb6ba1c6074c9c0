//! Programs that use the library: the examples measure what is known, and read it back.

mod sessions;

use std::path::{Path, PathBuf};
use std::process::Command;

/// An example, which `cargo test` builds beside this test.
fn example(name: &str) -> PathBuf {
    let here = std::env::current_exe().unwrap();
    let path = here.parent().unwrap().with_file_name("examples").join(name);
    assert!(path.exists(), "{} is missing: `cargo build --examples` makes it", path.display());
    path
}

fn output(program: &str, argument: &Path) -> String {
    let output = Command::new(example(program)).arg(argument).output().unwrap();
    let (said, complaint) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success() && complaint.is_empty(), "{program}: {said}{complaint}");
    said
}

/// The first number behind `name: `.
fn number(said: &str, name: &str) -> Result<f64, String> {
    let line = said.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
    let word = line.and_then(|line| line.split_whitespace().next());
    word.and_then(|word| word.parse().ok()).ok_or_else(|| format!("no number of `{name}` in {said}"))
}

fn is_about(what: &str, found: f64, known: f64) -> Result<(), String> {
    let is_near = (0.75..1.35).contains(&(found / known));
    if is_near { Ok(()) } else { Err(format!("{what} is {found}, not about {known}")) }
}

#[test]
fn twice_the_work_takes_twice_the_time_and_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    sessions::in_one_of_three(|| {
        let file = folder.path().join("run.jsonl");
        let _ = std::fs::remove_file(&file);
        let said = output("own_operation", &file);
        is_about("double / short", number(&said, "double / short")?, 2.0)?;
        is_about("long / short", number(&said, "long / short")?, 8.0)?;
        let read = output("read_run", &file);
        let value = |name: &str| number(&read, &format!("own/{name} placement=one-cpu"));
        is_about("long / double, read back", value("long")? / value("double")?, 4.0)
    });
}

#[test]
fn a_file_that_is_no_run_is_refused_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.jsonl");
    std::fs::write(&file, "{}\n").unwrap();
    let output = Command::new(example("read_run")).arg(&file).output().unwrap();
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && complaint.contains("line 1 of the run file"), "{complaint}");
}
