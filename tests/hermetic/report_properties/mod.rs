//! What must hold of the reports of a run whatever they look like: of the fixed run, whose names are hostile, and of a run of
//! everything.

mod citations;
mod terminal;

use crate::reported::{EVERYTHING, FIXED, in_form, on_terminal};
use clap::ValueEnum;
use fathom::report::Form;
use fathom::results::Results;
use std::collections::BTreeSet;

#[test]
fn pairs_of_cpus_are_drawn_as_a_matrix_whose_far_cells_are_darker() {
    let run = crate::fixture::parse(&crate::fixture::pairs());
    let page = in_form(&Results::of(&run), Form::Html);
    let drawing = page.split("<svg").find(|part| part.contains("by pair")).expect("a matrix");
    let groups = drawing.split("<title>").filter_map(|part| part.split_once("</g>"));
    let cells: Vec<(bool, Vec<&str>)> = groups
        .filter(|(group, _)| group.contains("class=\"cell\""))
        .map(|(group, _)| {
            let covers = group.split("fill-opacity=\"").skip(1).filter_map(|cell| cell.split('"').next());
            (group.contains("to=4") || group.contains("to 4"), covers.collect())
        })
        .collect();
    assert_eq!(cells.len(), 10, "every pair once");
    assert!(cells.iter().all(|(_, covers)| covers.len() == 2 && covers[0] == covers[1]), "in both halves");
    let of = |wanted: bool| {
        let mine = cells.iter().filter(move |(far, _)| *far == wanted);
        mine.map(|(_, covers)| covers[0].parse::<f64>().unwrap()).collect::<Vec<_>>()
    };
    let (far, near) = (of(true), of(false));
    assert_eq!(far.len(), 4);
    assert!(far.iter().all(|far| near.iter().all(|near| *far > 2.0 * near)), "{far:?} {near:?}");
    assert!(!page.contains("Time of each variant"), "no rows beside it");
}

/// The point with seven arguments was seen to be another operation than the one named.
#[test]
fn a_finding_does_not_rest_on_a_point_whose_evidence_does_not_hold() {
    let results = &FIXED.results;
    let seven = |point: &&fathom::results::PointResult| format!("{} ", point.point).contains("arguments=7 ");
    let mut calls = results.of_experiment("cpu/procedure_call");
    assert!(calls.find(seven).is_some_and(|point| point.estimate().is_some() && !point.evidence_holds()));
    let said: Vec<String> =
        results.findings_of("cpu/procedure_call").iter().map(|said| said.statement.plain()).collect();
    assert!(said.iter().any(|text| text.contains("One more argument")), "{said:?}");
    assert!(!said.iter().any(|text| text.contains("a seventh")), "{said:?}");
}

/// The pages stay behind, to be looked at and for `tests/browser/check`: `everything.html` and `fixed.html` in the target
/// folder's `tmp`.
#[test]
fn a_page_over_every_experiment_has_a_section_for_each() {
    let page = EVERYTHING.form(Form::Html);
    let experiments = EVERYTHING.results.experiments();
    assert_eq!(experiments.len(), fathom::experiments::all().count(), "an experiment has no point");
    for experiment in experiments {
        assert!(page.contains(&format!("<code>{experiment}</code>")), "{experiment}");
    }
    std::fs::write(concat!(env!("CARGO_TARGET_TMPDIR"), "/everything.html"), page).unwrap();
    std::fs::write(concat!(env!("CARGO_TARGET_TMPDIR"), "/fixed.html"), FIXED.form(Form::Html)).unwrap();
}

#[test]
fn the_same_run_file_gives_the_same_bytes() {
    let again = crate::fixture::parse(&crate::fixture::golden());
    let again = Results::of(&again);
    for form in Form::value_variants() {
        assert!(in_form(&again, *form) == FIXED.form(*form), "{form:?}");
    }
    assert_eq!(on_terminal(&again, 120, false), on_terminal(&FIXED.results, 120, false));
}

#[test]
fn no_number_that_is_none_is_printed() {
    let on_terminal = [60, 120].map(|width| on_terminal(&FIXED.results, width, false));
    let forms = Form::value_variants().iter().map(|form| FIXED.form(*form));
    for text in on_terminal.iter().map(String::as_str).chain(forms) {
        for word in ["NaN", "inf ", "-inf", "undefined"] {
            assert!(!text.contains(word), "{word} in {text:.200}");
        }
    }
}

#[test]
fn names_in_a_run_file_become_no_markup() {
    let page = FIXED.form(Form::Html);
    assert!(
        !page.contains(crate::fixture::HOSTILE) && !page.contains("<b>bold") && !page.contains("each </td>")
    );
    assert!(page.contains("&lt;script&gt;alert(1)"));
    // The policy, the data and our own script: no other element of this name.
    assert_eq!(page.matches("<script").count(), 2);
    assert_eq!(page.matches("</script>").count(), 2);
    let markdown = FIXED.form(Form::Markdown);
    assert!(!markdown.contains("<script"));
}

#[test]
fn the_page_needs_nothing_else() {
    let page = FIXED.form(Form::Html);
    for reach in
        [" src=", "@import", "url(", "href=\"http", "<link", "<iframe", "fetch(", " style=", " onclick"]
    {
        assert!(!page.contains(reach), "{reach}");
    }
    assert!(page.contains("default-src 'none'"));
}

/// The calls of the fixed run cost 0.9 ns and 0.15 ns more with each argument: as far apart, and on a line that rises.
#[test]
fn points_of_which_the_truth_is_a_line_are_drawn_on_a_line() {
    let page = FIXED.form(Form::Html);
    let drawing = page
        .split("<svg")
        .find(|part| part.contains("by integer arguments") && part.contains("<circle"))
        .expect("it");
    let place = |circle: &str, name: &str| -> f64 {
        let (_, rest) = circle.split_once(&format!(" {name}=\"")).expect(name);
        rest.split('"').next().and_then(|number| number.parse().ok()).expect("a number")
    };
    let circles = drawing.split("<circle ").skip(1).filter_map(|part| part.split("/>").next());
    let marks = circles.filter(|circle| circle.starts_with("class=\"s0\""));
    let mut marks: Vec<(f64, f64)> = marks.map(|mark| (place(mark, "cx"), place(mark, "cy"))).collect();
    // The first of them explains the marks, above the axes.
    assert_eq!(marks.len(), 9, "{drawing}");
    marks.remove(0);
    let steps: Vec<(f64, f64)> =
        marks.windows(2).map(|two| (two[1].0 - two[0].0, two[1].1 - two[0].1)).collect();
    for (right, down) in &steps {
        assert!(*right > 10.0 && (right - steps[0].0).abs() < 0.25, "{marks:?}");
        assert!(*down < -5.0 && (down - steps[0].1).abs() < 0.25, "{marks:?}");
    }
}

/// What a run says of its precision is what its points say.
#[test]
fn the_precision_that_was_reached_and_missed_is_told_as_it_is() {
    let told = |target: f64, ended: &str| {
        let text = FIXED
            .text
            .replace("\"precision\":0.01", &format!("\"precision\":{target}"))
            .replace("\"ended\":\"budget\"", &format!("\"ended\":\"{ended}\""));
        on_terminal(&Results::of(&crate::fixture::parse(&text)), 200, false)
    };
    let missed = told(0.001, "precision");
    assert!(missed.contains("ended because no further trial was expected"), "{missed}");
    assert!(missed.contains("are known within ±0.1 %") && !missed.contains("20 of 20"), "{missed}");
    assert!(!missed.contains("every value had reached"), "{missed}");
    let reached = told(0.01, "precision");
    assert!(reached.contains("every value had reached the target precision"), "{reached}");
    assert!(reached.contains("29 of 29 values (100 %)"), "{reached}");
}

/// What was predicted is the number of cycles: at another frequency than that of the results a ratio would say something of the clock.
#[test]
fn predictions_in_cycles_are_stated_at_the_frequency_of_the_results() {
    let results = &FIXED.results;
    let cycle = results.core_hz.map(|hz| fathom::quantities::number(1e9 / hz)).expect("a frequency");
    let terms =
        || results.points.iter().filter_map(|point| point.prediction.as_ref()).flat_map(|all| &all.terms);
    let words: BTreeSet<String> = terms().map(|term| format!("{:?}", term.source)).collect();
    let in_cycles: Vec<&String> = words.iter().filter(|words| words.contains(" cycles of ")).collect();
    assert!(
        !in_cycles.is_empty() && in_cycles.iter().all(|words| words.contains(&format!(" of {cycle} ns"))),
        "{cycle}: {in_cycles:?}"
    );
}

/// A caption that names a column which only a wide screen has is untrue on paper.
#[test]
fn the_first_table_has_every_column_that_its_caption_names() {
    let page = EVERYTHING.form(Form::Html);
    let table = page.split("<table").find(|table| table.contains("Main figures: medians")).expect("a table");
    let table = table.split("</table>").next().expect("its rows");
    assert!(!table.contains("optional"), "{}", &table[..2000.min(table.len())]);
}
