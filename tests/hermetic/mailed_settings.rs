//! A run file that came by mail: what a run obeys of it is bounded, and where it writes is not its choice.

use crate::committed::{content, fathom, text};
use data_encoding::HEXLOWER;
use fathom::experiment::{Point, Requirement};
use fathom::experiments;
use fathom::machine::Machine;
use fathom::record::{Line, Peer, PeerKind, PlannedPoint, Run, Settings};
use fathom::run::{checked_budget, ensure_sound, options_of};
use proptest::prelude::*;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

/// The committed run with its first trials: reading it takes longer than judging it.
fn committed() -> Run {
    static RUN: LazyLock<Run> = LazyLock::new(|| {
        let mut run = Run::parse(&content()).unwrap();
        run.trials.truncate(4);
        run
    });
    RUN.clone()
}

/// Numbers that no program writes, and some that it does.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>(),
        prop::sample::select(vec![-1.0, -0.0, 0.0, 1e-300, 1e300, 3e9, f64::INFINITY, f64::NAN, f64::MAX]),
        0.0..1e6
    ]
}

fn whole() -> impl Strategy<Value = u64> {
    prop_oneof![any::<u64>(), prop::sample::select(vec![0, 1, 1_000_000_000, u64::MAX]), 0..300_u64]
}

prop_compose! {
    fn settings()(
        (budget_s, precision) in (number(), number()),
        (trial_ns, trial_fixed, home) in (whole(), any::<bool>(), whole()),
        processes in prop::collection::vec(whole(), 0..6),
        many in prop::option::weighted(0.1, 1000..2000_usize),
        set in prop::option::of("[a-z]{1,8}|fleet"),
    ) -> Settings {
        let settings = committed().header.settings;
        Settings {
            budget_s, precision, trial_ns, trial_fixed, home: home as usize, set,
            processes: many.map_or(processes, |many| vec![1; many]),
            folder: "/etc".to_owned(),
            ..settings
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn what_is_obeyed_is_bounded(settings in settings(), asked in prop::option::of(1..1_000_000_u64)) {
        let asked = asked.map(Duration::from_secs);
        let folder = PathBuf::from("/of/the/command/line");
        let Ok(options) = options_of(&settings, asked, folder.clone()) else { return Ok(()) };
        let budget = options.budget.unwrap();
        prop_assert!(asked.map_or(budget <= Duration::from_secs(24 * 60 * 60), |asked| asked == budget));
        prop_assert!(options.trial.is_none_or(|trial| trial <= Duration::from_secs(10 * 60)));
        prop_assert!(options.processes.len() <= 256 && options.processes.iter().all(|number| (1..=256).contains(number)));
        prop_assert!(options.precision.is_some_and(|precision| precision.is_finite() && precision > 0.0));
        prop_assert_eq!(options.folder, folder);
        prop_assert!(checked_budget(&settings, asked).is_ok());
    }

    #[test]
    fn times_of_trials_that_are_believed_can_be_added(
        settings in settings(),
        times in prop::collection::vec((number(), number(), number(), any::<u32>()), 1..4),
    ) {
        let mut run = committed();
        run.header.settings = settings;
        for (trial, (began_s, took_s, shared_s, round)) in run.trials.iter_mut().zip(times) {
            (trial.began_s, trial.took_s, trial.round) = (began_s, took_s, round);
            if let Some(block) = &mut trial.block {
                block.shared_s = shared_s;
            }
        }
        if ensure_sound(&run, None).is_ok() {
            let of = |trial: &fathom::record::Trial| {
                let shared = trial.block.as_ref().map_or(0.0, |block| block.shared_s);
                [trial.began_s, trial.took_s, shared].map(Duration::from_secs_f64).into_iter().sum::<Duration>()
            };
            prop_assert!(run.trials.iter().map(of).sum::<Duration>() < Duration::MAX);
        }
    }
}

/// The committed run with another value in its header.
fn edited(folder: &Path, pointer: &str, value: &Value) -> PathBuf {
    let whole = content();
    let (header, rest) = whole.split_once('\n').unwrap();
    let mut header: Value = serde_json::from_str(header).unwrap();
    *header.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer}")) = value.clone();
    let path = folder.join("mailed.jsonl");
    std::fs::write(&path, format!("{header}\n{rest}")).unwrap();
    path
}

#[test]
fn a_gate_refuses_a_baseline_whose_settings_no_run_has() {
    let folder = tempfile::tempdir().unwrap();
    for (name, value, said) in [
        ("budget_s", json!(-1.0), "impossible"),
        ("budget_s", json!(1e300), "impossible"),
        ("budget_s", json!(1e8), "--budget"),
        ("precision", json!(-0.1), "impossible"),
        ("trial_ns", json!(1_000_000_000_000_000_000_u64), "no file may ask"),
        ("selection", json!(vec!["cpu/system_call"; 1000]), "impossible"),
    ] {
        let file = edited(folder.path(), &format!("/settings/{name}"), &value);
        let mut gate = fathom();
        gate.args(["gate", "--alongside", "--accept", "debug", "--baseline"]).arg(&file);
        gate.env("XDG_DATA_HOME", folder.path());
        let output = gate.timeout(Duration::from_secs(20)).output().expect("it ends");
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{name} {value}: {told}");
        assert!(told.contains(said) && !told.contains("panicked"), "{name} {value}: {told}");
    }
}

/// A run of one point, begun by this build on this machine and, as nothing is to be measured here, with a peer that is contacted
/// only where the command line names it.
fn begun_here(folder: &Path, planned: PlannedPoint) -> PathBuf {
    let mut header = committed().header;
    folder.to_str().unwrap().clone_into(&mut header.settings.folder);
    header.machine = Machine::describe(folder);
    let program = std::fs::read(env!("CARGO_BIN_EXE_fathom")).unwrap();
    header.tool.binary_sha256 = HEXLOWER.encode(&Sha256::digest(program));
    header.peer = Some(Box::new(Peer {
        wanted: "host.invalid".to_owned(),
        kind: PeerKind::Ssh,
        asked_address: None,
        address: "192.0.2.1".to_owned(),
        machine: None,
    }));
    header.plan = vec![planned];
    let path = folder.join("begun.jsonl");
    let line = serde_json::to_string(&Line::Header(Box::new(header))).unwrap();
    std::fs::write(&path, line + "\n").unwrap();
    path
}

/// What a run of this point is refused for, as nothing is to be measured.
fn refusal(planned: PlannedPoint, allowed: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = begun_here(folder.path(), planned);
    let before = std::fs::read(&file).unwrap();
    let mut run = fathom();
    run.args(["run", "--alongside", "--dir"]).arg(folder.path()).args(allowed).arg("--resume").arg(&file);
    let output = run.timeout(Duration::from_secs(20)).assert().code(2).get_output().clone();
    assert_eq!(std::fs::read(&file).unwrap(), before, "a run that is refused does not go on");
    text(&output.stderr)
}

#[test]
fn a_run_takes_the_memory_of_the_whole_machine_only_if_the_command_line_says_so_again() {
    let experiment = experiments::find("filesystem/cache_size").unwrap();
    let takes_all = |point: &Point| experiment.requires(point).contains(&Requirement::WholeMemory);
    let point = experiment.sweep(&committed().header.machine).into_iter().find(takes_all).unwrap();
    let planned = |skip: Option<&str>| PlannedPoint {
        skip: skip.map(str::to_owned),
        ..crate::described::planned_by(experiment, point.clone())
    };
    let refused = refusal(planned(None), &[]);
    assert!(refused.contains("the memory of the whole machine"), "{refused}");
    assert!(refused.contains("add `--whole-memory`") && refused.contains("cache_size"), "{refused}");
    // What is refused next is the peer.
    for next in [
        refusal(planned(None), &["--whole-memory"]),
        refusal(planned(Some("it was not allowed")), &[]),
        refusal(committed().header.plan.remove(0), &[]),
    ] {
        assert!(next.contains("add `--peer host.invalid`") && !next.contains("whole machine"), "{next}");
    }
}
