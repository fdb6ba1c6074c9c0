//! One trial of a point, visited the way a run does, in a process of its own.

use fathom::experiment::{Experiment, Point};
use fathom::experiments;
use fathom::sampling::{ClockKind, Observations, Request, Sample, Setting, TrialOutcome, Visit, Visited};
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

/// The program under test.
pub fn fathom() -> Command {
    Command::new(assert_cmd::cargo::cargo_bin("fathom"))
}

/// A setting without a peer, whose trials observe so long.
pub fn setting(observe: Duration) -> Setting {
    Setting {
        seed: 7,
        clock: ClockKind::MonotonicRaw,
        ticks_per_second: 1e9,
        duration_ns: observe.as_nanos() as u64,
        reading_times: 1,
        memory: None,
        spread: false,
        home: None,
        partner: None,
        cpu_stat: None,
        folder: std::env::temp_dir(),
        own_folder: std::env::temp_dir().join(format!(".fathom-test-{}", std::process::id())),
        parent: std::process::id(),
        remote: None,
        peer: None,
    }
}

/// The experiment, and its only point on this machine with these parameters.
fn point(experiment: &str, wanted: &[(&str, &str)]) -> (&'static dyn Experiment, Point) {
    let experiment = experiments::find(experiment).unwrap();
    let machine = fathom::machine::Machine::describe(std::path::Path::new("/tmp"));
    let is_wanted = |point: &Point| {
        wanted.iter().all(|(name, value)| point.get(name).is_some_and(|one| one.to_string() == *value))
    };
    let mut points: Vec<Point> = experiment.sweep(&machine).into_iter().filter(is_wanted).collect();
    assert_eq!(points.len(), 1, "{wanted:?}: {points:?}");
    (experiment, points.remove(0))
}

/// One trial of the only such point, by a command that may begin elsewhere.
pub fn of(
    mut program: Command,
    experiment: &str,
    wanted: &[(&str, &str)],
    setting: Setting,
) -> Result<Sample, String> {
    let (experiment, point) = point(experiment, wanted);
    let request = Request { experiment: experiment.about().name.to_owned(), setting };
    let visit = Visit { points: vec![point], seed: 7, making_s: None, core_wait: None };
    let mut child = program.arg("trial").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let asked =
        format!("{}\n{}\n", serde_json::to_string(&request).unwrap(), serde_json::to_string(&visit).unwrap());
    child.stdin.take().unwrap().write_all(asked.as_bytes()).unwrap();
    let mut answer = vec![];
    child.stdout.take().unwrap().read_to_end(&mut answer).unwrap();
    child.wait().unwrap();
    let visited: Visited = serde_json::from_slice(&answer).map_err(|error| error.to_string())?;
    match visited.outcomes.into_iter().next().expect("one answer for one point") {
        TrialOutcome::Measured { sample } => Ok(sample),
        unmeasured => Err(format!("{unmeasured:?}")),
    }
}

/// The observations, in the point's unit.
pub fn values(sample: &Sample) -> Vec<f64> {
    match &sample.observations {
        Observations::Values { values } => values.clone(),
        Observations::Ticks { operation, operations, .. } => {
            operation.iter().map(|ticks| *ticks as f64 / *operations as f64).collect()
        }
    }
}
