//! A log on a file system whose flushes are answered when we say: what an append costs there, how late it is at worst and how
//! often it can be made, is known.

use super::late::Late;
use super::{fathom, points};
use crate::claim::{self, Claim, between, decided};
use crate::tier::{Outcome, Test, Undecided, alone};
use fathom::machine::Machine;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

pub const TESTS: &[Test] = &alone![an_append_is_as_late_as_its_flush_and_as_frequent_as_that_allows];

/// A flush takes so long, and one in fifty longer, which is p99: no flush is late by the limit of 10 ms, and no append that waits
/// for one either, so appends may follow each other without a pause.
const USUAL: Duration = Duration::from_millis(4);
const SELDOM: Duration = Duration::from_millis(9);
const BLOCK: f64 = 8192.0;

fn appends(folder: &Path, run: &Path, cpu: usize) -> Vec<Value> {
    let mut command = Command::new(fathom());
    command.args([
        "run",
        "filesystem/durable_append",
        "--budget",
        "40s",
        "--precision",
        "99%",
        "--alongside",
    ]);
    command.args(["--cpu", &cpu.to_string(), "--format", "json", "--dir"]).arg(folder).arg("-o").arg(run);
    points(&command.stdin(Stdio::null()).output().unwrap())
}

fn quantile(point: &Value, level: f64) -> Option<f64> {
    let quantiles = point["quantiles"].as_array()?;
    quantiles.iter().find(|quantile| quantile["level"] == level)?["value"].as_f64()
}

/// An append writes its block to the server as well, which takes some tens of microseconds.
fn appends_what_the_server_adds() -> Result<Vec<Claim>, String> {
    let work = tempfile::tempdir().unwrap();
    let mount = work.path().join("mount");
    std::fs::create_dir_all(&mount).unwrap();
    let cpu = Machine::describe(work.path()).allowed_cpus()[0];
    let server = Late::mounted(&mount, cpu).map_err(|error| format!("no file system to be late: {error}"))?;
    server.flushed_after(USUAL, SELDOM);
    let points = appends(&mount, &work.path().join("run.jsonl"), cpu);
    let long = |figure: &str| {
        let is_it = |point: &&Value| {
            let parameters = &point["parameters"];
            parameters["series"] == "half a second"
                && parameters["beside"] == "nothing"
                && parameters["figure"] == figure
        };
        points.iter().find(is_it)
    };
    let (usual, seldom) = (USUAL.as_nanos() as f64, SELDOM.as_nanos() as f64);
    let p99 = long("append").and_then(|point| quantile(point, 0.99)).ok_or("no p99")?;
    let exactly = claim::Figure { value: p99, low: p99, high: p99 };
    let highest = 1e9 / (0.98 * usual + 0.02 * seldom) * BLOCK;
    let over = |figure: &str, set: f64| claim::value(long(figure)).map(|figure| figure.times(1.0 / set));
    Ok(vec![
        between("an append over its flush", Some(over("append", usual)?), 0.98, 1.05),
        between("p99 of an append over that of its flush", Some(exactly.times(1.0 / seldom)), 0.98, 1.05),
        between("the highest rate over that of the flushes", Some(over("rate", highest)?), 0.95, 1.02),
    ])
}

fn an_append_is_as_late_as_its_flush_and_as_frequent_as_that_allows() -> Outcome {
    super::served::needs_servers()?;
    decided(|| std::thread::spawn(appends_what_the_server_adds).join().unwrap().map_err(Undecided::from))
}
