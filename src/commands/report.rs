//! The report of a run, beside published machines, and those machines themselves.

use super::compare::compare;
use super::output::{Rendered, written};
use super::replicate;
use super::streams::print;
use crate::cli;
use anyhow::{Result, anyhow, bail};
use fathom_core::experiment::{Finding, Question, finding};
use fathom_core::message::{clean, tell};
use fathom_engine::plan;
use fathom_engine::record::door::Door;
use fathom_engine::record::{Run, store};
use fathom_engine::results::{Results, predicted_again};
use fathom_replicate::record::Replication;
use fathom_report::AtlasMachine;
use fathom_report::published::{MachineList, Machines};
use fathom_report::references::{self, Figure, Machine};
use fathom_report::{Facts, FactsForm, RunReport, Style, render_facts};
use std::path::{Path, PathBuf};

/// Shows the report of a run or of a replication.
pub(super) fn show(args: &cli::Report, style: Style) -> Result<()> {
    let (files, experiments) = named(&args.what)?;
    if files.len() > 1 {
        return beside_each_other(&files, &experiments, args, style);
    }
    let path = files.into_iter().next().map_or_else(latest, Ok)?;
    ensure_run_file(&path)?;
    let (report, sources) = if Replication::is_at(&path) {
        refuse_machines(&args.beside)?;
        if args.predict_again {
            bail!("--predict-again is for the report of a run: a replication has its report's predictions");
        }
        if !experiments.is_empty() {
            bail!("{} is a replication, which is only shown as a whole", path.display());
        }
        replicate::show(&path, args.format, style, args.output.as_deref())?
    } else {
        (shown(&path, &experiments, args, style)?, vec![path])
    };
    written(&report, args.output.as_deref(), Door { sources: &sources, force: args.force })
}

/// Several runs are shown beside each other as a comparison.
fn beside_each_other(
    files: &[PathBuf],
    experiments: &[String],
    args: &cli::Report,
    style: Style,
) -> Result<()> {
    if args.predict_again {
        bail!("--predict-again is for the report of one run: name one");
    }
    if !experiments.is_empty() || !args.beside.is_empty() {
        bail!(
            "several runs are shown beside each other as a whole, as `fathom compare` does: name the runs alone"
        );
    }
    let sides = files.iter().map(|path| path.display().to_string()).collect();
    let margins = cli::MarginOptions { margin: None, margins: None };
    let cli::Report { format, full, output, force, .. } = args;
    let (output, accept) = (output.clone(), vec![]);
    let compared =
        cli::Compare { sides, margins, accept, format: *format, full: *full, output, force: *force };
    compare(&compared, style)
}

/// The run files and the experiments among the arguments: one that is no file, and not written as a path, is an experiment.
fn named(what: &[PathBuf]) -> Result<(Vec<PathBuf>, Vec<String>)> {
    let is_folder = |name: &PathBuf| name.is_dir() && plan::select(&[name.to_string_lossy().into()]).is_err();
    let is_path = |name: &&PathBuf| {
        name.is_file() || name.is_absolute() || name.extension().is_some() || is_folder(name)
    };
    let (files, experiments): (Vec<&PathBuf>, Vec<&PathBuf>) = what.iter().partition(is_path);
    let experiments =
        experiments.into_iter().map(|name| name.to_string_lossy().into_owned()).collect::<Vec<_>>();
    plan::select(&experiments)?;
    Ok((files.into_iter().cloned().collect(), experiments))
}

/// Refuses a folder and a page, with the run file that was meant.
fn ensure_run_file(path: &Path) -> Result<()> {
    if path.is_dir() {
        let newest = store::latest(path).map(|newest| format!(", such as {}", newest.display()));
        bail!(
            "cannot read {}: it is a folder; name a run file in it{}",
            path.display(),
            newest.unwrap_or_default()
        );
    }
    let run_file = path.with_extension(store::EXTENSION);
    if path.extension().is_some_and(|ending| ending == "html") && run_file.is_file() {
        bail!("{} is the page of a run; the run file is {}", path.display(), run_file.display());
    }
    Ok(())
}

fn shown(path: &Path, experiments: &[String], args: &cli::Report, style: Style) -> Result<Rendered> {
    // A misspelt name is reported before a long file is read.
    let machines = machines_called(&args.beside)?;
    let run = Run::read(path)?;
    if run.torn {
        let file = clean(&path.display().to_string());
        tell(format!("note: the last line of {file} is incomplete, as after a kill, and is left out"));
    }
    let run = if args.predict_again { predicted_again(run) } else { run };
    let mut results = Results::of(&run);
    if args.predict_again {
        results.overall.insert(0, made_again());
    }
    if !experiments.is_empty() {
        results = results.only(|name| experiments.iter().any(|pattern| plan::names(pattern, name)));
    }
    let files = [("run file", path)];
    let report = RunReport::of(&results).beside(&machines).written_to(&files);
    let report = report.in_full(args.full).of_part(!experiments.is_empty());
    Rendered::of(&report, args.format, style, args.output.as_deref())
}

/// Predictions of a report are read as made before the measurement, unless it says otherwise.
fn made_again() -> Finding {
    finding!(
        Question::Prediction,
        "The predictions were made again by this program, from the machine and the figures of the finished run; those \
         made before it measured are in its run file."
    )
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
    name.map_or(Ok(()), ensure_no_figure)?;
    let machines = machines_called(&name.map(str::to_owned).into_iter().collect::<Vec<_>>())?;
    let figures = Machines(&machines);
    let facts: &dyn Facts = if machines.is_empty() { &MachineList } else { &figures };
    print(&render_facts(facts, form, style))
}

/// Refuses a name of the form that figures have: there is none of this one.
fn ensure_no_figure(name: &str) -> Result<()> {
    let digits = |text: &str| !text.is_empty() && text.chars().all(|letter| letter.is_ascii_digit());
    let parts = name.strip_prefix('s').and_then(|rest| rest.split_once('-'));
    let Some((report, _)) = parts.filter(|(report, number)| digits(report) && digits(number)) else {
        return Ok(());
    };
    let own = format!("s{report}-");
    let ids = references::of_report(report).map(Figure::id).filter(|id| id.starts_with(&own));
    let ids: Vec<&str> = ids.collect();
    match (ids.first(), ids.last()) {
        (Some(first), Some(last)) => bail!(
            "there is no figure {name}: those of report {report} are {first} to {last}, and `fathom references {report}` shows them"
        ),
        _ => bail!(
            "there is no figure {name}, and no report {report}: `fathom references` lists what there is"
        ),
    }
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
