//! Findings on a described machine: what is said of values that are known, that it carries intervals, that what cannot be
//! told apart is said so, and that nothing is said where a point that it rests on is missing.

mod cases;
mod implausible;
mod keys;
mod network;

use fathom::experiment::{Dimension, Experiment, Found, Known, Point, Question};
use fathom::experiments;
use fathom::machine::{Fact, Machine, Remote, RemoteAddress, Root};
use fathom::quantity::Unit;
use fathom::record::PlannedPoint;
use fathom_described::found_within;

/// A value at a point: the experiment, words by which its point is told from all others, the value in the point's unit.
type Value = (&'static str, &'static str, f64);

const USUAL_PEER: &str =
    "chunk=131072 direction=send figure=steady path=peer placement=across-cpus streams=1 transport=TCP";
const SENT: &str =
    "chunk=65536 direction=send figure=steady path=loopback placement=across-cpus streams=1 transport=TCP";

/// A machine of 8 GiB that reads a remote file by NFS.
fn machine() -> Machine {
    let mut machine = crate::described::machine();
    machine.memory.total_bytes = Fact::known(8 << 30, "a test");
    let address: RemoteAddress = "nfs://192.0.2.1/export/file".parse().expect("an address");
    machine.storage.remote = Some(Remote::find(&Root::new("/nowhere"), &address).expect("a server"));
    machine
}

/// The first point of an experiment whose name has these words.
fn point(experiment: &dyn Experiment, words: &str, machine: &Machine) -> Point {
    let points = experiment.sweep(machine);
    let found = points.iter().find(|point| format!("{point} ").contains(words));
    found.unwrap_or_else(|| panic!("{} has no point {words}", experiment.about().name)).clone()
}

/// The same in the plan of a run.
fn planned(experiment: &str, words: &str) -> PlannedPoint {
    let experiment = experiments::find(experiment).expect("an experiment");
    let point = point(experiment, words, &machine());
    PlannedPoint { unit: Unit::Nanoseconds, ..crate::described::planned_by(experiment, point) }
}

/// What is known when intervals reach so far, as a share of their values; `None` for too few trials.
fn learned<'run>(machine: &'run Machine, values: &[Value], reach: Option<f64>) -> Known<'run> {
    let mut known = Known::new(machine, Some(3e9));
    for (name, words, value) in values {
        let experiment = experiments::find(name).expect("an experiment");
        let point = point(experiment, words, machine);
        let dimension = Dimension::Of(experiment.unit(&point));
        let found = reach.map(|reach| found_within(reach, *value, dimension));
        known.learn(name, &point, found.unwrap_or_else(|| Found::bare(*value, dimension)));
    }
    known
}

#[test]
fn one_more_argument_is_the_slope_of_the_line_and_needs_three_points() {
    let values =
        |count: usize| -> Vec<(u64, f64)> { (0..count as u64).map(|n| (n, 1.0 + 0.25 * n as f64)).collect() };
    let said = |count| {
        let machine = machine();
        let mut known = Known::new(&machine, None);
        let experiment = experiments::find("cpu/procedure_call").expect("an experiment");
        for (arguments, ns) in values(count) {
            let point = point(experiment, &format!("arguments={arguments} form=abi "), &machine);
            known.learn("cpu/procedure_call", &point, Found::bare(ns, Dimension::Of(Unit::Nanoseconds)));
        }
        let found = experiment.findings(&known).into_iter().find(|said| said.question == Question::Argument);
        found.map(|said| said.statement.plain())
    };
    assert!(said(6).is_some_and(|text| {
        text.contains("as the ABI passes it to calls that may overlap, costs {0.25}, on a line that begins without arguments at {1}.")
    }));
    assert_eq!(said(2), None, "two points are no line");
}

#[test]
fn contention_is_held_against_serving_one_after_the_other() {
    let machine = machine();
    let said_of = |slope: f64, in_rounds: bool| {
        let mut known = Known::new(&machine, None);
        let experiment = experiments::find("filesystem/contention").expect("an experiment");
        let around = |value| found_within(0.01, value, Dimension::Of(Unit::Nanoseconds));
        for count in [1_u16, 2, 3, 4] {
            let words = format!(
                "figure=each process file=4096000 pattern=all random placement=free processes={count} "
            );
            let alone = 50e3;
            let place = point(experiment, &words, &machine);
            known.learn("filesystem/contention", &place, around(alone + slope * f64::from(count - 1)));
            if in_rounds {
                let line = (around(slope), around(alone - slope));
                known.learn_line("filesystem/contention", &place, "processes", Some(line));
            }
        }
        experiment.findings(&known)[0].statement.plain()
    };
    let said = |slope| said_of(slope, true);
    assert!(
        said_of(10e3, false).contains("adds {0.2} of the time of one process alone ({50000})."),
        "points alone judge nothing"
    );
    assert!(said(10e3).contains(
        "adds {0.2} of the time of one process alone ({50000}): with 4 processes a block of each takes {80000}, one after the \
         other they would take {200000}: together they are served {2.5} times as often as one alone."
    ));
    assert!(said(50e3).contains(
        "adds {1} of the time of one process alone ({50000}): the device serves one request after the \
                       other."
    ));
    assert!(said(90e3).contains("the processes slow each other down by more than queueing"));
}
