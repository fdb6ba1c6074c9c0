//! Data flows one way: a module uses only modules that `lib.rs` lists before it, and no files use each other in a circle.

#[path = "architecture/uses.rs"]
mod uses;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn source(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(path)
}

fn modules() -> Vec<String> {
    let text = std::fs::read_to_string(source("lib.rs")).unwrap();
    let name = |line: &str| {
        Some(line.trim_start_matches("pub ").strip_prefix("mod ")?.strip_suffix(';')?.to_owned())
    };
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
    // outside of every trial: when its bytes arrived is told by the portable clock of its own host. By when a server must have
    // answered is no figure.
    let allowed = ["sampling", "peer", "run", "replicate", "report"];
    // Until when a relay holds a packet is what it sets, not what it finds.
    let apart = [source("remote/deadline.rs"), source("verify/relay.rs")];
    for module in modules().iter().filter(|module| !allowed.contains(&module.as_str())) {
        for file in files_of(module).into_iter().filter(|file| !apart.contains(file)) {
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
        let path = file.strip_prefix(source("")).unwrap().with_extension("");
        let nothing = ["util", "utils", "common", "helpers", "misc", "manager"];
        assert!(!path.iter().any(|part| nothing.iter().any(|name| part == *name)), "{}", file.display());
    }
}

fn found_circles(texts: &[(PathBuf, String)]) -> BTreeSet<String> {
    let texts = texts.iter().map(|(path, text)| (path.as_path(), text.as_str()));
    let told = |circle: &BTreeSet<uses::Name>| {
        circle.iter().map(|name| name.join("::")).collect::<Vec<_>>().join(", ")
    };
    uses::circles(&uses::uses(texts)).iter().map(told).collect()
}

#[test]
fn no_files_use_each_other_in_a_circle() {
    let mut paths = vec![];
    files(&source(""), &mut paths);
    let below = |path: &PathBuf| path.strip_prefix(source("")).unwrap().to_owned();
    let texts: Vec<_> =
        paths.iter().map(|path| (below(path), std::fs::read_to_string(path).unwrap())).collect();
    assert!(texts.len() > 300, "the sources were not found");
    assert_eq!(found_circles(&texts), BTreeSet::new(), "files that use each other");
}

fn circles_of(sources: &[(&str, &str)]) -> BTreeSet<String> {
    let owned = |(path, text): &(&str, &str)| (PathBuf::from(path), (*text).to_owned());
    found_circles(&sources.iter().map(owned).collect::<Vec<_>>())
}

#[test]
fn a_helper_that_imports_its_experiments_constants_is_in_a_circle_with_it() {
    let user = ("x.rs", "mod points;\nuse points::all;\nfn sweep() { all(); }\npub const SIZE: u64 = 1;");
    let circle = BTreeSet::from(["x, x::points".to_owned()]);
    assert_eq!(circles_of(&[user, ("x/points.rs", "use super::SIZE;\npub fn all() {}")]), circle);
    assert_eq!(circles_of(&[user, ("x/points.rs", "pub fn all() { super::SIZE; }")]), circle);
    assert!(circles_of(&[user, ("x/points.rs", "// use super::SIZE;\npub fn all() {}")]).is_empty());
    let tested = "pub fn all() {}\n#[cfg(test)]\nmod tests {\n    use super::super::SIZE;\n}";
    assert!(circles_of(&[user, ("x/points.rs", tested)]).is_empty(), "tests may use anything");
}

#[test]
fn a_parent_that_declares_and_passes_on_is_in_no_circle_until_it_uses_what_it_passes_on() {
    let one = ("p/one.rs", "use super::two::Two;\npub struct One(Two);");
    let two = ("p/two.rs", "use super::LIMIT;\npub struct Two;");
    let parent = "mod one;\nmod two;\npub use one::{One};\npub use two::Two;\npub const LIMIT: u64 = 1;";
    assert!(circles_of(&[("p/mod.rs", parent), one, two]).is_empty());
    let calling = format!("{parent}\nfn make() -> One {{}}");
    let circle = BTreeSet::from(["p, p::one, p::two".to_owned()]);
    assert_eq!(circles_of(&[("p/mod.rs", &calling), one, two]), circle);
    // Whoever names what is passed on uses the file that defines it.
    let around = [("p/mod.rs", parent), ("p/one.rs", "use crate::q::Q;\npub struct One;"), two];
    let user = ("q.rs", "use crate::p::One;\npub struct Q(One);");
    assert_eq!(circles_of(&[&around[..], &[user]].concat()), BTreeSet::from(["p::one, q".to_owned()]));
}

#[test]
fn an_inline_module_is_part_of_its_file() {
    let text = "pub type Pair = u8;\npub use inner::ALL;\nmod inner {\n    use super::Pair;\n    pub const ALL: Pair = 1;\n}";
    assert!(
        circles_of(&[("x.rs", "mod forms;\nuse forms::ALL;\nfn f() { ALL; }"), ("x/forms.rs", text)])
            .is_empty()
    );
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

/// What a command is asked to write goes through one door, which overwrites nothing that was measured. A run file is only ever
/// made anew or appended to.
#[test]
fn only_the_door_and_the_journal_write_files_that_stay() {
    // The schema is written by its own test.
    let allowed = ["door", "journal", "schema"].map(|name| source(&format!("record/{name}.rs")));
    let writes = ["fs::write(", "fs::copy(", "fs::rename(", "File::create", "OpenOptions", "create_new("];
    for module in ["record", "commands", "report", "export", "comparison", "results", "replicate/record"] {
        for file in files_of(module).into_iter().filter(|file| !allowed.contains(file)) {
            let text = std::fs::read_to_string(&file).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            // How a file is opened to be read is told there.
            let reads = file == source("record/regular.rs");
            let found =
                writes.iter().find(|word| code.contains(**word) && !(reads && **word == "OpenOptions"));
            assert_eq!(found, None, "{}", file.display());
        }
    }
}
