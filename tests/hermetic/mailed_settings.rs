//! A run file that came by mail: what a run obeys of it is bounded, and where it writes is not its choice.

use crate::committed::{content, fathom, text};
use fathom::record::{Run, Settings};
use fathom::run::{ensure_sound, obeyed, options_of};
use proptest::prelude::*;
use serde_json::{Value, json};
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
        prop_assert!(asked.map_or(budget <= Duration::from_hours(24), |asked| asked == budget));
        prop_assert!(options.trial.is_none_or(|trial| trial <= Duration::from_mins(10)));
        prop_assert!(options.processes.len() <= 256 && options.processes.iter().all(|number| (1..=256).contains(number)));
        prop_assert!(options.precision.is_some_and(|precision| precision.is_finite() && precision > 0.0));
        prop_assert_eq!(options.folder, folder);
        prop_assert!(obeyed(&settings, asked).is_ok());
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
