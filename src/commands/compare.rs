//! Runs against each other.

use super::streams::written;
use crate::cli;
use crate::comparison::{Margins, REFUSED, ReducedRun, Side};
use crate::record::{Run, store};
use crate::report::{self, ComparisonReport, Style};
use anyhow::{Context, Result, anyhow, bail};
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// Compares the sides that were asked for with the first.
pub(super) fn compare(asked: &cli::Compare, style: Style) -> Result<()> {
    let margins = margins(asked.margin, asked.margins.as_deref())?;
    let paths: Vec<Vec<PathBuf>> = asked.sides.iter().map(|side| files(side)).collect::<Result<_>>()?;
    let sides = paths.iter().zip(&asked.sides).map(|(paths, name)| side(name, paths));
    let sides: Vec<Side> = sides.collect::<Result<_>>()?;
    ensure_measured(&sides, &asked.accept)?;
    let (first, others) = sides.split_first().context("nothing to compare")?;
    let report = ComparisonReport::of(first, others, &margins, &asked.accept).in_full(asked.full);
    written(&report::render(&report, asked.format, style), asked.output.as_deref(), &paths.concat())
}

/// The margins that were asked for: one for all, or those of a file.
pub(super) fn margins(all: Option<f64>, file: Option<&Path>) -> Result<Margins> {
    let Some(file) = file else { return Ok(Margins::all(all)) };
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    Margins::parse(&text).map_err(|error| anyhow!("{}: {error}", file.display()))
}

/// The run files of a side: a folder's, or those that are named.
pub(super) fn files(side: &str) -> Result<Vec<PathBuf>> {
    let whole = Path::new(side);
    if whole.is_dir() {
        let found = store::all(whole).with_context(|| format!("cannot read {side}"))?;
        if found.is_empty() {
            bail!("there is no run file in {side}");
        }
        return Ok(found);
    }
    // A name may itself have a comma.
    if whole.exists() {
        return Ok(vec![whole.to_owned()]);
    }
    Ok(side.split(',').filter(|part| !part.is_empty()).map(PathBuf::from).collect())
}

/// A side with all its runs; they are read side by side.
pub(super) fn side(name: &str, paths: &[PathBuf]) -> Result<Side> {
    let runs =
        paths.par_iter().map(|path| -> Result<ReducedRun> { Ok(ReducedRun::of_run(&Run::read(path)?)) });
    Ok(Side { name: called(name, paths), runs: runs.collect::<Result<_>>()? })
}

/// A file is called by its name without folder and ending.
fn called(name: &str, paths: &[PathBuf]) -> String {
    match paths {
        [only] => only.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        _ => name.to_owned(),
    }
}

/// Refuses builds for debugging, unless they are accepted.
pub(super) fn ensure_measured(sides: &[Side], accepted: &[String]) -> Result<()> {
    let debug = sides.iter().find(|side| side.runs.iter().any(|run| run.header.tool.build == "debug"));
    let (name, because) = REFUSED[0];
    match debug {
        Some(side) if !accepted.iter().any(|accepted| accepted == name) => {
            bail!(
                "{} was measured by a build for debugging: {because}; `--accept {name}` compares it all the same",
                side.name
            )
        }
        _ => Ok(()),
    }
}
