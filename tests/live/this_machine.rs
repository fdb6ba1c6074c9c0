//! Real runs on whatever machine this is: only ratios within one session are asserted, never absolute times.

use crate::claim::{self, Figure, at_least, between, decided};
use crate::tier::{Outcome, Test, alone, inconclusive};
use assert_cmd::Command;
use fathom::record::Run;
use fathom::sampling::affinity;
use fathom::verify::Spinner;
use serde_json::Value;

pub const TESTS: &[Test] = &alone![
    #[cfg(target_arch = "x86_64")]
    twice_the_work_takes_twice_the_time_and_a_multiplication_three_additions,
    what_contains_more_costs_more,
    loads_take_longer_the_farther_they_go_and_the_report_says_how_many_go_on_together,
    a_cpu_that_is_shared_with_a_spinner_loses_half_its_time,
];

/// The points of a short run of some experiments.
fn measured(experiments: &[&str], budget: &str) -> Vec<Value> {
    reported(&[], experiments, budget)["points"].as_array().unwrap().clone()
}

/// The report of such a run, every form of which is looked at.
fn reported(options: &[&str], experiments: &[&str], budget: &str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    let mut command = Command::cargo_bin("fathom").unwrap();
    command
        // As many trials as intervals need, and no more than the budget.
        .args(["run", "--alongside", "--budget", budget, "--precision", "99%", "--format", "json", "-o"])
        .arg(&path);
    let output = command.args(options).args(experiments).assert().success().get_output().stdout.clone();
    let findings = crate::printed::look(&Run::read(&path).unwrap());
    assert!(
        findings.broken.is_empty() && findings.numbers > 100,
        "what is printed of the run: {findings:#?}"
    );
    serde_json::from_slice(&output).unwrap()
}

fn figure(points: &[Value], wanted: &[(&str, Value)]) -> Result<Figure, String> {
    let is_wanted = |point: &&Value| wanted.iter().all(|(name, value)| point["parameters"][name] == *value);
    claim::value(points.iter().find(is_wanted)).map_err(|why| format!("{wanted:?}: {why}"))
}

#[cfg(target_arch = "x86_64")]
fn twice_the_work_takes_twice_the_time_and_a_multiplication_three_additions() -> Outcome {
    decided(|| {
        let points = measured(&["arithmetic", "loop_overhead"], "20s");
        let instruction = |name: &str| figure(&points, &[("instruction", name.into()), ("chains", 1.into())]);
        let memory = |iterations: u64| {
            figure(&points, &[("form", "memory".into()), ("iterations", iterations.into())])
        };
        let multiply = instruction("integer-multiply")?.over(instruction("integer-add")?);
        let (double, fourfold) = (memory(8192)?.over(memory(4096)?), memory(4096)?.over(memory(1024)?));
        Ok(vec![
            between("multiplication over addition", Some(multiply), 2.8, 3.2),
            between("8192 iterations over 4096", Some(double), 1.7, 2.3),
            between("4096 iterations over 1024", Some(fourfold), 3.4, 4.6),
        ])
    })
}

/// By how much is the machine's; that it is more is not.
fn what_contains_more_costs_more() -> Outcome {
    decided(|| {
        let points =
            measured(&["system_call", "context_switch", "thread_creation", "process_creation"], "25s");
        let call = |name: &str| figure(&points, &[("call", name.into())]);
        let measure =
            |name: &str| figure(&points, &[("measure", name.into()), ("placement", "one-cpu".into())]);
        let pipe = |mechanism: &str| {
            let wanted = [("mechanism", mechanism), ("between", "processes"), ("placement", "one-cpu")];
            figure(&points, &wanted.map(|(name, value)| (name, value.into())))
        };
        let more = |what: &str, one: Figure, other: Figure| at_least(what, Some(one.over(other)), 1.0);
        Ok(vec![
            more("select on 100 over 10 descriptors", call("select on 100")?, call("select on 10")?),
            more(
                "clock_gettime by system call over library",
                call("clock_gettime by syscall")?,
                call("clock_gettime by library")?,
            ),
            more("a process over a thread", measure("fork, exit, wait")?, measure("create and join")?),
            more(
                "a dynamic over a static program",
                measure("fork and exec of a dynamic program")?,
                measure("fork and exec of a static program")?,
            ),
            more("a hand-over over its switch", pipe("pipe")?, pipe("pipe less its cost")?),
        ])
    })
}

/// How far apart the levels are, and how many loads go on together, is the machine's: that the report says it is not.
fn loads_take_longer_the_farther_they_go_and_the_report_says_how_many_go_on_together() -> Outcome {
    decided(|| {
        let report = reported(
            &["--quick"],
            &["memory/load_latency", "memory/memory_parallelism", "arithmetic"],
            "80s",
        );
        let points = report["points"].as_array().unwrap();
        let fails = |point: &&Value| {
            point["evidence"].as_array().is_some_and(|e| e.iter().any(|check| check["holds"] == false))
        };
        let failed: Vec<&Value> = points.iter().filter(fails).collect();
        if !failed.is_empty() {
            return inconclusive(format!("evidence does not hold: {failed:?}"));
        }
        let load = |size: u64| {
            let wanted = [("order", "random cycle".into()), ("pages", "base".into()), ("size", size.into())];
            figure(points, &wanted)
        };
        let (far, near, nearest) = (load(64 << 20)?, load(4 << 10)?, load(1 << 10)?);
        let mut claims = vec![
            at_least("a load from 64 MiB over one from 4 KiB", Some(far.over(near)), 2.0),
            between("a load from 4 KiB over one from 1 KiB", Some(near.over(nearest)), 0.9, 1.1),
        ];
        // Any first-level cache answers in 3 to 6 cycles.
        #[cfg(target_arch = "x86_64")]
        {
            let add = figure(points, &[("instruction", "integer-add".into()), ("chains", 1.into())])?;
            claims.push(between("a load from 4 KiB over an addition", Some(near.over(add)), 2.8, 6.5));
        }
        let chases = |number: u64| figure(points, &[("chases", number.into())]);
        // Without huge pages there is no such point.
        if let (Ok(one), Ok(many)) = (chases(1), chases(16)) {
            claims.push(at_least("a load alone over one of 16 at once", Some(one.over(many)), 0.9));
            let told = report["findings"].to_string();
            assert!(told.contains("memory_parallelism"), "nothing is said of loads at once: {told}");
        }
        Ok(claims)
    })
}

/// An equal competitor takes half of the time; where there are others, more is lost.
fn a_cpu_that_is_shared_with_a_spinner_loses_half_its_time() -> Outcome {
    decided(|| {
        let cpu = affinity::current()[0];
        let _spinner = Spinner::on(cpu);
        let points = measured(&["noise"], "8s");
        let lost = figure(&points, &[("cpu", cpu.into()), ("figure", "lost".into())])?;
        let of_cpu = points.iter().filter(|point| point["parameters"]["cpu"] == cpu);
        let taken: u64 =
            of_cpu.map(|point| point["disturbance"]["involuntary_switches"].as_u64().unwrap()).sum();
        assert!(taken > 0, "the scheduler took the CPU away, and nobody noted it");
        Ok(vec![at_least("share of the time lost to an equal competitor", Some(lost.times(1e-6)), 0.4)])
    })
}
