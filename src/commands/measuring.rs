//! `fathom run`: from the command line to the exit status.

use super::output::rendered;
use super::streams::{DONE, INCONCLUSIVE, SOME_FAILED, print};
use super::{page, peer, refused, waiting};
use crate::cli;
use anyhow::{Context, Result, anyhow, bail};
use fathom_core::experiment::registry;
use fathom_core::machine::{self, Machine, RemoteAddress};
use fathom_engine::plan::{self, SETS, Set};
use fathom_engine::record::file_name::{Fields, filled};
use fathom_engine::record::{self, Ending, HOST, Header, PlannedPoint, regular, store};
use fathom_engine::results::{self, Outcome, PointResult, Results};
use fathom_engine::run::{self, MeasuringLock, Options, Peering, RunInProgress};
use fathom_report::{self as report, Form, ProgressForm, RunReport, Style, Telling};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Said before a run that may take what belongs to others.
const TAKES_ALL: &str = "--whole-memory: files that other programs have in the page cache will be dropped from it, and their memory \
                         may be swapped out";

pub(super) fn measure(args: &cli::Run, style: Style) -> Result<ExitCode> {
    // Misspelt names are reported before the lock is taken and before any login.
    plan::select(&args.experiments)?;
    set(args)?;
    labels(args)?;
    refused::ensure_folder(args.dir.as_deref())?;
    refused::ensure_priority(args.priority)?;
    if let Some(pattern) = &args.output {
        // A name with the time belongs to this run alone, and is checked when the time is known.
        page::ensure_place(&output(args, pattern, "")?)?;
    }
    let _lock = take_lock(args.alongside, args.progress)?;
    run::catch_signals()?;
    let is_wanted = args.wait.is_none_or(|most| waiting::wait(most, &Telling::of(args.progress)));
    if !is_wanted {
        return Ok(ExitCode::from(INCONCLUSIVE));
    }
    let (mut in_progress, path) = match &args.resume {
        Some(path) => (resume(args, path)?, path.clone()),
        None => begin(args)?,
    };
    let mut telling = Telling::of(args.progress);
    for warning in in_progress.environment().machine().warnings() {
        telling.note(&format!("{} {}", warning.problem, warning.remedy));
    }
    if args.whole_memory {
        telling.note(TAKES_ALL);
    }
    let measured = in_progress.measure(&mut telling);
    telling.finish();
    measured.with_context(|| format!("the run in {} has stopped", path.display()))?;
    let run = in_progress.into_run();
    let results = Results::of(&run);
    let report = RunReport::of(&results);
    // The run files of a fleet, often thousands, are read by programs, so they have no page.
    let page = run.header.settings.set.is_none().then(|| page_of(&report, &path, style, &telling)).flatten();
    let baseline = args.save_baseline.as_deref().and_then(|name| kept_as(name, &path, &run.header, &telling));
    let mut files = vec![("run file", path.as_path())];
    files.extend(baseline.as_deref().map(|path| ("baseline", path)));
    files.extend(page.as_deref().map(|page| ("report", page)));
    print(&rendered(&report.written_to(&files), args.format, style)?)?;
    let status = status(&results);
    if let Some(price) = nothing_fitted(&results) {
        telling.problem(&price);
    }
    telling.finished(&path.to_string_lossy(), results.failures(), status);
    Ok(ExitCode::from(status))
}

fn status(results: &Results) -> u8 {
    let ended = results.run.closing.as_ref().map(|closing| closing.ended);
    match () {
        () if ended == Some(Ending::Interrupted) => INCONCLUSIVE,
        () if results.has_failed() => SOME_FAILED,
        () if nothing_fitted(results).is_some() => INCONCLUSIVE,
        () => DONE,
    }
}

/// What would be needed if everything was left out for want of time; `None` if anything was measured.
fn nothing_fitted(results: &Results) -> Option<String> {
    let settled = results.run.settled.as_ref()?;
    let skipped = |point: &PointResult| matches!(point.outcome, Outcome::Skipped { .. });
    let cheapest = settled.left_out.iter().min_by(|one, other| one.cost_s.total_cmp(&other.cost_s))?;
    let time = |seconds: f64| Duration::try_from_secs_f64(seconds).unwrap_or_default();
    results.points.iter().all(skipped).then(|| {
        format!(
            "nothing fitted into the budget: the trials of {} would take {}{}, and `--budget {}` would be enough for all",
            cheapest.experiment,
            if cheapest.more { "more than " } else { "about " },
            results::rounded(time(cheapest.cost_s)),
            results::budget(time(settled.enough_budget_s)),
        )
    })
}

/// The page next to the run file; a failure is only reported, because the run is complete.
fn page_of(report: &RunReport, path: &Path, style: Style, telling: &Telling) -> Option<PathBuf> {
    let page = page::beside(path);
    let written = page::write(&page, &report::render(report, Form::Html, style), path);
    written
        .inspect_err(|error| {
            telling.problem(&format!(
                "the page could not be written to {}: {error:#}; the run file is complete",
                page.display()
            ));
        })
        .ok()?;
    Some(page)
}

/// The copy of a run file among the baselines of this name; a failure is only reported, because the run is complete.
fn kept_as(name: &str, path: &Path, header: &Header, telling: &Telling) -> Option<PathBuf> {
    let copy = store::keep_as_baseline(path, header, name);
    copy.inspect_err(|error| {
        telling.problem(&format!(
            "the run could not be kept as a baseline: {error:#}; the run file {} is complete",
            path.display()
        ));
    })
    .ok()
}

/// Resumes a run. A run file may come from anybody: another host is contacted, and a folder used, only if the command line
/// names it too.
fn resume(args: &cli::Run, path: &Path) -> Result<RunInProgress> {
    if regular::is_packed(path).unwrap_or(false) {
        let path = path.display();
        bail!(
            "{path} is packed by gzip, and nothing can be appended to it: `gunzip {path}` first, then resume it"
        );
    }
    page::ensure_other_ending(path)?;
    RunInProgress::resume(path, args.budget, |header| {
        ensure_folder_named(args.dir.as_deref(), header)?;
        ensure_named(args.remote.as_ref(), header)?;
        ensure_allowed(args.whole_memory, header)?;
        ensure_priority_named(args.priority, header)?;
        peer::again(&args.peer, header)
    })
}

/// Refuses a folder that is neither named nor the one for temporary files: a run file must not choose where files are written.
fn ensure_folder_named(named: Option<&Path>, header: &Header) -> Result<()> {
    let folder = named.map_or_else(std::env::temp_dir, Path::to_owned);
    let there = &header.settings.folder;
    if folder == Path::new(there) {
        return Ok(());
    }
    bail!(
        "the run makes its files in {0}, which is used only if the command line names it too: add `--dir {0}`",
        report::clean(there)
    )
}

/// Refuses a file server that is not named, or another one. A mount on this machine is named by its folder only.
fn ensure_named(named: Option<&RemoteAddress>, header: &Header) -> Result<()> {
    match (header.machine.storage.remote.as_ref().map(|remote| &remote.address), named) {
        (Some(RemoteAddress::Mounted(_)), None) => Ok(()),
        (there, named) if there == named => Ok(()),
        (Some(there), _) => bail!(
            "the run reads {there}, which is contacted only if the command line names it too: add `--remote {there}`"
        ),
        (None, _) => bail!("the run was begun without `--remote`: start a new one"),
    }
}

/// Refuses a priority that is not named, or another one: a run file must not choose before which programs it goes.
fn ensure_priority_named(named: Option<i32>, header: &Header) -> Result<()> {
    match header.settings.priority {
        there if there == named => Ok(()),
        Some(there) => bail!(
            "the run measures at priority {there}, which is used only if the command line names it too: add \
             `--priority {there}`"
        ),
        None => bail!("the run was begun without `--priority`: start a new one"),
    }
}

/// Refuses a run that fills the memory of the whole machine unless the command line allows it too. The file may come from
/// anybody, so this machine is asked beside the one that it describes.
fn ensure_allowed(whole_memory: bool, header: &Header) -> Result<()> {
    if whole_memory {
        return Ok(());
    }
    let machines = [&header.machine, &Machine::describe(Path::new(&header.settings.folder))];
    let fills = |planned: &&PlannedPoint| {
        let experiment = registry::find(&planned.experiment);
        planned.skip.is_none()
            && experiment.is_some_and(|experiment| {
                experiment.requires(&planned.point).iter().any(|needed| {
                    let is_lacking = |machine: &&Machine| needed.unmet_reason(machine).is_some();
                    needed.is_met_by_whole_memory() && machines.iter().any(is_lacking)
                })
            })
    };
    match header.plan.iter().find(fills) {
        Some(planned) => bail!(
            "the run measures {} {}, which takes the memory of the whole machine from other programs: that is done only if the \
             command line says so too: add `--whole-memory`",
            planned.experiment,
            planned.point
        ),
        None => Ok(()),
    }
}

fn begin(args: &cli::Run) -> Result<(RunInProgress, PathBuf)> {
    let options = Options {
        selection: args.experiments.clone(),
        effort: args.extent.effort(),
        budget: args.budget,
        precision: args.precision,
        seed: args.seed,
        cpu: args.cpu,
        clock: args.clock.map(Into::into),
        trial: args.trial,
        folder: args.dir.clone().unwrap_or_else(std::env::temp_dir),
        processes: args.processes.clone(),
        sizes: args.sizes.clone(),
        trials: args.trials,
        priority: args.priority,
        remote: args.remote.clone(),
        points: vec![],
        set: set(args)?,
        labels: labels(args)?,
        rated_disk: args.disk_rated,
        whole_memory: args.whole_memory,
    };
    let peering = peer::reach(&args.peer)?;
    let header = options.header(peering.as_ref().map(Peering::described))?;
    let default = || store::new_path(&header.started, header.settings.seed);
    let path = args.output.as_deref().map(|pattern| output(args, pattern, &header.started));
    let path = path.transpose()?.unwrap_or_else(default);
    page::ensure_place(&path)?;
    Ok((RunInProgress::begin(header, &path, peering)?, path))
}

pub(super) fn set(args: &cli::Run) -> Result<Option<&'static Set>> {
    args.set.as_deref().map(set_named).transpose()
}

pub(super) fn set_named(name: &str) -> Result<&'static Set> {
    let known = || SETS.map(|set| format!("`{}`", set.name)).join(", ");
    Set::find(name).ok_or_else(|| anyhow!("there is no set `{name}`; there is {}", known()))
}

/// The labels of the run. Runs of a set are collected from many machines, so each has the label of its machine.
fn labels(args: &cli::Run) -> Result<BTreeMap<String, String>> {
    let mut labels = record::labels(&args.label).map_err(|reason| anyhow!("--label: {reason}"))?;
    if args.set.is_some() && !labels.contains_key(HOST) {
        labels.extend(machine::host_name().map(|name| (HOST.to_owned(), name)));
    }
    Ok(labels)
}

/// The path of the run file by a pattern.
fn output(args: &cli::Run, pattern: &Path, started: &str) -> Result<PathBuf> {
    let labels = labels(args)?;
    let host = labels.get(HOST).cloned().or_else(machine::host_name);
    let fields =
        Fields { host: host.as_deref().unwrap_or("unnamed"), time: started, set: args.set.as_deref() };
    filled(pattern, fields).map_err(|reason| anyhow!("--output: {reason}"))
}

/// The lock, unless it is waived; a name of it held by another user is reported in this form. Before anything is measured, what a
/// killed run has left set is restored.
pub(super) fn take_lock(alongside: bool, form: ProgressForm) -> Result<Option<MeasuringLock>> {
    let lock = if alongside { None } else { Some(MeasuringLock::take()?) };
    let telling = Telling::of(form);
    for stranger in lock.iter().flat_map(|lock| &lock.strangers) {
        telling.note(stranger);
    }
    for restored in run::restore_what_was_left() {
        telling.note(&restored);
    }
    Ok(lock)
}
