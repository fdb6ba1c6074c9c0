//! What each command does: results on standard output, progress and warnings on standard error.

mod ab;
mod compare;
mod dry_run;
mod export;
mod gate;
mod history;
mod lock;
mod page;
mod peer;
mod references;
mod replicate;
mod status;
mod streams;
mod verify;

use crate::cli::{self, Cli, Colour, Command};
use crate::experiments;
use crate::machine::{Machine, RemoteAddress};
use crate::plan;
use crate::record::{Header, Run, store};
use crate::replicate::record::Replication;
use crate::report::{self, FactsForm, Form, RunReport, Style, catalogue};
use crate::results::Results;
use crate::run::{self, Campaign, Options, Peering};
use crate::sampling;
use anyhow::{Context, Result, anyhow, bail};
use clap::{CommandFactory, Parser};
use status::{COULD_NOT_RUN, SOME_FAILED};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use streams::{print, request, written};

/// Parses the command line, does what it asks, and tells what went wrong.
pub fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(exit) => exit,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("fathom: {}", report::clean(&format!("{error:#}")));
            ExitCode::from(COULD_NOT_RUN)
        }
    }
}

/// Does what the command line asks.
fn run(cli: Cli) -> Result<ExitCode> {
    let style = style(cli.color);
    match cli.command {
        Command::Run(asked) if asked.dry_run => dry_run::plan(&asked, style)?,
        Command::Run(asked) => return measure(&asked, style),
        Command::Replicate(asked) => return replicate::replicate(&asked, style),
        Command::Verify(asked) => return verify::verify(&asked, style),
        Command::Keep => crate::verify::opinions::keep()?,
        Command::Trial => trial()?,
        Command::Replica => replicate::replica()?,
        Command::Peer(asked) => peer::serve(&asked)?,
        Command::List => {
            print(&catalogue::list(experiments::all(), &Machine::describe(Path::new(".")), style))?;
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
        Command::Schema => print(include_str!("../docs/run-file.schema.json"))?,
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut Cli::command(), "fathom", &mut std::io::stdout());
        }
        Command::Man => clap_mangen::Man::new(Cli::command()).render(&mut std::io::stdout())?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether whoever read our output has gone, as `head` does: no error of ours.
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

/// The width of the terminal that results go to; a page's width where there is none.
fn columns() -> usize {
    // SAFETY: a winsize is plain integers, and the call fills it where standard output is a terminal.
    let size = unsafe {
        let mut size: libc::winsize = std::mem::zeroed();
        libc::ioctl(libc::STDOUT_FILENO, libc::TIOCGWINSZ, &raw mut size);
        size
    };
    if size.ws_col == 0 { 120 } else { usize::from(size.ws_col) }
}

fn explain(patterns: &[String], style: Style) -> Result<()> {
    let machine = Machine::describe(Path::new("."));
    let texts =
        plan::select(patterns)?.into_iter().map(|experiment| catalogue::explain(experiment, &machine, style));
    print(&texts.collect::<Vec<_>>().join("\n"))
}

fn machine(form: FactsForm, folder: &Path, style: Style) -> Result<()> {
    let mut machine = Machine::describe(folder);
    let clock = sampling::Qualification::run(&machine, None);
    sampling::observe_core(&mut machine, &clock);
    print(&report::render_facts(&machine, form, style))
}

/// A process that measures: a request on standard input, then visits, each answered on standard output before the next.
fn trial() -> Result<()> {
    verify::register();
    run::answer_visits(&request("trial", "run")?, std::io::stdin().lines(), std::io::stdout())
}

fn measure(asked: &cli::Run, style: Style) -> Result<ExitCode> {
    // What is misspelt is told before anybody is kept from measuring, and before anybody logs in anywhere.
    plan::select(&asked.experiments)?;
    if let Some(path) = &asked.output {
        page::ensure_place(path)?;
    }
    let _lock = lock::take(asked.alongside)?;
    run::catch_signals()?;
    let (mut campaign, path) = match &asked.resume {
        Some(path) => (take_up(asked, path)?, path.clone()),
        None => begin(asked)?,
    };
    for warning in campaign.testbed().machine().warnings() {
        eprintln!("note: {}", report::clean(&format!("{} {}", warning.problem, warning.remedy)));
    }
    let mut live = report::live::Live::new();
    let measured = campaign.measure(&mut live);
    live.finish();
    measured.with_context(|| format!("the run in {} has stopped", path.display()))?;
    let run = campaign.into_run();
    let results = Results::of(&run);
    let page = page::beside(&path);
    let report = RunReport::of(&results);
    let written = page::write(&page, &report::render(&report, Form::Html, style));
    if let Err(error) = &written {
        eprintln!(
            "fathom: the page could not be written to {}: {error:#}; the run file is complete",
            page.display()
        );
    }
    let kept = asked.save_baseline.as_deref().and_then(|name| kept_as(name, &path, &run.header));
    let mut files = vec![("run file", path.as_path())];
    files.extend(kept.as_deref().map(|path| ("baseline", path)));
    files.extend(written.is_ok().then_some(("report", page.as_path())));
    print(&report::render(&report.written_to(&files), asked.format, style))?;
    Ok(if results.has_failed() { ExitCode::from(SOME_FAILED) } else { ExitCode::SUCCESS })
}

/// The copy of a run file among the baselines of this name; what goes wrong is told, for the run is complete.
fn kept_as(name: &str, path: &Path, header: &Header) -> Option<PathBuf> {
    let kept = store::keep_as_baseline(path, header, name);
    kept.inspect_err(|error| {
        eprintln!(
            "fathom: the run could not be kept as a baseline: {error}; the run file {} is complete",
            path.display()
        );
    })
    .ok()
}

/// Takes a run up again. A run file may come from anybody: another host is asked only where the command line names it too.
fn take_up(asked: &cli::Run, path: &Path) -> Result<Campaign> {
    page::ensure_other_ending(path)?;
    Campaign::resume(path, asked.budget, |header| {
        ensure_named(asked.remote.as_ref(), header)?;
        peer::again(&asked.peer, header)
    })
}

/// Refuses a file server that is not named, or is another. What is mounted here is named by its folder alone.
fn ensure_named(named: Option<&RemoteAddress>, header: &Header) -> Result<()> {
    match (header.machine.storage.remote.as_ref().map(|remote| &remote.address), named) {
        (Some(RemoteAddress::Mounted(_)), None) => Ok(()),
        (there, named) if there == named => Ok(()),
        (Some(there), _) => bail!(
            "the run reads {there}, and this program goes there only where the command line says so too: add `--remote {there}`"
        ),
        (None, _) => bail!("the run was begun without `--remote`: start a new one"),
    }
}

fn begin(asked: &cli::Run) -> Result<(Campaign, PathBuf)> {
    let options = Options {
        selection: asked.experiments.clone(),
        effort: asked.extent.effort(),
        budget: asked.budget,
        precision: asked.precision,
        seed: asked.seed,
        cpu: asked.cpu,
        clock: asked.clock,
        trial: asked.trial,
        folder: asked.dir.clone().unwrap_or_else(std::env::temp_dir),
        processes: asked.processes.clone(),
        remote: asked.remote.clone(),
        points: vec![],
    };
    let peering = peer::reach(&asked.peer)?;
    let header = options.header(peering.as_ref().map(Peering::described))?;
    let default = || store::new_path(&header.started, header.settings.seed);
    let path = asked.output.clone().unwrap_or_else(default);
    page::ensure_place(&path)?;
    Ok((Campaign::begin(header, &path, peering)?, path))
}

fn show(asked: &cli::Report, style: Style) -> Result<()> {
    let latest = || {
        let folder = store::folder();
        store::latest(&folder)
            .ok_or_else(|| anyhow!("there is no run in {} yet: `fathom run` makes one", folder.display()))
    };
    let path = asked.run.clone().map_or_else(latest, Ok)?;
    let text = if Replication::is_at(&path) {
        references::refuse(&asked.beside)?;
        replicate::show(&path, asked.format, style)?
    } else {
        shown(&path, asked, style)?
    };
    written(&text, asked.output.as_deref(), &[path])
}

fn shown(path: &Path, asked: &cli::Report, style: Style) -> Result<String> {
    // A misspelt name is told before a long file is read.
    let machines = references::called(&asked.beside)?;
    let run = Run::read(path)?;
    if run.torn {
        eprintln!("note: the last line of {} is torn, as after a kill, and left out", path.display());
    }
    let results = Results::of(&run);
    let files = [("run file", path)];
    let report = RunReport::of(&results).beside(&machines).written_to(&files).in_full(asked.full);
    Ok(report::render(&report, asked.format, style))
}
