//! The stored runs, and the history of points over them.

use super::compare::margins;
use super::streams::print;
use crate::cli;
use anyhow::{Context, Result, bail};
use fathom_core::message::{clean, tell};
use fathom_engine::comparison::{History, ReducedRun, histories};
use fathom_engine::plan;
use fathom_engine::record::{Run, store};
use fathom_report::{self as report, StoredRuns, Style};
use rayon::prelude::*;
use std::path::Path;

/// Lists the runs of the folder, or shows points over time.
pub(super) fn history(asked: &cli::History, style: Style) -> Result<()> {
    plan::select(&asked.experiments)?;
    let margins = margins(asked.margin, None)?;
    let folder = asked.folder.clone().unwrap_or_else(store::folder);
    let paths = store::all(&folder).with_context(|| {
        format!("there is no folder of runs at {}: `fathom run` makes one", folder.display())
    })?;
    let mut found: Vec<(String, ReducedRun)> = paths.par_iter().filter_map(|path| read(path)).collect();
    if found.is_empty() {
        bail!("there is no run in {} yet: `fathom run` makes one", folder.display());
    }
    found.sort_by(|(_, one), (_, other)| one.header.started.cmp(&other.header.started));
    let (names, runs): (Vec<String>, Vec<ReducedRun>) = found.into_iter().unzip();
    let all = if asked.experiments.is_empty() { vec![] } else { histories(&runs, |name| margins.of(name)) };
    let wanted = |history: &History| {
        asked.experiments.iter().any(|pattern| plan::names(pattern, &history.experiment))
            && asked.point.iter().all(|part| is_at(history, part))
            && (!asked.changed || !history.changes.is_empty())
    };
    let histories: Vec<History> = all.into_iter().filter(wanted).collect();
    if histories.is_empty() && !asked.experiments.is_empty() {
        bail!(
            "no run has a value for the points asked for{}",
            if asked.changed { " and has changed" } else { "" }
        );
    }
    print(&report::render_facts(
        &StoredRuns { names: &names, runs: &runs, histories: &histories },
        asked.format,
        style,
    ))
}

/// Reads a run; one that cannot be read is reported and left out.
fn read(path: &Path) -> Option<(String, ReducedRun)> {
    match Run::read(path) {
        Ok(run) => Some((path.file_stem()?.to_string_lossy().into_owned(), ReducedRun::of_run(&run))),
        Err(error) => {
            let said = format!("{} is left out: {error}", path.display());
            tell(format!("note: {}", clean(&said)));
            None
        }
    }
}

/// Whether a point has this setting: `NAME=VALUE`.
fn is_at(history: &History, setting: &str) -> bool {
    history.point.parameters().any(|(name, value)| format!("{name}={value}") == setting)
}
