//! What reading a large run file and each form of its report cost: `cargo bench --bench report`. Fathom measures itself, as
//! any program that uses it. The forms are timed as whole commands, with reading the file and computing results.
//!
//! A build that is not optimised takes a small file, to see that everything runs (`cargo test --benches`).

#[path = "../tests/described/mod.rs"]
mod described;
#[path = "../tests/described/fixed_run.rs"]
mod fixture;

use fathom::record::{Line, Run, lines};
use fathom::results::Results;
use fathom::{Error, Operation, child_main};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The size of the run file, bytes.
const BYTES: usize = if cfg!(debug_assertions) { 1 } else { 100_000_000 };

/// The forms of the report.
const FORMS: [&str; 6] = ["text", "html", "markdown", "latex", "synopsis", "json"];

fn path() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("run-of-{BYTES}-bytes.jsonl"))
}

/// A run over every experiment with so many rounds that the file is as large as it should be.
fn write() -> std::io::Result<()> {
    let text = if BYTES > 1 { fixture::everything() } else { fixture::golden() };
    let mut file = BufWriter::new(File::create(path())?);
    file.write_all(text.as_bytes())?;
    let trials = || text.lines().filter(|line| line.starts_with("{\"line\":\"trial\""));
    let (mut size, mut further) = (text.len(), 0);
    while size < BYTES {
        further += 8;
        for line in trials() {
            let Ok(Line::Trial(mut trial)) = lines::line::<Run>(line) else { continue };
            trial.round += further;
            let line = serde_json::to_string(&Line::Trial(trial))? + "\n";
            size += line.len();
            file.write_all(line.as_bytes())?;
        }
    }
    file.flush()
}

fn read() -> Run {
    Run::read(&path()).expect("a run file")
}

fn reported(form: &'static str) -> impl FnMut() -> usize {
    move || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
        let output = command.arg("report").arg(path()).args(["--format", form]).output().expect("a process");
        assert!(output.status.success() && !output.stdout.is_empty(), "{output:?}");
        output.stdout.len()
    }
}

fn main() -> Result<(), Error> {
    // Measuring processes find the file that their program has written.
    if std::env::args().nth(1).as_deref() != Some("trial") {
        write().expect("a run file");
    }
    let patient = |operation: Operation| operation.each().limit(Duration::from_secs(5 * 60));
    let results = || {
        let run: &'static Run = Box::leak(Box::new(read()));
        move || Results::of(run).points.len()
    };
    let forms =
        FORMS.map(|form| patient(Operation::prepared(&format!("report as {form}"), move || reported(form))));
    let own = [
        patient(Operation::new("reading the run file", read)),
        patient(Operation::prepared("results", results)),
    ];
    let session = child_main(own.into_iter().chain(forms))?;
    let budget = if cfg!(debug_assertions) { Duration::from_secs(40) } else { Duration::from_secs(15 * 60) };
    print!("{}", session.budget(budget).alongside().measure()?);
    Ok(())
}
