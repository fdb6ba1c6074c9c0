//! The published JSON Schema is made from the types, and a test holds the two together.

use super::Line;

#[test]
fn the_published_schema_is_that_of_the_types() {
    let schema = schemars::schema_for!(Line);
    let made = serde_json::to_string_pretty(&schema).unwrap() + "\n";
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/run-file.schema.json");
    if std::env::var_os("FATHOM_WRITE_SCHEMA").is_some() {
        std::fs::write(path, &made).unwrap();
    }
    let published = std::fs::read_to_string(path).unwrap_or_default();
    assert_eq!(published, made, "run the tests once with FATHOM_WRITE_SCHEMA=1 and look at what changed");
}
