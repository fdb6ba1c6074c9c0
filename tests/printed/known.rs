//! Rules over printed values that are known: what was computed, and what other forms print of it.

use super::Findings;
use super::rows::{self, Value};
use fathom::experiment::{Dimension, Figure, Statement};
use fathom::quantities::Measure;
use fathom::quantity::Unit;
use fathom::report::{Form, RunReport, render};
use fathom::results::{Outcome, PointResult, Results};
use fathom::statistics::Measured;
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// The size of a unit with its prefix.
fn size(symbol: &str) -> Option<f64> {
    let decimal = |steps: &[&str]| {
        steps.iter().position(|step| *step == symbol).map(|place| 1000_f64.powi(place as i32))
    };
    let binary = ["B", "KiB", "MiB", "GiB", "TiB"].iter().position(|step| *step == symbol);
    decimal(&["ns", "µs", "ms", "s"])
        .or_else(|| decimal(&["B/s", "kB/s", "MB/s", "GB/s", "TB/s"]))
        .or_else(|| binary.map(|place| 1024_f64.powi(place as i32)))
        .or_else(|| (symbol == "%").then_some(1e4))
}

/// What is wrong with a printed value, of which these are the computed value and the ends.
pub fn wrong(printed: &Value, value: f64, ends: Option<(f64, f64)>) -> Option<&'static str> {
    let size = size(&printed.unit)?;
    let close =
        |one: f64, other: f64, error: f64| (one * size - other).abs() <= error * size + 1e-9 * other.abs();
    if !close(printed.number, value, printed.half_a_digit) {
        return Some("a value more than half a digit from the computed one");
    }
    let (low, high) = ends?;
    let Some((lowest, highest)) = printed.ends else { return Some("no interval") };
    let slack = 1e-5 * printed.half_a_digit * size + 1e-9 * value.abs();
    if lowest * size > low + slack || highest * size < high - slack {
        return Some("an end moved inwards");
    }
    let digit = 4.0 * printed.half_a_digit;
    if !close(lowest, low, digit) || !close(highest, high, digit) {
        return Some("an end moved by more than a digit");
    }
    (lowest == 0.0 && low > 1e-9 * value.abs()).then_some("a positive end printed as zero")
}

/// Every row of the table of all operations against what was computed.
pub fn rows_of_the_text(results: &Results, text: &str, findings: &mut Findings) {
    let table =
        text.split("\n\n").find(|part| part.trim_start().starts_with("operation ")).unwrap_or_default();
    let mut lines =
        table.lines().skip(2).filter(|line| line.starts_with("  ") && !line.trim_start().starts_with('<'));
    for point in results.points.iter().filter(|point| point.estimate().is_some() || is_limit(&point.outcome))
    {
        let elsewhere = point.at_other_distance().map(|(_, estimate)| estimate);
        let at_device = point.at_device.as_ref().map(|at| &at.estimate);
        let of_rows = [point.estimate(), point.shared(), elsewhere, at_device];
        for (place, estimate) in of_rows.into_iter().enumerate() {
            if place > 0 && estimate.is_none() {
                continue;
            }
            let Some(line) = lines.next() else {
                findings.add("full text", "a row is missing", &point.experiment);
                return;
            };
            let Some(estimate) = estimate else { continue };
            if place == 0 && point.mixture.is_some() {
                let further = point.mixture.as_ref().map_or(0, |mixture| mixture.values().len() - 1);
                let of_each: Vec<&str> = [line].into_iter().chain(lines.by_ref().take(further)).collect();
                of_states(point, &of_each, findings);
                continue;
            }
            let ends = estimate.interval.map(|interval| (interval.low, interval.high));
            let values = rows::values(line);
            let printed = values.iter().find(|value| value.ends.is_some()).or(values.last());
            findings.values += 1;
            match printed.map(|printed| wrong(printed, estimate.value, ends)) {
                Some(None) => {}
                Some(Some(rule)) => {
                    findings.add("full text", rule, &format!("{line} for {} {ends:?}", estimate.value));
                }
                None => findings.add("full text", "no value", line),
            }
            unit(point.unit, estimate.value, place == 0, printed, findings);
        }
    }
}

/// Each state of a point has a row with its value.
fn of_states(point: &PointResult, lines: &[&str], findings: &mut Findings) {
    let values = point.mixture.as_ref().map(fathom::results::Mixture::states).unwrap_or_default();
    let measure = Measure::of(point.unit, values.first().map_or(0.0, |leading| leading.value));
    findings.values += values.len();
    let has = |(line, state): (&&str, &fathom::results::MachineState)| {
        let ends = state.interval.map(|interval| (interval.low, interval.high));
        rows::plain(line).contains(&rows::plain(&measure.number(state.value, ends)))
    };
    if lines.len() != values.len() || !lines.iter().zip(&values).all(has) {
        findings.add("full text", "a state without its value", &format!("{lines:?} for {values:?}"));
    }
}

/// The unit of a row is that of its median.
fn unit(unit: Unit, value: f64, median: bool, printed: Option<&Value>, findings: &mut Findings) {
    let Some(printed) = printed.filter(|_| median && value != 0.0) else { return };
    if printed.unit != Measure::of(unit, value).symbol {
        findings.add("full text", "not the unit of the median", &printed.line);
    }
}

fn is_limit(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::BelowResolution { .. })
}

/// A value as it is printed: unit, number and ends.
type Printed = (String, f64, Option<(f64, f64)>);

/// A median on the screen, and that with the core shared beside it, is in the table of all operations, or is a slope.
pub fn rows_of_the_screen(screen: &str, full: &str, findings: &mut Findings) {
    let (_, table) = screen.split_once("Main figures").unwrap_or_default();
    let table = table.split("\n\n").next().unwrap_or_default();
    let all: Vec<(String, f64)> =
        full.lines().flat_map(rows::values).map(|value| (value.unit, value.number)).collect();
    for row in table.lines().skip(1) {
        // The words of a row, and its share of time and range, are no medians.
        let cells = row.trim().split("  ").map(str::trim).filter(|cell| !cell.is_empty()).skip(1);
        let medians = cells.take_while(|cell| !cell.starts_with(['±', '>', '–']));
        for value in medians.flat_map(rows::values) {
            findings.values += 1;
            if !all.contains(&(value.unit.clone(), value.number)) {
                findings.add("screen", "printed otherwise in the table of all operations", row.trim());
            }
        }
    }
}

/// Every figure of a sentence is in its text.
pub fn sentences(json: &Json, findings: &mut Findings) {
    let statements = json["findings"].as_array().into_iter().flatten();
    let statements = statements.flat_map(|of| of["statements"].as_array().into_iter().flatten());
    let overall = json["overall"].as_array().into_iter().flatten();
    let checks = json["cross_checks"].as_array().into_iter().flatten();
    for statement in statements.chain(overall).chain(checks) {
        findings.sentences += 1;
        let text = statement["text"].as_str().unwrap_or_default();
        for figure in statement["figures"].as_array().into_iter().flatten() {
            let of_states = figure["states"].as_array().cloned().unwrap_or_default();
            let of_state = |value: &Json| serde_json::json!({ "value": value, "unit": figure["unit"] });
            // The median over several states may be of none of them: each of their values is printed instead.
            let printed = match of_states.as_slice() {
                [] => is_printed(figure, text),
                states => states.iter().all(|value| is_printed(&of_state(value), text)),
            };
            if !printed {
                findings.add("sentence", "a figure that is not in its text", &format!("{text} {figure}"));
            }
        }
    }
}

fn is_printed(figure: &Json, text: &str) -> bool {
    let Some(value) = figure["value"].as_f64() else { return true };
    let numbers = super::numbers::all(text);
    // A bound is rounded to its own side.
    let name = figure["name"].as_str().unwrap_or_default();
    let digits = if name.contains("at most") || name.contains("at least") { 2.0 } else { 1.0 };
    numbers.iter().any(|number| {
        let size = match figure["unit"].as_str() {
            Some("share") => 0.01,
            Some("ratio" | "count" | "cycles") => match number.unit() {
                "million" => 1e6,
                "billion" => 1e9,
                _ => 1.0,
            },
            Some("parts_per_million") => 1e4,
            _ => size(number.unit()).unwrap_or(f64::NAN),
        };
        (number.value * size - value.abs()).abs()
            <= digits * number.half_a_digit() * size + 1e-9 * value.abs()
    })
}

/// No minimum of a time is below zero in the forms for programs.
pub fn nothing_negative(json: &Json, csv: &str, findings: &mut Findings) {
    for point in json["points"].as_array().into_iter().flatten() {
        let is_time = point["unit"] == "nanoseconds";
        for least in [&point["best"], &point["published_statistics"]["minimum"]] {
            if is_time && least.as_f64().is_some_and(|least| least < 0.0) {
                findings.add(
                    "JSON",
                    "a time below zero",
                    &format!("{} {}", point["experiment"], point["parameters"]),
                );
            }
        }
    }
    let mut lines = csv.lines();
    let place = lines.next().unwrap_or_default().split(',').position(|name| name == "minimum");
    assert!(place.is_some(), "the column of the minimum");
}

/// What the sentences of cross-checks conclude follows from the intervals, and a cause that is excluded does not lead near to what
/// was measured.
pub fn conclusions(results: &Results, findings: &mut Findings) {
    for check in &results.cross_checks {
        order(&check.statement.plain(), &intervals(&check.statement), findings);
    }
    for point in &results.points {
        let Some(because) = &point.because else { continue };
        let Some(estimate) = point.estimate() else { continue };
        let Some(ends) = fathom::quantities::ends(estimate) else { continue };
        excluded(&because.plain(), estimate.value, ends, findings);
    }
}

/// A contradiction is printed only of intervals that do not touch.
pub fn contradictions(json: &Json, findings: &mut Findings) {
    for check in json["cross_checks"].as_array().into_iter().flatten() {
        let text = check["text"].as_str().unwrap_or_default();
        if check["agreement"] == "contradicts" {
            contradiction(text, findings);
        }
    }
}

pub fn contradiction(text: &str, findings: &mut Findings) {
    let ends: Vec<Ends> = rows::values(text).iter().filter_map(|value| value.ends).collect();
    let apart = ends.iter().any(|(_, high)| ends.iter().any(|(low, _)| low > high));
    if !apart {
        findings.add("cross-check", "a contradiction of intervals that touch", text);
    }
}

/// A ratio is stated as a finding only if its interval excludes 1: `0.733 (0.381–2.41) times as long` says nothing. A sentence that says
/// what is not significant has such an interval.
pub fn undecided_ratio(text: &str, findings: &mut Findings) {
    for (place, _) in text.match_indices(") times ") {
        let sentence = &text[text[..place].rfind(". ").map_or(0, |end| end + 2)..];
        let sentence = sentence.split(". ").next().unwrap_or_default();
        let ends = text[..place].rsplit('(').next().and_then(|ends| ends.split_once('–'));
        let ends = ends.and_then(|(low, high)| Some((low.parse::<f64>().ok()?, high.parse::<f64>().ok()?)));
        let is_open = ends.is_some_and(|(low, high)| low < 1.0 && high > 1.0);
        if is_open && !sentence.contains("significant") {
            findings.add("sentence", "a ratio that may be 1 as a finding", sentence);
        }
    }
}

/// Every finding, and every cause, by [`undecided_ratio`].
pub fn undecided_ratios(json: &Json, findings: &mut Findings) {
    let of = |key: &str| json[key].as_array().cloned().unwrap_or_default();
    let by_experiment =
        of("findings").into_iter().flat_map(|of| of["statements"].as_array().cloned().unwrap_or_default());
    let texts =
        by_experiment.chain(of("overall")).filter(|of| of["question"] != "miss").map(|of| of["text"].clone());
    let causes = of("mechanisms").into_iter().flat_map(|of| [of["headline"].clone(), of["because"].clone()]);
    for text in texts.chain(causes) {
        undecided_ratio(text.as_str().unwrap_or_default(), findings);
    }
}

/// A name of a figure has one value in all sentences that are not about misses, which name their figures by their part in the miss.
pub fn one_name_one_value(json: &Json, findings: &mut Findings) {
    let of = |key: &str| json[key].as_array().cloned().unwrap_or_default();
    let by_experiment =
        of("findings").into_iter().flat_map(|of| of["statements"].as_array().cloned().unwrap_or_default());
    let mechanisms = of("mechanisms");
    let causes = mechanisms.iter().map(|of| of["figures"].clone());
    let statements = by_experiment.chain(of("overall")).filter(|of| of["question"] != "miss");
    let figures = statements.chain(of("cross_checks")).map(|of| of["figures"].clone()).chain(causes);
    let mut values: BTreeMap<(String, String), f64> = BTreeMap::new();
    for figure in figures.flat_map(|list| list.as_array().cloned().unwrap_or_default()) {
        let Some(value) = figure["value"].as_f64() else { continue };
        let key = (figure["name"].to_string(), figure["unit"].to_string());
        let first = *values.entry(key).or_insert(value);
        if (first - value).abs() > 1e-9 * value.abs() {
            findings.add(
                "sentence",
                "a name with two values",
                &format!("{} {first} {value}", figure["name"]),
            );
        }
    }
}

/// Both values of a ratio whose name says what is over what stand in its sentence.
pub fn ratios(results: &Results, findings: &mut Findings) {
    let all = results.findings.iter().flat_map(|(_, of)| of).filter(|finding| !finding.is_miss());
    all.for_each(|finding| operands(&finding.statement, findings));
}

/// The same of one sentence. Of a machine in several states a value stands there once for each.
pub fn operands(statement: &Statement, findings: &mut Findings) {
    let of = |figure: &Figure| {
        let states = figure.found.states.into_iter().flatten().map(|state| state.value);
        states.chain([figure.found.value]).collect::<Vec<f64>>()
    };
    let values: Vec<f64> = statement.figures().flat_map(of).collect();
    let is_ratio =
        |figure: &&Figure| figure.found.dimension == Dimension::Ratio && figure.name.contains(" over ");
    for figure in statement.figures().filter(is_ratio) {
        let is_of = |one: f64, other: f64| (one / other / figure.found.value - 1.0).abs() < 1e-6;
        if !values.iter().any(|one| values.iter().any(|other| is_of(*one, *other))) {
            findings.add("sentence", "a ratio whose two values it does not show", &figure.name);
        }
    }
}

/// A share that is named as one of a whole does not reach above it.
pub fn shares(json: &Json, findings: &mut Findings) {
    let of = |key: &str| json[key].as_array().cloned().unwrap_or_default();
    let by_experiment =
        of("findings").into_iter().flat_map(|of| of["statements"].as_array().cloned().unwrap_or_default());
    let all = by_experiment.chain(of("mechanisms")).chain(of("overall"));
    for figure in all.flat_map(|of| of["figures"].as_array().cloned().unwrap_or_default()) {
        let is_part = figure["unit"] == "share"
            && figure["name"].as_str().is_some_and(|name| name.contains("share of"));
        if is_part && figure["high"].as_f64().is_some_and(|high| high > 1.0) {
            findings.add("sentence", "a share that reaches above its whole", &figure.to_string());
        }
    }
}

/// A number of cycles is not known better than the frequency by which it is counted, but where all trials are stated at one.
pub fn cycles(results: &Results, findings: &mut Findings) {
    let known = results.known();
    let Some(frequency) = known.frequency().and_then(relative_width) else { return };
    let statements = results.findings.iter().flat_map(|(_, of)| of).map(|finding| &finding.statement);
    let counted = |of: &&Figure| of.found.dimension == Dimension::Cycles && of.found.at_hz.is_none();
    for figure in statements.flat_map(Statement::figures).filter(counted) {
        if relative_width(figure.found.measured).is_some_and(|width| width < 0.9 * frequency) {
            findings.add("sentence", "cycles known better than the frequency", &figure.name);
        }
    }
}

fn relative_width(measured: Measured) -> Option<f64> {
    let (low, high) = measured.ends()?;
    Some((high - low) / measured.value)
}

type Ends = (f64, f64);

fn intervals(statement: &Statement) -> Vec<Ends> {
    statement.figures().filter_map(|figure| figure.found.ends()).collect()
}

/// An order that the intervals of the two figures do not show is not said to hold.
pub fn order(text: &str, ends: &[Ends], findings: &mut Findings) {
    let [(_, less), (more, _), ..] = ends else { return };
    if text.contains("the order holds") && less >= more {
        findings.add("cross-check", "an order that is not decided", text);
    }
}

/// The factor within which a prediction is near what was measured.
const NEAR: f64 = 1.25;

/// No candidate is excluded whose corrected prediction, the last number of its clause, is what was measured, or near it.
pub fn excluded(because: &str, measured: f64, (low, high): Ends, findings: &mut Findings) {
    let Some((_, excluded)) = because.split_once("Excluded: ") else { return };
    for clause in excluded.split("; ") {
        let Some((_, after)) = clause.split_once("would make the prediction {") else { continue };
        let again: Option<f64> = after.split('}').next().and_then(|number| number.parse().ok());
        let is_near = |again: f64| (measured / NEAR..=measured * NEAR).contains(&again);
        if again.is_some_and(|again| (low..=high).contains(&again) || is_near(again)) {
            findings.add("cause", "an excluded candidate that leads to what was measured", clause);
        }
    }
}

/// The picture gives the screen's verdict of the run, and of each main figure of the screen that it shows the same median.
pub fn one_trust(results: &Results, screen: &str, findings: &mut Findings) {
    let picture = render(&RunReport::of(results), Form::Picture, super::WIDE);
    // A run without an operation of the picture has none.
    if picture.contains("<svg") {
        same_verdict(&picture, screen, findings);
    }
}

pub fn same_verdict(picture: &str, screen: &str, findings: &mut Findings) {
    let verdict = |text: &str| {
        let (_, rest) = text.split_once("Trust: ")?;
        Some(rest.split(['.', ',']).next()?.to_owned())
    };
    if verdict(picture) != verdict(screen) {
        findings.add("picture", "another verdict than the screen's", &format!("{:?}", verdict(picture)));
    }
}
