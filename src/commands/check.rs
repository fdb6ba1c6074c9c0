//! `fathom check`: whether this machine meets the requirements of a purpose, by the exit status.

use super::measuring::take_lock;
use super::output::rendered;
use super::streams::{INCONCLUSIVE, print};
use super::{page, peer};
use crate::cli;
use anyhow::{Context, Result, anyhow, bail};
use fathom_core::message::clean;
use fathom_engine::record::{Run, regular, store};
use fathom_engine::requirements::{Assessment, Judgement, Requirements, Targets, judge};
use fathom_engine::run::{self, CheckPlan, Options, Peering, RunInProgress};
use fathom_report::{CheckReport, Style, Telling};
use std::path::Path;
use std::process::ExitCode;

/// Exit status: a requirement is not met.
const NOT_MET: u8 = 1;

/// The requirements that Fathom brings: their names, and their files.
const BROUGHT: [(&str, &str); 6] = [
    ("audio", include_str!("../../requirements/audio.toml")),
    ("build-agent", include_str!("../../requirements/build-agent.toml")),
    ("etcd", include_str!("../../requirements/etcd.toml")),
    ("kubernetes", include_str!("../../requirements/kubernetes.toml")),
    ("polkadot", include_str!("../../requirements/polkadot.toml")),
    ("postgresql", include_str!("../../requirements/postgresql.toml")),
];

/// Lists, prints or judges requirements.
pub(super) fn check(args: &cli::CheckArgs, style: Style) -> Result<ExitCode> {
    let Some(name) = &args.requirements else { return list().map(|()| ExitCode::SUCCESS) };
    let text = text_of(name)?;
    let requirements = Requirements::parse(&text).map_err(|reason| anyhow!("{}: {reason}", clean(name)))?;
    if args.print {
        return print(&text).map(|()| ExitCode::SUCCESS);
    }
    match &args.run {
        Some(path) => recorded(args, &requirements, path, style),
        None => measured(args, &requirements, style),
    }
}

/// The requirements that Fathom brings, one line each.
fn list() -> Result<()> {
    let mut lines =
        vec!["Requirements that Fathom brings (`fathom check NAME`; `--print` shows the file):".to_owned()];
    for (name, text) in BROUGHT {
        let requirements = Requirements::parse(text).map_err(|reason| anyhow!("{name}: {reason}"))?;
        lines.push(format!("  {name:<12} {}", requirements.title));
    }
    print(&lines.join("\n"))
}

/// The text of a file, or of requirements that Fathom brings.
fn text_of(name: &str) -> Result<String> {
    let brought = BROUGHT.iter().find(|(brought, _)| *brought == name);
    match brought {
        Some((_, text)) if !Path::new(name).is_file() => Ok((*text).to_owned()),
        _ if Path::new(name).exists() => {
            regular::read(Path::new(name)).with_context(|| format!("cannot read {}", clean(name)))
        }
        _ => {
            let names = BROUGHT.map(|(brought, _)| format!("`{brought}`")).join(", ");
            bail!(
                "there is no file `{}`, and Fathom brings no requirements of that name; it brings {names}",
                clean(name)
            )
        }
    }
}

/// Decides from a run that was made before.
fn recorded(
    args: &cli::CheckArgs,
    requirements: &Requirements,
    path: &Path,
    style: Style,
) -> Result<ExitCode> {
    let run = Run::read(path)?;
    let targets =
        Targets::of(requirements, &run.header.machine, &run.header.plan).map_err(|reason| anyhow!(reason))?;
    let judged = judge(requirements, &targets, &run);
    answered(args, requirements, &judged, &run, Some(path), style)
}

/// Measures what is asked for, until it is decided.
fn measured(args: &cli::CheckArgs, requirements: &Requirements, style: Style) -> Result<ExitCode> {
    if let Some(path) = &args.output {
        page::ensure_free(path)?;
    }
    let _lock = take_lock(args.alongside, args.progress)?;
    run::catch_signals()?;
    let peering = peer::reach(&args.peer)?;
    let CheckPlan { header, targets } =
        run::measured_for(requirements, &options(args), peering.as_ref().map(Peering::described))?;
    if header.plan.is_empty() {
        // Conditions that are facts, and what nothing measures, need no trial.
        let run = Run::begun(header);
        let judged = judge(requirements, &targets, &run);
        return answered(args, requirements, &judged, &run, None, style);
    }
    let path = args.output.clone().unwrap_or_else(|| store::new_path(&header.started, header.settings.seed));
    page::ensure_other_ending(&path)?;
    let run = trials(args, requirements, &targets, RunInProgress::begin(header, &path, peering)?, &path)?;
    let judged = judge(requirements, &targets, &run);
    answered(args, requirements, &judged, &run, Some(&path), style)
}

fn trials(
    args: &cli::CheckArgs,
    requirements: &Requirements,
    targets: &Targets,
    mut in_progress: RunInProgress,
    path: &Path,
) -> Result<Run> {
    let mut telling = Telling::of(args.progress);
    for warning in in_progress.environment().machine().warnings() {
        telling.note(&format!("{} {}", warning.problem, warning.remedy));
    }
    let checked = in_progress.check(requirements, targets, &mut telling);
    telling.finish();
    checked.with_context(|| format!("the run in {} has stopped", path.display()))?;
    Ok(in_progress.into_run())
}

fn options(args: &cli::CheckArgs) -> Options {
    Options {
        budget: args.budget,
        seed: args.seed,
        cpu: args.cpu,
        trial: args.trial,
        ..Options::of(vec![], args.dir.clone().unwrap_or_else(std::env::temp_dir))
    }
}

/// Prints the report; the exit status is the decision.
fn answered(
    args: &cli::CheckArgs,
    requirements: &Requirements,
    judged: &[Assessment],
    run: &Run,
    path: Option<&Path>,
    style: Style,
) -> Result<ExitCode> {
    let path = path.map(|path| clean(&path.display().to_string()));
    let took = run.closing.as_ref().map(|closing| closing.took_s);
    let report = CheckReport::of(requirements, judged, &run.header).measured(path.as_deref(), took);
    print(&rendered(&report, args.format, style)?)?;
    Ok(match report.judgement() {
        Judgement::Meets => ExitCode::SUCCESS,
        Judgement::Fails => ExitCode::from(NOT_MET),
        Judgement::Undecided => ExitCode::from(INCONCLUSIVE),
    })
}
