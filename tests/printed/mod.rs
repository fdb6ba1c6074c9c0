//! What a report prints, looked at as a reader would: rules over the texts of its forms, and over what they print of values that
//! are known. Both tiers use them: one on runs of real machines that were made once, the other on the run of the day.

#![allow(dead_code, reason = "each tier uses a part")]

pub mod agreement;
pub mod claims;
pub mod known;
pub mod numbers;
pub mod rows;
pub mod words;

use fathom::record::Run;
use fathom::report::{Form, RunReport, Style, appendix, render};
use fathom::results::Results;
use std::collections::BTreeSet;

/// What was looked at, and what is wrong with it.
#[derive(Debug, Default)]
pub struct Findings {
    /// Numbers of texts.
    pub numbers: usize,
    /// Values with their intervals, against what was computed.
    pub values: usize,
    /// Sentences with figures, against what was computed.
    pub sentences: usize,
    /// Pictures.
    pub pictures: usize,
    /// Claims that were seen failing on planted counts.
    pub claims: usize,
    /// Each rule that is broken, where, and the text.
    pub broken: BTreeSet<String>,
}

impl Findings {
    pub fn add(&mut self, form: &str, rule: &str, text: &str) {
        self.broken.insert(format!("{form}: {rule}: {text}"));
    }
}

/// Wide enough that no line of a text is broken.
const WIDE: Style = Style { width: 2000, colour: false };

/// The text without the hash of the source: twelve of its digits may all be decimal, and are no number.
fn without_hashes(text: String, run: &Run) -> String {
    match &run.header.tool.commit {
        Some(commit) => text.replace(commit.as_str(), "a commit"),
        None => text,
    }
}

/// The screen without the column of other machines, whose ranges are no intervals of the values beside them.
fn without_other_machines(screen: &str) -> String {
    let place = |line: &str| {
        let head = Some(line).filter(|line| line.starts_with("Main figures"))?;
        let place = ["  others", "  few ("].into_iter().find_map(|kind| head.find(kind))?;
        Some(head[..place].chars().count() + 2)
    };
    let mut column = None;
    let mut text = String::new();
    for line in screen.lines() {
        column = if line.is_empty() { None } else { place(line).or(column) };
        let is_row = !line.contains(": the atlas")
            && column.is_some_and(|place| line.chars().nth(place - 1) == Some(' '));
        let place = column.filter(|_| is_row).unwrap_or(usize::MAX);
        let (before, after): (Vec<_>, Vec<_>) = line.chars().enumerate().partition(|(at, _)| *at < place);
        text.extend(before.into_iter().map(|(_, letter)| letter));
        let after: String = after.into_iter().map(|(_, letter)| letter).collect();
        text += after.split_once("  ").map_or("", |(_, checked)| checked);
        text.push('\n');
    }
    text
}

/// The forms for people, each as plain text.
fn texts(results: &Results) -> [(&'static str, String); 6] {
    let of = |full: bool, form: Form| render(&RunReport::of(results).in_full(full), form, WIDE);
    let markdown = |text: Option<String>| text.unwrap_or_default();
    [
        ("screen", without_other_machines(&of(false, Form::Text))),
        ("full text", of(true, Form::Text)),
        ("page", words::of_page(&of(true, Form::Html))),
        ("Markdown", of(true, Form::Markdown)),
        ("appendix", markdown(appendix(&RunReport::of(results), Form::Markdown))),
        ("synopsis", of(true, Form::Synopsis)),
    ]
}

/// Looks at every form of a run.
pub fn look(run: &Run) -> Findings {
    fathom::experiments::register();
    let results = Results::of(run);
    let mut findings = Findings::default();
    let texts = texts(&results).map(|(form, text)| (form, without_hashes(text, run)));
    for (form, text) in &texts {
        numbers::look(form, text, &mut findings);
        rows::look(form, text, &mut findings);
        if *form == "Markdown" || *form == "appendix" {
            numbers::look_at_markup(form, text, &mut findings);
        }
    }
    let json: serde_json::Value =
        serde_json::from_str(&render(&RunReport::of(&results), Form::Json, WIDE)).expect("JSON");
    let csv = render(&RunReport::of(&results), Form::Csv, WIDE);
    known::rows_of_the_text(&results, &texts[1].1, &mut findings);
    known::rows_of_the_screen(&texts[0].1, &texts[1].1, &mut findings);
    known::sentences(&json, &mut findings);
    known::nothing_negative(&json, &csv, &mut findings);
    known::conclusions(&results, &mut findings);
    known::contradictions(&json, &mut findings);
    known::undecided_ratios(&json, &mut findings);
    known::one_name_one_value(&json, &mut findings);
    known::ratios(&results, &mut findings);
    known::shares(&json, &mut findings);
    known::cycles(&results, &mut findings);
    known::one_trust(&results, &texts[0].1, &mut findings);
    let narrow = Style { width: 100, colour: false };
    agreement::room(&render(&RunReport::of(&results).in_full(true), Form::Text, narrow), &mut findings);
    agreement::look(&results, &texts[1].1, &mut findings);
    claims::look(run, &results, &mut findings);
    findings.pictures = words::pictures(&render(&RunReport::of(&results).in_full(true), Form::Html, WIDE));
    findings
}
