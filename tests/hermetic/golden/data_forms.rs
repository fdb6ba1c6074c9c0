//! The forms for programs: their shape as it was reviewed, the values that the fixed run is known to have, and their
//! descriptions in `docs/`.

use super::golden;
use crate::reported::FIXED;
use fathom::report::Form;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::LazyLock;

static JSON: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(FIXED.form(Form::Json)).expect("valid JSON"));

/// Parts of the report that are the header's of the run file, whose shape is described by `docs/run-file.schema.json`.
const OF_THE_HEADER: [&str; 5] = ["clock", "machine", "settings", "started", "tool"];

/// What stands in a place of the JSON, over all items of its lists.
#[derive(Default)]
struct Shape {
    kinds: BTreeSet<&'static str>,
    fields: BTreeMap<String, Shape>,
    items: Option<Box<Shape>>,
}

impl Shape {
    fn add(&mut self, value: &Value) {
        self.kinds.insert(match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "list",
            Value::Object(_) => "object",
        });
        match value {
            Value::Array(items) => {
                let shape = self.items.get_or_insert_default();
                for item in items {
                    shape.add(item);
                }
            }
            Value::Object(fields) => {
                for (name, field) in fields {
                    self.fields.entry(name.clone()).or_default().add(field);
                }
            }
            _ => {}
        }
    }

    /// A line for every key, indented below that of its object.
    fn write(&self, name: &str, depth: usize, text: &mut String) {
        let kinds: Vec<&str> = self.kinds.iter().copied().collect();
        writeln!(text, "{}{name}: {}", "  ".repeat(depth), kinds.join(" or ")).unwrap();
        if let Some(items) = &self.items {
            items.write("each", depth + 1, text);
        }
        for (name, field) in &self.fields {
            field.write(name, depth + 1, text);
        }
    }
}

#[test]
fn every_field_of_the_json_has_the_name_and_the_kind_that_were_reviewed() {
    let mut all = JSON.clone();
    let top = all.as_object_mut().expect("an object");
    for part in OF_THE_HEADER {
        assert!(top.remove(part).is_some(), "{part}");
    }
    let mut shape = Shape::default();
    shape.add(&all);
    let mut text = String::new();
    shape.write("the report", 0, &mut text);
    golden("json-shape.txt", &text);
}

#[test]
fn what_the_json_has_of_the_header_is_what_the_run_file_has() {
    let header: Value = serde_json::from_str(FIXED.text.lines().next().expect("a header")).expect("JSON");
    for part in OF_THE_HEADER {
        assert_eq!(JSON[part], header[part], "{part}");
    }
}

fn points() -> &'static [Value] {
    JSON["points"].as_array().expect("points")
}

/// The point of an experiment with these values of its parameters.
fn point(experiment: &str, parameters: &[(&str, Value)]) -> &'static Value {
    let has = |point: &&Value| {
        let mut parameters = parameters.iter();
        point["experiment"] == experiment
            && parameters.all(|(name, value)| point["parameters"][name] == *value)
    };
    points().iter().find(has).unwrap_or_else(|| panic!("{experiment} {parameters:?}"))
}

fn call(form: &str, arguments: u64) -> &'static Value {
    point("cpu/procedure_call", &[("form", form.into()), ("arguments", arguments.into())])
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// Within three in a thousand, which is what the fixed run wavers by.
fn ensure_near(found: &Value, truth: f64) {
    assert!((number(found) / truth - 1.0).abs() < 0.003, "{found} is not {truth}");
}

/// A call was made to cost 0.9 ns and 0.15 ns more for each argument (`tests/described/fixed_run.rs`).
#[test]
fn the_json_has_the_costs_that_the_fixed_run_was_made_of() {
    for arguments in 0..=7 {
        let found = call("abi", arguments);
        assert_eq!((&found["outcome"], &found["unit"]), (&"value".into(), &"nanoseconds".into()));
        ensure_near(&found["median"], 0.9 + 0.15 * arguments as f64);
        assert!(number(&found["low"]) < number(&found["median"]), "{found}");
        assert!(number(&found["median"]) < number(&found["high"]), "{found}");
        assert_eq!((&found["trials"], &found["observations"]), (&8.into(), &160.into()));
        assert_eq!(found["disturbance"]["trials_with_steal"], 1, "one round of eight had steal");
        ensure_near(&found["baseline"]["median"], 0.4);
        let factor = number(&found["median"]) / number(&found["predicted"]["total"]);
        assert!((number(&found["factor"]) - factor).abs() < 1e-9, "{found}");
    }
    for (variant, unit, value) in [
        ("rate", "bytes_per_second", 9.4e9),
        ("size", "bytes", 201_326_592.0),
        ("share", "parts_per_million", 130.0),
    ] {
        let found = point("test/<b>bold</b>|pipe", &[("variant", variant.into())]);
        assert_eq!(found["unit"], unit);
        ensure_near(&found["median"], value);
    }
    let trend = |experiment: &str, form: &str| {
        let mut trends = JSON["trends"].as_array().expect("trends").iter();
        trends
            .find(|trend| trend["experiment"] == experiment && trend["held"]["form"] == form)
            .expect("a line")
    };
    for (experiment, form, slope, intercept) in [
        ("cpu/procedure_call", "abi", 0.15, 0.9),
        ("cpu/loop_overhead", "register", 0.39, 1.4),
        ("cpu/loop_overhead", "memory", 1.93, 1.4),
    ] {
        ensure_near(&trend(experiment, form)["slope"], slope);
        ensure_near(&trend(experiment, form)["intercept"], intercept);
    }
}

#[test]
fn every_point_stands_once_in_the_json_with_a_value_or_a_reason() {
    assert_eq!(points().len(), FIXED.results.points.len());
    for (point, result) in points().iter().zip(&FIXED.results.points) {
        assert_eq!(point["experiment"], result.experiment.as_str());
        assert_eq!(point["outcome"] == "value", point["median"].is_number());
        assert_eq!(point["outcome"] == "value", point["reason"].is_null());
    }
    for outcome in ["value", "below_resolution", "skipped", "failed", "timed_out", "implausible"] {
        assert!(points().iter().any(|point| point["outcome"] == outcome), "the fixture has no {outcome}");
    }
    assert_eq!(
        call("chained", 3)["reason"],
        format!("a procedure returned a wrong sum {}", crate::fixture::HOSTILE)
    );
}

/// A page has the same data as the JSON, for programs that are given the page alone.
#[test]
fn the_data_inside_of_the_page_are_those_of_the_json() {
    let page = FIXED.form(Form::Html);
    let (_, data) = page.split_once("id=\"fathom-data\">").expect("data");
    let (data, _) = data.split_once("</script>").expect("an end");
    assert_eq!(serde_json::from_str::<Value>(data).expect("JSON"), *JSON);
}

const CSV_HEAD: &str = "experiment,method_version,parameters,unit,outcome,reason,median,low,high,trials,observations,mean,\
    deviation,trimmed_mean,minimum,maximum,trials_mean,trials_deviation,operations_a_reading,median_ticks,\
    median_core_cycles,core,shared_share,predicted,factor,evidence,shared_median,shared_low,shared_high,\
    neighbour_cost,neighbour_cost_low,neighbour_cost_high,core_cycles,core_cycles_low,core_cycles_high,\
    at_hz,frequency_share,median_as_observed";

#[test]
fn the_csv_has_a_row_a_point_with_the_figures_of_the_json() {
    let csv = FIXED.form(Form::Csv);
    assert_eq!(csv.lines().next(), Some(CSV_HEAD));
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let head = reader.headers().expect("a head").clone();
    let rows: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().expect("rows");
    assert_eq!(rows.len(), points().len());
    for (row, point) in rows.iter().zip(points()) {
        let cell = |name: &str| &row[head.iter().position(|column| column == name).expect(name)];
        assert_eq!(cell("experiment"), point["experiment"].as_str().expect("a name"));
        assert_eq!(cell("outcome"), point["outcome"].as_str().expect("an outcome"));
        for (column, of_json) in [
            ("median", &point["median"]),
            ("low", &point["low"]),
            ("high", &point["high"]),
            ("trials", &point["trials"]),
            ("predicted", &point["predicted"]["total"]),
            ("factor", &point["factor"]),
        ] {
            assert_eq!(cell(column).parse::<f64>().ok(), of_json.as_f64(), "{column} of {point}");
        }
        assert_eq!(cell("reason").is_empty(), point["reason"].is_null(), "{point}");
    }
}

/// Rows whose every cell is known or checked above: of a value, of a failure with a hostile reason, of a skip.
#[test]
fn rows_of_the_csv_read_as_they_were_reviewed() {
    let rows: Vec<&str> = FIXED.form(Form::Csv).lines().collect();
    let row = |beginning: &str| *rows.iter().find(|row| row.starts_with(beginning)).expect(beginning);
    let call = |rest: &str| format!("cpu/procedure_call,1,{rest} placement=one-cpu,nanoseconds,");
    let value = row(&call("arguments=0 form=abi"));
    assert!(value.contains(",value,,0.899") && value.contains(",all evidence holds,,,,,,,2.3"), "{value}");
    assert!(value.contains(",8,160,"), "trials and observations: {value}");
    let failed = call("arguments=3 form=chained");
    let reason = "failed,a procedure returned a wrong sum <script>alert(1)</script>";
    assert!(row(&failed).starts_with(&format!("{failed}{reason},,,,0,,")), "{}", row(&failed));
    let skipped = call("arguments=5 form=chained");
    let reason = "skipped,the run ended before its first trial: allow a larger --budget";
    assert!(row(&skipped).starts_with(&format!("{skipped}{reason},,,,0,,")), "{}", row(&skipped));
}

#[test]
fn every_field_for_programs_is_described() {
    let described = std::fs::read_to_string("docs/report-json.md").unwrap();
    let objects = [
        &*JSON,
        &JSON["conditions"],
        &JSON["points"][0],
        &JSON["points"][0]["disturbance"],
        &JSON["trends"][0],
    ];
    for field in objects.iter().flat_map(|object| object.as_object().expect("an object").keys()) {
        assert!(described.contains(&format!("`{field}`")), "{field} is not in docs/report-json.md");
    }
}
