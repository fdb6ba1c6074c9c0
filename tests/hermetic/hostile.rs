//! Run files that somebody edited to do harm: markup, scripts and commands in every string, absurd figures in every number.
//! Whatever stands in a run file, reading it ends in an error or in reports in which it means nothing.

use crate::part_of_run::{text, with_points};
use crate::reported::FIXED;
use clap::ValueEnum;
use fathom::record::Run;
use fathom::report::{Facts, Form, RunReport, Style, appendix, render};
use fathom::results::Results;
use serde_json::Value;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// Ends elements, attributes, spans, cells, comments and lines; begins scripts, links, commands and escape sequences.
const PAYLOAD: &str = "\"'></title></script><script>alert(1)</script><img src=x onerror=alert(1)> [a](javascript:alert(1)) \
                       `b` | \\input{c} $d$ % \u{202e}\u{200f}\u{61c}\u{1b}[31m\u{1b}]0;g\u{7}\u{9b}8m\n# e\r\n<!-- {{f}} \
                       https://evil.example www.evil.example x@evil.example @somebody";

/// A place in a run file: which line, and the way to it.
#[derive(Clone)]
struct Place {
    line: usize,
    pointer: String,
    /// The way without the places in lists, by which alike places are one.
    class: String,
}

/// A run of a few points of every kind, with as few trials as give an interval: it is read and told hundreds of times.
fn lines() -> Vec<Value> {
    let mut lines = with_points(&FIXED.text, |place, point| {
        place % 6 == 0 || point["experiment"].as_str().is_some_and(|name| name.starts_with("test/"))
    });
    lines.retain(|line| line["round"].as_u64().is_none_or(|round| round <= 6));
    lines
}

/// The first of alike places that hold what is asked for.
fn places(lines: &[Value], wanted: fn(&Value) -> bool) -> Vec<Place> {
    let mut found: Vec<Place> = vec![];
    for (line, value) in lines.iter().enumerate() {
        let class = value["line"].as_str().unwrap_or_default().to_owned();
        visit(value, "", &class, &mut |pointer, class, value| {
            if wanted(value) {
                found.push(Place { line, pointer: pointer.to_owned(), class: class.to_owned() });
            }
        });
    }
    let mut seen = BTreeSet::new();
    found.retain(|place| seen.insert(place.class.clone()));
    found
}

fn visit(value: &Value, pointer: &str, class: &str, see: &mut impl FnMut(&str, &str, &Value)) {
    see(pointer, class, value);
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                visit(item, &format!("{pointer}/{index}"), &format!("{class}/*"), see);
            }
        }
        Value::Object(fields) => {
            for (name, item) in fields {
                let escaped = name.replace('~', "~0").replace('/', "~1");
                visit(item, &format!("{pointer}/{escaped}"), &format!("{class}/{name}"), see);
            }
        }
        _ => {}
    }
}

/// Every form of the report of a run file that can be read; `None` of one that cannot.
fn forms(text: &str) -> Option<Vec<(Form, String)>> {
    let run = Run::parse(text).ok()?;
    let results = Results::of(&run);
    let files = [("run file", Path::new("x.jsonl"))];
    let (report, style) = (RunReport::of(&results).written_to(&files), Style::default());
    let forms = Form::value_variants().iter().map(|form| (*form, render(&report, *form, style)));
    let mut forms: Vec<(Form, String)> = forms.collect();
    let appendices = [Form::Markdown, Form::Latex].map(|form| Some((form, appendix(&report, form)?)));
    forms.extend(appendices.into_iter().flatten());
    forms.push((Form::Text, report.in_full(true).text(style)));
    Some(forms)
}

/// What is wrong with a form, if anything.
fn harm(form: Form, text: &str) -> Option<String> {
    let commands = |letter: char| {
        (letter.is_control() && letter != '\n')
            || matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if text.contains(commands) {
        return Some("a letter that commands the terminal".to_owned());
    }
    match form {
        Form::Html => harm_in_html(text),
        Form::Picture => harm_in_elements(text)
            .or_else(|| text.contains("<script").then(|| "a script in a picture".to_owned())),
        Form::Markdown | Form::Synopsis => harm_in_markdown(text),
        Form::Latex => harm_in_latex(text),
        Form::Json => serde_json::from_str::<Value>(text).err().map(|error| error.to_string()),
        Form::Csv => harm_in_csv(text),
        Form::Text => None,
    }
}

/// Every row as long as the head, no cell that a spreadsheet takes for a formula, and no number that is none.
fn harm_in_csv(text: &str) -> Option<String> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let harm = |record: csv::Result<csv::StringRecord>| match record {
        Ok(record) => record.iter().find(|cell| is_harmful(cell)).map(str::to_owned),
        Err(error) => Some(error.to_string()),
    };
    reader.records().find_map(harm)
}

fn is_harmful(cell: &str) -> bool {
    let is_number = cell.parse::<f64>().is_ok_and(f64::is_finite);
    let is_none = ["NaN", "inf", "-inf"].contains(&cell);
    is_none || (cell.starts_with(['=', '+', '-', '@']) && !is_number)
}

/// The elements that the page is made of.
const ELEMENTS: &str = "!doctype a b body button caption circle code dd desc details div dl dt figcaption figure footer g h1 h2 h3 \
                        h4 head header html li line main meta metadata nav ol p path polygon polyline pre rect script section \
                        span style summary sup svg table tbody td text th thead time title tr ul";

fn harm_in_html(page: &str) -> Option<String> {
    let scripts = page.matches("<script").count();
    harm_in_elements(page).or_else(|| (scripts != 2).then(|| "another script".to_owned()))
}

fn harm_in_elements(page: &str) -> Option<String> {
    let known: BTreeSet<&str> = ELEMENTS.split_whitespace().collect();
    // Our own script and style hold signs of their own; what stands in them is a literal.
    for piece in page.split('<').skip(1) {
        let tag = piece.split('>').next().unwrap_or_default();
        let name = tag.trim_start_matches('/').split([' ', '\n']).next().unwrap_or_default();
        let of_script =
            name.is_empty() || name.starts_with(|first: char| !first.is_ascii_alphabetic() && first != '!');
        if !of_script && !known.contains(name) {
            return Some(format!("the element {name}"));
        }
        let bare: String = tag.split('"').step_by(2).collect();
        if bare.contains("onerror") || bare.contains("alert") {
            return Some(format!("the attribute in {tag}"));
        }
    }
    None
}

/// Without what stands between back ticks, no link, no element and no open span is left.
fn harm_in_markdown(text: &str) -> Option<String> {
    for line in text.lines() {
        let bare: String = without_escapes(line).split('`').step_by(2).collect();
        for wrong in ["](", "<script", "<img", "</script", "<!--"] {
            if bare.contains(wrong) {
                return Some(format!("{wrong} in {line}"));
            }
        }
        // A wiki makes links and mentions of these by itself.
        for wrong in ["https://evil", "www.evil", "@evil", "@somebody"] {
            if bare.contains(wrong) {
                return Some(format!("{wrong} is linked in {line}"));
            }
        }
    }
    None
}

fn without_escapes(line: &str) -> String {
    let mut plain = String::new();
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        if letter == '\\' {
            letters.next();
        } else {
            plain.push(letter);
        }
    }
    plain
}

fn harm_in_latex(text: &str) -> Option<String> {
    let lines = text.lines().filter(|line| !line.starts_with('%'));
    for line in lines {
        let bare = without_escapes(line);
        if line.contains("\\input") || bare.contains('%') || bare.contains('#') {
            return Some(format!("a command in {line}"));
        }
    }
    None
}

/// Renders what the changes make of the run, and tells what went wrong.
fn try_changes(lines: &[Value], changes: &[(Place, Value)], complaints: &mut Vec<String>) {
    let mut all = lines.to_vec();
    for (place, value) in changes {
        *all[place.line].pointer_mut(&place.pointer).expect("the place") = value.clone();
    }
    let text = text(&all);
    let what = changes
        .iter()
        .map(|(place, value)| format!("{} {value:.20}", place.class))
        .collect::<Vec<_>>()
        .join(", ");
    match catch_unwind(AssertUnwindSafe(|| forms(&text))) {
        Err(_) => complaints.push(format!("{what}: panic")),
        Ok(None) => {}
        Ok(Some(forms)) => {
            for (form, text) in forms {
                complaints.extend(harm(form, &text).map(|harm| format!("{what}: {form:?}: {harm}")));
            }
        }
    }
}

/// Whether the run file can still be read with this value in this place.
fn is_read(lines: &[Value], place: &Place, value: &Value) -> bool {
    let mut changed = lines.to_vec();
    *changed[place.line].pointer_mut(&place.pointer).expect("the place") = value.clone();
    Run::parse(&text(&changed)).is_ok()
}

fn fail_on(complaints: &[String]) {
    assert!(
        complaints.is_empty(),
        "{} complaints, first of them:\n{}",
        complaints.len(),
        complaints[..complaints.len().min(30)].join("\n")
    );
}

#[test]
fn no_string_of_a_run_file_means_anything_to_any_form() {
    let lines = lines();
    let payload = Value::from(PAYLOAD);
    let free: Vec<(Place, Value)> = places(&lines, Value::is_string)
        .into_iter()
        .filter(|place| is_read(&lines, place, &payload))
        .map(|place| (place, payload.clone()))
        .collect();
    assert!(free.len() > 60, "only {} places", free.len());
    let mut complaints = vec![];
    // A few at a time, so that one cannot hide another for long; then all of them.
    for few in free.chunks(12) {
        try_changes(&lines, few, &mut complaints);
    }
    try_changes(&lines, &free, &mut complaints);
    fail_on(&complaints);
}

/// An overflow panics in builds for tests, and would be a wrong number in others.
#[test]
fn no_number_of_a_run_file_breaks_a_form() {
    let lines = lines();
    let mut complaints = vec![];
    let absurd = [1e308.into(), (-1.0).into(), u64::MAX.into()];
    // Every place gets one of them, in turn, that it can hold.
    for (turn, place) in places(&lines, Value::is_number).into_iter().enumerate() {
        let mut values = absurd.iter().cycle().skip(turn % absurd.len()).take(absurd.len());
        if let Some(value) = values.find(|value| is_read(&lines, &place, value)) {
            try_changes(&lines, &[(place, value.clone())], &mut complaints);
        }
    }
    fail_on(&complaints);
}

#[test]
fn names_of_parameters_mean_nothing_either() {
    let mut lines = lines();
    for line in &mut lines {
        let points = line["plan"].as_array_mut().into_iter().flatten().map(|planned| &mut planned["point"]);
        for point in points {
            rename(point);
        }
        rename(&mut line["point"]);
    }
    for (form, text) in forms(&text(&lines)).expect("it can be read") {
        assert_eq!(harm(form, &text), None, "{form:?}");
    }
}

/// Every parameter but the placement gets a hostile name.
fn rename(point: &mut Value) {
    let Some(fields) = point.as_object_mut() else { return };
    let names: Vec<String> = fields.keys().filter(|name| *name != "placement").cloned().collect();
    for name in names {
        let value = fields.remove(&name).expect("it was there");
        fields.insert(format!("{PAYLOAD}{name}"), value);
    }
}

#[test]
fn a_gigantic_name_and_a_file_cut_anywhere_are_borne() {
    let mut lines = lines();
    lines[0]["machine"]["processor"]["model_name"]["value"] = Value::from("long ".repeat(100_000));
    assert!(forms(&text(&lines)).is_some());
    let whole = &FIXED.text;
    for cut in (0..whole.len()).step_by(whole.len() / 23) {
        let cut = (cut..=whole.len()).find(|cut| whole.is_char_boundary(*cut)).unwrap_or(whole.len());
        // Cut within the header there is no run, and the error says so; anywhere else there is a report.
        match Run::parse(&whole[..cut]) {
            Ok(_) => assert!(forms(&whole[..cut]).is_some()),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}
