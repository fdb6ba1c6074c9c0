//! Rules over the text of the sources, of this package and of its crates.

use std::path::{Path, PathBuf};

/// The folders of sources: the package's own, then each crate's.
pub fn roots() -> Vec<PathBuf> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let crates = std::fs::read_dir(package.join("crates")).unwrap().flatten();
    std::iter::once(package.to_owned())
        .chain(crates.map(|entry| entry.path()))
        .map(|root| root.join("src"))
        .collect()
}

/// The Rust files below a folder with their texts, by their paths below it.
pub fn texts(root: &Path) -> Vec<(PathBuf, String)> {
    let mut folders = vec![root.to_owned()];
    let mut found = vec![];
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                found.push((path.strip_prefix(root).unwrap().to_owned(), text));
            }
        }
    }
    found
}

/// The files of these folders of the package.
fn of(folders: &[&str]) -> Vec<(PathBuf, String)> {
    let below = |folder: &&str| {
        let texts = texts(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder));
        assert!(!texts.is_empty(), "{folder} was not found");
        texts.into_iter().map(|(path, text)| (Path::new(folder).join(path), text)).collect::<Vec<_>>()
    };
    folders.iter().flat_map(below).collect()
}

#[test]
fn no_module_is_named_after_nothing() {
    let nothing = ["util", "utils", "common", "helpers", "misc", "manager"];
    for (path, _) in roots().iter().flat_map(|root| texts(root)) {
        let path = path.with_extension("");
        assert!(!path.iter().any(|part| nothing.iter().any(|name| part == *name)), "{}", path.display());
    }
}

/// A name alone is looked up where points are put into words: of an experiment that a finding or a prediction refers to.
#[test]
fn what_was_recorded_is_judged_by_the_method_that_measured_it() {
    let code = |text: &str| text.split("#[cfg(test)]\nmod ").next().unwrap_or_default().to_owned();
    let by_name = |(path, text): &(PathBuf, String)| {
        !["tests.rs", "planted.rs"].iter().any(|name| path.ends_with(name))
            && code(text).contains("registry::find")
    };
    let found: Vec<PathBuf> = of(&["crates/engine/src/results", "crates/report/src"])
        .into_iter()
        .filter(by_name)
        .map(|(path, _)| path)
        .collect();
    let why = "use `registry::recorded`, by way of the result's `method`";
    assert_eq!(found, [Path::new("crates/report/src/words.rs")], "{why}");
}

/// What a command is asked to write goes through one door, which overwrites nothing that was measured. A run file is only ever
/// created or appended to.
#[test]
fn only_the_door_and_the_journal_write_files_that_stay() {
    let record = Path::new("crates/engine/src/record");
    let allowed = ["door.rs", "journal.rs"].map(|name| record.join(name));
    let writes = ["fs::write(", "fs::copy(", "fs::rename(", "File::create", "OpenOptions", "create_new("];
    let folders = [
        "crates/engine/src/record",
        "crates/engine/src/results",
        "crates/engine/src/comparison",
        "crates/report/src",
        "crates/replicate/src/replication",
        "src",
    ];
    for (path, text) in of(&folders).into_iter().filter(|(path, _)| !allowed.contains(path)) {
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        // How a file is opened to be read stands there.
        let reads = path == record.join("regular.rs");
        let found = writes.iter().find(|word| code.contains(**word) && !(reads && **word == "OpenOptions"));
        assert_eq!(found, None, "{}", path.display());
    }
}

#[test]
fn apparatus_knows_no_question() {
    for (path, text) in of(&["crates/experiments/src/apparatus"]) {
        assert!(!text.contains("questions::"), "{}", path.display());
    }
}
