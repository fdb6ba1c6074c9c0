//! What could not be counted is not told as none.

use crate::part_of_run::edited;
use fathom::record::Run;
use fathom::report::{Facts, Form, RunReport, Style, render};
use fathom::results::Results;
use serde_json::{Value, json};

/// The fixed run; of the trials of some rounds, and of the end of the run, these counters are taken away.
fn without(counters: &[&str], rounds: impl Fn(u64) -> bool) -> Run {
    let edit = |line: &mut Value| {
        let measured = line["outcome"]["outcome"] == "measured";
        let conditions = match line["line"].as_str() {
            Some("closing") => &mut line["conditions"],
            Some("trial") if measured && rounds(line["round"].as_u64().unwrap()) => {
                &mut line["outcome"]["sample"]["conditions"]
            }
            _ => &mut Value::Null,
        };
        if let Some(conditions) = conditions.as_object_mut() {
            conditions.retain(|name, _| !counters.contains(&name.as_str()));
        }
    };
    crate::fixture::parse(&edited(&crate::reported::FIXED.text, edit))
}

/// In how many trials of the first measured point each was seen.
fn seen(run: &Run) -> (Value, Value) {
    let report: Value = serde_json::from_str(&RunReport::of(&Results::of(run)).json()).unwrap();
    let points = report["points"].as_array().unwrap();
    let measured = points.iter().find(|point| point["trials"] == 8).expect("a point with eight trials");
    let disturbance = &measured["disturbance"];
    (disturbance["trials_with_steal"].clone(), disturbance["trials_throttled"].clone())
}

fn told(run: &Run) -> [String; 3] {
    let results = Results::of(run);
    let style = Style { width: 200, colour: false };
    let forms = [
        RunReport::of(&results).text(style),
        RunReport::of(&results).in_full(true).text(style),
        render(&RunReport::of(&results), Form::Markdown, style),
    ];
    forms.map(|text| crate::committed::in_one_line(&text))
}

const STEAL: &[&str] = &["steal_ns"];
const THROTTLING: &[&str] = &["throttled_periods", "throttled_ns"];

#[test]
fn a_counter_that_no_trial_could_read_is_not_told_as_none() {
    assert_eq!(seen(&without(&[], |_| true)), (json!(1), json!(0)));
    assert_eq!(seen(&without(STEAL, |_| true)), (Value::Null, json!(0)));
    assert_eq!(seen(&without(THROTTLING, |_| true)), (json!(1), Value::Null));
}

#[test]
fn none_is_told_only_where_all_trials_could_read_it() {
    // Steal was seen in the third round.
    assert_eq!(seen(&without(STEAL, |round| round == 3)).0, Value::Null, "one is unread, none was seen");
    assert_eq!(seen(&without(STEAL, |round| round == 5)).0, json!(1), "one is unread, one was seen");
    assert_eq!(seen(&without(THROTTLING, |round| round == 5)).1, Value::Null);
}

#[test]
fn every_form_says_what_was_not_read() {
    let [screen, terminal, page] = told(&without(&[], |_| true));
    assert!(
        !screen.contains("Not read")
            && !terminal.contains("is unknown: the counter")
            && !page.contains("is unknown: the counter")
    );
    let [screen, terminal, page] = told(&without(&[STEAL, THROTTLING].concat(), |_| true));
    assert!(terminal.contains("Not read: steal, throttling."), "{screen} {terminal}");
    for text in [&terminal, &page] {
        assert!(text.contains("Whether the hypervisor took CPU time (steal) is unknown"), "{text}");
        assert!(text.contains("Whether a CPU quota throttled the process is unknown"), "{text}");
        assert!(text.contains("how much time the hypervisor took could not be read"), "{text}");
    }
}

#[test]
fn files_of_earlier_programs_are_read() {
    // These have a number for every counter, and no methods.
    let text = crate::reported::FIXED.text.clone();
    assert!(text.contains("\"steal_ns\":0") && !text.contains("\"methods\""));
    assert_eq!(crate::fixture::parse(&text).trials[0].sample().unwrap().conditions.steal_ns, Some(0));
}
