//! Runs for a data set: a line of JSON for each run file, with the machine and every point's level. For a file that cannot
//! be read the line says so. The fields are described in `docs/fleet.md`.

use data_encoding::HEXLOWER;
use fathom_core::experiment::Point;
use fathom_core::machine::{Fact, Machine};
use fathom_core::message::escaped_json;
use fathom_core::quantity::{Kind, Unit};
use fathom_engine::comparison::{Level, Margins, ReducedRun};
use fathom_engine::record::{Run, Settings, Tool, regular};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

use std::path::Path;

#[derive(Serialize)]
struct LeftOutPoint<'a> {
    file: &'a str,
    left_out: String,
}

#[derive(Serialize)]
struct RunLine<'a> {
    file: &'a str,
    /// SHA-256 of the file.
    content: String,
    /// SHA-256 of its header: the identity of the run, even if it was resumed.
    run: String,
    /// RFC 3339, UTC, whole seconds, as are all times of a data set.
    started: String,
    ended: String,
    took_s: f64,
    set: Option<&'a str>,
    labels: &'a BTreeMap<String, String>,
    version: &'a str,
    build: &'a str,
    #[serde(flatten)]
    machine: MachineFields<'a>,
    core_shared: Option<f64>,
    /// Seconds of processor time that the host, and that a quota of the control group, took from this machine during the
    /// run.
    steal_s: Option<f64>,
    throttled_s: Option<f64>,
    points: Vec<PointFields<'a>>,
}

/// The fields that identify a kind of machine; unknown ones are absent.
#[derive(Serialize)]
struct MachineFields<'a> {
    cpu: Option<&'a str>,
    microcode: Option<&'a str>,
    cpus: usize,
    memory_bytes: Option<u64>,
    kernel: Option<&'a str>,
    vendor: Option<&'a str>,
    product: Option<&'a str>,
    hypervisor: Option<&'a str>,
    governor: Option<String>,
    boost: Option<bool>,
    load: Option<f64>,
}

/// A point: its value with the ends of the 95 % interval in its unit, and the natural logarithm of the value with standard errors.
#[derive(Serialize)]
struct PointFields<'a> {
    experiment: &'a str,
    method_version: u32,
    /// Its settings in the form of `fathom history --point`, in which a level is named without its size in bytes.
    point: String,
    unit: Unit,
    /// 1 if more is worse, -1 if more is better, 0 otherwise.
    worse: i8,
    /// The largest difference that does not matter, as in `fathom compare`: 0.05 for 5 %.
    margin: f64,
    outcome: &'static str,
    reason: Option<String>,
    refuted: bool,
    value: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    log: Option<f64>,
    /// The logarithm's standard errors towards smaller and larger values, and their degrees of freedom.
    log_below: Option<f64>,
    log_above: Option<f64>,
    freedom: Option<f64>,
    trials: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    by_round: Option<&'a [(u32, f64)]>,
}

/// The line of a run file, ending in a line feed; with the median of each trial if `trials`.
pub(super) fn line(file: &Path, trials: bool) -> String {
    let name = file.to_string_lossy();
    let json = read(file).and_then(|(content, header, run)| {
        let reduced = ReducedRun::of_run(&run);
        json(&of(&name, (content, header), &run, &reduced, trials)?)
    });
    // Serializing two texts cannot fail.
    let left_out = |reason| json_of_left_out(&LeftOutPoint { file: &name, left_out: reason });
    escaped_json(&json.unwrap_or_else(left_out)) + "\n"
}

fn json(line: &RunLine) -> Result<String, String> {
    serde_json::to_string(line).map_err(|error| error.to_string())
}

fn json_of_left_out(line: &LeftOutPoint) -> String {
    serde_json::to_string(line).unwrap_or_default()
}

/// A whole run file, with the digests of its content and of its header.
fn read(file: &Path) -> Result<(String, String, Run), String> {
    let text = regular::read(file).map_err(|error| format!("cannot read it: {error}"))?;
    let run = Run::parse(&text).map_err(|error| error.to_string())?;
    let header = text.lines().next().unwrap_or_default();
    let digest = |text: &str| HEXLOWER.encode(&Sha256::digest(text));
    if run.torn {
        return Err(
            "its last line is incomplete: the run was killed, or the file was copied while it was written"
                .to_owned(),
        );
    }
    Ok((digest(&text), digest(header), run))
}

fn of<'a>(
    file: &'a str,
    (content, header): (String, String),
    run: &'a Run,
    reduced: &'a ReducedRun,
    trials: bool,
) -> Result<RunLine<'a>, String> {
    let closing = run.closing.as_ref().ok_or("the run has not ended: it is still going on, or was killed")?;
    let (Settings { set, labels, .. }, Tool { version, build, .. }) =
        (&run.header.settings, &run.header.tool);
    let margins = Margins::all(None);
    Ok(RunLine {
        file,
        content,
        run: header,
        started: moment("beginning", &run.header.started)?,
        ended: moment("end", &closing.at)?,
        took_s: duration(closing.took_s)?,
        set: set.as_deref(),
        labels,
        version,
        build,
        machine: machine(&run.header.machine)?,
        core_shared: reduced.core_shared,
        steal_s: closing.conditions.steal_ns.map(seconds),
        throttled_s: closing.conditions.throttled_ns.map(seconds),
        points: reduced
            .levels
            .iter()
            .map(|level| point(level, &margins, trials))
            .collect::<Result<_, _>>()?,
    })
}

/// A time in the form of all times of a data set; `what` is said of one that is none.
fn moment(what: &str, text: &str) -> Result<String, String> {
    let parsed = humantime::parse_rfc3339(text);
    let parsed = parsed.map_err(|_| format!("the time of its {what} is none: it was edited"))?;
    Ok(humantime::format_rfc3339_seconds(parsed).to_string())
}

fn duration(seconds: f64) -> Result<f64, String> {
    /// A hundred years.
    const LONGEST_S: f64 = 3e9;
    if (0.0..=LONGEST_S).contains(&seconds) {
        Ok(seconds)
    } else {
        Err("it took an impossible time".to_owned())
    }
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

fn machine(machine: &Machine) -> Result<MachineFields<'_>, String> {
    let governors = machine.conditions.governors.value();
    let memory_bytes = machine.memory.total_bytes.value().copied();
    if memory_bytes.is_some_and(|bytes| i64::try_from(bytes).is_err()) {
        return Err("its machine has an impossible amount of memory".to_owned());
    }
    Ok(MachineFields {
        cpu: text(&machine.processor.model_name),
        microcode: text(&machine.processor.microcode),
        cpus: machine.allowed_cpus().len(),
        memory_bytes,
        kernel: text(&machine.kernel.release),
        vendor: text(&machine.virtualization.system_vendor),
        product: text(&machine.virtualization.system_product),
        hypervisor: machine.virtualization.hypervisor.value().and_then(Option::as_deref),
        governor: governors.map(|names| names.join(" ")),
        boost: machine.conditions.turbo.value().copied(),
        load: machine.conditions.load_average.value().map(|load| load[0]),
    })
}

fn worse(kind: Kind) -> i8 {
    match kind {
        Kind::Cost => 1,
        Kind::Rate => -1,
        Kind::Size => 0,
    }
}

fn point<'a>(level: &'a Level, margins: &Margins, trials: bool) -> Result<PointFields<'a>, String> {
    // A data set has numbers of 32 bits with a sign; no method has a billion versions.
    if i32::try_from(level.method_version).is_err() {
        return Err(format!("{} has an impossible version of its method", level.experiment));
    }
    let estimate = level.outcome.estimate();
    let interval = estimate.and_then(|estimate| estimate.interval);
    let log = level.logarithm();
    Ok(PointFields {
        experiment: &level.experiment,
        method_version: level.method_version,
        point: settings(&level.point),
        unit: level.unit,
        worse: worse(level.unit.kind()),
        margin: margins.of(&level.experiment),
        outcome: level.outcome.name(),
        reason: level.outcome.reason(),
        refuted: level.refuted,
        value: estimate.map(|estimate| estimate.value),
        low: interval.map(|interval| interval.low),
        high: interval.map(|interval| interval.high),
        log: log.map(|log| log.value),
        log_below: log.map(|log| log.below),
        log_above: log.map(|log| log.above),
        freedom: log.map(|log| log.freedom),
        trials: level.by_round.len(),
        by_round: trials.then_some(&level.by_round),
    })
}

fn settings(point: &Point) -> String {
    point.on_any_machine().to_string()
}

fn text(fact: &Fact<String>) -> Option<&str> {
    fact.value().map(String::as_str)
}
