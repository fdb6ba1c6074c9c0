//! Measuring around work, on a recorded run whose first rounds stand for the time before and whose last rounds for that after:
//! the verdict is the first line of every form, and an operation that takes longer afterwards is named.

use crate::committed::{content, fathom, text};
use fathom::record::Run;
use fathom::report::{AroundReport, Form, Style, WorkDone, render};
use fathom::sampling::HostSlice;
use fathom_engine::around::{Surroundings, Verdict, Whole};
use fathom_engine::run::PhaseSpan;
use serde_json::Value;

/// The recorded run, with the times of its later rounds multiplied.
fn run(factor: f64) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.jsonl");
    let slower = |value: &mut Value| {
        if value["line"] == "trial" && value["round"].as_u64().unwrap() > 4 {
            let ticks = &mut value["outcome"]["sample"]["observations"]["operation"];
            for tick in ticks.as_array_mut().into_iter().flatten() {
                *tick = Value::from((tick.as_f64().unwrap() * factor) as i64);
            }
        }
    };
    std::fs::write(&file, crate::part_of_run::edited(&content(), slower)).unwrap();
    Run::read(&file).unwrap()
}

fn slice(busy_s: f64) -> HostSlice {
    HostSlice { lasted_s: 1.0, busy_s: Some(busy_s), own_s: 0.9, ..HostSlice::default() }
}

fn surroundings(factor: f64, busy_s: f64) -> Surroundings {
    fathom::experiments::register();
    let phase = |first_round, last_round, began_s| PhaseSpan {
        first_round,
        last_round,
        began_s,
        ended_s: began_s + 4.0,
    };
    let phases = vec![phase(1, 4, 0.0), phase(5, 8, 4.0)];
    Surroundings::of(run(factor), phases, vec![slice(0.95); 4], vec![slice(busy_s); 6])
}

fn report(surroundings: &Surroundings) -> AroundReport {
    AroundReport::of(surroundings, WorkDone { command: vec!["make".to_owned()], status: Some(0) })
}

/// Such a report as JSON.
pub fn written() -> String {
    render(&report(&surroundings(2.0, 0.95)), Form::Json, Style::default())
}

#[test]
fn an_operation_that_takes_longer_afterwards_is_named_and_a_run_against_itself_is_not() {
    let named = |factor| -> Vec<String> {
        let all = surroundings(factor, 0.95).dimensions();
        all.into_iter()
            .filter(|each| matches!(each.verdict, Verdict::Moved { .. }))
            .map(|each| each.name)
            .collect()
    };
    assert_eq!(named(1.0), [""; 0]);
    assert_eq!(named(2.0), ["system call"]);
    assert_eq!(named(0.5), ["system call"]);
}

#[test]
fn a_neighbour_that_worked_meanwhile_is_named() {
    let busy = surroundings(1.0, 1.9);
    assert_eq!(busy.verdict(), Whole::Moved);
    assert!(report(&busy).sentence().contains("CPU time of other programs moved by +95.0 points"));
}

#[test]
fn every_form_begins_with_the_verdict() {
    let moved = surroundings(2.0, 0.95);
    let report = report(&moved);
    let sentence = report.sentence().replace('\u{a0}', " ");
    assert!(sentence.starts_with("The host did not hold still: system call moved by +104 %"), "{sentence}");
    let style = Style { width: 400, colour: false };
    let line = |form| render(&report, form, style).lines().next().unwrap_or_default().to_owned();
    assert_eq!(line(Form::Text), sentence);
    assert_eq!(line(Form::Markdown), format!("# {sentence}"));
    assert!(render(&report, Form::Html, style).contains(&format!("<title>{}", report.sentence())));
    let data = render(&report, Form::Json, style);
    assert!(data.starts_with("{\n  \"sentence\": \"The host did not hold still"), "{data}");
    let json: Value = serde_json::from_str(&data).unwrap();
    assert_eq!(json["sentence"].as_str().map(|words| words.replace('\u{a0}', " ")), Some(sentence));
    assert!(json["verdict"] == "moved" && json["command"][0] == "make" && json["status"] == 0, "{json}");
}

#[test]
fn data_have_a_row_for_each_dimension_with_its_verdict() {
    let still = surroundings(1.0, 0.95);
    let rows = render(&report(&still), Form::Csv, Style::default());
    assert_eq!(rows.lines().count(), 1 + still.dimensions().len());
    assert!(rows.contains("CPU time of other programs,meanwhile,points,"), "{rows}");
    let json: Value = serde_json::from_str(&render(&report(&still), Form::Json, Style::default())).unwrap();
    let dimensions = json["dimensions"].as_array().unwrap();
    let verdicts = ["held_still", "moved", "cannot_say"];
    assert!(dimensions.iter().all(|each| verdicts.contains(&each["verdict"].as_str().unwrap())), "{json}");
}

#[test]
fn a_report_that_was_written_as_json_is_shown_again_in_every_form() {
    let moved = report(&surroundings(2.0, 0.95));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("host.json");
    std::fs::write(&file, render(&moved, Form::Json, Style::default())).unwrap();
    let again = |form: &str, rest: &[&str], status: i32| {
        let mut command = fathom();
        command.args(["around", "--report"]).arg(&file).args(["--format", form]).args(rest);
        text(&command.assert().code(status).get_output().stdout)
    };
    let style = Style::default();
    for (form, name) in
        [(Form::Json, "json"), (Form::Markdown, "markdown"), (Form::Csv, "csv"), (Form::Html, "html")]
    {
        assert_eq!(again(name, &[], 0).trim_end(), render(&moved, form, style).trim_end(), "{name}");
    }
    assert!(again("text", &["--fail-if-moved"], 1).contains("The host did not hold still"));
    // The verdict is that of the dimensions, whatever sentence the file has.
    let edited =
        std::fs::read_to_string(&file).unwrap().replace("The host did not hold still", "All is well");
    std::fs::write(&file, edited).unwrap();
    assert!(again("markdown", &[], 0).starts_with("# The host did not hold still"));
    std::fs::write(&file, "{\"sentence\": 1}").unwrap();
    let refused = fathom().args(["around", "--report"]).arg(&file).assert().code(2).get_output().clone();
    assert!(text(&refused.stderr).contains("no report of `fathom around"), "{}", text(&refused.stderr));
    fathom().args(["around", "--report", "x.json", "--", "true"]).assert().code(2);
}

#[test]
fn a_command_is_required_and_stands_behind_two_dashes() {
    let output = fathom().arg("around").assert().code(2).get_output().clone();
    assert!(text(&output.stderr).contains("-- <COMMAND>..."), "{}", text(&output.stderr));
    fathom().args(["around", "--margin", "2", "--", "true"]).assert().code(2);
    fathom().args(["around", "--format", "picture", "--", "true"]).assert().code(2);
}
