//! What a page shows first, and by which names its parts are linked.

use crate::committed::{fathom, run_file, text};
use std::path::Path;

fn page(arguments: &[&str], files: &[&Path]) -> String {
    text(
        &fathom()
            .args(arguments)
            .args(files)
            .args(["--format", "html"])
            .assert()
            .success()
            .get_output()
            .stdout,
    )
}

/// That these stand in this order, each once at least.
fn assert_order(page: &str, parts: &[&str]) {
    let body = &page[page.find("<main>").unwrap()..];
    let places: Vec<Option<usize>> = parts.iter().map(|part| body.find(part)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{parts:?} at {places:?}");
}

#[test]
fn a_page_begins_with_the_verdict_the_picture_and_the_figures() {
    let folder = tempfile::tempdir().unwrap();
    let page = page(&["report"], &[&run_file(folder.path())]);
    assert_order(
        &page,
        &[
            "<b>Trust: ",
            "<svg class=\"figure broad\"",
            "Main figures:",
            "Can you trust this run?",
            "id=\"contents\"",
        ],
    );
}

#[test]
fn a_section_is_linked_by_the_name_of_its_experiment() {
    let folder = tempfile::tempdir().unwrap();
    let page = page(&["report"], &[&run_file(folder.path())]);
    for name in ["system_call", "cpu-system_call", "loop_overhead"] {
        assert_eq!(page.matches(&format!(" id=\"{name}\"")).count(), 1, "{name}");
    }
    let mut names: Vec<&str> =
        page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all, "two places have one name");
}

#[test]
fn a_comparison_begins_with_its_verdict_whichever_command_writes_it() {
    let folder = tempfile::tempdir().unwrap();
    let one = run_file(folder.path());
    let other = folder.path().join("other.jsonl");
    std::fs::copy(&one, &other).unwrap();
    let compared = page(&["compare"], &[&one, &other]);
    assert_order(&compared, &["Summary</h2>", "families of operations", "Before", "id=\"contents\""]);
    assert_eq!(page(&["report"], &[&one, &other]), compared);
}
