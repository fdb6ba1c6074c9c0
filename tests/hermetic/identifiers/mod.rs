//! Names in source code say what a thing is. A participle (`told`, `found`) only says what happened to it.

mod names;
mod shared_names;

use crate::sources::{roots, texts};
use names::names;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Names that no value has, and what to say instead.
const INSTEAD: &[(&str, &str)] = &[
    ("told", "text, message, report, status"),
    ("said", "line, text, message, output"),
    ("found", "estimate, result, matches, metadata"),
    ("seen", "samples, observed, values"),
    ("asked", "request, options, requested"),
    ("made", "file, value, result"),
    ("taken", "used, elapsed, bytes"),
    ("heard", "line, input, answer"),
    ("given", "list, value, requested"),
    ("kept", "saved, values, files"),
    ("wanted", "spec, selector, is_wanted"),
    ("gone", "missing, ended"),
    ("spent", "seconds, times"),
    ("meant", "intended, target"),
    ("left", "remaining"),
    ("lacking", "missing, shortfall"),
];

/// Names that no type has, and what to say instead.
const TYPES_INSTEAD: &[(&str, &str)] = &[
    ("Told", "Report, Text"),
    ("Said", "LineReader, Message"),
    ("Found", "Value, Estimate"),
    ("Seen", "Observation"),
    ("Asked", "Options, Request"),
    ("Made", "Outcome"),
    ("Taken", "Usage"),
    ("Heard", "Input"),
    ("Kept", "Saved"),
    ("Wanted", "Spec, Selector"),
    ("Spent", "Times"),
    ("Nothing", "what is missing"),
];

/// The folders without such names, below the package.
const CLEAN: &[&str] = &[
    "crates/atlas/src",
    "crates/core/src",
    "crates/equipment/src",
    "crates/engine/src/comparison",
    "crates/engine/src/library",
    "crates/engine/src/plan",
    "crates/engine/src/record",
    "crates/engine/src/requirements",
    "crates/engine/src/results",
    "crates/engine/src/run",
    "crates/experiments/src",
    "crates/replicate/src",
    "crates/report/src",
    "crates/verify/src",
    "src",
];

/// A file or folder, a name in it, and the reason why the name is right there.
const ALLOWED: &[(&str, &str, &str)] = &[
    ("crates/core/src/statistics/dip.rs", "left", "the side of a place, against `right`"),
    ("crates/core/src/experiment/evidence.rs", "seen", "a field of the records of checks"),
    (
        "crates/core/src/experiment",
        "found",
        "the value of a point for findings: `Known::found`, `Figure`'s field",
    ),
    ("crates/core/src/experiment/found.rs", "Found", "the value of a point for findings"),
    (
        "crates/engine/src/record/lines.rs",
        "found",
        "a field of an error: the version of a file, against the known one",
    ),
    ("crates/engine/src/record/verification.rs", "found", "a field of the records of known truths"),
    ("crates/engine/src/results", "seen", "a field of the records of checks"),
    ("crates/experiments/src", "seen", "a field of the records of checks"),
    ("crates/report/src/figure", "left", "the left edge of a drawing, against `right` and `top`"),
    ("crates/report/src/verification.rs", "found", "a column of the known truths"),
    ("crates/verify/src/truth.rs", "found", "a field of the records of known truths"),
    ("crates/engine/src/record/mod.rs", "wanted", "a field of the records of peers"),
    ("crates/engine/src/run/peering.rs", "wanted", "a field of the records of peers"),
];

/// The names to replace in a text, each with what to say instead.
fn refused(code: &str) -> BTreeSet<(String, &'static str)> {
    let names = names(code);
    let values = names.iter().filter(|name| name.is_value()).map(|name| (name, INSTEAD));
    let types = names.iter().filter(|name| name.is_type()).map(|name| (name, TYPES_INSTEAD));
    let instead = |(name, list): (&names::Name, &[(&str, &'static str)])| {
        let (_, instead) = list.iter().find(|(refused, _)| *refused == name.text)?;
        Some((name.text.clone(), *instead))
    };
    values.chain(types).filter_map(instead).collect()
}

/// The sources of the workspace by their paths below the package; the tests of a file beside it are not among them.
fn sources() -> Vec<(PathBuf, String)> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let below = |root: PathBuf| {
        let folder = root.strip_prefix(package).unwrap().to_owned();
        texts(&root).into_iter().map(move |(path, text)| (folder.join(path), text))
    };
    roots().into_iter().flat_map(below).filter(|(path, _)| !path.ends_with("tests.rs")).collect()
}

#[test]
fn a_name_says_what_a_thing_is() {
    let (mut wrong, mut used, mut count) = (vec![], BTreeSet::new(), 0);
    let sources = sources();
    for (path, code) in sources.iter().filter(|(path, _)| CLEAN.iter().any(|clean| path.starts_with(clean))) {
        count += 1;
        for (name, instead) in refused(code) {
            match ALLOWED.iter().position(|(place, word, _)| path.starts_with(place) && *word == name) {
                Some(at) => drop(used.insert(at)),
                None => wrong.push(format!("{}: `{name}` ({instead})", path.display())),
            }
        }
    }
    assert!(count > 200, "{count} files: the sources were not found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let idle: Vec<_> = (0..ALLOWED.len()).filter(|at| !used.contains(at)).map(|at| ALLOWED[at]).collect();
    assert!(idle.is_empty(), "names that are allowed and not used: {idle:?}");
}

#[test]
fn participles_are_found_in_code_and_nowhere_else() {
    let words = |code: &str| refused(code).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    for planted in [
        "let told = 1;",
        "if let Some(told) = x {}",
        "fn told() {}",
        "fn f(told: u8) {}",
        "x.map(|told| 1)",
        "struct A { pub told: u8 }",
        "let told = ask(); tell(told)",
        "for told in x {}",
        "match x { Some(told) => {} }",
    ] {
        assert_eq!(words(planted), ["told"], "{planted}");
    }
    assert_eq!(words("pub struct Told(u8);\ntype Found = u8;\nenum Asked {}"), ["Asked", "Found", "Told"]);
    for fine in [
        "// let told = 1;",
        "let text = \"told\";",
        "x.told(); told!(x); crate::told::x();",
        "impl Iterator for A {\n    type Found = u8;\n}",
        "let x = 'a'; let y: &'told str = r#\"told\"#;",
        "let x = 1;\n#[cfg(test)]\nmod tests {\n    let told = 1;\n}",
        "let untold = toldness;",
    ] {
        assert_eq!(words(fine), Vec::<String>::new(), "{fine}");
    }
}
