//! No files use each other in a circle. Cargo keeps the order of the crates; within each, this does.

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

fn found_circles(texts: &[(PathBuf, String)]) -> BTreeSet<String> {
    let texts = texts.iter().map(|(path, text)| (path.as_path(), text.as_str()));
    let uses = uses::uses(texts);
    let names =
        |circle: &BTreeSet<Name>| circle.iter().map(|name| name.join("::")).collect::<Vec<_>>().join(", ");
    let circles = [uses::circles(&uses), uses::circles(&by_question(&uses))];
    circles.iter().flatten().map(names).collect()
}

#[test]
fn no_files_use_each_other_in_a_circle() {
    let roots = roots();
    assert!(roots.len() > 6, "the crates were not found");
    for root in roots {
        assert_eq!(
            found_circles(&texts(&root)),
            BTreeSet::new(),
            "files of {} that use each other",
            root.display()
        );
    }
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
