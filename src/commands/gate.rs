//! Whether anything got worse than a baseline, by the exit status.

use super::compare::{ensure_measured, files, margins, side};
use super::measuring::take_lock;
use super::page;
use super::streams::{INCONCLUSIVE, REGRESSED, print};
use crate::cli::{self, Annotations};
use anyhow::{Context, Result, bail};
use fathom_core::experiment::Point;
use fathom_core::experiment::registry;
use fathom_core::message::tell;
use fathom_engine::comparison::{Comparison, Decision, Margins, ReducedRun, Side, decide};
use fathom_engine::record::door::Door;
use fathom_engine::record::{Header, Run, store};
use fathom_engine::run::{self, Options, RunInProgress};
use fathom_report::{self as report, ComparisonReport, Form, GateReport, ProgressForm, Style};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Measuring time per point that is measured again, and the least total time.
const TIME_A_POINT: Duration = Duration::from_secs(2);
const LEAST_TIME: Duration = Duration::from_secs(10);

/// Measures the points of the baseline, or reads a candidate, and reports whether anything got worse.
pub(super) fn gate(args: &cli::Gate, style: Style) -> Result<ExitCode> {
    let margins = margins(args.margins.margin, args.margins.margins.as_deref())?;
    let baseline = baseline(&args.baseline)?;
    ensure_measured(std::slice::from_ref(&baseline), &args.accept)?;
    let (comparison, candidate) = match &args.candidate {
        Some(candidate) => {
            let candidate = side(candidate, &files(candidate)?)?;
            ensure_measured(std::slice::from_ref(&candidate), &args.accept)?;
            (compared(&baseline, &candidate, &margins, args), candidate)
        }
        None => measured(args, &baseline, &margins)?,
    };
    let decision = decide(&comparison);
    print_report(args, (&baseline, &candidate), &comparison, style)?;
    Ok(match decision {
        Decision::Passed => ExitCode::SUCCESS,
        Decision::Regressed => ExitCode::from(REGRESSED),
        Decision::Inconclusive => ExitCode::from(INCONCLUSIVE),
    })
}

/// The runs of a baseline: files, a folder, or a name.
fn baseline(name: &str) -> Result<Side> {
    let saved = store::baseline(name);
    if !Path::new(name).exists() && saved.is_dir() {
        return side(name, &files(&saved.to_string_lossy())?);
    }
    let paths = files(name)?;
    if matches!(paths.as_slice(), [only] if !only.exists()) {
        bail!(
            "there is no file `{name}` and no baseline of that name: `fathom run --save-baseline {name}` makes one"
        );
    }
    side(name, &paths)
}

fn compared(baseline: &Side, candidate: &Side, margins: &Margins, args: &cli::Gate) -> Comparison {
    Comparison::of(baseline, candidate, margins, args.accept.iter().any(|name| name == "method"))
}

/// Measures, then measures what met another state of the machine than the baseline, and then the suspects: their verdict comes from the
/// confirmations only, because a suspect was chosen for its bad first figure.
fn measured(args: &cli::Gate, baseline: &Side, margins: &Margins) -> Result<(Comparison, Side)> {
    let _lock = take_lock(args.alongside, ProgressForm::Auto)?;
    run::catch_signals()?;
    let first = baseline.runs.first().context("the baseline has no run")?;
    let options = options(args, &first.header)?;
    // The names of the confirmations are looked at before anything is measured.
    if let Some(path) = &args.output {
        (1..=args.confirmations).try_for_each(|time| page::ensure_free(&confirmation(path, time)))?;
        page::ensure_free(&beside(path, OTHER_MOMENT))?;
    }
    let (run, path) = measure_run(&options, args.output.as_deref())?;
    let candidate = Side::of_run("this run", ReducedRun::of_run(&run));
    let mut comparison = compared(baseline, &candidate, margins, args);
    let unlike = pointed(comparison.unlike().into_iter().map(|point| (&point.experiment, &point.point)));
    if !unlike.is_empty() {
        let number = report::words::plural(unlike.len(), "point");
        tell(format!("{number} met another state of the machine than the baseline: measured again"));
        let (run, _) = measure_run(&again(&options, unlike), Some(&beside(&path, OTHER_MOMENT)))?;
        let at_another_moment = Side::of_run(&candidate.name, ReducedRun::of_run(&run));
        comparison.complete(&compared(baseline, &at_another_moment, margins, args));
    }
    let suspects = comparison.suspects().into_iter();
    let suspects =
        pointed(suspects.map(|row| (&row.experiment, row.other_point.as_ref().unwrap_or(&row.point))));
    if suspects.is_empty() {
        return Ok((comparison, candidate));
    }
    let mut confirmations = Side { name: candidate.name.clone(), runs: vec![] };
    for time in 1..=args.confirmations {
        let (number, times) = (report::words::plural(suspects.len(), "suspect"), args.confirmations);
        tell(format!("{number} measured again ({time} of {times})"));
        let file = confirmation(&path, time);
        let (run, _) = measure_run(&again(&options, suspects.clone()), Some(&file))?;
        confirmations.runs.push(ReducedRun::of_run(&run));
    }
    let confirmed = compared(baseline, &confirmations, margins, args);
    comparison.confirm(&confirmed);
    Ok((comparison, candidate))
}

/// The points that are measured again, each with its experiment.
fn pointed<'a>(points: impl Iterator<Item = (&'a String, &'a Point)>) -> Vec<(&'static str, Point)> {
    points.filter_map(|(name, point)| Some((registry::find(name)?.about().name, point.clone()))).collect()
}

/// The run file of a confirmation, beside that of the run.
fn confirmation(run_file: &Path, time: u32) -> PathBuf {
    beside(run_file, &format!("confirmation-{time}"))
}

/// The part of a file's name that says that its points met another state of the machine at first.
const OTHER_MOMENT: &str = "other-moment";

fn beside(run_file: &Path, part: &str) -> PathBuf {
    run_file.with_extension(format!("{part}.{}", store::EXTENSION))
}

/// The options of the baseline's run, but with a folder of the command line: a baseline may come from anybody.
fn options(args: &cli::Gate, header: &Header) -> Result<Options> {
    let folder = args.dir.clone().unwrap_or_else(std::env::temp_dir);
    if folder != Path::new(&header.settings.folder) {
        tell(format_args!(
            "note: files are made in {}, and those of the baseline were made in {}; `--dir` names another folder",
            report::clean(&folder.to_string_lossy()),
            report::clean(&header.settings.folder)
        ));
    }
    run::options_of(&header.settings, args.budget, folder)
}

fn again(options: &Options, points: Vec<(&'static str, Point)>) -> Options {
    let budget = LEAST_TIME.max(TIME_A_POINT * points.len() as u32);
    Options { budget: Some(budget), points, ..options.clone() }
}

fn measure_run(options: &Options, output: Option<&Path>) -> Result<(Run, PathBuf)> {
    let header = options.header(None)?;
    let path = output.map_or_else(|| store::new_path(&header.started, header.settings.seed), Path::to_owned);
    page::ensure_other_ending(&path)?;
    let mut in_progress = RunInProgress::begin(header, &path, None)?;
    let mut live = report::live::Live::new();
    let measured = in_progress.measure(&mut live);
    live.finish();
    measured.with_context(|| format!("the run in {} has stopped", path.display()))?;
    if run::interrupted() {
        bail!("interrupted before a decision; what was measured is in {}", path.display());
    }
    Ok((in_progress.into_run(), path))
}

fn print_report(
    args: &cli::Gate,
    (baseline, candidate): (&Side, &Side),
    comparison: &Comparison,
    style: Style,
) -> Result<()> {
    let report = ComparisonReport::with(baseline, candidate, comparison.clone(), &args.accept);
    let report = GateReport::of(report);
    print(&report::render(&report, args.format, style))?;
    if let Some(path) = &args.summary {
        let markdown = report::render(&report, Form::Synopsis, style);
        Door { sources: &[], force: false }.append(path, &markdown)?;
    }
    for line in annotations(args.annotations.unwrap_or_else(system), comparison) {
        print(&line)?;
    }
    Ok(())
}

/// The CI system in which this runs, by its environment variables.
fn system() -> Annotations {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    match () {
        () if set("GITHUB_ACTIONS") => Annotations::Github,
        () if set("TF_BUILD") => Annotations::Azure,
        () if set("TEAMCITY_VERSION") => Annotations::Teamcity,
        () => Annotations::None,
    }
}

/// A line for each regression, in the system's format.
fn annotations(system: Annotations, comparison: &Comparison) -> Vec<String> {
    let regressed = comparison.with(fathom_engine::comparison::Verdict::Worse);
    let families = comparison.families.iter().filter(|family| family.regressed());
    let sentences = families.map(report::family_change).chain(regressed.into_iter().map(report::regression));
    match system {
        Annotations::None => vec![],
        Annotations::Github => sentences
            .map(|sentence| format!("::error title=Performance regression::{}", escaped(&sentence)))
            .collect(),
        Annotations::Azure => sentences
            .map(|sentence| format!("##vso[task.logissue type=error]{}", escaped(&sentence)))
            .collect(),
        Annotations::Teamcity => sentences
            .map(|sentence| format!("##teamcity[message status='ERROR' text='{}']", of_teamcity(&sentence)))
            .collect(),
    }
}

/// Data of a workflow command: <https://docs.github.com/actions/reference/workflow-commands-for-github-actions>.
fn escaped(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Values of a service message: <https://www.jetbrains.com/help/teamcity/service-messages.html>.
fn of_teamcity(text: &str) -> String {
    let escape = |letter: char| match letter {
        '\'' | '|' | '[' | ']' => format!("|{letter}"),
        '\n' => "|n".to_owned(),
        '\r' => "|r".to_owned(),
        letter if letter.is_ascii() => letter.to_string(),
        letter => format!("|0x{:04x}", letter as u32),
    };
    text.chars().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Cli, Command};
    use clap::Parser;
    use std::io::Read;

    /// The header of the committed run, as somebody sent it whose files are made in this folder.
    fn mailed(folder: &str) -> Header {
        let run = include_bytes!("../../tests/fixtures/runs/system-calls.jsonl.gz");
        let mut text = String::new();
        flate2::read::GzDecoder::new(&run[..]).read_to_string(&mut text).unwrap();
        let mut header = Run::parse(&text).unwrap().header;
        folder.clone_into(&mut header.settings.folder);
        header
    }

    /// Where a gate makes its files, and where its confirmations do.
    fn folders(arguments: &[&str], header: &Header) -> [PathBuf; 2] {
        let words = ["fathom", "gate", "--baseline", "mailed.jsonl"].iter().chain(arguments);
        let Command::Gate(args) = Cli::parse_from(words).command else { panic!("another command") };
        let options = options(&args, header).unwrap();
        let again = again(&options, vec![]);
        [options.folder, again.folder]
    }

    #[test]
    fn a_baseline_never_chooses_where_files_are_made() {
        let [theirs, ours] = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let here = ours.path().to_str().unwrap();
        for folder in [theirs.path().to_str().unwrap(), "/etc", "", "."] {
            let header = mailed(folder);
            assert_eq!(folders(&[], &header), [std::env::temp_dir(), std::env::temp_dir()], "{folder}");
            assert_eq!(folders(&["--dir", here], &header), [ours.path(), ours.path()], "{folder}");
        }
    }
}
