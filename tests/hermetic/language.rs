//! Words that no sentence of the program or its documents has: figures of speech, and private words where the field has one.

use crate::sources::{roots, texts};
use std::path::{Path, PathBuf};

/// What is not said, and what is said instead.
const INSTEAD: &[(&str, &str)] = &[
    ("told apart", "distinguished, or significantly different"),
    ("cannot be told", "is unknown, or not distinguishable"),
    ("on their way", "in flight"),
    ("dearer", "slower"),
    ("anew", "again"),
    ("foresee", "predict"),
    ("foreseen", "predicted, or prefetched"),
    ("foretold", "predicted"),
    ("what lacks", "what is missing"),
    ("spoilt", "wrong"),
    ("the scheduler likes", "the scheduler puts it"),
    ("not told", "not reported"),
    ("not known", "unknown"),
    ("without words", "without a message"),
    ("somebody", "another user, or another program"),
    ("at the most", "at most"),
    ("at the least", "at least"),
    ("as they are declared", "as declared"),
    ("goes far", "misses the caches"),
    ("is met", "occurs"),
    ("held to a rate", "limited to a rate"),
    ("where it should be quick", "with --quick"),
    ("in the midst of", "in the middle of"),
    ("time round", "iteration"),
    ("goes round", "repeats, or iterates"),
    ("taken up again", "resumed"),
    ("in an orderly way", "normally"),
    ("below nothing", "negative"),
    ("less than nothing", "negative"),
    ("their way", "by the report's method"),
    ("Nothing here", "the two methods do not differ"),
    ("in kind", "say what differs"),
    ("by the byte", "per byte"),
    ("set beside", "compared with, or shown next to"),
    ("set against", "compared with"),
    ("held against", "compared with"),
    ("waits for nobody", "does not wait"),
    ("lives in memory", "is in memory"),
    ("leaves for the hypervisor", "exits to the hypervisor"),
    ("goes on", "continues"),
    ("whoever", "anyone who"),
    ("anybody", "anyone"),
    ("what is left of", "the rest of"),
    ("dear", "expensive"),
    ("price", "cost"),
];

/// What a character opens or ends in source code.
#[derive(Clone, Copy, PartialEq)]
enum In {
    Code,
    Comment,
    Text,
}

/// The string literals of source code without its tests, their broken lines joined. Raw strings end at the next quotation mark,
/// which is late enough for sentences.
fn literals(code: &str) -> Vec<String> {
    let code = code.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let (mut state, mut found, mut text) = (In::Code, vec![], String::new());
    let mut letters = code.chars().peekable();
    while let Some(letter) = letters.next() {
        match (state, letter) {
            (In::Code, '/') if letters.peek() == Some(&'/') => state = In::Comment,
            (In::Comment, '\n') => state = In::Code,
            // A quotation mark as a character.
            (In::Code, '\'') if letters.peek() == Some(&'"') => drop(letters.next()),
            (In::Code, '"') => state = In::Text,
            (In::Text, '"') => {
                found.push(std::mem::take(&mut text));
                state = In::Code;
            }
            (In::Text, '\\') => match letters.next() {
                Some('\n') => while letters.next_if(|next| next.is_whitespace()).is_some() {},
                escaped => text.extend(escaped),
            },
            (In::Text, _) => text.push(letter),
            _ => {}
        }
    }
    found
}

/// The Markdown files below a folder.
fn documents(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    let below = |path: PathBuf| if path.is_dir() { documents(&path) } else { vec![path] };
    entries.flat_map(below).filter(|path| path.extension().is_some_and(|ending| ending == "md")).collect()
}

/// The prose of Markdown: its lines joined, without what back ticks set apart.
fn prose(markdown: &str) -> String {
    let joined = crate::committed::in_one_line(markdown);
    joined.split('`').step_by(2).collect::<Vec<_>>().join("`")
}

/// Each of the banned words in a text, with the text.
fn banned(file: &Path, text: &str) -> Vec<String> {
    let found = INSTEAD.iter().filter(|(words, _)| has(text, words));
    found.map(|(words, instead)| format!("{}: `{words}` ({instead}): {text}", file.display())).collect()
}

/// Whether a text has these words, and not as a part of others.
fn has(text: &str, words: &str) -> bool {
    let apart = |letter: Option<char>| letter.is_none_or(|letter| !letter.is_alphanumeric());
    text.match_indices(words).any(|(at, _)| {
        apart(text[..at].chars().next_back()) && apart(text[at + words.len()..].chars().next())
    })
}

#[test]
fn sentences_have_the_words_of_the_field() {
    let (mut seen, mut wrong) = (0, vec![]);
    let sources = roots().into_iter().flat_map(|root| texts(&root));
    for (file, source) in sources.filter(|(file, _)| !file.ends_with("tests.rs")) {
        for text in literals(&source) {
            seen += 1;
            wrong.extend(banned(&file, &text));
        }
    }
    assert!(seen > 5000, "{seen} texts: the source was not understood");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn documents_have_the_words_of_the_field() {
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let named = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(|name| home.join(name));
    let all: Vec<PathBuf> = documents(&home.join("docs")).into_iter().chain(named).collect();
    assert!(all.len() > 50, "{} documents", all.len());
    for file in all {
        // A sentence or a cell at a time, so that a message is short.
        for sentence in prose(&std::fs::read_to_string(&file).unwrap()).split(['.', '|']) {
            let wrong = banned(&file, sentence);
            assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        }
    }
}

#[test]
fn sentences_are_found_in_source_code() {
    let code = "// \"no\"\nlet a = \"one \\\n    two\"; let q = '\"'; say(\"it \\\"is\\\" told apart\")";
    let found = literals(code);
    assert_eq!(found, ["one two", "it \"is\" told apart"]);
    assert!(has(&found[1], "told apart") && !has("retold apart", "told apart"));
    assert_eq!(prose("one\n`dear`  two"), "one ` two");
}
