//! A replicated report: its summary table beside what is found here, by its method and by Fathom's.

pub mod json;

use super::quantities;
use super::text::Style;
use crate::experiment::Found;
use crate::quantity::Unit;
use crate::replicate::table::Compared;
use crate::replicate::{REPORTS, Report, Summary, Theirs};
use std::path::Path;

/// One line for each report.
pub fn list(style: Style) -> String {
    let line = |report: &Report| style.wrapped(&format!("{}  ", report.id), report.title);
    REPORTS.into_iter().map(line).collect()
}

/// The table for a terminal.
pub fn text(report: &Report, rows: &[Compared], files: &[(&str, &Path)], style: Style) -> String {
    let mut text = style.title(&style.wrapped("", report.title)) + &style.wrapped("", report.methodology);
    for compared in rows {
        let row = compared.row;
        text += &style.wrapped("", &format!("{} {}", row.section, row.operation));
        let theirs = match row.theirs {
            Theirs::Printed(id) => id.to_owned(),
            Theirs::NotPrinted(reason) => reason.to_owned(),
        };
        text += &style.wrapped("    theirs:            ", &theirs);
        text += &style.wrapped("    here, their way:   ", &replicated(row.unit, &compared.replicated));
        text += &style.wrapped("    here, Fathom's:    ", &found(row.unit, &compared.fathom));
        if let Some(ratio) = &compared.ratio {
            let times = quantities::significant(ratio.value, 3);
            text += &style.wrapped("    ", &format!("{times} times; {}", row.misleads));
        }
    }
    let lines: String = files.iter().map(|(what, path)| format!("{what}: {}\n", path.display())).collect();
    text + &lines
}

fn replicated(unit: Unit, summary: &Result<Summary, String>) -> String {
    match summary {
        Ok(summary) => quantities::value(unit, summary.value),
        Err(reason) => reason.clone(),
    }
}

fn found(unit: Unit, found: &Result<Found, String>) -> String {
    match found {
        Ok(found) => quantities::value(unit, found.value),
        Err(reason) => reason.clone(),
    }
}
