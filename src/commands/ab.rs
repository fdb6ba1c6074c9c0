//! Two settings of this machine in one interleaved run.

use super::measuring::take_lock;
use super::streams::{SOME_FAILED, print};
use crate::cli;
use anyhow::Result;
use fathom_core::message::{clean, tell};
use fathom_engine::comparison::{Margins, ReducedRun, Side};
use fathom_engine::plan;
use fathom_engine::record::{Header, Interleaved, Run, store};
use fathom_engine::results::Results;
use fathom_engine::run::{self, Alternation, Arrangement, Options, RunInProgress, Variation};
use fathom_report::{self as report, ComparisonReport, ProgressForm, Style};
use std::path::PathBuf;
use std::process::ExitCode;

/// The default margin: an interleaved run is meant to resolve differences of a hundredth.
const MARGIN: f64 = 0.01;

/// Measures both settings alternately, and compares them.
pub(super) fn ab(args: &cli::Ab, style: Style) -> Result<ExitCode> {
    plan::select(&args.experiments)?;
    let arrangements = [Arrangement::of(&args.a)?, Arrangement::of(&args.b)?];
    let _lock = take_lock(args.alongside, ProgressForm::Auto)?;
    run::catch_signals()?;
    let (headers, paths) = prepared(args, &arrangements)?;
    let [first, second] = headers;
    let begun = |header, path| RunInProgress::begin(header, path, None).map(Box::new);
    let halves = [begun(first, &paths[0])?, begun(second, &paths[1])?];
    let mut both = Alternation::of(halves, arrangements).inspect_err(|_| {
        // Settings that cannot be applied are found before anything is measured: the files contain only plans.
        for path in &paths {
            let _ = std::fs::remove_file(path);
        }
    })?;
    let mut live = report::live::Live::new();
    let measured = both.measure(&mut live);
    live.finish();
    let runs = both.into_halves().map(|half| half.into_run());
    measured?;
    report(args, &runs, &paths, style)
}

/// The headers of both halves, which differ only in their settings, and the paths of their run files.
fn prepared(args: &cli::Ab, arrangements: &[Arrangement; 2]) -> Result<([Header; 2], [PathBuf; 2])> {
    let mut first = options(args, &arrangements[0], args.seed).header(None)?;
    let seed = first.settings.seed;
    let mut second = options(args, &arrangements[1], Some(seed)).header(None)?;
    // One clock for both, so that its measured frequency does not differ between them.
    second.clock = first.clock.clone();
    second.started.clone_from(&first.started);
    let session = format!("{} {seed:016x}", first.started);
    for (header, settings) in [(&mut first, &args.a), (&mut second, &args.b)] {
        let setting = settings.iter().map(Variation::to_string).collect();
        header.settings.interleaved = Some(Interleaved { session: session.clone(), setting });
        header.settings.budget_s = budget(args, header);
    }
    let stored = || store::new_path(&first.started, seed).with_extension("");
    let stem = args.output.clone().unwrap_or_else(stored);
    let named = |ending: &str| {
        let mut name = stem.clone().into_os_string();
        name.push(format!(".{ending}.{}", store::EXTENSION));
        PathBuf::from(name)
    };
    Ok(([first, second], [named("a"), named("b")]))
}

fn budget(args: &cli::Ab, header: &Header) -> f64 {
    args.budget.map_or(2.0 * header.settings.budget_s, |budget| budget.as_secs_f64())
}

fn margin(args: &cli::Ab) -> f64 {
    args.margin.unwrap_or(MARGIN)
}

fn options(args: &cli::Ab, arrangement: &Arrangement, seed: Option<u64>) -> Options {
    let folder = arrangement.folder.clone().or_else(|| args.dir.clone());
    Options {
        effort: args.extent.effort(),
        precision: Some(args.precision.unwrap_or(margin(args) / 2.0)),
        seed,
        cpu: arrangement.cpu,
        ..Options::of(args.experiments.clone(), folder.unwrap_or_else(std::env::temp_dir))
    }
}

fn report(args: &cli::Ab, runs: &[Run; 2], paths: &[PathBuf; 2], style: Style) -> Result<ExitCode> {
    let results = runs.each_ref().map(Results::of);
    let name = |settings: &[Variation], otherwise: &str| match settings {
        [] => otherwise.to_owned(),
        some => some.iter().map(Variation::to_string).collect::<Vec<_>>().join(" "),
    };
    let names = [name(&args.a, "as it is"), name(&args.b, "")];
    let side = |half: usize| Side::of_run(names[half].clone(), ReducedRun::of(&results[half]));
    let (before, after) = (side(0), [side(1)]);
    let margins = Margins::all(Some(margin(args)));
    let comparison = ComparisonReport::of(&before, &after, &margins, &[]).in_full(args.full);
    print(&report::render(&comparison, args.format, style))?;
    for path in paths {
        tell(format!("run file: {}", clean(&path.display().to_string())));
    }
    let failed = results.iter().any(Results::has_failed);
    Ok(if failed { ExitCode::from(SOME_FAILED) } else { ExitCode::SUCCESS })
}
