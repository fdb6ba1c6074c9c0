//! Comparisons of runs.

use super::output::{Rendered, written};
use crate::cli;
use anyhow::{Context, Result, anyhow, bail};
use fathom_engine::comparison::{Margins, REFUSED, ReducedRun, Side};
use fathom_engine::parallel;
use fathom_engine::record::door::Door;
use fathom_engine::record::{Header, Run, regular, store};
use fathom_engine::results::Results;
use fathom_report::references::{self, Machine};
use fathom_report::{ComparisonReport, PublishedComparison, Style};
use std::path::{Path, PathBuf};

/// Compares the requested sides with the first.
pub(super) fn compare(args: &cli::Compare, style: Style) -> Result<()> {
    let margins = margins(args.margins.margin, args.margins.margins.as_deref())?;
    let [first, others @ ..] = args.sides.as_slice() else { bail!("name the runs to compare") };
    if others.is_empty() {
        bail!(
            "compare needs two runs: `fathom compare {first} OTHER`; a published machine may stand before one, such as `fathom \
             compare 000 {first}` (`fathom references` lists them)"
        );
    }
    ensure_side(first)?;
    if let Some(machines) = published(first) {
        return with_published(&machines, args, &margins, style);
    }
    if let Some(later) = others.iter().find(|side| published(side).is_some()) {
        bail!("{later} is a published machine, not a run file: name it first, and the runs after it");
    }
    let paths: Vec<Vec<PathBuf>> = args.sides.iter().map(|side| files(side)).collect::<Result<_>>()?;
    let sides = paths.iter().zip(&args.sides).map(|(paths, name)| side(name, paths));
    let sides: Vec<Side> = sides.collect::<Result<_>>()?;
    ensure_measured(&sides, &args.accept)?;
    let (first, others) = sides.split_first().context("nothing to compare")?;
    let report = ComparisonReport::of(first, others, &margins, &args.accept).in_full(args.full);
    let rendered = Rendered::of(&report, args.format, style, args.output.as_deref())?;
    written(&rendered, args.output.as_deref(), door(args, &sources(&paths.concat(), args)))
}

/// The published machines of this name, if no file has it.
fn published(side: &str) -> Option<Vec<&'static Machine>> {
    if Path::new(side).exists() {
        return None;
    }
    references::select(&[side.to_owned()]).ok()
}

/// Refuses a name that is neither a file nor a published machine, with the names of those.
fn ensure_side(side: &str) -> Result<()> {
    let is_plain = !side.contains(['/', ',', '.']) && !Path::new(side).exists();
    match references::select(&[side.to_owned()]) {
        Err(unknown) if is_plain => bail!("there is no file {side}, and {unknown}"),
        _ => Ok(()),
    }
}

/// Compares each run separately with published machines: their figures cannot be combined with those of a run.
fn with_published(
    machines: &[&'static Machine],
    args: &cli::Compare,
    margins: &Margins,
    style: Style,
) -> Result<()> {
    let paths: Vec<PathBuf> =
        args.sides[1..].iter().map(|side| files(side)).collect::<Result<Vec<_>>>()?.concat();
    let runs: Vec<Run> = paths.iter().map(|path| Ok(Run::read(path)?)).collect::<Result<_>>()?;
    let named = paths.iter().zip(&runs);
    let results: Vec<(String, Results)> =
        named.map(|(path, run)| (called("", std::slice::from_ref(path)), Results::of(run))).collect();
    let built = results.iter().map(|(name, results)| (name.as_str(), &results.run.header));
    ensure_built_to_measure(built, &args.accept)?;
    let report = PublishedComparison::of(machines, &results, margins);
    let rendered = Rendered::of(&report, args.format, style, args.output.as_deref())?;
    written(&rendered, args.output.as_deref(), door(args, &sources(&paths, args)))
}

/// Every file that the comparison is made from.
fn sources(runs: &[PathBuf], args: &cli::Compare) -> Vec<PathBuf> {
    runs.iter().chain(&args.margins.margins).cloned().collect()
}

fn door<'a>(args: &cli::Compare, sources: &'a [PathBuf]) -> Door<'a> {
    Door { sources, force: args.force }
}

/// The requested margins: one for all, or those of a file.
pub(super) fn margins(all: Option<f64>, file: Option<&Path>) -> Result<Margins> {
    let Some(file) = file else { return Ok(Margins::all(all)) };
    let text = regular::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    Margins::parse(&text).map_err(|error| anyhow!("{}: {error}", file.display()))
}

/// The run files of a side: those of a folder, or the ones named.
pub(super) fn files(side: &str) -> Result<Vec<PathBuf>> {
    let whole = Path::new(side);
    if whole.is_dir() {
        let paths = store::all(whole).with_context(|| format!("cannot read {side}"))?;
        if paths.is_empty() {
            bail!("there is no run file in {side}");
        }
        return Ok(paths);
    }
    // A path may itself contain a comma.
    if whole.exists() {
        return Ok(vec![whole.to_owned()]);
    }
    Ok(side.split(',').filter(|part| !part.is_empty()).map(PathBuf::from).collect())
}

/// A side with all its runs, which are read in parallel.
pub(super) fn side(name: &str, paths: &[PathBuf]) -> Result<Side> {
    let runs = parallel::map(paths, |_, path| Run::read(path).map(|run| ReducedRun::of_run(&run)));
    Ok(Side { name: called(name, paths), runs: runs.into_iter().collect::<Result<_, _>>()? })
}

/// The name of a file without folder and extension.
fn called(name: &str, paths: &[PathBuf]) -> String {
    match paths {
        [only] => store::stem(only).map_or_else(
            || only.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            str::to_owned,
        ),
        _ => name.to_owned(),
    }
}

/// Refuses debug builds, unless they are accepted.
pub(super) fn ensure_measured(sides: &[Side], accepted: &[String]) -> Result<()> {
    let runs = sides.iter().flat_map(|side| side.runs.iter().map(|run| (side.name.as_str(), &run.header)));
    ensure_built_to_measure(runs, accepted)
}

fn ensure_built_to_measure<'a>(
    mut runs: impl Iterator<Item = (&'a str, &'a Header)>,
    accepted: &[String],
) -> Result<()> {
    let debug = runs.find(|(_, header)| header.tool.build == "debug");
    let (name, because) = REFUSED[0];
    match debug {
        Some((side, _)) if !accepted.iter().any(|accepted| accepted == name) => {
            bail!("{side} was measured by a debug build: {because}; `--accept {name}` compares it anyway")
        }
        _ => Ok(()),
    }
}
