//! Programs that use the library: the examples measure what is known, and read it back.

use crate::claim::{Figure, between, decided};
use crate::tier::{Outcome, Test, alone};
use std::path::{Path, PathBuf};
use std::process::Command;

pub const TESTS: &[Test] = &alone![
    twice_the_work_takes_twice_the_time_and_is_read_back,
    a_file_that_is_no_run_is_refused_in_words,
    a_benchmark_has_the_state_of_its_host,
];

/// An example, built as this test is.
fn example(name: &str) -> PathBuf {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let mut build = Command::new(cargo);
    build
        .args(["build", "--quiet", "-p", "fathom", "-p", "fathom-engine", "--example", name])
        .current_dir(env!("CARGO_MANIFEST_DIR"));
    if !cfg!(debug_assertions) {
        build.arg("--release");
    }
    assert!(build.status().unwrap().success(), "the example does not build");
    let here = std::env::current_exe().unwrap();
    here.parent().unwrap().with_file_name("examples").join(name)
}

fn output(program: &str, argument: &Path) -> String {
    let output = Command::new(example(program)).arg(argument).output().unwrap();
    let (said, complaint) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success() && complaint.is_empty(), "{program}: {said}{complaint}");
    said
}

/// The ratio behind `name: `, with its interval.
fn ratio(said: &str, name: &str) -> Result<Figure, String> {
    let line = said.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
    let words = line.unwrap_or_default().split_whitespace();
    let numbers: Vec<f64> = words.filter_map(|word| word.trim_end_matches(',').parse().ok()).collect();
    match numbers[..] {
        [value, low, high] => Ok(Figure { value, low, high }),
        _ => Err(format!("no ratio of `{name}` in {said}")),
    }
}

/// The first number behind `name: `.
fn number(said: &str, name: &str) -> Result<f64, String> {
    let line = said.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
    let word = line.and_then(|line| line.split_whitespace().next());
    word.and_then(|word| word.parse().ok()).ok_or_else(|| format!("no number of `{name}` in {said}"))
}

fn twice_the_work_takes_twice_the_time_and_is_read_back() -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    decided(|| {
        let file = folder.path().join("run.jsonl");
        let _ = std::fs::remove_file(&file);
        let said = output("own_operation", &file);
        let (double, long) = (ratio(&said, "double / short")?, ratio(&said, "long / short")?);
        let read = output("read_run", &file);
        let value = |name: &str| number(&read, &format!("own/{name} placement=one-cpu"));
        // The same file gives the same figures, to the digits that are printed.
        let again = value("long")? / value("short")?;
        assert!((again / long.value - 1.0).abs() < 0.01, "{again} read back, {long:?} when it was measured");
        Ok(vec![
            between("double / short", Some(double), 1.75, 2.3),
            between("long / short", Some(long), 7.0, 9.2),
        ])
    })
}

fn a_file_that_is_no_run_is_refused_in_words() -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.jsonl");
    std::fs::write(&file, "{}\n").unwrap();
    let output = Command::new(example("read_run")).arg(&file).output().unwrap();
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && complaint.contains("line 1 of the run file"), "{complaint}");
    Ok(())
}

/// The anchors there are without experiments: the program's own operation, the core, and what the kernel counts.
fn a_benchmark_has_the_state_of_its_host() -> Outcome {
    let text = output("around_benchmark", Path::new("."));
    let seconds = number(&text, "benchmark")?;
    assert!(seconds > 0.0 && text.contains("\nhost: "), "{text}");
    for dimension in ["frequency", "sum of 1000", "CPU time of other programs"] {
        assert!(text.contains(&format!("\n{dimension}: ")), "{dimension}: {text}");
    }
    Ok(())
}
