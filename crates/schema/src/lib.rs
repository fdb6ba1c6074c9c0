//! The published JSON Schema and the description of every field are generated from the types; a test checks that both are
//! current.

#![cfg(test)]

use fathom_core::machine::Machine;
use fathom_engine::record::Line;
use serde_json::Value;

/// The text above the tables of fields.
const PREAMBLE: &str = "# The run file

A run is one file of JSON Lines: a header, the prediction of each point before its first trial, one line per trial, which points
fit into the budget, and a closing line. Each line is appended in one write, so a kill loses at most the line being written.
`fathom run --resume FILE` continues the run.

Every line has `line`: `header`, `prediction`, `trial`, `settled`, `resumed` or `closing`. The schema (`fathom schema`) only grows:
fields are added, never renamed, and readers ignore fields that they do not know. Schema 2 renamed parameters of points (`by` became
`transport`, `way` became `call`); files of schema 1 are read as if they had the new names. A *fact* of the machine is either
`{\"value\", \"source\"}`, the value and where it was read, or `{\"unknown\", \"source\"}`, why it is unknown. An absent field means
\"none\", never zero.

This page is made from the types in `record` of `crates/engine` and `sampling`, `experiment` and `machine` of `crates/core`.
";

#[test]
fn the_published_schema_and_its_description_are_those_of_the_types() {
    let schema = schemars::schema_for!(Line);
    let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
    let described = describe(schema.as_value());
    for (name, made) in [("run-file.schema.json", text), ("run-file.md", described)] {
        let path = format!("{}/../../docs/{name}", env!("CARGO_MANIFEST_DIR"));
        if std::env::var_os("FATHOM_WRITE_SCHEMA").is_some() {
            std::fs::write(&path, &made).unwrap();
        }
        let published = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            published == made,
            "docs/{name} is old: run once with FATHOM_WRITE_SCHEMA=1 and look at what changed"
        );
    }
}

#[test]
fn a_fact_of_the_machine_has_one_of_two_shapes() {
    let schema = schemars::schema_for!(Machine).to_value();
    let processor = &schema["$defs"]["Processor"]["properties"]["nominal_hz"];
    assert!(processor.to_string().contains("Fact"), "{processor}");
    let fact = schema["$defs"].as_object().unwrap().iter().find(|(name, _)| name.starts_with("Fact"));
    assert_eq!(fact.unwrap().1["anyOf"].as_array().unwrap().len(), 2);
}

/// A page with a table for each type.
fn describe(schema: &Value) -> String {
    let no_types = serde_json::Map::new();
    let types = schema["$defs"].as_object().unwrap_or(&no_types);
    let mut page = format!("{PREAMBLE}\n## Line\n\n{}", fields(schema));
    for (name, definition) in types.iter().filter(|(name, _)| !name.starts_with("Fact")) {
        page += &format!("\n## {name}\n\n{}", prose(definition));
        page += &fields(definition);
    }
    page
}

fn prose(definition: &Value) -> String {
    match definition["description"].as_str() {
        Some(text) => format!("{}\n\n", text.replace('\n', " ")),
        None => String::new(),
    }
}

/// The fields of a structure, or the alternatives of a choice with theirs.
fn fields(definition: &Value) -> String {
    let mut table = String::new();
    let properties = definition["properties"].as_object().into_iter().flatten();
    // A field with one possible value is the tag of an alternative, named above the table.
    for (name, field) in properties.filter(|(_, field)| field["const"].is_null()) {
        if table.is_empty() {
            table += "| field | type | meaning |\n|---|---|---|\n";
        }
        table += &format!("| `{name}` | {} | {} |\n", kind(field), prose(field).trim());
    }
    for alternative in definition["oneOf"].as_array().into_iter().flatten() {
        table += &alternative_of(alternative);
    }
    table
}

fn alternative_of(alternative: &Value) -> String {
    let said = prose(alternative);
    if let Some(constant) = alternative["const"].as_str() {
        return format!("- `{constant}`: {}\n", said.trim());
    }
    let tags = alternative["properties"].as_object().into_iter().flatten();
    let tag = tags.filter_map(|(name, field)| Some(format!("`{name}` is `{}`", field["const"].as_str()?)));
    let tag = tag.collect::<Vec<_>>().join(", ");
    let reference = alternative["$ref"].as_str().and_then(|reference| reference.rsplit('/').next());
    let whose = reference.map(|name| format!(" Its fields are those of {name}.")).unwrap_or_default();
    format!("\nWhere {tag}: {}{whose}\n\n{}", said.trim(), fields(alternative))
}

fn kind(field: &Value) -> String {
    if let Some(reference) = field["$ref"].as_str() {
        let name = reference.rsplit('/').next().unwrap_or(reference);
        return if name.starts_with("Fact") { "fact".to_owned() } else { name.to_owned() };
    }
    match &field["type"] {
        Value::String(one) if one == "array" => format!("array of {}", kind(&field["items"])),
        Value::String(one) => one.clone(),
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        _ if field["anyOf"].is_array() => {
            field["anyOf"].as_array().into_iter().flatten().map(kind).collect::<Vec<_>>().join(" or ")
        }
        _ => "any".to_owned(),
    }
}
