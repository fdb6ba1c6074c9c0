//! A run made of fixed numbers: every outcome, sweeps, variants, a distribution, and hostile names. In code rather
//! than as a file, because the run file's schema grows.

#![allow(dead_code, reason = "each test file uses a part")]

use fathom::experiment::{Bound, Counters, Effort, Experiment, Known, Placement, Point, Value};
use fathom::experiments;
use fathom::machine::{CpuSet, Fact, Host, Machine, Root};
use fathom::quantity::Unit;
use fathom::record::{
    Closing, Ending, Header, Line, PlannedPoint, PredictionLine, Run, SCHEMA_VERSION, Tool, Trial,
    TrialOutcome,
};
use fathom::sampling::{ClockKind, Conditions, Observations, Sample};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;

/// Must appear nowhere as it is.
pub const HOSTILE: &str = "<script>alert(1)</script>";

struct Nowhere;
impl Host for Nowhere {
    fn affinity(&self) -> Result<Vec<usize>, String> {
        Ok(vec![0, 1])
    }
}

/// A machine of which nearly nothing is known, and what is known is hostile.
pub fn machine() -> Machine {
    let mut machine = Machine::from_root(&Root::new("/nowhere/at/all"), &Nowhere, Path::new("/data"));
    machine.processor.model_name = Fact::known(format!("Example 9000 {HOSTILE}"), "/proc/cpuinfo");
    machine.processor.nominal_hz = Fact::known(2.5e9, "cpuid leaf 0x16");
    machine.kernel.release = Fact::known("6.18.0-\"quoted\"&more".to_owned(), "uname(2)");
    machine.virtualization.hypervisor = Fact::known(Some("KVM".to_owned()), "cpuid leaf 0x40000000");
    "x86_64-linux-gnu".clone_into(&mut machine.build.target);
    machine.build.optimised = true;
    "0.1.0".clone_into(&mut machine.build.version);
    machine
}

pub fn header(machine: Machine, plan: Vec<PlannedPoint>) -> Header {
    Header {
        schema: SCHEMA_VERSION,
        tool: Tool {
            name: "fathom".to_owned(),
            version: "0.1.0".to_owned(),
            binary_sha256: "0123456789abcdef".repeat(4),
            target: "x86_64-linux-gnu".to_owned(),
            build: "release".to_owned(),
            compiler: Some("rustc 1.90.0, -C opt-level=3".into()),
            commit: Some("0123456789ab".into()),
        },
        started: "2026-11-21T12:00:00Z".to_owned(),
        settings: from(json!({
            "selection": ["cpu/*"], "effort": "quick", "budget_s": 90.0, "precision": 0.01, "seed": 42,
            "trial_ns": 5_000_000, "trial_fixed": true, "home": 0, "partner": 1, "folder": format!("/data/{HOSTILE}"),
        })),
        clock: from(json!({
            "kind": ClockKind::Counter, "ticks_per_second": 1e9, "frequency_spread_ppm": 3.2, "overhead_ticks": 18.0,
            "resolution_ticks": 1, "backward_steps": 0, "steps": 4000,
        })),
        machine,
        peer: None,
        verification: None,
        methods: vec![],
        plan,
    }
}

/// Small, even noise without a generator: the fractional parts of multiples of the golden ratio.
fn noise(index: usize) -> f64 {
    (index as f64 * 0.618_033_988_749_895).fract() - 0.5
}

fn conditions(round: u32) -> Conditions {
    Conditions {
        steal_ns: Some(if round == 3 { 10_000_000 } else { 0 }),
        interrupts: Some(250),
        switches: Some(90),
        throttled_periods: Some(0),
        throttled_ns: Some(0),
        migrations: 0,
        spun_ns: 300_000.0,
        lost_ns: if round == 2 { 900.0 } else { 0.0 },
        longest_gap_ns: 400.0,
        core_hz_before: Some(2.6e9),
        core_hz_after: Some(2.5e9 + 1e7 * f64::from(round)),
    }
}

/// A sample of this cost in nanoseconds; with `base`, of which a baseline takes so much.
pub fn sample(
    cost: f64,
    base: Option<f64>,
    each: bool,
    round: u32,
    stated: &BTreeMap<String, f64>,
) -> Sample {
    let operations = if each { 1 } else { 10_000 };
    let shifted = 1.0 + 0.004 * noise(round as usize + 7);
    let ticks = |cost: f64, index: usize| {
        let tail = if each && index % 17 == 0 { 2.5 } else { 1.0 };
        (cost * shifted * (1.0 + 0.02 * noise(index)) * tail * operations as f64).round() as i64
    };
    let count = if each { 60 } else { 20 };
    let observations = Observations::Ticks {
        operations,
        each,
        overhead_ticks: 0.0,
        beyond_ns: 0.0,
        operation: (0..count).map(|index| ticks(cost + base.unwrap_or(0.0), index)).collect(),
        baseline: base.map_or(vec![], |base| (0..count).map(|index| ticks(base, index + 3)).collect()),
    };
    from(json!({
        "observations": observations,
        "operations": operations * count as u64,
        "baseline_iterations": base.map_or(0, |_| operations * count as u64),
        "counters": Counters::default(),
        "stated": stated,
        "conditions": conditions(round),
        "home": 0,
    }))
}

/// Through JSON, as a run file has it: fields that are added later and may be absent need no change here.
fn from<T: serde::de::DeserializeOwned>(value: serde_json::Value) -> T {
    serde_json::from_value(value).expect("what a run file holds")
}

/// The version of the method in the run: of some an earlier one, whose figures are not judged.
fn version(experiment: &str) -> u32 {
    match experiment {
        "cpu/timing_overhead" => 2,
        "cpu/context_switch" | "cpu/synchronisation" | "cpu/wake_up" | "network/round_trip" => 4,
        _ => 1,
    }
}

/// A run that is being made up.
pub struct Maker {
    machine: Machine,
    plan: Vec<PlannedPoint>,
    lines: Vec<Line>,
    trials: Vec<Line>,
}

impl Maker {
    pub fn new(machine: Machine) -> Self {
        Maker { machine, plan: vec![], lines: vec![], trials: vec![] }
    }

    fn plan(&mut self, experiment: &str, point: &Point, unit: Unit, skip: Option<&str>) {
        self.plan.push(PlannedPoint {
            experiment: experiment.to_owned(),
            method_version: version(experiment),
            point: point.clone(),
            unit,
            skip: skip.map(str::to_owned),
        });
    }

    /// Plans and predicts a point as its experiment does.
    fn predicted(&mut self, experiment: &dyn Experiment, point: &Point) -> Option<f64> {
        let name = experiment.about().name;
        self.plan(name, point, experiment.unit(point), None);
        let known = Known::new(&self.machine, Some(2.6e9));
        let predicted = experiment.predict(point, &known);
        let total = predicted.as_ref().ok().map(fathom::experiment::Prediction::total);
        self.lines.push(Line::Prediction(PredictionLine {
            experiment: name.to_owned(),
            point: point.clone(),
            unpredicted: predicted.as_ref().err().cloned(),
            prediction: predicted.ok(),
            bound: experiment.bound(point, &known),
        }));
        total
    }

    fn trial(&mut self, experiment: &str, point: &Point, round: u32, outcome: TrialOutcome) {
        self.trials.push(Line::Trial(Box::new(Trial {
            experiment: experiment.to_owned(),
            point: point.clone(),
            round,
            seed: 1000 + u64::from(round),
            began_s: f64::from(round),
            took_s: 0.01,
            block: None,
            outcome,
        })));
    }

    /// Eight trials that find this cost.
    fn finds(&mut self, experiment: &str, point: &Point, make: impl Fn(u32) -> Sample) {
        for round in 1..=8 {
            self.trial(experiment, point, round, TrialOutcome::Measured { sample: make(round) });
        }
    }

    /// The text of the run file.
    pub fn text(self) -> String {
        let closing = Line::Closing(Closing {
            at: "2026-11-21T12:01:30Z".to_owned(),
            took_s: 90.4,
            rounds: 8,
            ended: Ending::Budget,
            conditions: Conditions {
                steal_ns: Some(0),
                interrupts: Some(120_000),
                switches: Some(45_000),
                throttled_periods: Some(0),
                throttled_ns: Some(0),
                ..Conditions::default()
            },
            peer_lost: None,
        });
        let header = Line::Header(Box::new(header(self.machine, self.plan)));
        let lines = std::iter::once(header).chain(self.lines).chain(self.trials).chain([closing]);
        lines.map(|line| serde_json::to_string(&line).expect("a line") + "\n").collect()
    }
}

fn instructions(count: f64) -> BTreeMap<String, f64> {
    BTreeMap::from([("instructions_listed".to_owned(), count)])
}

/// The run of the golden reports.
pub fn golden() -> String {
    let mut run = Maker::new(machine());
    procedure_calls(&mut run);
    loops(&mut run);
    unknown(&mut run);
    run.text()
}

/// Every outcome in one experiment, and a line through its sweep.
fn procedure_calls(run: &mut Maker) {
    let experiment = experiments::find("cpu/procedure_call").expect("a registered experiment");
    let name = experiment.about().name;
    for point in experiment.sweep(&run.machine.clone()) {
        let Some(Value::Number(arguments)) = point.get("arguments").cloned() else { continue };
        let form = point.get("form").map(ToString::to_string).unwrap_or_default();
        match (form.as_str(), arguments) {
            ("abi", _) => {
                run.predicted(experiment, &point);
                let cost = 0.9 + 0.15 * arguments as f64;
                let listed = [3.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0][arguments as usize];
                run.finds(name, &point, |round| sample(cost, Some(0.4), false, round, &instructions(listed)));
            }
            ("chained", 1) => {
                run.predicted(experiment, &point);
                run.finds(name, &point, |round| sample(0.02, Some(0.4), false, round, &instructions(4.0)));
            }
            ("chained", 2) => {
                run.predicted(experiment, &point);
                run.finds(name, &point, |round| sample(-0.2, Some(0.4), false, round, &instructions(6.0)));
            }
            ("chained", 3) => {
                run.predicted(experiment, &point);
                let reason = format!("a procedure returned a wrong sum {HOSTILE}");
                run.trial(name, &point, 1, TrialOutcome::Failed { reason });
            }
            ("chained", 4) => {
                run.predicted(experiment, &point);
                run.trial(name, &point, 1, TrialOutcome::TimedOut { after_s: 10.0 });
            }
            ("chained", 5) => {
                run.predicted(experiment, &point);
            }
            ("chained", _) => {}
            _ => run.plan(name, &point, Unit::Nanoseconds, Some("the effort asked for is `quick`")),
        }
    }
}

/// A sweep of powers of two, from zero on.
fn loops(run: &mut Maker) {
    let experiment = experiments::find("cpu/loop_overhead").expect("a registered experiment");
    for point in experiment.sweep(&run.machine.clone()) {
        let (Some(Value::Number(count)), Some(Value::Name(form))) =
            (point.get("iterations"), point.get("form"))
        else {
            continue;
        };
        if form == "memory-and-pointer" || experiment.effort(&point, &run.machine) > Effort::Quick {
            continue;
        }
        let each = if form == "register" { 0.39 } else { 1.93 };
        // One of them costs nothing that could be told from nothing.
        let hidden = form == "register" && *count == 1;
        let cost = if hidden { 0.0 } else { 1.4 + each * *count as f64 };
        run.predicted(experiment, &point);
        run.finds(experiment.about().name, &point, |round| {
            let wavering = if hidden { 0.1 * noise(round as usize) } else { 0.0 };
            sample(cost + wavering, Some(0.4), false, round, &BTreeMap::new())
        });
    }
}

/// An experiment that this program does not know, with hostile names, every unit, and a distribution.
fn unknown(run: &mut Maker) {
    let name = "test/<b>bold</b>|pipe";
    let point = |variant: &str| {
        let text = format!(r#"{{"placement":"{}","variant":{variant:?}}}"#, Placement::AcrossCpus.name());
        serde_json::from_str::<Point>(&text).expect("a point")
    };
    let single = point("each </td>`x` & \"y\"");
    run.plan(name, &single, Unit::Nanoseconds, None);
    run.finds(name, &single, |round| sample(2_100.0, None, true, round, &BTreeMap::new()));
    for (variant, unit, value) in [
        ("rate", Unit::BytesPerSecond, 9.4e9),
        ("size", Unit::Bytes, 201_326_592.0),
        ("share", Unit::PartsPerMillion, 130.0),
    ] {
        let point = point(variant);
        run.plan(name, &point, unit, None);
        run.finds(name, &point, |round| {
            let values = (0..5).map(|index| value * (1.0 + 0.01 * noise(index + round as usize))).collect();
            let empty = sample(1.0, None, true, round, &BTreeMap::new());
            Sample { observations: Observations::Values { values }, ..empty }
        });
    }
    let beaten = point("faster than light");
    run.plan(name, &beaten, Unit::Nanoseconds, None);
    run.lines.push(Line::Prediction(PredictionLine {
        experiment: name.to_owned(),
        point: beaten.clone(),
        prediction: None,
        unpredicted: Some("nothing is published".to_owned()),
        bound: Some(Bound { limit: 3.3, because: "light needs as long for a metre".to_owned() }),
    }));
    run.finds(name, &beaten, |round| sample(1.0, None, false, round, &BTreeMap::new()));
}

/// A run of points that published figures measure as well: each costs what is given here, nanoseconds, or fails.
pub fn published(costs: &[(&str, serde_json::Value, Option<f64>)]) -> String {
    experiments::register();
    let mut run = Maker::new(machine());
    for (experiment, point, cost) in costs {
        let point: Point = from(point.clone());
        run.plan(experiment, &point, Unit::Nanoseconds, None);
        match cost {
            Some(cost) => {
                run.finds(experiment, &point, |round| sample(*cost, None, true, round, &BTreeMap::new()));
            }
            None => run.trial(experiment, &point, 1, TrialOutcome::Failed { reason: "it broke".to_owned() }),
        }
    }
    run.text()
}

/// A run over every registered experiment, whose costs are the predictions times a fixed factor: to look at pages. The
/// machine is described, so that the run is the same everywhere.
pub fn everything() -> String {
    let mut run = Maker::new(crate::described::planted::workstation());
    for (index, experiment) in experiments::all().enumerate() {
        for (place, point) in experiment.sweep(&run.machine.clone()).into_iter().enumerate() {
            let predicted = run.predicted(experiment, &point).unwrap_or(1_000.0).max(0.05);
            let cost = predicted * (1.0 + noise(index * 31 + place) * 0.8);
            let each = predicted > 500.0;
            run.finds(experiment.about().name, &point, |round| {
                sample(cost, (!each).then_some(0.4), each, round, &BTreeMap::new())
            });
        }
    }
    run.text()
}

/// Every pair of five CPUs, which hand a line over in 50 ns, or in 150 where one of them is CPU 4.
pub fn pairs() -> String {
    let mut run = Maker::new(machine());
    run.machine.topology.allowed = Fact::known(CpuSet::new(0..5), "sched_getaffinity(2)");
    let experiment = experiments::find("cpu/core_to_core").expect("a registered experiment");
    for point in experiment.sweep(&run.machine.clone()) {
        let far = experiment.cpus(&point).is_some_and(|(from, to)| from == 4 || to == 4);
        run.predicted(experiment, &point);
        run.finds(experiment.about().name, &point, |round| {
            sample(if far { 150.0 } else { 50.0 }, None, false, round, &BTreeMap::new())
        });
    }
    run.text()
}

/// Reads the text of a run file.
pub fn parse(text: &str) -> Run {
    Run::parse(text).expect("a run file")
}
