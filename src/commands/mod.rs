//! The commands: results on standard output, progress and warnings on standard error.

mod ab;
mod around;
mod check;
mod compare;
mod dry_run;
mod earlier;
mod export;
mod gate;
mod history;
mod measuring;
mod output;
mod page;
mod peer;
mod publish;
mod refused;
mod replicate;
mod report;
mod streams;
mod verify;
mod waiting;

use crate::cli::{self, Cli, Colour, Command};
use anyhow::{Result, bail};
use fathom_core::machine::Machine;
use fathom_core::message::{clean, tell};
use fathom_core::sampling;
use fathom_engine::plan;
use fathom_engine::run;
use fathom_report::description::BriefMachine;
use fathom_report::{Facts, FactsForm, Style, catalogue, render_facts};
use std::path::Path;
use std::process::ExitCode;
use streams::{COULD_NOT_RUN, print, request};

/// Parses the command line, runs the command, and reports errors.
pub fn main() -> ExitCode {
    sampling::signals::forget_inherited();
    fathom_experiments::register();
    if let Some(commit) = cli::COMMIT {
        run::set_commit(commit);
    }
    match begun() {
        Ok(exit) => exit,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            tell(format!("fathom: {}", clean(&format!("{error:#}"))));
            ExitCode::from(COULD_NOT_RUN)
        }
    }
}

/// Runs the command. That of a process which a run has started is known: parsing it would take half a millisecond.
fn begun() -> Result<ExitCode> {
    if sampling::child::is_asked() && std::env::args_os().skip(1).eq(["trial"]) {
        return trial().map(|()| ExitCode::SUCCESS);
    }
    run(cli::parsed()?)
}

fn run(cli: Cli) -> Result<ExitCode> {
    let style = style(cli.color);
    match cli.command {
        Command::Run(args) if args.dry_run => dry_run::plan(&args, style)?,
        Command::Run(args) => return measuring::measure(&args, style),
        Command::Replicate(args) => return replicate::replicate(&args, style),
        Command::Verify(args) => return verify::verify(&args, style),
        Command::RunTools => fathom_verify::opinions::run_tools()?,
        Command::Trial => trial()?,
        Command::Replica => replicate::replica()?,
        Command::Peer(args) => peer::serve(&args)?,
        Command::List { experiments } => {
            let chosen = plan::select(&experiments)?.into_iter();
            print(&catalogue::list(chosen, &Machine::describe(Path::new(".")), style))?;
        }
        Command::Explain { experiment } => explain(&experiment, style)?,
        Command::Machine { full, format, dir } => machine(full, format, &dir, style)?,
        Command::Report(args) => report::show(&args, style)?,
        Command::Compare(args) => compare::compare(&args, style)?,
        Command::Around(args) => return around::around(&args, style),
        Command::Ab(args) => return ab::ab(&args, style),
        Command::Export(args) => export::export(&args)?,
        Command::Publish(args) => publish::publish(&args)?,
        Command::History(args) => history::history(&args, style)?,
        Command::Gate(args) => return gate::gate(&args, style),
        Command::Check(args) => return check::check(&args, style),
        Command::Restore => run::restore_when_left()?,
        Command::References { machine, format } => report::list_machines(machine.as_deref(), format, style)?,
        Command::Schema => print(include_str!("../../docs/run-file.schema.json"))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether the reader of the output has gone, as with `head`, which is no error.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let cause = error.downcast_ref::<std::io::Error>();
    cause.is_some_and(|cause| cause.kind() == std::io::ErrorKind::BrokenPipe)
}

fn style(args: Colour) -> Style {
    let choice = match args {
        Colour::Always => anstream::ColorChoice::Always,
        Colour::Never => anstream::ColorChoice::Never,
        Colour::Auto => anstream::AutoStream::choice(&std::io::stdout()),
    };
    Style { colour: choice != anstream::ColorChoice::Never, width: columns() }
}

/// The width of a page, that of the screens in the documents, and the least width that can be requested without a terminal.
const PAGE_COLUMNS: usize = 100;
const LEAST_COLUMNS: usize = 40;

/// The width of the terminal for results; without one the value of `COLUMNS`, or a page's width.
fn columns() -> usize {
    let declared = || std::env::var("COLUMNS").ok()?.parse().ok().filter(|columns| *columns >= LEAST_COLUMNS);
    match streams::window() {
        Some((columns, _)) => columns,
        None => declared().unwrap_or(PAGE_COLUMNS),
    }
}

fn explain(patterns: &[String], style: Style) -> Result<()> {
    if patterns.is_empty() {
        bail!(
            "explain which experiment? `fathom list` shows their names, such as `fathom explain context_switch`"
        );
    }
    let machine = Machine::describe(Path::new("."));
    let texts =
        plan::select(patterns)?.into_iter().map(|experiment| catalogue::explain(experiment, &machine, style));
    streams::print_by_pages(&texts.collect::<Vec<_>>().join("\n"))
}

fn machine(full: bool, form: FactsForm, folder: &Path, style: Style) -> Result<()> {
    let mut machine = Machine::describe(folder);
    let clock = sampling::Qualification::run(&machine, None);
    sampling::observe_core(&mut machine, &clock);
    let brief = BriefMachine(&machine);
    let facts: &dyn Facts = if full { &machine } else { &brief };
    print(&render_facts(facts, form, style))
}

/// A measuring process: a request on standard input, then visits, each answered on standard output before the next.
fn trial() -> Result<()> {
    verify::register();
    if sampling::child::is_asked() {
        sampling::preparing::say_ready();
    }
    run::answer_visits(&request("trial", "run")?, std::io::stdin().lines(), std::io::stdout())
}
