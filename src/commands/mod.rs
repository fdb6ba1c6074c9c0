//! The commands: results on standard output, progress and warnings on standard error.

mod ab;
mod compare;
mod dry_run;
mod earlier;
mod export;
mod gate;
mod history;
mod lock;
mod measuring;
mod output;
mod page;
mod peer;
mod references;
mod replicate;
mod status;
mod streams;
mod verify;

use crate::cli::{self, Cli, Colour, Command};
use anyhow::{Result, anyhow, bail};
use clap::Parser;
use fathom_core::experiment::registry;
use fathom_core::machine::Machine;
use fathom_core::message::{clean, tell};
use fathom_core::sampling;
use fathom_engine::plan;
use fathom_engine::record::door::Door;
use fathom_engine::record::{Run, store};
use fathom_engine::results::Results;
use fathom_engine::run;
use fathom_replicate::record::Replication;
use fathom_report::{self as report, FactsForm, RunReport, Style, catalogue};
use output::{Rendered, written};
use status::COULD_NOT_RUN;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use streams::{print, request};

/// Parses the command line, runs the command, and reports errors.
pub fn main() -> ExitCode {
    sampling::signals::forget_inherited();
    fathom_experiments::register();
    if let Some(commit) = cli::COMMIT {
        run::set_commit(commit);
    }
    match run(Cli::parse()) {
        Ok(exit) => exit,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            tell(format!("fathom: {}", clean(&format!("{error:#}"))));
            ExitCode::from(COULD_NOT_RUN)
        }
    }
}

/// Runs the command.
fn run(cli: Cli) -> Result<ExitCode> {
    let style = style(cli.color);
    match cli.command {
        Command::Run(asked) if asked.dry_run => dry_run::plan(&asked, style)?,
        Command::Run(asked) => return measuring::measure(&asked, style),
        Command::Replicate(asked) => return replicate::replicate(&asked, style),
        Command::Verify(asked) => return verify::verify(&asked, style),
        Command::Keep => fathom_verify::opinions::keep()?,
        Command::Trial => trial()?,
        Command::Replica => replicate::replica()?,
        Command::Peer(asked) => peer::serve(&asked)?,
        Command::List => {
            print(&catalogue::list(registry::all(), &Machine::describe(Path::new(".")), style))?;
        }
        Command::Explain { experiment } => explain(&experiment, style)?,
        Command::Machine { format, dir } => machine(format, &dir, style)?,
        Command::Report(asked) => show(&asked, style)?,
        Command::Compare(asked) => compare::compare(&asked, style)?,
        Command::Ab(asked) => return ab::ab(&asked, style),
        Command::Export(asked) => export::export(&asked)?,
        Command::History(asked) => history::history(&asked, style)?,
        Command::Gate(asked) => return gate::gate(&asked, style),
        Command::Restore => run::restore_when_left()?,
        Command::References { machine, format } => references::list(machine.as_deref(), format, style)?,
        Command::Schema => print(include_str!("../../docs/run-file.schema.json"))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether the reader of the output has gone, as with `head`, which is no error.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let cause = error.downcast_ref::<std::io::Error>();
    cause.is_some_and(|cause| cause.kind() == std::io::ErrorKind::BrokenPipe)
}

fn style(asked: Colour) -> Style {
    let choice = match asked {
        Colour::Always => anstream::ColorChoice::Always,
        Colour::Never => anstream::ColorChoice::Never,
        Colour::Auto => anstream::AutoStream::choice(&std::io::stdout()),
    };
    Style { colour: choice != anstream::ColorChoice::Never, width: columns() }
}

/// The width of a page, and the least width that can be requested without a terminal.
const PAGE_COLUMNS: usize = 120;
const LEAST_COLUMNS: usize = 40;

/// The width of the terminal for results; without one the value of `COLUMNS`, or a page's width.
fn columns() -> usize {
    let said = || std::env::var("COLUMNS").ok()?.parse().ok().filter(|columns| *columns >= LEAST_COLUMNS);
    match streams::window() {
        Some((columns, _)) => columns,
        None => said().unwrap_or(PAGE_COLUMNS),
    }
}

fn explain(patterns: &[String], style: Style) -> Result<()> {
    let machine = Machine::describe(Path::new("."));
    let texts =
        plan::select(patterns)?.into_iter().map(|experiment| catalogue::explain(experiment, &machine, style));
    streams::print_by_pages(&texts.collect::<Vec<_>>().join("\n"))
}

fn machine(form: FactsForm, folder: &Path, style: Style) -> Result<()> {
    let mut machine = Machine::describe(folder);
    let clock = sampling::Qualification::run(&machine, None);
    sampling::observe_core(&mut machine, &clock);
    print(&report::render_facts(&machine, form, style))
}

/// A measuring process: a request on standard input, then visits, each answered on standard output before the next.
fn trial() -> Result<()> {
    verify::register();
    run::answer_visits(&request("trial", "run")?, std::io::stdin().lines(), std::io::stdout())
}

fn show(asked: &cli::Report, style: Style) -> Result<()> {
    let latest = || {
        let folder = store::folder();
        store::latest(&folder)
            .ok_or_else(|| anyhow!("there is no run in {} yet: `fathom run` makes one", folder.display()))
    };
    let (file, experiments) = named(&asked.what)?;
    let path = file.map_or_else(latest, Ok)?;
    let (report, sources) = if Replication::is_at(&path) {
        references::refuse(&asked.beside)?;
        if !experiments.is_empty() {
            bail!("{} is a replication, which is only shown as a whole", path.display());
        }
        replicate::show(&path, asked.format, style)?
    } else {
        (shown(&path, &experiments, asked, style)?, vec![path])
    };
    written(&report, asked.output.as_deref(), Door { sources: &sources, force: asked.force })
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

fn shown(path: &Path, experiments: &[String], asked: &cli::Report, style: Style) -> Result<Rendered> {
    // A misspelt name is reported before a long file is read.
    let machines = references::called(&asked.beside)?;
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
    let full = asked.full || !experiments.is_empty();
    let report = RunReport::of(&results).beside(&machines).written_to(&files).in_full(full);
    Ok(Rendered::of(&report, asked.format, style))
}
