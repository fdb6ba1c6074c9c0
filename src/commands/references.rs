//! Published machines: their figures, and a run set beside them.

use super::rendered::report_of;
use super::streams::print;
use crate::cli::{Format, MachineFormat, Report};
use crate::references::{self, Machine};
use crate::report;
use crate::report::beside::Published;
use crate::report::terminal::Style;
use crate::results::Results;
use anyhow::{Result, bail};
use std::path::Path;

/// Lists the machines, or the figures of those that are called so.
pub(super) fn list(name: Option<&str>, format: MachineFormat, style: Style) -> Result<()> {
    if let Some(figure) = name.and_then(references::figure) {
        return print(&match format {
            MachineFormat::Text => report::published::figure(figure, style),
            MachineFormat::Json => serde_json::to_string_pretty(figure)?,
        });
    }
    let machines = called(&name.map(str::to_owned).into_iter().collect::<Vec<_>>())?;
    print(&match (format, machines.as_slice()) {
        (MachineFormat::Text, []) => report::published::list(style),
        (MachineFormat::Json, []) => report::published::list_json(),
        (MachineFormat::Text, machines) => {
            let texts: Vec<String> =
                machines.iter().map(|machine| report::published::machine(machine, style)).collect();
            texts.join("\n")
        }
        (MachineFormat::Json, machines) => report::published::machines_json(machines),
    })
}

/// The machines of these names.
pub(super) fn called(names: &[String]) -> Result<Vec<&'static Machine>> {
    Ok(references::select(names)?)
}

/// Says that a replication has its report's figures beside its own already.
pub(super) fn refuse(names: &[String]) -> Result<()> {
    if names.is_empty() {
        return Ok(());
    }
    bail!("--beside is for the report of a run: the table of `replicate` has the published figures already")
}

/// A report with published figures beside those of the run.
pub(super) fn beside(
    results: &Results,
    machines: &[&'static Machine],
    asked: &Report,
    path: &Path,
    style: Style,
) -> String {
    let published = Published::beside(results, machines);
    match asked.format {
        Format::Text => {
            let summary = report_of(results, asked, &[("run file", path)], style);
            summary + "\n" + &report::beside::text(results, &published, style)
        }
        Format::Html => report::html::render_beside(results, &published),
        Format::Markdown => report::markdown::render_beside(results, &published),
        Format::Latex => report::latex::render_beside(results, &published),
        Format::Json => report::json::render_beside(results, &published),
        Format::Synopsis => report::markdown::synopsis_beside(results, &published),
    }
}
