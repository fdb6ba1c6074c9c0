//! Whether a run can be resumed here. Its file may have been edited or come from anybody: all of it is checked before
//! anything that it requests is done.

use super::file_settings::{LONGEST_S, checked_budget};
use crate::plan;
use crate::record::{Header, Run, Tool, Trial};
use anyhow::{Result, bail};
use fathom_core::experiment::registry;
use fathom_core::experiment::{Point, SweepOptions, Value};
use fathom_core::machine::Machine;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// The most rounds and processes that a run may have had; no run reaches a billion.
const MOST: u32 = 1_000_000_000;

/// Refuses figures that no run can have, and returns the run's budget: the one that is given, or its own.
pub fn ensure_sound(run: &Run, budget: Option<Duration>) -> Result<Duration> {
    let budget = checked_budget(&run.header.settings, budget)?;
    let rate = run.header.clock.ticks_per_second;
    if !(rate.is_finite() && rate > 0.0) {
        bail!("the run's settings have impossible values: its file was edited; start a new run");
    }
    for (place, trial) in run.trials.iter().enumerate() {
        if !is_possible(trial) {
            bail!(
                "trial {} of the run has impossible values: its file was edited; start a new run",
                place + 1
            );
        }
    }
    Ok(budget)
}

fn is_possible(trial: &Trial) -> bool {
    let process = trial.block.as_ref().map_or(0, |block| block.process);
    let shared = trial.block.as_ref().map_or(0.0, |block| block.shared_s);
    let times = [trial.began_s, trial.took_s, shared];
    times.iter().all(|seconds| (0.0..=LONGEST_S).contains(seconds)) && trial.round.max(process) <= MOST
}

/// How many times as large as this program's own a point's number may be: the memory that is free now and then differs.
const SLACK: u64 = 2;

/// Refuses points of the plan with numbers far beyond those that this program plans here: numbers of processes, sizes, depths.
fn ensure_planned(begun: &Header, here: &Machine) -> Result<()> {
    let options = SweepOptions {
        peer: true,
        processes: begun.settings.processes.clone(),
        sizes: begun.settings.sizes.clone(),
        seed: begun.settings.seed,
        every_pair: true,
        most_bytes: None,
        whole_memory: true,
    };
    let mut most = BTreeMap::new();
    for planned in begun.plan.iter().filter(|planned| planned.skip.is_none()) {
        let Some(experiment) = registry::find(&planned.experiment) else { continue };
        let name = experiment.about().name;
        let most = most.entry(name).or_insert_with(|| largest(&plan::swept(experiment, here, &options)));
        let is_large = |(name, value): (&str, &Value)| match (value, most.get(name)) {
            (Value::Number(number), Some(most)) => *number / SLACK > *most,
            _ => false,
        };
        if planned.point.parameters().any(is_large) {
            bail!(
                "the run's plan has a point of {name} that is never planned here: its file was edited; start a new run"
            );
        }
    }
    Ok(())
}

/// The largest number of every parameter.
fn largest(points: &[Point]) -> BTreeMap<String, u64> {
    let mut most = BTreeMap::<String, u64>::new();
    for (name, value) in points.iter().flat_map(Point::parameters) {
        if let Value::Number(number) = value {
            let most = most.entry(name.to_owned()).or_default();
            *most = (*number).max(*most);
        }
    }
    most
}

/// A run is resumed only on the machine where it began and by the same program: same processor, kernel, CPUs and build.
pub(super) fn ensure_same(begun: &Header, tool: &Tool) -> Result<()> {
    let here = Machine::describe(Path::new(&begun.settings.folder));
    let there = &begun.machine;
    let same = here.processor.model_name.value() == there.processor.model_name.value()
        && here.kernel.version.value() == there.kernel.version.value()
        && here.allowed_cpus() == there.allowed_cpus();
    if !same {
        bail!(
            "the run was begun on another machine, kernel or set of CPUs, and cannot continue here: start a new run"
        );
    }
    if tool.binary_sha256 != begun.tool.binary_sha256 {
        bail!(
            "the run was begun by another build of fathom, and a run cannot mix two builds: start a new run"
        );
    }
    ensure_planned(begun, &here)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::PlannedPoint;
    use std::io::Read;

    fn committed() -> Run {
        let run = include_bytes!("../../../../tests/fixtures/runs/system-calls.jsonl.gz");
        let mut text = String::new();
        flate2::read::GzDecoder::new(&run[..]).read_to_string(&mut text).unwrap();
        Run::parse(&text).unwrap()
    }

    #[test]
    fn a_plan_has_no_numbers_beyond_those_of_this_program() {
        let mut header = committed().header;
        let machine = header.machine.clone();
        ensure_planned(&header, &machine).unwrap();
        let options = SweepOptions {
            peer: true,
            processes: vec![],
            sizes: vec![],
            seed: 1,
            every_pair: false,
            most_bytes: None,
            whole_memory: false,
        };
        let mut tried = 0;
        for experiment in registry::all() {
            let points = experiment.sweep_for(&machine, &options);
            let is_number = |value: &Value| matches!(value, Value::Number(number) if *number > 0);
            let Some(point) =
                points.iter().find(|point| point.parameters().any(|(_, value)| is_number(value)))
            else {
                continue;
            };
            let mut planned = |point: Point| {
                let (about, unit) = (experiment.about(), experiment.unit(&point));
                let version = about.version;
                header.plan = vec![PlannedPoint {
                    experiment: about.name.to_owned(),
                    method_version: version,
                    unit,
                    skip: None,
                    point,
                }];
                ensure_planned(&header, &machine)
            };
            planned(point.clone()).unwrap();
            let huge = point.with_each(|name, value| {
                let value = if is_number(value) { Value::Number(u64::MAX / 2) } else { value.clone() };
                (name.to_owned(), value)
            });
            assert!(planned(huge).is_err(), "{}", experiment.about().name);
            tried += 1;
        }
        assert!(tried > 10);
    }
}
