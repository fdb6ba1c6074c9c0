//! What a report cites is there, once, and is counted without a gap.

use crate::reported::{EVERYTHING, FIXED};
use fathom::report::{Form, RunReport, Subject};
use std::collections::BTreeSet;

#[test]
fn every_link_inside_the_page_has_its_target_and_every_id_is_its_own() {
    let page = FIXED.form(Form::Html);
    let ids: Vec<&str> = attributes(page, " id=\"");
    let mut distinct = ids.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(ids.len(), distinct.len(), "an id stands twice");
    for target in attributes(page, "href=\"#") {
        assert!(ids.contains(&target), "nothing has the id {target}");
    }
    for attribute in ["aria-labelledby=\"", "aria-describedby=\""] {
        let named = attributes(page, attribute);
        assert!(!named.is_empty());
        assert!(named.iter().all(|id| ids.contains(id)), "{named:?}");
    }
}

/// The values of an attribute, up to the closing quote.
fn attributes<'a>(page: &'a str, opening: &str) -> Vec<&'a str> {
    page.split(opening).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

#[test]
fn every_reference_leads_somewhere_and_no_key_stands_twice() {
    for reported in [&FIXED, &EVERYTHING] {
        assert_eq!(RunReport::of(&reported.results).document().dangling(), []);
    }
}

/// What stands between these two, wherever they do.
fn between<'a>(text: &'a str, opening: &'static str, closing: char) -> impl Iterator<Item = &'a str> {
    text.split(opening).skip(1).filter_map(move |rest| Some(rest.split_once(closing)?.0))
}

/// The files of a form that has two, of a run with everything: the paper and its appendix.
fn files_of(form: Form) -> [&'static str; 2] {
    [EVERYTHING.form(form), EVERYTHING.appendix(form)]
}

/// What is inside of the appendix's parts, which have further parts inside of them.
fn folded_for_long(page: &str) -> Vec<&str> {
    let mut parts = vec![];
    let (mut depth, mut from) = (0, None);
    for (at, _) in page.match_indices("details") {
        if page[..at].ends_with("</") {
            depth -= 1;
            if let Some((_, from)) = from.take_if(|(outer, _)| *outer == depth) {
                parts.push(&page[from..at]);
            }
        } else if page[..at].ends_with('<') {
            if page[at..].starts_with("details class=\"long\"") && from.is_none() {
                from = Some((depth, at));
            }
            depth += 1;
        }
    }
    parts
}

/// The paper without its appendix has tables and figures without a gap, and so has the appendix.
#[test]
fn what_is_in_the_appendix_is_counted_by_itself() {
    let page = EVERYTHING.form(Form::Html);
    let folded = folded_for_long(page);
    for kind in [" id=\"table-", " id=\"figure-"] {
        let inside: BTreeSet<&str> = folded.iter().flat_map(|part| between(part, kind, '"')).collect();
        assert!(!inside.is_empty() && inside.iter().all(|number| number.starts_with('A')), "{inside:?}");
        let all: Vec<&str> = between(page, kind, '"').collect();
        let outside = all.iter().filter(|number| !inside.contains(*number));
        assert!(outside.clone().count() > 0);
        assert!(outside.clone().all(|number| !number.starts_with('A')), "{all:?}");
    }
}

/// On paper what stays folded is missing: what is cited of it is said to be of the page.
#[test]
fn on_paper_no_table_is_cited_as_there_that_stays_folded() {
    let paper = EVERYTHING.form(Form::Html);
    let folded = folded_for_long(paper);
    let folded: BTreeSet<&str> =
        folded.iter().flat_map(|inside| between(inside, " id=\"table-", '"')).collect();
    assert!(!folded.is_empty(), "the fixture has nothing that stays folded");
    let cited: BTreeSet<&str> = between(paper, "<a href=\"#table-", '"').collect();
    assert!(!cited.is_empty() && cited.is_disjoint(&folded), "{cited:?} {folded:?}");
    assert!(paper.contains("<a class=\"of-appendix\" href=\"#table-"), "none of them is cited");
}

#[test]
fn latex_refers_to_labels_that_it_has() {
    for latex in files_of(Form::Latex) {
        let labels: BTreeSet<&str> = between(latex, "\\label{", '}').collect();
        let cited: BTreeSet<&str> = between(latex, "\\ref{", '}').collect();
        assert!(!labels.is_empty() && cited.is_subset(&labels), "{:?}", cited.difference(&labels));
    }
}

#[test]
fn markdown_cites_no_table_figure_or_section_that_it_has_not() {
    let [paper, appendix] = files_of(Form::Markdown);
    ensure_cited(paper, appendix, " of the appendix");
    ensure_cited(appendix, paper, " of the paper");
}

/// What a file cites stands in it, or, where it says so, in the other.
fn ensure_cited(markdown: &str, other: &str, elsewhere: &str) {
    let sections = |text: &str| -> BTreeSet<String> {
        let headings = text.lines().filter(|line| line.starts_with('#'));
        let numbers = headings.filter_map(|line| line.trim_start_matches('#').trim_start().split(' ').next());
        numbers.map(str::to_owned).collect()
    };
    let mut found = [0, 0];
    for kind in ["Table ", "Figure ", "Section "] {
        for rest in markdown.split(kind).skip(1) {
            let end = rest.find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '.'));
            let number = rest[..end.unwrap_or(rest.len())].trim_end_matches('.');
            let digits = number.trim_start_matches(|letter: char| letter.is_ascii_uppercase());
            if number.is_empty() || number.len() - digits.len() > 1 || digits.contains(char::is_alphabetic) {
                continue;
            }
            let is_elsewhere = rest[number.len()..].starts_with(elsewhere);
            let there = if is_elsewhere { other } else { markdown };
            let stands = match kind {
                "Section " => sections(there).contains(number),
                kind => there.contains(&format!("**{kind}{number}.**")),
            };
            assert!(
                stands,
                "{kind}{number} is cited and not there{}",
                if is_elsewhere { elsewhere } else { "" }
            );
            found[usize::from(is_elsewhere)] += 1;
        }
    }
    assert!(found[0] > 5, "{found:?}");
}

#[test]
fn tables_and_figures_are_numbered_without_a_gap() {
    let page = FIXED.form(Form::Html);
    for kind in ["table", "figure"] {
        let opening = format!(" id=\"{kind}-");
        let all = attributes(page, &opening);
        let (appendix, paper): (Vec<&str>, Vec<&str>) =
            all.iter().partition(|number| number.starts_with('A'));
        for part in [appendix, paper] {
            assert!(!part.is_empty());
            let number = |number: &&str| number.trim_start_matches('A').parse().expect("a number");
            let mut numbers: Vec<usize> = part.iter().map(number).collect();
            numbers.sort_unstable();
            assert_eq!(numbers, (1..=part.len()).collect::<Vec<_>>(), "{kind}");
        }
    }
}
