//! What was reviewed: a test compares what it finds with a file, byte for byte.
//!
//! After a change that is meant, `FATHOM_WRITE_GOLDEN=1 cargo test --test hermetic golden` writes the files again: look at what
//! changed.

mod course;
mod data_forms;
mod every_block;
mod pages;
mod report;

use std::path::Path;

/// Compares with the file of this name in `tests/golden/`, or writes it where that is asked for.
fn golden(name: &str, found: &str) {
    compared(&format!("tests/golden/{name}"), found);
}

/// The same with any file of the repository.
fn compared(name: &str, found: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    if std::env::var_os("FATHOM_WRITE_GOLDEN").is_some() {
        std::fs::write(&path, found).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    if expected != found {
        let lines = expected.lines().zip(found.lines()).enumerate();
        let differing = lines.filter(|(_, (one, other))| one != other).map(|(line, _)| line + 1).next();
        panic!("{name} differs, first in line {differing:?}: see the head of tests/hermetic/golden/mod.rs");
    }
}
