//! Runs in the formats of other tools.

use super::compare::files;
use super::output::{Rendered, written};
use super::report::latest;
use crate::cli;
use anyhow::{Context, Result, bail};
use fathom_engine::record::door::Door;
use fathom_engine::record::{Run, regular};
use fathom_engine::results::Results;
use fathom_report::export::{self, Format};
use std::io::{BufRead, BufReader, BufWriter};
use std::path::{Path, PathBuf};

/// Prints runs, or writes them to a file.
pub(super) fn export(args: &cli::Export) -> Result<()> {
    match args.format {
        Some(format) => one(args, format),
        None => points(args),
    }
}

fn one(args: &cli::Export, format: Format) -> Result<()> {
    let path = match args.runs.as_slice() {
        [] => latest()?,
        [path] => path.clone(),
        _ => bail!("this format takes one run; `--points` takes many"),
    };
    let run = Run::read(&path)?;
    let text = export::render_run(&Results::of(&run), format);
    let door = Door { sources: &[path], force: args.force };
    written(&Rendered::text(text), args.output.as_deref(), door)
}

fn points(args: &cli::Export) -> Result<()> {
    let paths = match &args.files_from {
        Some(list) => listed(list)?,
        None if args.runs.is_empty() => vec![latest()?],
        None => args.runs.iter().map(|path| inside(path)).collect::<Result<Vec<_>>>()?.concat(),
    };
    let Some(output) = &args.output else {
        return Ok(export::write_points(&paths, args.trials, &mut std::io::stdout().lock())?);
    };
    let sources: Vec<PathBuf> = paths.iter().chain(&args.files_from).cloned().collect();
    let door = Door { sources: &sources, force: args.force };
    // The lines of an earlier data set may be of runs that are gone.
    let mut file = BufWriter::new(door.begin(output, &|_| false)?);
    let written = export::write_points(&paths, args.trials, &mut file);
    written.with_context(|| format!("cannot write {}", output.display()))?;
    file.into_inner().map_err(std::io::IntoInnerError::into_error)?.keep()
}

/// The run files of a folder, or the file itself.
fn inside(path: &Path) -> Result<Vec<PathBuf>> {
    if path.is_dir() { files(&path.to_string_lossy()) } else { Ok(vec![path.to_owned()]) }
}

/// The file names listed in a file, one per line.
fn listed(list: &Path) -> Result<Vec<PathBuf>> {
    let names: Box<dyn BufRead> = if list == Path::new("-") {
        Box::new(std::io::stdin().lock())
    } else {
        let file = regular::open(list).with_context(|| format!("cannot read {}", list.display()))?;
        Box::new(BufReader::new(file))
    };
    let named = names.lines().map(|line| line.map(PathBuf::from));
    named.collect::<std::io::Result<_>>().with_context(|| format!("cannot read {}", list.display()))
}
