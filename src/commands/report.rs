//! The report of a run, beside published machines, and those machines themselves.

use super::output::{Rendered, written};
use super::replicate;
use super::streams::print;
use crate::cli;
use anyhow::{Result, anyhow, bail};
use fathom_core::message::{clean, tell};
use fathom_engine::plan;
use fathom_engine::record::door::Door;
use fathom_engine::record::{Run, store};
use fathom_engine::results::Results;
use fathom_replicate::record::Replication;
use fathom_report::AtlasMachine;
use fathom_report::published::{MachineList, Machines};
use fathom_report::references::{self, Machine};
use fathom_report::{Facts, FactsForm, RunReport, Style, render_facts};
use std::path::{Path, PathBuf};

/// Shows the report of a run or of a replication.
pub(super) fn show(args: &cli::Report, style: Style) -> Result<()> {
    let (file, experiments) = named(&args.what)?;
    let path = file.map_or_else(latest, Ok)?;
    let (report, sources) = if Replication::is_at(&path) {
        refuse_machines(&args.beside)?;
        if !experiments.is_empty() {
            bail!("{} is a replication, which is only shown as a whole", path.display());
        }
        replicate::show(&path, args.format, style)?
    } else {
        (shown(&path, &experiments, args, style)?, vec![path])
    };
    written(&report, args.output.as_deref(), Door { sources: &sources, force: args.force })
}

/// The run file and the experiments among the arguments: one that is no file, and not written as a path, is an experiment.
fn named(what: &[PathBuf]) -> Result<(Option<PathBuf>, Vec<String>)> {
    let is_path = |name: &&PathBuf| name.is_file() || name.is_absolute() || name.extension().is_some();
    let (files, experiments): (Vec<&PathBuf>, Vec<&PathBuf>) = what.iter().partition(is_path);
    if files.len() > 1 {
        bail!("a report shows one run file: `fathom compare` compares several");
    }
    let experiments =
        experiments.into_iter().map(|name| name.to_string_lossy().into_owned()).collect::<Vec<_>>();
    plan::select(&experiments)?;
    Ok((files.first().map(|path| (*path).clone()), experiments))
}

fn shown(path: &Path, experiments: &[String], args: &cli::Report, style: Style) -> Result<Rendered> {
    // A misspelt name is reported before a long file is read.
    let machines = machines_called(&args.beside)?;
    let run = Run::read(path)?;
    if run.torn {
        let file = clean(&path.display().to_string());
        tell(format!("note: the last line of {file} is incomplete, as after a kill, and is left out"));
    }
    let mut results = Results::of(&run);
    if !experiments.is_empty() {
        results = results.only(|name| experiments.iter().any(|pattern| plan::names(pattern, name)));
    }
    let files = [("run file", path)];
    let full = args.full || !experiments.is_empty();
    let report = RunReport::of(&results).beside(&machines).written_to(&files).in_full(full);
    Rendered::of(&report, args.format, style)
}

pub(super) fn latest() -> Result<PathBuf> {
    let folder = store::folder();
    store::latest(&folder)
        .ok_or_else(|| anyhow!("there is no run in {} yet: `fathom run` makes one", folder.display()))
}

/// Lists the machines, or the figures of those with this name.
pub(super) fn list_machines(name: Option<&str>, form: FactsForm, style: Style) -> Result<()> {
    if let Some(figure) = name.and_then(references::figure) {
        return print(&render_facts(figure, form, style));
    }
    if let Some(machine) = name.and_then(|name| fathom_atlas::compiled().machine(name)) {
        return print(&render_facts(&AtlasMachine(machine), form, style));
    }
    let machines = machines_called(&name.map(str::to_owned).into_iter().collect::<Vec<_>>())?;
    let figures = Machines(&machines);
    let facts: &dyn Facts = if machines.is_empty() { &MachineList } else { &figures };
    print(&render_facts(facts, form, style))
}

fn machines_called(names: &[String]) -> Result<Vec<&'static Machine>> {
    Ok(references::select(names)?)
}

/// Refuses machines for a replication, which has its report's figures next to its own already.
fn refuse_machines(names: &[String]) -> Result<()> {
    if names.is_empty() {
        return Ok(());
    }
    bail!("--beside is for the report of a run: the table of `replicate` already has the published figures")
}
