//! Replications: read, and where they can be read, told beside a run in one of the forms of the report.

use super::input::Input;
use super::run_file::changed;
use crate::replication::recorded;
use crate::reported::FIXED;
use clap::ValueEnum;
use fathom::replicate;
use fathom::replicate::ReplicationReport;
use fathom::replicate::record::Replication;
use fathom::report::{Form, Style, render};
use serde_json::Value;
use std::path::Path;

/// A replication of all methods of a report, line by line.
fn lines() -> Vec<Value> {
    let text = recorded();
    let mut lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let method = lines.remove(1);
    for of_report in replicate::find("000").unwrap().methods() {
        let mut line = method.clone();
        line["method"] = of_report.name.into();
        lines.insert(1, line);
    }
    lines
}

pub fn case(input: &mut Input) -> Result<(), String> {
    let text = changed(lines(), input);
    let form = Form::value_variants()[input.below(Form::value_variants().len())];
    match Replication::parse(&text) {
        Ok(replication) => {
            let Some(report) = replicate::find(&replication.header.report) else { return Ok(()) };
            let files = [("replication", Path::new("replication.jsonl"))];
            let report = ReplicationReport::of(report, &replication, &FIXED.results, &files);
            drop(render(&report, form, Style::default()));
        }
        Err(error) if error.to_string().is_empty() => return Err("an error without a word".to_owned()),
        Err(_) => {}
    }
    Ok(())
}
