//! Run files of earlier schemas: read as if they had been written today, with every value that they had.

use fathom::experiment::AXIS_PLACEMENT;
use fathom::experiments;
use fathom::record::{ReadError, Run, SCHEMA_VERSION};
use fathom::report::{Facts, RunReport};
use fathom::results::Results;
use serde_json::{Map, Value, json};

/// A quick run of the last program that wrote schema 1, cut down to some points of the experiments whose parameters
/// schema 2 renamed. The machine is a described one, observations and methods are shortened.
const SCHEMA_1: &str = include_str!("../fixtures/runs/schema-1.jsonl");

/// The parameters that schema 2 renamed, as its changelog has them: experiment, name before, name since.
const RENAMED: [(&str, &[(&str, &str)]); 16] = [
    ("cpu/timing_overhead", &[("aspect", "measure")]),
    ("cpu/noise", &[("aspect", "figure")]),
    ("cpu/context_switch", &[("by", "mechanism")]),
    ("cpu/wake_up", &[("sleeper", "timer"), ("asked", "sleep")]),
    ("memory/loaded_latency", &[("others", "load_threads"), ("pause", "delay"), ("result", "figure")]),
    ("memory/minor_fault", &[("touch", "access"), ("stretch", "batch")]),
    ("memory/fault_extent", &[("by", "method")]),
    ("memory/user_fault", &[("supplies", "fill"), ("waits", "delay")]),
    ("network/round_trip", &[("by", "transport")]),
    ("network/bandwidth", &[("by", "transport"), ("aspect", "figure"), ("since", "start")]),
    ("network/connection", &[("part", "phase"), ("version", "ip_version")]),
    ("filesystem/cache_size", &[("way", "call"), ("file", "content")]),
    ("filesystem/read", &[("way", "call"), ("depth", "queue_depth"), ("counted", "figure")]),
    ("filesystem/write", &[("until", "durability")]),
    ("filesystem/metadata", &[("action", "operation")]),
    ("filesystem/remote_read", &[("through", "protocol"), ("ahead", "queue_depth")]),
];

fn since(experiment: &str, name: &str) -> String {
    let names = RENAMED.iter().find(|(of, _)| *of == experiment).map_or(&[][..], |(_, names)| names);
    names.iter().find(|(before, _)| *before == name).map_or(name, |(_, since)| since).to_owned()
}

/// The same JSON, wherever in it a point or a method stands, with the names and the number of schema 2.
fn in_schema_2(value: &Value) -> Value {
    match value {
        Value::Array(values) => values.iter().map(in_schema_2).collect(),
        Value::Object(fields) => {
            let experiment = fields.get("experiment").and_then(Value::as_str).unwrap_or_default();
            let field = |(name, field): (&String, &Value)| {
                let field = match (name.as_str(), field) {
                    ("schema", _) => json!(2),
                    ("point", Value::Object(point)) => renamed(experiment, point),
                    ("parameters", Value::Array(parameters)) => parameters
                        .iter()
                        .map(|parameter| {
                            let mut parameter = parameter.clone();
                            parameter["name"] =
                                json!(since(experiment, parameter["name"].as_str().expect("a name")));
                            parameter
                        })
                        .collect(),
                    (_, field) => in_schema_2(field),
                };
                (name.clone(), field)
            };
            Value::Object(fields.iter().map(field).collect())
        }
        value => value.clone(),
    }
}

fn renamed(experiment: &str, point: &Map<String, Value>) -> Value {
    let parameter = |(name, value): (&String, &Value)| {
        let value = match value.as_u64() {
            // A queue depth counts the request whose answer is waited for.
            Some(ahead) if name == "ahead" => json!(ahead + 1),
            _ => value.clone(),
        };
        (since(experiment, name), value)
    };
    Value::Object(point.iter().map(parameter).collect())
}

fn schema_2() -> String {
    let line = |line| in_schema_2(&serde_json::from_str(line).expect("JSON")).to_string() + "\n";
    SCHEMA_1.lines().map(line).collect()
}

#[test]
fn a_file_of_schema_1_gives_what_it_would_give_with_the_names_of_schema_2() {
    let (old, new) = (Run::parse(SCHEMA_1).expect("schema 1"), Run::parse(&schema_2()).expect("schema 2"));
    assert_eq!((old.header.schema, new.header.schema), (1, 2));
    assert_eq!(old.header.plan, new.header.plan);
    assert_eq!(old.header.methods, new.header.methods);
    assert_eq!(old.predictions, new.predictions);
    assert_eq!(old.trials, new.trials);
    assert_eq!(old.settled, new.settled);
    let (old, new) = (Results::of(&old), Results::of(&new));
    let valued = |results: &Results| results.points.iter().filter(|point| point.estimate().is_some()).count();
    assert!(valued(&old) >= 3, "{} points have an estimate", valued(&old));
    assert!(RunReport::of(&old).json() == RunReport::of(&new).json(), "the two reports differ");
}

#[test]
fn every_parameter_of_a_file_of_schema_1_is_one_of_its_experiment_today() {
    let run = Run::parse(SCHEMA_1).expect("schema 1");
    for planned in &run.header.plan {
        let about = experiments::find(&planned.experiment).expect("an experiment").about();
        for (name, _) in planned.point.parameters() {
            let known =
                about.parameters.iter().chain([&AXIS_PLACEMENT]).any(|parameter| parameter.name == name);
            assert!(known, "{} has no {name}", planned.experiment);
        }
    }
    // And the file has every name that was changed.
    let had = |experiment: &str, name: &str| {
        SCHEMA_1.lines().next().is_some_and(|header| {
            let header: Value = serde_json::from_str(header).expect("JSON");
            let mut plan = header["plan"].as_array().expect("a plan").iter();
            plan.any(|planned| planned["experiment"] == experiment && planned["point"].get(name).is_some())
        })
    };
    for (experiment, names) in RENAMED {
        for (before, _) in names {
            assert!(had(experiment, before), "{experiment} {before}");
        }
    }
}

#[test]
fn a_file_of_a_later_schema_is_refused_in_words() {
    let later = SCHEMA_1.replacen("\"schema\":1", &format!("\"schema\":{}", SCHEMA_VERSION + 1), 1);
    let refused = Run::parse(&later).expect_err("a later schema");
    assert!(matches!(refused, ReadError::Newer { found: 3, .. }));
    assert_eq!(
        refused.to_string(),
        "the run file has schema 3; this program reads up to 2: use a newer fathom"
    );
}
