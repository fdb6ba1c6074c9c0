//! Published machines: their figures, and their comparison with a run.

use super::streams::print;
use anyhow::{Result, bail};
use fathom_report::published::{Library, Machines};
use fathom_report::references::{self, Machine};
use fathom_report::{Facts, FactsForm, Style, render_facts};

/// Lists the machines, or the figures of those with this name.
pub(super) fn list(name: Option<&str>, form: FactsForm, style: Style) -> Result<()> {
    if let Some(figure) = name.and_then(references::figure) {
        return print(&render_facts(figure, form, style));
    }
    let machines = called(&name.map(str::to_owned).into_iter().collect::<Vec<_>>())?;
    let wanted = Machines(&machines);
    let told: &dyn Facts = if machines.is_empty() { &Library } else { &wanted };
    print(&render_facts(told, form, style))
}

/// The machines of these names.
pub(super) fn called(names: &[String]) -> Result<Vec<&'static Machine>> {
    Ok(references::select(names)?)
}

/// Refuses machines for a replication, which has its report's figures next to its own already.
pub(super) fn refuse(names: &[String]) -> Result<()> {
    if names.is_empty() {
        return Ok(());
    }
    bail!("--beside is for the report of a run: the table of `replicate` already has the published figures")
}
