//! `fathom replicate`: a published report's own methods, and its summary table next to Fathom's figures.

use super::measuring::take_lock;
use super::output::Rendered;
use super::streams::{print, request};
use super::{page, peer};
use crate::cli;
use anyhow::{Context, Result, anyhow};
use fathom_core::sorting;
use fathom_engine::record::store;
use fathom_engine::results::Results;
use fathom_engine::run::{self, Options, Peering, RunInProgress};
use fathom_replicate::record::Replication;
use fathom_replicate::{self as replicate, ReplicationReport, Report, replication};
use fathom_report::{self as report, Form, ProgressForm, Style};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Measures a report's points by Fathom's methods and then by the report's own, and prints the table.
pub fn replicate(args: &cli::Replicate, style: Style) -> Result<ExitCode> {
    let Some(name) = &args.report else {
        print(&replication::list(style))?;
        return Ok(ExitCode::SUCCESS);
    };
    let report = replicate::find(name).ok_or_else(|| {
        anyhow!("there is no report `{name}`: `fathom replicate` without a name lists them")
    })?;
    let only = report.methods_with(&args.method).map_err(|word| {
        let names: Vec<&str> = report.methods().iter().map(|method| method.name).collect();
        anyhow!(
            "--method: report {} has no method with `{word}` in its name; it has {}",
            report.id,
            names.join(", ")
        )
    })?;
    let _lock = take_lock(args.bench.alongside, ProgressForm::Auto)?;
    run::catch_signals()?;
    let (mut in_progress, path, run_path) = begin(args, report, &only)?;
    let mut live = report::live::Live::new();
    // Fathom's own first: the report's methods leave more state in the kernel, such as ports that wait for late packets.
    in_progress.measure(&mut live)?;
    let replication = replicate::measure(
        report,
        (args.effort(), only),
        in_progress.environment(),
        (&path, &run_path),
        &mut live,
    )?;
    live.finish();
    let run = in_progress.into_run();
    let results = Results::of(&run);
    let files = [("replication", path.as_path()), ("run file", run_path.as_path())];
    let replicated = ReplicationReport::of(report, &replication, &results, &files);
    print(&report::render(&replicated, args.format, style))?;
    Ok(ExitCode::SUCCESS)
}

/// The run of Fathom's own points, and the paths of the replication's file and of the run's.
fn begin(
    args: &cli::Replicate,
    report: &Report,
    only: &[String],
) -> Result<(RunInProgress, PathBuf, PathBuf)> {
    let folder = args.bench.dir.clone().unwrap_or_else(std::env::temp_dir);
    let mut points = report.points(&run::described(&folder, args.remote.as_ref(), args.bench.cpu)?.0, only);
    sorting::by_key(&mut points, |(name, _)| *name);
    let mut selection: Vec<String> = points.iter().map(|(name, _)| (*name).to_owned()).collect();
    selection.dedup();
    let options = Options {
        selection,
        effort: args.effort(),
        budget: Some(args.budget.unwrap_or_else(|| budget(points.len(), args.quick))),
        precision: None,
        seed: args.bench.seed,
        cpu: args.bench.cpu,
        clock: None,
        trial: None,
        folder,
        processes: vec![],
        remote: args.remote.clone(),
        points,
        set: None,
        labels: BTreeMap::new(),
        rated_disk: None,
        whole_memory: false,
        sizes: vec![],
        trials: None,
        priority: None,
    };
    let peering = peer::reach(&args.peer)?;
    let header = options.header(peering.as_ref().map(Peering::described))?;
    let default = || store::replication_path(report.id, &header.started, header.settings.seed);
    let path = args.output.clone().unwrap_or_else(default);
    let run_path = path.with_extension("run.jsonl");
    // It is written after the run: found out now, it costs no measurement.
    page::ensure_free(&path)?;
    Ok((RunInProgress::begin(header, &run_path, peering)?, path, run_path))
}

/// The default budget of Fathom's own points: two seconds each, a quarter of that with `quick`.
fn budget(points: usize, quick: bool) -> Duration {
    let seconds = points as f64 * if quick { 0.5 } else { 2.0 };
    Duration::from_secs_f64(seconds.max(5.0))
}

/// Shows a stored replication, whose run is in the same folder; and names the files that this was read from.
pub(super) fn show(
    path: &Path,
    form: Form,
    style: Style,
    output: Option<&Path>,
) -> Result<(Rendered, Vec<PathBuf>)> {
    let replication = Replication::read(path)?;
    let report = replicate::find(&replication.header.report)
        .with_context(|| format!("this program does not know report {}", replication.header.report))?;
    let (run_path, run) = replication.run(path)?;
    let files = [("replication", path), ("run file", run_path.as_path())];
    let results = Results::of(&run);
    let replicated = ReplicationReport::of(report, &replication, &results, &files);
    let rendered = Rendered::of(&replicated, form, style, output)?;
    Ok((rendered, vec![path.to_owned(), run_path]))
}

/// One method: a request on standard input, an answer on standard output.
pub fn replica() -> Result<()> {
    let request: replicate::MethodRequest = request("replica", "replicate")?;
    print(&serde_json::to_string(&replicate::answer(&request))?)
}
