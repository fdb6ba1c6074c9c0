//! The rules over what is said of one thing in several places, each broken once.

use crate::printed::{Findings, agreement};
use fathom::experiment::{Dimension, Finding, Found, Question, finding, statement};
use fathom::quantity::Unit;
use fathom::record::{Run, TrialOutcome};
use fathom::report::{Form, RunReport, Style, appendix, render};
use fathom::results::{Mixture, Outcome, PointResult, Results};
use fathom::sampling::Observations;

const NS: Dimension = Dimension::Of(Unit::Nanoseconds);

/// The number of violations that a rule adds.
fn count(rule: impl FnOnce(&mut Findings)) -> usize {
    let mut findings = Findings::default();
    rule(&mut findings);
    findings.broken.len()
}

/// A run in which half of the trials of a point with enough of them take eight times as long, and the label of the point.
fn of_two_states() -> (Run, String) {
    let mut run = crate::printed_runs::read("system-calls.jsonl.gz");
    let (experiment, place, later, label) = {
        let results = Results::of(&run);
        let is_narrow = |of: &PointResult| {
            let trials = || of.by_round.iter().map(|(_, median)| *median);
            trials().fold(0.0, f64::max) < 1.1 * trials().fold(f64::INFINITY, f64::min)
        };
        let is_it = |of: &&PointResult| of.by_round.len() > 7 && of.baseline.is_none() && is_narrow(of);
        let point = results.points.iter().find(is_it).expect("a point of eight trials");
        let rounds: Vec<u32> = point.by_round.iter().skip(4).map(|(round, _)| *round).collect();
        let label = fathom::report::words::label(point, &point.point);
        (point.experiment.clone(), point.point.clone(), rounds, label)
    };
    let is_it = |trial: &&mut fathom::record::Trial| trial.experiment == experiment && trial.point == place;
    for trial in run.trials.iter_mut().filter(is_it).filter(|trial| later.contains(&trial.round)) {
        let TrialOutcome::Measured { sample } = &mut trial.outcome else { continue };
        match &mut sample.observations {
            Observations::Ticks { operation, .. } => operation.iter_mut().for_each(|ticks| *ticks *= 8),
            Observations::Values { values } => values.iter_mut().for_each(|value| *value *= 8.0),
        }
    }
    (run, label)
}

const WIDE: Style = Style { width: 2000, colour: false };

fn planted<'a>(results: &'a Results, label: &str) -> &'a PointResult {
    let is_it =
        |of: &&PointResult| fathom::report::words::label(*of, &of.point) == label && of.mixture.is_some();
    results.points.iter().find(is_it).expect("two states")
}

#[test]
fn a_machine_in_two_states_has_two_values_in_every_form() {
    fathom::experiments::register();
    let (run, label) = of_two_states();
    let results = Results::of(&run);
    let Some(Mixture::OfTrials([lower, higher])) = planted(&results, &label).mixture else {
        panic!("{label}")
    };
    assert!(higher.value > 4.0 * lower.value && lower.trials == 4, "{lower:?} {higher:?}");
    let of = |form| render(&RunReport::of(&results).in_full(true), form, WIDE);
    let text = of(Form::Text);
    let (most, least) = (lower.trials.max(higher.trials), lower.trials.min(higher.trials));
    assert!(
        text.contains(&format!("({most} of ")) && text.contains(&format!("· {least} of ")),
        "a row for each state, that of the most trials first"
    );
    for form in [Form::Html, Form::Markdown] {
        let text = of(form) + &appendix(&RunReport::of(&results), form).unwrap_or_default();
        let counts = format!("{most} and {least} trials");
        assert!(text.contains(&counts) && !text.contains("of all: ") && text.contains(" or "), "{form:?}");
    }
    let json: serde_json::Value = serde_json::from_str(&of(Form::Json)).unwrap();
    let mut states = json["points"].as_array().unwrap().iter().filter_map(|point| point["states"].as_array());
    let leading = if higher.trials > lower.trials { higher } else { lower };
    assert!(states.any(|states| states[0]["trials"] == most && states[0]["value"] == leading.value));
}

#[test]
fn a_median_that_no_trial_has_is_seen() {
    fathom::experiments::register();
    let (run, label) = of_two_states();
    let results = Results::of(&run);
    let point = planted(&results, &label);
    let full = render(&RunReport::of(&results).in_full(true), Form::Text, WIDE);
    assert_eq!(count(|findings| agreement::states(point, &full, findings)), 0);
    assert_eq!(count(|findings| agreement::states(point, "", findings)), 1, "a state without its value");
    let (middle, mut between) = (point.by_round.len(), point.clone());
    let Outcome::Value(estimate) = &mut between.outcome else { panic!("no value") };
    estimate.value = between.by_round.iter().map(|(_, median)| median).sum::<f64>() / middle as f64;
    between.mixture = None;
    assert_eq!(count(|findings| agreement::states(&between, &full, findings)), 1, "a median between them");
    assert!(!agreement::is_between(&[4.0, 4.1, 4.2, 4.3, 4.4, 4.5], 4.25));
}

#[test]
fn a_name_without_room_is_seen() {
    let seen = |text: &str| count(|findings| agreement::room(text, findings));
    assert_eq!([seen("operatio  hardware\nn\n───"), seen("operation  hardware\n  rdtsc  8.79 ns")], [1, 0]);
}

#[test]
fn a_design_that_the_machine_does_not_name_is_seen() {
    let seen = |line: &str| count(|findings| agreement::design(line, findings));
    assert_eq!(seen("published (Optimization Reference Manual, Golden Cove) 96 pages"), 1);
    assert_eq!(seen("published (Manual, Golden Cove: this core is not named, but has amx_tile) 96 pages"), 0);
}

#[test]
fn an_interval_thinner_than_a_tick_is_seen() {
    let observed = [18.0 / 2.6; 20];
    assert!(agreement::is_thinner(&observed, 2.6e9, (6.922, 6.924)));
    assert!(!agreement::is_thinner(&observed, 2.6e9, (6.73, 7.12)));
    assert!(!agreement::is_thinner(&[0.2451; 20], 2.6e9, (0.2450, 0.2452)), "a quotient of many ticks");
}

#[test]
fn a_figure_that_differs_from_the_row_of_its_name_is_seen() {
    let rows = [(agreement::words("each iteration, counter in memory"), 0.248)];
    let said = |value: f64, name: &str| {
        let statement = statement!("It costs {it}.", it = Found::bare(value, NS).named(name));
        count(|findings| agreement::names("cpu/loop_overhead", &rows, &[&statement], findings))
    };
    assert_eq!(said(0.249, "iteration, counter in memory"), 1);
    assert_eq!([said(0.248, "iteration, counter in memory"), said(0.249, "iteration, slope")], [0, 0]);
}

#[test]
fn the_slope_of_points_on_no_line_is_seen_in_a_sentence() {
    let statement = statement!("It falls by {it}.", it = Found::bare(0.0214, NS).named("one more argument"));
    let quoted = |slope| count(|findings| agreement::quoted(slope, &[&statement], findings));
    assert_eq!([quoted(-0.0214), quoted(0.05)], [1, 0]);
}

#[test]
fn misses_that_are_not_listed_are_seen() {
    let miss: Finding = finding!(Question::Miss, "a point missed");
    let listed =
        |missed, said: &[Finding]| count(|findings| agreement::listed(missed, said, "a/test", findings));
    assert_eq!([listed(2, &[]), listed(2, &[miss]), listed(0, &[])], [1, 0, 0]);
}

#[test]
fn a_full_text_without_what_stands_out_is_seen() {
    let seen = |text: &str| count(|findings| agreement::everything_stands_out(text, findings));
    assert_eq!(
        [seen("a\nMechanisms\n"), seen("a\nWhat stands out\n  → b\n\nMechanisms\n"), seen("a")],
        [1, 0, 0]
    );
}
