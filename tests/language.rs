//! Words that no sentence of the program has: figures of speech, and private words where the field has one of its own.

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

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") && !path.ends_with("tests.rs") {
            found.push(path);
        }
    }
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
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut all, mut seen, mut wrong) = (vec![], 0, vec![]);
    files(&source, &mut all);
    for file in &all {
        for text in literals(&std::fs::read_to_string(file).unwrap()) {
            seen += 1;
            for (words, instead) in INSTEAD.iter().filter(|(words, _)| has(&text, words)) {
                wrong.push(format!("{}: `{words}` ({instead}): {text}", file.display()));
            }
        }
    }
    assert!(seen > 5000, "{seen} texts: the source was not understood");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn sentences_are_found_in_source_code() {
    let code = "// \"no\"\nlet a = \"one \\\n    two\"; let q = '\"'; say(\"it \\\"is\\\" told apart\")";
    let found = literals(code);
    assert_eq!(found, ["one two", "it \"is\" told apart"]);
    assert!(has(&found[1], "told apart") && !has("retold apart", "told apart"));
}
