//! Programs that use the library wrongly: each ends with words, and none starts itself without end.
//!
//! This file is such a program, executed in a folder where a file named `mode` says what it does wrong, for a measuring
//! process has neither the arguments nor the environment of its program. Where there is no such file it is the test.

use fathom::results::Outcome;
use fathom::{Error, Operation, Session, child_main};
use std::process::{Command, ExitCode};
use std::time::Duration;

/// What becomes of the only operation of a program: its name, a mode, and a part of the words of its outcome.
const CASES: &[(&str, &str)] = &[
    ("sound", "value"),
    ("prints", "value"),
    ("panics", "the operation panicked: no such thing"),
    ("dies", "exit status: 7"),
    ("nests", "a measured operation cannot measure"),
    ("lost before child_main", "the measuring process died: exit status: 3 (not today)"),
    ("renamed", "operations must be the same in every process"),
    ("called twice", "child_main was called before"),
    ("named twice", "two operations are named `named twice`"),
    ("nothing", "there is no operation"),
    ("hangs", "did not end within"),
];

fn operation(mode: &str) -> Operation {
    let is = |name: &'static str| mode == name;
    let (prints, panics, dies, nests, hangs) =
        (is("prints"), is("panics"), is("dies"), is("nests"), is("hangs"));
    let operation = Operation::new(mode, move || {
        if prints {
            println!("{{}}");
        }
        assert!(!panics, "no such thing");
        if dies {
            std::process::exit(7);
        }
        if hangs {
            std::thread::sleep(Duration::from_secs(60));
        }
        if nests {
            let said = Command::new(std::env::current_exe().unwrap()).output().unwrap().stdout;
            panic!("{}", String::from_utf8_lossy(&said));
        }
        std::hint::black_box(1) + 1
    });
    operation.limit(Duration::from_secs(if hangs { 1 } else { 10 }))
}

fn session(mode: &str) -> Result<Session, Error> {
    let is_child = std::env::args().nth(1).as_deref() == Some("trial");
    match mode {
        "lost before child_main" if is_child => {
            eprintln!("not today");
            std::process::exit(3);
        }
        "renamed" if is_child => child_main([operation("another")]),
        "called twice" => child_main([operation(mode)]).and_then(|_| child_main([operation("another")])),
        "named twice" => child_main([operation(mode), operation(mode)]),
        "nothing" => child_main([]),
        _ => child_main([operation(mode)]),
    }
}

fn measured(mode: &str) -> Result<String, Error> {
    // What hangs is told as that only if the plan has time to wait for it.
    let budget = Duration::from_secs(if mode == "hangs" { 30 } else { 2 });
    let measured = session(mode)?.budget(budget).alongside().measure()?;
    let outcome = &measured.results()[0].outcome;
    Ok(match outcome {
        Outcome::Value(_) | Outcome::BelowResolution { .. } => "value".to_owned(),
        other => other.reason().unwrap_or_default(),
    })
}

fn check(mode: &str, wanted: &str) -> Result<(), String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mode"), mode).unwrap();
    let output = Command::new(std::env::current_exe().unwrap()).current_dir(folder.path()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let complaint = String::from_utf8_lossy(&output.stderr);
    if said.contains(wanted) { Ok(()) } else { Err(format!("{mode}: {said}{complaint}")) }
}

fn main() -> ExitCode {
    if let Ok(mode) = std::fs::read_to_string("mode") {
        match measured(&mode) {
            Ok(said) => println!("{said}"),
            Err(error) => println!("{error}"),
        }
        return ExitCode::SUCCESS;
    }
    let failed: Vec<String> = CASES.iter().filter_map(|(mode, wanted)| check(mode, wanted).err()).collect();
    for complaint in &failed {
        println!("{complaint}");
    }
    println!("{} of {} cases as they should be", CASES.len() - failed.len(), CASES.len());
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
