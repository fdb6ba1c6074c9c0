//! What readers of the reports stumbled over, and must not find again.

use crate::reported::FIXED;
use crate::sources::{roots, texts};
use fathom::report::{Form, RunReport, Style, render};

fn in_form(form: Form, full: bool) -> String {
    render(&RunReport::of(&FIXED.results).in_full(full), form, Style { width: 120, colour: false })
}

/// Searches for a number find it: no form that people search has spaces that only look like one.
#[test]
fn spaces_of_texts_are_plain() {
    let texts = [(Form::Text, false), (Form::Text, true), (Form::Markdown, true), (Form::Synopsis, true)];
    for (form, full) in texts {
        let text = in_form(form, full);
        assert!(text.contains(' ') && !text.contains(['\u{a0}', '\u{202f}']), "{form:?}");
    }
}

#[test]
fn every_form_for_people_says_what_follows_from_the_figures() {
    for form in [Form::Text, Form::Markdown, Form::Latex, Form::Html] {
        let text = in_form(form, true);
        let words = "every step is significant";
        let found = text.replace("&#39;", "'").split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(found.contains(words), "{form:?} has no mechanism");
    }
}

/// Words that readers took for their author's own, in what the program prints.
const UNCLEAR: [&str; 8] = [
    "as far as so few trials tell",
    "has one term alone",
    "what lacks is",
    "times all that was measured",
    "held to the end of the run",
    "stores around the caches",
    "Gathers around",
    "can be told to lose the most",
];

#[test]
fn sentences_are_written_for_their_readers() {
    let sources: Vec<_> = roots().iter().flat_map(|root| texts(root)).collect();
    assert!(sources.len() > 300, "the sources were not found");
    for (path, text) in sources {
        let printed = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        for line in printed {
            let unclear = UNCLEAR.iter().find(|words| line.contains(**words));
            assert_eq!(unclear, None, "{}: {line}", path.display());
        }
    }
}
