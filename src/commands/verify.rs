//! `fathom verify`: truths that are set on this machine, measured like everything else, with their verdicts.

use super::measuring::take_lock;
use super::streams::print;
use crate::cli;
use anyhow::{Context, Result, anyhow};
use fathom_core::experiment::registry;
use fathom_core::machine::Machine;
use fathom_core::message::{clean, tell};
use fathom_core::sampling::clock::kernel_clock;
use fathom_engine::record::{Verdict, Verification, store};
use fathom_engine::run::{self, Effect};
use fathom_report::{self as report, ProgressForm, Style, VerificationReport};
use fathom_verify::opinions::{self, Agreement};
use fathom_verify::{self as verify, Bench, OpinionsReport, RIGS, Rig};
use std::process::ExitCode;

/// Exit status: the instrument is wrong.
const WRONG: u8 = 1;
/// Exit status: some truths were not decided, or none could be set.
const INCONCLUSIVE: u8 = 3;

/// Registers the experiments that no report contains.
pub fn register() {
    registry::register(verify::experiments());
}

/// Verifies the instrument, and stores the result for later runs if all rigs took part.
pub fn verify(args: &cli::Verify, style: Style) -> Result<ExitCode> {
    let rigs = verify::select(&args.rigs).map_err(|name| unknown(&name))?;
    if args.dry_run {
        return planned(args, &rigs, style);
    }
    let _lock = take_lock(args.bench.alongside, ProgressForm::Auto)?;
    run::catch_signals()?;
    register();
    let bench = Bench {
        folder: args.bench.dir.clone().unwrap_or_else(std::env::temp_dir),
        cpu: args.bench.cpu,
        seed: args.bench.seed,
        times_as_long: args.times_as_long,
    };
    if args.peers {
        return peers(args, &bench, style);
    }
    let now_ns = || kernel_clock(libc::CLOCK_MONOTONIC);
    let (began, mut live) = (now_ns(), report::live::Live::new());
    let truths = verify::verify(&rigs, &bench, &mut live);
    live.finish();
    let took_s = (now_ns() - began) as f64 / 1e9;
    let machine = Machine::describe(&bench.folder);
    let verification = Verification::of(run::now(), took_s, run::tool()?, &machine, truths?);
    if rigs.len() == RIGS.len() {
        keep(&verification);
    }
    print(&report::render(&VerificationReport::of(&verification), args.format, style))?;
    Ok(match verification.verdict() {
        Verdict::Right => ExitCode::SUCCESS,
        Verdict::Wrong => ExitCode::from(WRONG),
        Verdict::Inconclusive | Verdict::Skipped => ExitCode::from(INCONCLUSIVE),
    })
}

/// Prints what a verification would do to this machine.
fn planned(args: &cli::Verify, rigs: &[&Rig], style: Style) -> Result<ExitCode> {
    let effects = if args.peers { of_other_tools() } else { of_rigs(rigs) };
    let rigs = (!args.peers).then_some(rigs.len());
    print(&report::planned::verification(rigs, &effects, style))?;
    Ok(ExitCode::SUCCESS)
}

/// What rigs do, each with its own, and what every trial of them does.
fn of_rigs(rigs: &[&Rig]) -> Vec<Effect> {
    let touched = |rig: &&Rig| {
        let by = || vec![rig.name.to_owned()];
        let set = Effect { what: format!("set: {}", rig.sets), by: by() };
        let touches = rig.touches.iter().map(|what| Effect { what: (*what).to_owned(), by: by() });
        [set].into_iter().chain(touches.collect::<Vec<_>>())
    };
    let files = Effect {
        what: "files that stay: the result of a verification with all rigs, in $XDG_STATE_HOME/fathom/verification.json".to_owned(),
        by: vec![],
    };
    rigs.iter().flat_map(touched).chain(run::of_every_trial()).chain([files]).collect()
}

fn of_other_tools() -> Vec<Effect> {
    let tools = [
        "processes: those of the tools that are installed, and their servers; killed with the session, also after a kill",
        "sockets: servers listen on loopback, or in a network namespace of their own (qperf, as root)",
        "files: those that the tools read, in a folder of the run; gone with it",
    ];
    let tools = tools.map(|what| Effect { what: what.to_owned(), by: vec![] });
    tools.into_iter().chain(run::of_every_trial()).collect()
}

fn peers(args: &cli::Verify, bench: &Bench, style: Style) -> Result<ExitCode> {
    let mut live = report::live::Live::new();
    let all: Vec<_> = opinions::all().collect();
    let weighed = opinions::second_opinions(&all, bench, &mut live);
    live.finish();
    let weighed = weighed?;
    let machine = Machine::describe(&bench.folder);
    let nothing = weighed.iter().all(|weighed| weighed.agreement == Agreement::Skipped);
    let report = OpinionsReport::of(run::now(), run::tool()?, &machine, weighed);
    print(&report::render(&report, args.format, style))?;
    Ok(if nothing { ExitCode::from(INCONCLUSIVE) } else { ExitCode::SUCCESS })
}

fn unknown(name: &str) -> anyhow::Error {
    let names: Vec<&str> = RIGS.iter().map(|rig| rig.name).collect();
    anyhow!("there is no rig `{name}`; there are {}", names.join(", "))
}

/// Stores the verification; a failure is only reported.
fn keep(verification: &Verification) {
    let written = store::verification()
        .context("there is no home directory for it")
        .and_then(|path| verification.write(&path));
    if let Err(error) = written {
        tell(format!(
            "note: reports of runs will not mention this verification: {}",
            clean(&format!("{error:#}"))
        ));
    }
}
