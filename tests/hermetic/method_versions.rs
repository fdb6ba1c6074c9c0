//! A run whose method this program does not have: its figures stay, its evidence is not judged, and its method is told in
//! the words of its time.

use crate::reported::FIXED;
use clap::ValueEnum;
use fathom::experiments::{self, OtherVersion};
use fathom::record::{Method, Run};
use fathom::references::{self, Machine};
use fathom::report::{Facts, Form, RunReport, Style, appendix, render};
use fathom::results::{PointResult, Results};
use serde_json::{Value, json};

const NAME: &str = "cpu/procedure_call";

/// What the method of another time said of itself.
const TEXT: &str = "Calls were counted on the fingers of both hands.";

/// The version that the run file names.
const OTHER: u32 = 99;

/// The fixed run, its header changed.
fn with_header(change: impl FnOnce(&mut Value)) -> Run {
    let (first, rest) = FIXED.text.split_once('\n').expect("a header");
    let mut header: Value = serde_json::from_str(first).expect("a header");
    change(&mut header);
    crate::fixture::parse(&format!("{header}\n{rest}"))
}

/// The fixed run as if one of its experiments had been measured by another version of its method.
fn by_another_version(header: &mut Value) {
    for point in header["plan"].as_array_mut().expect("a plan") {
        if point["experiment"] == NAME {
            point["method_version"] = json!(OTHER);
        }
    }
}

/// The same with the method recorded.
fn with_its_method(header: &mut Value) {
    by_another_version(header);
    let about = experiments::find(NAME).expect("the experiment").about();
    let method = Method { version: OTHER, text: TEXT.to_owned(), ..Method::of(about) };
    header["methods"] = json!([method]);
}

fn in_form(results: &Results, form: Form) -> String {
    render(&RunReport::of(results), form, Style::default())
}

fn forms(run: &Run) -> Vec<(Form, String)> {
    let results = Results::of(run);
    let full = RunReport::of(&results).in_full(true).text(Style::default());
    let forms = Form::value_variants().iter().map(|form| (*form, in_form(&results, *form)));
    forms.chain([(Form::Text, full)]).collect()
}

fn of_it<'a>(results: &'a Results) -> Vec<&'a PointResult> {
    results.of_experiment(NAME).collect()
}

#[test]
fn only_the_very_version_is_found() {
    let here = experiments::find(NAME).expect("the experiment").about().version;
    assert!(experiments::recorded(NAME, here).is_ok());
    let other = experiments::recorded(NAME, OTHER).err();
    assert_eq!(other, Some(OtherVersion { recorded: OTHER, here: Some(here) }));
    let unknown = experiments::recorded("no/such", 1).err();
    assert_eq!(unknown, Some(OtherVersion { recorded: 1, here: None }));
}

#[test]
fn evidence_of_another_version_neither_holds_nor_fails() {
    let (same, other) = (with_header(|_| ()), with_header(with_its_method));
    let (same, other) = (Results::of(&same), Results::of(&other));
    assert!(of_it(&same).iter().all(|point| point.evidence.not_judged().is_none()));
    assert!(of_it(&same).iter().any(|point| point.evidence.fails()), "the fixture has a point that fails");
    let points = of_it(&other);
    for point in points.iter().filter(|point| point.trials.0 > 0) {
        assert!(point.evidence.not_judged().is_some_and(|why| why.recorded == OTHER), "{:?}", point.evidence);
        assert!(!point.evidence.holds() && !point.evidence.fails() && point.merit().is_none());
    }
    assert!(other.findings_of(NAME).is_empty() && !same.findings_of(NAME).is_empty());
}

#[test]
fn what_depends_on_the_data_alone_stays() {
    let (same, bare, told) =
        (with_header(|_| ()), with_header(by_another_version), with_header(with_its_method));
    let (same, bare, told) = (Results::of(&same), Results::of(&bare), Results::of(&told));
    for (one, other) in of_it(&same).iter().zip(of_it(&bare)) {
        assert_eq!((&one.outcome, &one.prediction), (&other.outcome, &other.prediction));
        assert_eq!(one.factor(), other.factor());
    }
    let lines = |results: &Results| {
        results.trends.iter().filter(|trend| trend.experiment == NAME).cloned().collect::<Vec<_>>()
    };
    assert!(!lines(&same).is_empty());
    assert_eq!(lines(&told), lines(&same), "the recorded method says which lines it is for");
    assert!(lines(&bare).is_empty(), "nothing says which lines the sweep was made for");
}

#[test]
fn every_form_says_that_it_is_not_judged() {
    // A picture has no evidence.
    for (form, text) in
        forms(&with_header(with_its_method)).into_iter().filter(|(form, _)| *form != Form::Picture)
    {
        let text = crate::committed::in_one_line(&text).to_lowercase();
        let said = if form == Form::Json {
            "\"not_judged\": \"measured by version 99 of the method"
        } else {
            "not judged"
        };
        assert!(text.contains(said), "{form:?}: {text}");
    }
    let report: Value =
        serde_json::from_str(&in_form(&Results::of(&with_header(with_its_method)), Form::Json)).unwrap();
    for point in report["points"].as_array().unwrap().iter().filter(|point| point["experiment"] == NAME) {
        assert_eq!(point["evidence"], json!([]), "{point:#}");
    }
}

#[test]
fn nothing_published_is_set_beside_another_method() {
    let machines: Vec<&Machine> = references::machines().iter().collect();
    let page = |run: &Run| {
        let results = Results::of(run);
        render(&RunReport::of(&results).beside(&machines), Form::Markdown, Style::default())
    };
    let rows = |run: &Run| {
        let results = Results::of(run);
        references::beside(&results, &machines).iter().filter(|row| row.here.experiment == NAME).count()
    };
    let (same, other) = (with_header(|_| ()), with_header(with_its_method));
    assert!(rows(&same) > 0 && rows(&other) == 0);
    let said = "No figure is compared with cpu/procedure";
    assert!(page(&other).contains(said) && !page(&same).contains(said), "{}", page(&other));
}

#[test]
fn values_are_written_as_the_recorded_method_declares_them() {
    let sized = with_header(|header| {
        with_its_method(header);
        for parameter in header["methods"][0]["parameters"].as_array_mut().unwrap() {
            if parameter["name"] == "arguments" {
                parameter["scale"] = json!("bytes");
            }
        }
    });
    let said = |run: &Run| in_form(&Results::of(run), Form::Markdown).contains("arguments 7 B");
    assert!(said(&sized) && !said(&with_header(with_its_method)) && !said(&with_header(|_| ())));
}

#[test]
fn the_recorded_text_is_told_and_never_that_of_another_version() {
    let now = experiments::find(NAME).expect("the experiment").about().method;
    let now = now.split_whitespace().take(6).collect::<Vec<_>>().join(" ");
    let page = |run: &Run| {
        let results = Results::of(run);
        let appendix = appendix(&RunReport::of(&results), Form::Markdown).unwrap_or_default();
        let text = in_form(&results, Form::Markdown) + &appendix;
        crate::committed::in_one_line(&text)
    };
    let same = page(&with_header(|_| ()));
    assert!(same.contains(&now) && !same.contains(TEXT), "{now}");
    let told = page(&with_header(with_its_method));
    assert!(told.contains(TEXT) && told.contains("Method version 99") && !told.contains(&now));
    let bare = page(&with_header(by_another_version));
    assert!(bare.contains("Method version 99") && !bare.contains(&now) && !bare.contains(TEXT));
    assert!(bare.contains("Neither this program nor the run file describes the method"));
}
