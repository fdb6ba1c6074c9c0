//! No files use each other in a circle, but those of one folder with its own `mod.rs`, which may define what they share. Cargo
//! keeps the order of the crates; within each, this does.

mod uses;

use crate::sources::{roots, texts};
use std::collections::BTreeSet;
use std::path::PathBuf;
use uses::{Name, Uses};

/// The files of one experiment as one: apparatus that names a question's points is in a circle with it, whichever of the
/// question's files uses the apparatus. Circles between the files of a question are found as well.
fn by_question(uses: &Uses) -> Uses {
    let question = |name: &Name| match &name[..] {
        [questions, family, question, _, ..] if questions == "questions" => {
            vec![questions.clone(), family.clone(), question.clone()]
        }
        _ => name.clone(),
    };
    let mut joined = Uses::new();
    for (user, used) in uses {
        let user = question(user);
        let others = used.iter().map(question).filter(|other| *other != user);
        joined.entry(user.clone()).or_default().extend(others);
    }
    joined
}

/// The circles among files with these texts; the files of one folder, led by its `mod.rs`, count if `within_folders`.
fn found_circles(texts: &[(PathBuf, String)], within_folders: bool) -> BTreeSet<String> {
    let texts = texts.iter().map(|(path, text)| (path.as_path(), text.as_str()));
    let uses = uses::uses(texts);
    let of_one_folder = |circle: &BTreeSet<Name>| {
        circle.iter().any(|parent| {
            circle.iter().all(|name| name == parent || name.split_last().is_some_and(|(_, of)| of == *parent))
        })
    };
    let names =
        |circle: &BTreeSet<Name>| circle.iter().map(|name| name.join("::")).collect::<Vec<_>>().join(", ");
    let circles = [uses::circles(&uses), uses::circles(&by_question(&uses))];
    circles.iter().flatten().filter(|circle| within_folders || !of_one_folder(circle)).map(names).collect()
}

#[test]
fn no_files_use_each_other_in_a_circle() {
    let roots = roots();
    assert!(roots.len() > 6, "the crates were not found");
    let found = |root: &PathBuf| found_circles(&texts(root), false);
    let circles: BTreeSet<String> = roots.iter().flat_map(found).collect();
    assert_eq!(circles, BTreeSet::new(), "files that use each other");
}

fn circles_of(sources: &[(&str, &str)]) -> BTreeSet<String> {
    let owned = |(path, text): &(&str, &str)| (PathBuf::from(path), (*text).to_owned());
    found_circles(&sources.iter().map(owned).collect::<Vec<_>>(), true)
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

#[test]
fn apparatus_that_names_points_of_the_question_that_uses_it_is_in_a_circle_with_it() {
    let points = ("questions/cpu/x/points.rs", "pub const FIRST: u64 = 1;");
    let user = (
        "questions/cpu/x/mod.rs",
        "mod points;\npub use points::FIRST;\nuse crate::apparatus::ring::turn;\nfn work() { turn(); }",
    );
    let ring = ("apparatus/ring.rs", "use crate::questions::cpu::x::FIRST;\npub fn turn() { FIRST; }");
    let circle = BTreeSet::from(["apparatus::ring, questions::cpu::x".to_owned()]);
    assert_eq!(circles_of(&[points, user, ring]), circle);
    assert!(circles_of(&[points, user, ("apparatus/ring.rs", "pub fn turn() {}")]).is_empty());
}

#[test]
fn only_a_folder_whose_files_use_their_parent_is_let_be() {
    let owned = |(path, text): (&str, &str)| (PathBuf::from(path), text.to_owned());
    let parent =
        ("p/mod.rs", "mod one;\nuse crate::q::Q;\npub const LIMIT: u64 = 1;\nfn all() { one::all(); Q; }");
    let child = ("p/one.rs", "use super::LIMIT;\npub fn all() { LIMIT; }");
    let mut sources = vec![owned(parent), owned(child), owned(("q.rs", "pub struct Q;"))];
    assert!(found_circles(&sources, false).is_empty());
    sources[2].1 = "use crate::p::one::all;\npub struct Q;\nfn back() { all(); }".to_owned();
    assert_eq!(found_circles(&sources, false), BTreeSet::from(["p, p::one, q".to_owned()]));
}
