//! The stored runs, and the history of points over them.

use super::compare::margins;
use super::streams::print;
use crate::cli;
use anyhow::{Context, Result, bail};
use fathom_core::message::{clean, tell};
use fathom_core::sorting;
use fathom_engine::comparison::{History, ReducedRun, histories};
use fathom_engine::parallel;
use fathom_engine::plan;
use fathom_engine::record::{Run, store};
use fathom_report::{self as report, StoredRuns, Style};
use std::io::ErrorKind;
use std::path::Path;

/// Lists the runs of the folder, or shows points over time.
pub(super) fn history(args: &cli::History, style: Style) -> Result<()> {
    plan::select(&args.experiments)?;
    let margins = margins(args.margin, None)?;
    let folder = args.folder.clone().unwrap_or_else(store::folder);
    let paths = match store::all(&folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => vec![],
        paths => paths.with_context(|| format!("cannot read {}", folder.display()))?,
    };
    let stored = parallel::map(&paths, |_, path| read(path));
    let mut stored: Vec<(String, ReducedRun)> = stored.into_iter().flatten().collect();
    if stored.is_empty() {
        bail!("there is no run in {} yet: `fathom run` makes one", folder.display());
    }
    sorting::by(&mut stored, |(_, one), (_, other)| one.header.started.cmp(&other.header.started));
    let (names, runs): (Vec<String>, Vec<ReducedRun>) = stored.into_iter().unzip();
    let all = if args.experiments.is_empty() { vec![] } else { histories(&runs, |name| margins.of(name)) };
    let is_shown = |history: &History| {
        args.experiments.iter().any(|pattern| plan::names(pattern, &history.experiment))
            && args.point.iter().all(|part| is_at(history, part))
            && (!args.changed || !history.changes.is_empty())
    };
    let histories: Vec<History> = all.into_iter().filter(is_shown).collect();
    if histories.is_empty() && !args.experiments.is_empty() {
        bail!(
            "no run has a value for the points asked for{}",
            if args.changed { " and has changed" } else { "" }
        );
    }
    print(&report::render_facts(
        &StoredRuns { names: &names, runs: &runs, histories: &histories },
        args.format,
        style,
    ))
}

/// Reads a run; one that cannot be read is reported and left out.
fn read(path: &Path) -> Option<(String, ReducedRun)> {
    match Run::read(path) {
        Ok(run) => Some((store::stem(path)?.to_owned(), ReducedRun::of_run(&run))),
        Err(error) => {
            let reason = format!("{} is left out: {error}", path.display());
            tell(format!("note: {}", clean(&reason)));
            None
        }
    }
}

/// Whether a point has this setting: `NAME=VALUE`.
fn is_at(history: &History, setting: &str) -> bool {
    history.point.parameters().any(|(name, value)| format!("{name}={value}") == setting)
}
