//! Families of points in comparisons: a change planted in a committed run, and simulated pairs of runs whose truth is known.

use crate::committed::{SHARED_CORES, in_one_line, run};
use fathom::comparison::{
    Comparison, Decision, Level, Margins, Obstacle, PooledFamily, ReducedRun, Side, Verdict, decide,
};
use fathom::experiment::{Parameter, Point};
use fathom::quantity::Unit;
use fathom::report::{ComparisonReport, Form, Style, render};
use fathom::results::Outcome;
use fathom::statistics::{Interval, estimate};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::sync::OnceLock;

pub const CALLS: &str = "cpu/system_call";

pub fn compared(before: &ReducedRun, after: &ReducedRun, margin: f64) -> Comparison {
    let [before, after] = [before, after].map(|run| Side::of_run("run", run.clone()));
    Comparison::of(&before, &after, &Margins::all(Some(margin)), false)
}

/// The report on two runs side by side.
fn told(before: &ReducedRun, after: &ReducedRun) -> String {
    let [before, after] = [before, after].map(|run| Side::of_run("run", run.clone()));
    let sides = [after];
    let report = ComparisonReport::of(&before, &sides, &Margins::all(None), &[]);
    render(&report, Form::Text, Style { width: 2000, colour: false })
}

/// A quick run whose core was shared 45 % of the time.
fn committed() -> &'static ReducedRun {
    static RUN: OnceLock<ReducedRun> = OnceLock::new();
    RUN.get_or_init(|| ReducedRun::of_run(&run(SHARED_CORES[0].1)))
}

pub fn multiply(level: &mut Level, by: f64) {
    if let Outcome::Value(estimate) = &mut level.outcome {
        estimate.value *= by;
        let times = |ends: Interval| Interval { low: ends.low * by, high: ends.high * by };
        estimate.interval = estimate.interval.map(times);
    }
    level.by_round.iter_mut().for_each(|(_, median)| *median *= by);
}

/// The committed run with experiments that take so much longer.
fn planted(experiments: &[&str], by: f64) -> ReducedRun {
    let mut run = committed().clone();
    let concerned = |level: &&mut Level| experiments.contains(&level.experiment.as_str());
    run.levels.iter_mut().filter(concerned).for_each(|level| multiply(level, 1.0 + by));
    run
}

fn worse(comparison: &Comparison) -> Vec<&str> {
    let worse = comparison.families.iter().filter(|family| family.verdict == Verdict::Worse);
    worse.map(|family| family.name).collect()
}

#[test]
fn three_per_cent_on_every_call_are_found_in_one_quick_run_a_side_and_no_family_else() {
    for by in [0.03, 0.05, 0.10, 0.20] {
        let found = compared(committed(), &planted(&[CALLS], by), 0.02);
        assert_eq!(worse(&found), ["system calls"], "{by}");
        assert_eq!(decide(&found), Decision::Regressed, "{by}");
        let family = found.families.iter().find(|family| family.verdict == Verdict::Worse).expect("one");
        assert!((family.contrast.ratio() - 1.0 - by).abs() < 1e-3 && family.agreeing == family.points);
    }
}

#[test]
fn what_is_larger_than_the_smallest_visible_change_is_found_and_what_is_not_seen_does_not_pass() {
    let switches = ["cpu/context_switch", "cpu/synchronisation", "cpu/wake_up"];
    let faults = ["memory/minor_fault", "memory/mapping", "memory/user_fault"];
    for (name, experiments) in [("switches and wake-ups", &switches[..]), ("faults and mapping", &faults)] {
        for by in [0.03, 0.05, 0.10, 0.20, 0.60] {
            let found = compared(committed(), &planted(experiments, by), 0.05);
            let family = found.families.iter().find(|family| family.name == name).expect("the family");
            if by > family.smallest_visible {
                assert_eq!(family.verdict, Verdict::Worse, "{name} {by}");
            }
            assert!(decide(&found) != Decision::Passed, "files cannot be judged at 5 % by such runs");
        }
    }
}

#[test]
fn points_of_a_device_that_move_apart_make_it_no_equal_one_and_do_not_touch_cached_files() {
    let reads = |run: &ReducedRun| {
        let levels = run.levels.iter().filter(|level| level.experiment == "filesystem/read").cloned();
        ReducedRun { levels: levels.collect(), ..run.clone() }
    };
    let before = reads(committed());
    let mut after = before.clone();
    let of_device = |level: &&mut Level| !level.point.is("state", "warm");
    for (place, level) in after.levels.iter_mut().filter(of_device).enumerate() {
        multiply(level, if place % 2 == 0 { 1.4 } else { 1.0 / 1.4 });
    }
    let found = compared(&before, &after, 0.38);
    let family = |name: &str| found.families.iter().find(|family| family.name == name).expect("the family");
    let device = family("storage device");
    assert!(device.contrast.is_within(device.margin) && device.is_scattered(), "{device:?}");
    assert_eq!(device.verdict, Verdict::Inconclusive);
    assert_eq!(family("files in the page cache").moved, 0);
}

#[test]
fn a_run_is_not_judged_by_itself() {
    let found = compared(committed(), committed(), 1.0);
    assert!(found.of_itself && worse(&found).is_empty());
    assert_eq!(decide(&found), Decision::Inconclusive);
    assert!(!compared(committed(), &planted(&[CALLS], 0.2), 1.0).of_itself);
}

pub const POINTS: u64 = 20;
pub const TRIALS: u32 = 8;

/// What a simulated run has in common by round, and by itself, and what each trial has, as shares.
const OF_ROUNDS: f64 = 0.02;
const OF_TRIALS: f64 = 0.03;
const OF_RUNS: f64 = 0.01;

/// A draw between 0 and 1.
pub fn uniform(chance: &mut impl Rng) -> f64 {
    (chance.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// A draw of the standard normal distribution (Box & Muller 1958).
pub fn normal(chance: &mut impl Rng) -> f64 {
    (-2.0 * (1.0 - uniform(chance)).ln()).sqrt() * (std::f64::consts::TAU * uniform(chance)).cos()
}

/// A run whose system calls all cost so many times as much, and whose switches do not.
fn simulated(by: f64, seed: u64) -> ReducedRun {
    let mut chance = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut run = ReducedRun {
        header: crate::described::header(vec![]),
        core_shared: None,
        core_frequency: None,
        usual_hz: None,
        levels: vec![],
    };
    for experiment in [CALLS, "cpu/context_switch"] {
        let by = if experiment == CALLS { by } else { 1.0 };
        let of_run = OF_RUNS * normal(&mut chance);
        let of_rounds: Vec<f64> = (0..TRIALS).map(|_| OF_ROUNDS * normal(&mut chance)).collect();
        for place in 0..POINTS {
            let trial = |round: u32| {
                let moved = of_run + of_rounds[round as usize] + OF_TRIALS * normal(&mut chance);
                (round + 1, 1000.0 * (1.0 + place as f64) * by * moved.exp())
            };
            run.levels.push(level(experiment, place, (0..TRIALS).map(trial).collect()));
        }
    }
    run
}

pub fn level(experiment: &str, place: u64, by_round: Vec<(u32, f64)>) -> Level {
    let trials: Vec<[f64; 1]> = by_round.iter().map(|(_, median)| [*median]).collect();
    Level {
        experiment: experiment.to_owned(),
        method_version: 1,
        point: Point::new().named(&Parameter::named("call", ""), &place.to_string()),
        parameters: vec![],
        unit: Unit::Nanoseconds,
        outcome: Outcome::Value(estimate(&trials).expect("eight trials")),
        core: None,
        shared: None,
        cpu_distance: None,
        refuted: false,
        step: None,
        by_round,
        at_frequency: None,
        core_hz: vec![],
    }
}

fn pair(by: f64, seed: u64) -> Vec<PooledFamily> {
    compared(&simulated(1.0, 2 * seed), &simulated(by, 2 * seed + 1), 0.05).families
}

fn mean(of: impl Iterator<Item = f64>) -> f64 {
    let all: Vec<f64> = of.collect();
    all.iter().sum::<f64>() / all.len() as f64
}

#[test]
fn the_smallest_visible_change_is_found_in_four_of_five_pairs_and_equal_runs_are_seldom_called_different() {
    let equal: Vec<Vec<PooledFamily>> = (1..=100).map(|seed| pair(1.0, seed)).collect();
    let alarms = equal.iter().filter(|pair| pair.iter().any(|family| family.verdict.is_difference())).count();
    assert!(alarms <= 5, "{alarms} of 100 equal pairs");
    let visible = mean(equal.iter().flatten().map(|family| family.smallest_visible));
    assert!((0.02..0.12).contains(&visible), "{visible}");
    let found =
        |by: f64| (101..=200).filter(|seed| pair(1.0 + by, *seed)[0].verdict == Verdict::Worse).count();
    assert!(found(visible) >= 80, "{} of 100 pairs that differ by {visible}", found(visible));
    assert!(found(visible / 4.0) <= 40, "{} of 100 pairs that differ by a fourth", found(visible / 4.0));
}

#[test]
fn further_runs_are_as_many_as_it_takes() {
    let side = |seeds: std::ops::Range<u64>| Side {
        name: "runs".to_owned(),
        runs: seeds.map(|seed| simulated(1.0, seed)).collect(),
    };
    let families = |count: u64| {
        let (before, after) = (side(0..count), side(1000..1000 + count));
        Comparison::of(&before, &after, &Margins::all(Some(0.03)), false).families
    };
    let needed = mean(families(1).iter().map(|family| f64::from(family.further_runs.expect("some"))));
    assert!((1.0..30.0).contains(&needed), "{needed}");
    let seen = families(1 + needed.ceil() as u64);
    let visible = mean(seen.iter().map(|family| family.smallest_visible));
    assert!(visible < 0.04, "{visible} after {needed} more runs");
}

/// A part of a family that cannot be compared is not in its ratio, and the composition says so.
#[test]
fn a_family_says_which_of_its_experiments_were_pooled() {
    let mut after = committed().clone();
    for level in after.levels.iter_mut().filter(|level| level.experiment == "cpu/context_switch") {
        level.method_version += 1;
    }
    let found = compared(committed(), &after, 0.05);
    let family = found.families.iter().find(|family| family.name == "switches and wake-ups").expect("one");
    assert!(!family.composition.pooled.iter().any(|name| name == "cpu/context_switch"));
    let (missing, because) = &family.composition.missing[0];
    assert_eq!(missing, "cpu/context_switch");
    assert!(matches!(because, Obstacle::OtherMethod { .. }));
    let text = in_one_line(&told(committed(), &after));
    assert!(text.contains("not compared: those of context_switch (other method version)"), "{text}");
    let whole = compared(committed(), committed(), 0.05);
    assert!(whole.families.iter().all(|family| family.composition.missing.is_empty()));
}

/// An experiment that is compared but for some of its points is not named as if none of it were.
#[test]
fn what_is_not_compared_of_an_experiment_is_counted_beside_what_is() {
    let mut after = committed().clone();
    let level = after.levels.iter_mut().find(|level| level.outcome.estimate().is_some()).expect("a value");
    level.outcome = Outcome::Skipped { reason: "no time".to_owned() };
    let name = level.experiment.clone();
    let text = told(committed(), &after);
    let line = text.lines().find(|line| line.contains("a value before, skipped after")).expect("a line");
    assert!(line.contains("(1 of ") && line.contains(&format!(" of {name})")), "{line}");
}

/// What neither side measured could not have been compared, whatever the version of its method.
#[test]
fn points_skipped_on_both_sides_are_not_among_those_not_compared() {
    let [mut before, mut after] = [committed().clone(), committed().clone()];
    let already = compared(&before, &after, 0.05).not_compared.len();
    let place = before.levels.iter().position(|level| level.outcome.estimate().is_some()).expect("a value");
    for run in [&mut before, &mut after] {
        run.levels[place].outcome = Outcome::Skipped { reason: "no time".to_owned() };
    }
    after.levels[place].method_version += 1;
    assert_eq!(compared(&before, &after, 0.05).not_compared.len(), already);
    before.levels[place].outcome = committed().levels[place].outcome.clone();
    assert_eq!(compared(&before, &after, 0.05).not_compared.len(), already + 1);
}

#[test]
fn an_older_run_as_the_later_side_is_said_to_be_older() {
    let mut older = committed().clone();
    older.header.started = "2001-01-01T00:00:00Z".to_owned();
    assert!(compared(committed(), &older, 0.05).is_reversed);
    assert!(!compared(&older, committed(), 0.05).is_reversed);
}

/// A line that is handed over more slowly on a virtual machine is of the cores that its host chose, and the report says so; a machine
/// without a host is what it is.
#[test]
fn a_hand_over_between_virtual_cpus_is_a_state_of_the_host() {
    let said = |after: &ReducedRun, before: &ReducedRun| {
        in_one_line(&told(before, after))
            .contains("depends on the cores that the host runs these virtual CPUs on")
    };
    // The committed run's hand-over has two values itself.
    let known_well = |mut run: ReducedRun| {
        for level in run.levels.iter_mut().filter(|level| level.experiment == "cpu/core_to_core") {
            let Outcome::Value(estimate) = &mut level.outcome else { continue };
            let value = estimate.value;
            estimate.interval = Some(Interval { low: 0.98 * value, high: 1.02 * value });
            level.by_round.iter_mut().for_each(|(_, median)| *median = value);
        }
        run
    };
    let steady = known_well(committed().clone());
    let moved = known_well(planted(&["cpu/core_to_core"], 6.0));
    assert!(said(&moved, &steady), "it moved");
    assert!(!said(&steady, &steady), "it did not move");
    let [mut before, mut after] = [steady, moved];
    for run in [&mut before, &mut after] {
        run.header.machine.virtualization.hypervisor = fathom::machine::Fact::known(None, "a test");
    }
    assert!(!said(&after, &before));
}

/// Where the caches are the same, points are compared with those of the same size alone.
#[test]
fn sizes_are_compared_with_equal_sizes_where_the_caches_are_the_same() {
    let size = Parameter::bytes("size", "the size");
    let mut other = committed().clone();
    let of_memory = |level: &&mut Level| level.experiment == "memory/memory_parallelism";
    for level in other.levels.iter_mut().filter(of_memory) {
        let bytes = level.point.number(&size);
        level.point = level.point.clone().with(&size, 2 * bytes);
    }
    let compares = |other: &ReducedRun| {
        let rows = compared(committed(), other, 0.05).rows;
        rows.iter().filter(|row| row.experiment == "memory/memory_parallelism").count()
    };
    assert_eq!(compares(&other), 0);
    assert!(compares(committed()) > 0);
}

/// A family without a row is named with the reason, and every change has one form.
#[test]
fn a_family_that_is_not_compared_is_named_with_the_reason_and_changes_have_one_form() {
    let text = |after: &ReducedRun| in_one_line(&told(committed(), after));
    let slow = planted(&[CALLS], 2.0);
    let whole = text(&slow);
    assert!(whole.contains("remote files (measured on neither side)"), "{whole}");
    assert!(whole.contains("Worse: system calls +200 % (+") && !whole.contains("3.00×"), "{whole}");
    let mut without = slow.clone();
    let is_called = |level: &&mut Level| level.experiment == CALLS;
    let skipped = |level: &mut Level| level.outcome = Outcome::Skipped { reason: "a test".to_owned() };
    without.levels.iter_mut().filter(is_called).for_each(skipped);
    let without = text(&without);
    assert!(without.contains("Not compared: system calls (no value after)"), "{without}");
}
