//! The reports of a fixed run, byte for byte, and what must hold whatever they look like.
//!
//! After a change that is meant, run once with `FATHOM_WRITE_GOLDEN=1` and look at what changed.

#[path = "golden/fixture.rs"]
mod fixture;

use fathom::report::terminal::Style;
use fathom::report::{html, json, markdown, terminal};
use fathom::results::Results;
use std::path::Path;

/// Compares with the file of this name, or writes it where that is asked for.
fn golden(name: &str, found: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("FATHOM_WRITE_GOLDEN").is_some() {
        std::fs::write(&path, found).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    let differing = expected.lines().zip(found.lines()).position(|(one, other)| one != other);
    assert!(
        expected == found,
        "{name} differs (first at line {:?}): see the head of this file",
        differing.map(|line| line + 1)
    );
}

fn with_results<T>(look: impl FnOnce(&Results) -> T) -> T {
    let run = fixture::parse(&fixture::golden());
    look(&Results::of(&run))
}

fn on_terminal(results: &Results, width: usize, colour: bool) -> String {
    let files = [("run file", Path::new("runs/example.jsonl"))];
    terminal::summary(results, &files, Style { width, colour })
}

#[test]
fn every_form_of_the_report_is_as_it_was_reviewed() {
    with_results(|results| {
        golden("terminal.txt", &on_terminal(results, 120, false));
        golden("terminal-narrow.txt", &on_terminal(results, 72, false));
        golden("terminal-colour.txt", &on_terminal(results, 120, true));
        golden("report.md", &markdown::render(results));
        golden("report.json", &json::render(results));
        golden("report.html", &html::render(results));
    });
}

#[test]
#[ignore = "writes a page over every experiment to look at: target/everything.html"]
fn everything() {
    let run = fixture::parse(&fixture::everything());
    let results = Results::of(&run);
    std::fs::write("target/everything.html", html::render(&results)).unwrap();
    std::fs::write("target/everything.txt", on_terminal(&results, 120, false)).unwrap();
}
