//! Data flows one way: a module uses only modules that `lib.rs` lists before it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn source(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(path)
}

fn modules() -> Vec<String> {
    let text = std::fs::read_to_string(source("lib.rs")).unwrap();
    let name = |line: &str| Some(line.strip_prefix("pub mod ")?.strip_suffix(';')?.to_owned());
    text.lines().filter_map(name).collect()
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// The files of a module: its own, and those of its folder.
fn files_of(module: &str) -> Vec<PathBuf> {
    let mut found = vec![];
    let (file, folder) = (source(&format!("{module}.rs")), source(module));
    if file.exists() {
        found.push(file);
    }
    if folder.is_dir() {
        files(&folder, &mut found);
    }
    found
}

/// The modules named after `crate::` in a text, comments left out.
fn used(text: &str) -> BTreeSet<String> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let after = code.flat_map(|line| line.split("crate::").skip(1).map(str::to_owned).collect::<Vec<_>>());
    let name =
        |rest: String| rest.chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect::<String>();
    after.map(name).filter(|name| !name.is_empty()).collect()
}

#[test]
fn modules_use_only_those_listed_before_them() {
    let modules = modules();
    assert!(modules.len() > 8, "lib.rs was not understood");
    for (place, module) in modules.iter().enumerate() {
        for file in files_of(module) {
            let text = std::fs::read_to_string(&file).unwrap();
            for other in used(&text) {
                let Some(at) = modules.iter().position(|known| *known == other) else { continue };
                assert!(
                    at <= place,
                    "{} uses `{other}`, which lib.rs lists after `{module}`",
                    file.display()
                );
            }
        }
    }
}

#[test]
fn only_sampling_reads_the_measuring_clock() {
    // Who asks the operating system for the time to order trials or to name files does not measure with it. A peer is
    // outside of every trial: when its bytes arrived is told by the portable clock of its own host.
    let allowed = ["sampling", "peer", "run", "replicate", "report"];
    for module in modules().iter().filter(|module| !allowed.contains(&module.as_str())) {
        for file in files_of(module) {
            let text = std::fs::read_to_string(&file).unwrap();
            assert!(!text.contains("Instant::now"), "{} reads a clock", file.display());
        }
    }
}

#[test]
fn no_module_is_named_after_nothing() {
    let mut found = vec![];
    files(&source(""), &mut found);
    for file in found {
        let stem = file.file_stem().unwrap().to_string_lossy().into_owned();
        assert!(
            !["util", "utils", "common", "helpers", "misc", "manager"].contains(&stem.as_str()),
            "{}",
            file.display()
        );
    }
}

/// Names alone are looked up where points are put into words: of an experiment that a finding or a prediction refers to.
#[test]
fn what_was_recorded_is_judged_by_the_method_that_measured_it() {
    let files: Vec<PathBuf> = ["results", "report"].into_iter().flat_map(files_of).collect();
    assert!(files.len() > 20, "the folders were not found");
    let by_name = |file: &&PathBuf| {
        !file.ends_with("tests.rs") && std::fs::read_to_string(file).unwrap().contains("experiments::find")
    };
    let found: Vec<&PathBuf> = files.iter().filter(by_name).collect();
    assert_eq!(
        found,
        [&source("report/words.rs")],
        "use `experiments::recorded`, by way of the result's `method`"
    );
}
