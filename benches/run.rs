//! What a run costs beside measuring: `cargo bench --bench run`. Fathom measures itself, as any program that uses it.
//!
//! A build that is not optimised takes small runs, to see that everything runs (`cargo test --benches`).

#[path = "../tests/described/mod.rs"]
mod described;
#[path = "../tests/simulated_machine/mod.rs"]
#[allow(dead_code, reason = "only costs that are alike are set")]
mod simulated_machine;

use fathom::experiment::{Parameter, Point};
use fathom::experiments;
use fathom::machine::Machine;
use fathom::record::{Journal, PlannedPoint, Run, Trial, TrialOutcome};
use fathom::run::RunInProgress;
use fathom::sampling::{CoreReadings, Observations, Request, Sample, Visit};
use fathom::{Error, Operation, child_main};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Points of a large run, and of one by which the first is judged.
const POINTS: [u64; 2] = if cfg!(debug_assertions) { [20, 5] } else { [5000, 50] };

/// Trials of each point.
const ROUNDS: u32 = if cfg!(debug_assertions) { 7 } else { 50 };

/// Each of them observes nothing but one batch: what it costs is starting, preparing, looking around and ending.
fn trial() -> impl FnMut() -> bool {
    let machine = Machine::describe(Path::new("."));
    let experiment = experiments::find("cpu/loop_overhead").expect("it is registered");
    let setting = described::setting(1, 1);
    let request = Request { experiment: experiment.about().name.to_owned(), setting };
    let points = experiment.sweep(&machine)[..1].to_vec();
    let visit = Visit { points, seed: 1, making_s: None, core_wait: None };
    let asked = format!(
        "{}\n{}\n",
        serde_json::to_string(&request).expect("JSON"),
        serde_json::to_string(&visit).expect("JSON")
    );
    move || {
        let mut child = Command::new(env!("CARGO_BIN_EXE_fathom"));
        let mut child =
            child.arg("trial").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a process");
        child.stdin.take().expect("a pipe").write_all(asked.as_bytes()).expect("it reads");
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success() && String::from_utf8_lossy(&output.stdout).contains("measured"));
        true
    }
}

fn planned(number: u64) -> PlannedPoint {
    let size = Parameter::count("size", "");
    PlannedPoint { point: Point::new().with(&size, number), ..described::planned() }
}

/// A trial of short work, with readings of the core around each observation.
fn measured(planned: PlannedPoint, round: u32) -> Trial {
    let operation: Vec<i64> = (0..20).map(|index| 20_000 + i64::from(round * 7 + index * 3) % 50).collect();
    let core = CoreReadings { stream: vec![1000; 21], chain: vec![1000; 21], ..CoreReadings::default() };
    let observations = Observations::Ticks {
        operations: 100,
        each: false,
        overhead_ticks: 20.0,
        beyond_ns: 0.0,
        operation,
        baseline: vec![],
    };
    let sample =
        Sample { observations, operations: 2000, core: Some(core), home: Some(1), ..Sample::default() };
    Trial { outcome: TrialOutcome::Measured { sample }, ..described::trial(planned, round) }
}

/// What a run does between two trials, of a run of so many points: learns from the one before.
fn catching_up(points: u64) -> impl FnMut() {
    let plan: Vec<PlannedPoint> = (0..points).map(planned).collect();
    let mut run = Run::begun(described::header(plan.clone()));
    for round in 1..=ROUNDS {
        run.trials.extend(plan.iter().map(|planned| measured(planned.clone(), round)));
    }
    let mut in_progress =
        RunInProgress::new(run, Journal::nowhere(), Duration::from_secs(1), None).expect("a run");
    let mut next = (0..plan.len()).cycle();
    move || {
        let index = next.next().expect("a cycle");
        in_progress.record_trial(index, measured(plan[index].clone(), ROUNDS + 1));
    }
}

/// A whole run of a machine that costs nothing: every visit is decided, none is made.
fn planning(points: u64) -> impl FnMut() -> usize {
    move || {
        let mut machine = simulated_machine::Machine::alone(points as usize, 0.007);
        simulated_machine::run(&mut machine, 0.2 * points as f64).visits.len()
    }
}

fn main() -> Result<(), Error> {
    let [large, small] = POINTS;
    let patient = |operation: Operation| operation.each().limit(Duration::from_secs(5 * 60));
    let caught_up = |points| {
        let name = format!("catching up after a trial, {points} points of {ROUNDS} trials");
        patient(Operation::prepared(&name, move || catching_up(points)))
    };
    let planned = |points| {
        patient(Operation::prepared(&format!("planning a run of {points} points"), move || planning(points)))
    };
    let session = child_main([
        patient(Operation::prepared("a trial that observes next to nothing", trial)),
        caught_up(large),
        caught_up(small),
        planned(large),
        planned(small),
    ])?;
    let budget = if cfg!(debug_assertions) { Duration::from_secs(20) } else { Duration::from_secs(10 * 60) };
    print!("{}", session.budget(budget).alongside().measure()?);
    Ok(())
}
