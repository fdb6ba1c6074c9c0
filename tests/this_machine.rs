//! Real runs on whatever machine this is: only ratios within one session are asserted, never absolute times.

mod sessions;

use assert_cmd::Command;
use fathom::sampling::affinity;
use fathom::verify::Spinner;
use serde_json::Value;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// One measurement at a time: the tests of this file would measure each other.
static ALONE: Mutex<()> = Mutex::new(());

/// Held by each test of this file for as long as it measures or disturbs.
fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The points of a short run of some experiments.
fn measured(experiments: &[&str], budget: &str) -> Vec<Value> {
    measured_with(&[], experiments, budget)
}

fn measured_with(options: &[&str], experiments: &[&str], budget: &str) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::cargo_bin("fathom").unwrap();
    command
        // As many trials as intervals need, and no more than the budget.
        .args(["run", "--alongside", "--budget", budget, "--precision", "99%", "--format", "json", "-o"])
        .arg(folder.path().join("run.jsonl"));
    let output = command.args(options).args(experiments).assert().success().get_output().stdout.clone();
    serde_json::from_slice::<Value>(&output).unwrap()["points"].as_array().unwrap().clone()
}

fn median(points: &[Value], wanted: &[(&str, Value)]) -> f64 {
    let is_wanted = |point: &&Value| wanted.iter().all(|(name, value)| point["parameters"][name] == *value);
    points.iter().find(is_wanted).unwrap_or_else(|| panic!("no point {wanted:?}"))["median"].as_f64().unwrap()
}

/// A shared host changes its speed for seconds at a time, and between two points of a session. A session whose ratios
/// do not hold is measured again; an instrument that is wrong is wrong in all of them.
fn in_one_of_three_sessions(session: impl Fn() -> Result<(), String>) {
    let _alone = alone();
    sessions::in_one_of_three(session);
}

fn ratio(what: &str, ratio: f64, low: f64, high: f64) -> Result<(), String> {
    if (low..=high).contains(&ratio) { Ok(()) } else { Err(format!("{what}: {ratio}")) }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn twice_the_work_takes_twice_the_time_and_a_multiplication_three_additions() {
    in_one_of_three_sessions(|| {
        let points = measured(&["arithmetic", "loop_overhead"], "20s");
        let instruction = |name: &str| median(&points, &[("instruction", name.into()), ("chains", 1.into())]);
        ratio(
            "multiplication over addition",
            instruction("integer-multiply") / instruction("integer-add"),
            2.8,
            3.2,
        )?;
        let memory = |iterations: u64| {
            median(&points, &[("form", "memory".into()), ("iterations", iterations.into())])
        };
        ratio("8192 iterations over 4096", memory(8192) / memory(4096), 1.7, 2.3)?;
        ratio("4096 iterations over 1024", memory(4096) / memory(1024), 3.4, 4.6)
    });
}

#[test]
fn what_contains_more_costs_more() {
    in_one_of_three_sessions(|| {
        let points =
            measured(&["system_call", "context_switch", "thread_creation", "process_creation"], "25s");
        let call = |name: &str| median(&points, &[("call", name.into())]);
        ratio("select on 100 over 10 descriptors", call("select on 100") / call("select on 10"), 1.5, 20.0)?;
        ratio(
            "clock_gettime by system call over library",
            call("clock_gettime by syscall") / call("clock_gettime by library"),
            1.5,
            100.0,
        )?;
        let measure =
            |name: &str| median(&points, &[("measure", name.into()), ("placement", "one-cpu".into())]);
        ratio(
            "a process over a thread",
            measure("fork, exit, wait") / measure("create and join"),
            1.5,
            50.0,
        )?;
        ratio(
            "a dynamic over a static program",
            measure("fork and exec of a dynamic program") / measure("fork and exec of a static program"),
            1.2,
            50.0,
        )?;
        let pipe = |mechanism: &str| {
            median(
                &points,
                &[
                    ("mechanism", mechanism.into()),
                    ("between", "processes".into()),
                    ("placement", "one-cpu".into()),
                ],
            )
        };
        ratio("a hand-over over its switch", pipe("pipe") / pipe("pipe less its cost"), 1.02, 5.0)
    });
}

#[test]
fn loads_take_longer_the_farther_they_go_and_go_on_together_where_they_can() {
    in_one_of_three_sessions(|| {
        let points = measured_with(
            &["--quick"],
            &["memory/load_latency", "memory/memory_parallelism", "arithmetic"],
            "80s",
        );
        let failed: Vec<&Value> = points
            .iter()
            .filter(|point| {
                point["evidence"].as_array().is_some_and(|e| e.iter().any(|c| c["holds"] == false))
            })
            .collect();
        if !failed.is_empty() {
            return Err(format!("evidence does not hold: {failed:#?}"));
        }
        let load = |pages: &str, size: u64| {
            median(
                &points,
                &[("order", "random cycle".into()), ("pages", pages.into()), ("size", size.into())],
            )
        };
        // Any first-level cache answers in 3 to 6 cycles.
        #[cfg(target_arch = "x86_64")]
        {
            let add = median(&points, &[("instruction", "integer-add".into()), ("chains", 1.into())]);
            ratio("a load from 4 KiB over an addition", load("base", 4 << 10) / add, 2.8, 6.5)?;
        }
        ratio(
            "a load from 64 MiB over one from 4 KiB",
            load("base", 64 << 20) / load("base", 4 << 10),
            8.0,
            1e3,
        )?;
        ratio(
            "a load from 4 KiB over one from 1 KiB",
            load("base", 4 << 10) / load("base", 1 << 10),
            0.9,
            1.1,
        )?;
        let chases = |number: u64| median(&points, &[("chases", number.into())]);
        match points.iter().find(|point| point["parameters"]["chases"] == 1).map(|point| &point["outcome"]) {
            // No huge pages here.
            Some(outcome) if outcome != "value" => Ok(()),
            _ => ratio("a load alone over one of 16 at once", chases(1) / chases(16), 3.0, 24.0),
        }
    });
}

#[test]
fn a_cpu_that_is_shared_with_a_spinner_loses_half_its_time() {
    in_one_of_three_sessions(|| {
        let cpu = affinity::current()[0];
        let _spinner = Spinner::on(cpu);
        let points = measured(&["noise"], "8s");
        let lost = median(&points, &[("cpu", cpu.into()), ("figure", "lost".into())]);
        ratio("millionths of the time lost to an equal competitor", lost / 1e6, 0.4, 0.65)?;
        let switched = points.iter().filter(|point| point["parameters"]["cpu"] == cpu);
        let taken: u64 =
            switched.map(|point| point["disturbance"]["involuntary_switches"].as_u64().unwrap()).sum();
        assert!(taken > 0, "the scheduler took the CPU away, and nobody noted it");
        Ok(())
    });
}
