//! Run files: read, and where they can be read, told in one of the forms of the report.

use super::input::Input;
use crate::part_of_run::{self, with_points};
use clap::ValueEnum;
use fathom::record::Run;
use fathom::report::{Form, RunReport, Style, render};
use fathom::results::Results;
use serde_json::{Value, json};
use std::sync::OnceLock;

/// A proper run of few points, line by line.
fn lines() -> Vec<Value> {
    static LINES: OnceLock<Vec<Value>> = OnceLock::new();
    let read = || {
        let text = crate::fixture::golden();
        let header: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        let step = header["plan"].as_array().unwrap().len() / 12 + 1;
        with_points(&text, |place, _| place % step == 0)
    };
    LINES.get_or_init(read).clone()
}

pub fn case(input: &mut Input) -> Result<(), String> {
    let text = changed(lines(), input);
    let form = Form::value_variants()[input.below(Form::value_variants().len())];
    match Run::parse(&text) {
        Ok(run) => drop(render(&RunReport::of(&Results::of(&run)), form, Style::default())),
        Err(error) if error.to_string().is_empty() => return Err("an error without a word".to_owned()),
        Err(_) => {}
    }
    Ok(())
}

/// The text of these lines after some changes, of which one in four spoils its bytes too.
pub fn changed(mut lines: Vec<Value>, input: &mut Input) -> String {
    for _ in 0..input.below(5) {
        change(&mut lines, input);
    }
    let mut text = part_of_run::text(&lines);
    if input.below(4) == 1 {
        text = String::from_utf8_lossy(&input.spoil(text.into_bytes())).into_owned();
    }
    text
}

fn change(lines: &mut Vec<Value>, input: &mut Input) {
    let (line, other) = (input.below(lines.len()), input.below(lines.len()));
    match input.below(8) {
        0 => lines.swap(line, other),
        1 if lines.len() > 1 => drop(lines.remove(line)),
        2 => lines.push(lines[line].clone()),
        _ => alter(&mut lines[line], input),
    }
}

/// Goes down into a value, and changes what is there.
fn alter(value: &mut Value, input: &mut Input) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            let name = fields.keys().nth(input.below(fields.len())).cloned().unwrap_or_default();
            if input.below(12) == 1 {
                fields.remove(&name);
            } else {
                alter(&mut fields[&name], input);
            }
        }
        Value::Array(items) if !items.is_empty() && input.below(6) != 1 => {
            let place = input.below(items.len());
            alter(&mut items[place], input);
        }
        value => *value = odd(value, input),
    }
}

fn odd(value: &Value, input: &mut Input) -> Value {
    let number = value.as_f64().unwrap_or(1.0);
    let odd = [
        json!(null),
        json!(0),
        json!(-1),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(1e308),
        json!(-1e308),
        json!(5e-324),
        json!(number * 1e9),
        json!(-number),
        json!(""),
        json!("\u{1b}[31m\u{202e}<b>"),
        json!([]),
        json!({}),
        json!([value, value]),
        json!(true),
    ];
    odd[input.below(odd.len())].clone()
}
