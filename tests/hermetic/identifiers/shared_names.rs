//! Types with one name in several places of the workspace.

use super::names::{Name, names};
use super::sources;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Why types share a name, and their names. Those of the first reason are checked for it.
const SHARED: &[(&str, &[&str])] = &[
    (
        "each at most once beyond its module: who reads a private one has its definition in the same file",
        &["Choice", "Prepare", "Rule"],
    ),
    (
        "recorded: what a run file has, beside the same thing as another record, a form or the command line has it",
        &[
            "Bandwidth",
            "Conditions",
            "Fact",
            "Header",
            "Machine",
            "Method",
            "Peer",
            "Ratio",
            "Report",
            "Run",
            "Source",
            "Unit",
            "Value",
            "Verdict",
        ],
    ),
    (
        "documents: what a form makes of the thing of that name, or another form's",
        &["Block", "Figure", "History", "Line", "Piece", "Row"],
    ),
    (
        "the same role in different rooms, where the module before it says which",
        &[
            "Agreement",
            "Between",
            "Clock",
            "Kernel",
            "Kind",
            "Level",
            "Levels",
            "Live",
            "Measured",
            "Operation",
            "Order",
            "Progress",
            "Shared",
            "Side",
            "Sustained",
            "Touch",
            "Visit",
        ],
    ),
];

fn reason(name: &str) -> Option<&'static str> {
    SHARED.iter().find(|(_, names)| names.contains(&name)).map(|(reason, _)| *reason)
}

/// The types that are defined in more than one file, with these files, and whether each is seen beyond its module there.
fn defined_twice(sources: &[(PathBuf, String)]) -> BTreeMap<String, BTreeMap<&Path, bool>> {
    let mut files: BTreeMap<String, BTreeMap<&Path, bool>> = BTreeMap::new();
    for (path, code) in sources {
        for name in names(code).into_iter().filter(Name::is_type) {
            *files.entry(name.text).or_default().entry(path).or_default() |= name.is_public;
        }
    }
    files.retain(|_, files| files.len() > 1);
    files
}

#[test]
fn a_type_has_a_name_of_its_own_or_a_reason() {
    let sources = sources();
    let twice = defined_twice(&sources);
    let unknown: Vec<_> = twice.iter().filter(|(name, _)| reason(name).is_none()).collect();
    assert!(
        unknown.is_empty(),
        "types of one name; rename one of each, or give the reason here: {unknown:#?}"
    );
    let once: Vec<_> =
        SHARED.iter().flat_map(|(_, names)| *names).filter(|name| !twice.contains_key(**name)).collect();
    assert!(once.is_empty(), "types that are defined once and stand in the table: {once:?}");
    let is_public = |name: &&&str| twice[**name].values().filter(|is_public| **is_public).count() > 1;
    let public: Vec<_> = SHARED[0].1.iter().filter(is_public).collect();
    assert!(public.is_empty(), "types that are seen beyond their modules: {public:?}");
}

#[test]
fn types_of_one_name_are_found_wherever_they_are() {
    let source = |path: &str, code: &str| (PathBuf::from(path), code.to_owned());
    let sources = [
        source("a/src/x.rs", "pub struct Row;\nenum Only {}"),
        source(
            "b/src/y.rs",
            "mod inner {\n    pub(super) enum Row {}\n}\nimpl T for U {\n    type Only = u8;\n}",
        ),
        source("b/src/z.rs", "type Other = u8;\n#[cfg(test)]\nmod tests {\n    struct Only;\n}"),
    ];
    let files = BTreeMap::from([(Path::new("a/src/x.rs"), true), (Path::new("b/src/y.rs"), true)]);
    assert_eq!(defined_twice(&sources), BTreeMap::from([("Row".to_owned(), files)]));
}
