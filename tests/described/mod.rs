//! A described machine and a run on it, for tests that must not depend on where they run.

#![allow(dead_code, reason = "each test file uses a part")]

pub mod planted;

use fathom::experiment::{About, Effort, Experiment, Parameter, Point, Shared, Shown, Site, Stopwatch};
use fathom::machine::{Machine, Root};
use fathom::quantity::Unit;
use fathom::record::{Header, PlannedPoint, Run, SCHEMA_VERSION, Settings, Tool, Trial, TrialOutcome};
use fathom::sampling::{ClockKind, Conditions, Observations, Qualification, Sample, Setting};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// A machine of which nothing is known but four CPUs.
pub fn machine() -> Machine {
    struct FourCpus;
    impl fathom::machine::Host for FourCpus {
        fn affinity(&self) -> Result<Vec<usize>, String> {
            Ok(vec![0, 1, 2, 3])
        }
    }
    let empty = tempfile::tempdir().expect("a folder for temporary files");
    Machine::from_root(&Root::new(empty.path()), &FourCpus, Path::new("/nowhere"))
}

/// The place of a trial whose ticks are nanoseconds.
pub fn site<'clock>(folder: &Path, stopwatch: &'clock dyn Stopwatch) -> Site<'clock> {
    Site {
        home: None,
        partner: None,
        buffer_offset: 0,
        seed: 1,
        duration_ns: 1_000_000,
        ticks_per_second: 1e9,
        stopwatch,
        folder: folder.to_owned(),
        own_folder: folder.to_owned(),
        remote: None,
        peer: None,
        shared: Rc::new(Shared::new(|| 0)),
    }
}

/// A trial of this process by the kernel's clock, on any CPU and with no peer.
pub fn setting(seed: u64, duration_ns: u64) -> Setting {
    Setting {
        seed,
        clock: ClockKind::MonotonicRaw,
        ticks_per_second: 1e9,
        duration_ns,
        reading_times: 1,
        memory: None,
        spread: false,
        home: None,
        partner: None,
        two_cores: false,
        cpu_stat: None,
        folder: std::env::temp_dir(),
        own_folder: std::env::temp_dir().join(format!(".fathom-test-{}", std::process::id())),
        remote: None,
        peer: None,
        parent: std::process::id(),
    }
}

/// The sample of a trial on a CPU that timed batches of a thousand operations, nanoseconds each, between chains at this frequency.
pub fn batches_of_1000(cpu: usize, batches: Vec<i64>, hz: f64) -> Sample {
    let operations = 1000 * batches.len() as u64;
    let observations = Observations::Ticks {
        operations: 1000,
        each: false,
        overhead_ticks: 0.0,
        beyond_ns: 0.0,
        operation: batches,
        baseline: vec![],
    };
    let conditions =
        Conditions { core_hz_before: Some(hz), core_hz_after: Some(hz), ..Conditions::default() };
    Sample { observations, operations, conditions, home: Some(cpu), ..Sample::default() }
}

/// A clock of one tick a nanosecond.
pub fn clock() -> Qualification {
    Qualification {
        kind: ClockKind::MonotonicRaw,
        ticks_per_second: 1e9,
        frequency_spread_ppm: 0.0,
        overhead_ticks: 20.0,
        resolution_ticks: 1,
        backward_steps: 0,
        steps: 1000,
        rejected: None,
    }
}

/// The one point of [`fake_run`].
pub fn planned() -> PlannedPoint {
    let call = Parameter::named("call", "");
    PlannedPoint {
        experiment: "cpu/system_call".to_owned(),
        method_version: 1,
        point: Point::new().named(&call, "getppid"),
        unit: Unit::Nanoseconds,
        skip: None,
    }
}

/// A trial of a point that has not ended yet.
pub fn trial(planned: PlannedPoint, round: u32) -> Trial {
    Trial {
        experiment: planned.experiment,
        point: planned.point,
        round,
        seed: u64::from(round),
        began_s: f64::from(round),
        block: None,
        took_s: 0.02,
        outcome: TrialOutcome::Failed { reason: "nothing yet".to_owned() },
    }
}

/// What an experiment that only a test knows says of itself.
pub const fn about(name: &'static str, parameters: &'static [Parameter]) -> About {
    About {
        name,
        question: "What is found?",
        operation: "any",
        method: "",
        caveats: "",
        version: 1,
        timed: None,
        parameters,
        trends: &[],
        shown: Shown::by(&[]),
    }
}

/// A point of an experiment, in nanoseconds.
pub fn planned_of(experiment: &str, point: Point) -> PlannedPoint {
    PlannedPoint { experiment: experiment.to_owned(), point, ..planned() }
}

/// Any point that an experiment measures, with its version and unit.
pub fn planned_by(experiment: &dyn Experiment, point: Point) -> PlannedPoint {
    let unit = experiment.unit(&point);
    PlannedPoint {
        method_version: experiment.about().version,
        unit,
        ..planned_of(experiment.about().name, point)
    }
}

/// A trial of a point that has this sample.
pub fn measured(planned: &PlannedPoint, round: u32, sample: Sample) -> Trial {
    Trial { outcome: TrialOutcome::Measured { sample }, ..trial(planned.clone(), round) }
}

/// The samples of trials, to plant something in them.
pub fn samples(trials: &mut [Trial]) -> impl Iterator<Item = &mut Sample> {
    trials.iter_mut().filter_map(sample_of)
}

pub fn sample_of(trial: &mut Trial) -> Option<&mut Sample> {
    match &mut trial.outcome {
        TrialOutcome::Measured { sample } => Some(sample),
        _ => None,
    }
}

/// Calls a function for the time of every batch of a sample, in ticks.
pub fn each_time(sample: &mut Sample, change: impl FnMut(&mut i64)) {
    if let Observations::Ticks { operation, .. } = &mut sample.observations {
        operation.iter_mut().for_each(change);
    }
}

/// A header with this plan.
pub fn header(plan: Vec<PlannedPoint>) -> Header {
    Header {
        schema: SCHEMA_VERSION,
        tool: Tool {
            name: "fathom".to_owned(),
            version: "0.1.0".to_owned(),
            binary_sha256: "0".repeat(64),
            target: "x86_64-linux".to_owned(),
            build: "release".to_owned(),
            compiler: Some("rustc 1.90.0, -C opt-level=3".into()),
            commit: Some("0123456789ab".into()),
        },
        started: "2026-01-01T00:00:00Z".to_owned(),
        settings: Settings {
            selection: vec![],
            effort: Effort::Quick,
            budget_s: 30.0,
            precision: 0.05,
            seed: 1,
            trial_ns: 5_000_000,
            trial_fixed: false,
            home: 1,
            partner: Some(0),
            alike: vec![],
            other_package: None,
            folder: "/tmp".to_owned(),
            processes: vec![],
            sizes: vec![],
            trials: None,
            priority: None,
            interleaved: None,
            set: None,
            labels: std::collections::BTreeMap::new(),
        },
        clock: clock(),
        machine: machine(),
        peer: None,
        verification: None,
        methods: vec![],
        plan,
    }
}

/// A run of one point without trials.
pub fn fake_run() -> Run {
    Run::begun(header(vec![planned()]))
}

/// A run file in which every call of `getppid` took so many times as long as it did.
pub fn doctored(source: &Path, times: f64, name: &str) -> PathBuf {
    let told = std::fs::read_to_string(source).expect("a run file");
    let lines = told.lines().map(|line| {
        let mut line: serde_json::Value = serde_json::from_str(line).expect("a line of JSON");
        if line["line"] == "trial" && line["point"]["call"] == "getppid" {
            for part in ["operation", "baseline"] {
                let ticks = &mut line["outcome"]["sample"]["observations"][part];
                for tick in ticks.as_array_mut().into_iter().flatten() {
                    *tick = ((tick.as_f64().unwrap_or_default() * times) as i64).into();
                }
            }
        }
        line.to_string() + "\n"
    });
    let path = source.with_file_name(format!("{name}.jsonl"));
    std::fs::write(&path, lines.collect::<String>()).expect("a doctored run file");
    path
}
