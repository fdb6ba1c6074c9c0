//! `fathom around`: anchors before and after a command, whose streams and exit status are its own.

use super::measuring::take_lock;
use super::output::{Rendered, written};
use super::streams::REGRESSED;
use crate::cli;
use anyhow::{Context, Result, anyhow};
use fathom_core::message::{clean, tell};
use fathom_engine::around::{AroundSettings, AroundWork, Whole, command};
use fathom_engine::record::door::Door;
use fathom_engine::record::regular;
use fathom_report::{AroundReport, ProgressForm, Style, WorkDone};
use std::path::Path;
use std::process::ExitCode;

/// Measures around the command, reports, and passes its exit status on; or shows an earlier report.
pub(super) fn around(args: &cli::Around, style: Style) -> Result<ExitCode> {
    match &args.report {
        Some(path) => again(args, path, style),
        None => measured(args, style),
    }
}

/// A report that was written before, in the requested form.
fn again(args: &cli::Around, path: &Path, style: Style) -> Result<ExitCode> {
    let name = clean(&path.to_string_lossy());
    let text = regular::read(path).with_context(|| format!("cannot read {name}"))?;
    let report = AroundReport::parse(&text).map_err(|reason| anyhow!("{name}: {reason}"))?;
    let rendered = Rendered::of(&report, args.format, style, args.output.as_deref())?;
    let sources = [path.to_owned()];
    written(&rendered, args.output.as_deref(), Door { sources: &sources, force: args.force })?;
    Ok(ExitCode::from(if args.fail_if_moved && report.verdict() == Whole::Moved { REGRESSED } else { 0 }))
}

fn measured(args: &cli::Around, style: Style) -> Result<ExitCode> {
    let _lock = take_lock(args.alongside, ProgressForm::Auto)?;
    command::catch_signals()?;
    let mut around = AroundWork::begin(settings(args))?;
    let ended = command::run(&args.command, args.every, &mut around)?;
    let surroundings = around.end(ended.interrupted)?;
    let words = args.command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let report = AroundReport::of(&surroundings, WorkDone { command: words, status: Some(ended.status) });
    let rendered = Rendered::of(&report, args.format, style, args.output.as_deref())?;
    match &args.output {
        None => tell(rendered.as_text().trim_end()),
        Some(path) => {
            tell(report.sentence());
            let sources: Vec<_> = args.run_file.iter().cloned().collect();
            written(&rendered, Some(path), Door { sources: &sources, force: args.force })?;
        }
    }
    let moved = args.fail_if_moved && ended.status == 0 && report.verdict() == Whole::Moved;
    Ok(ExitCode::from(if moved { REGRESSED } else { ended.status }))
}

fn settings(args: &cli::Around) -> AroundSettings {
    let mut settings = AroundSettings::of(args.dir.clone().unwrap_or_else(std::env::temp_dir));
    settings.length = args.length;
    settings.pause = settings.pause.min(args.length);
    settings.margin = args.margin;
    settings.cpu = args.cpu;
    settings.seed = args.seed;
    settings.run_file.clone_from(&args.run_file);
    settings
}
