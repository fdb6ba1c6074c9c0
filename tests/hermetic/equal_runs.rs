//! Runs of one machine against each other: how often a family is called different that is not, and whether what is planted is found
//! as surely as a comparison says of itself.
//!
//! Simulated cores change their frequency for seconds at a time. Real runs are judged where they are named.

use crate::families::{CALLS, POINTS, TRIALS, compared, level, multiply, normal};
use fathom::comparison::{Comparison, PooledFamily, ReducedRun, Verdict};
use fathom::record::Run;
use fathom::statistics::{LogLevel, mean};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// How far steps of the core's frequency are from each other, as a share, and how many rounds one lasts.
const STEP: f64 = 0.03;
const ROUNDS_A_STEP: usize = 4;

/// A run whose core changes its frequency from one stretch of rounds to the next: system calls follow it wholly, and pipes by half.
/// The first are measured in the rounds of two stretches, as by a planner that has an experiment's rounds done at once.
fn wandering(by: f64, seed: u64) -> ReducedRun {
    let mut chance = Xoshiro256PlusPlus::seed_from_u64(seed);
    let header = crate::described::header(vec![]);
    let steps: Vec<f64> = (0..8).map(|_| STEP * normal(&mut chance)).collect();
    let hz = |round: usize| (4e9_f64.ln() + steps[round / ROUNDS_A_STEP]).exp();
    let over = mean(&steps).expect("steps");
    let error = over.deviation.expect("several") / 8_f64.sqrt();
    let frequency = LogLevel { value: 4e9_f64.ln() + over.value, below: error, above: error, freedom: 7.0 };
    let mut run = ReducedRun { header, core_shared: None, core_frequency: Some(frequency), levels: vec![] };
    for (experiment, by, follows) in [(CALLS, by, 1.0), ("cpu/context_switch", 1.0, 0.5)] {
        for place in 0..POINTS {
            let cost = |round: usize, chance: &mut _| {
                let slow = -follows * (hz(round) / 4e9).ln();
                100.0 * (1.0 + place as f64) * by * (slow + 0.005 * normal(chance)).exp()
            };
            let rounds = || (0..TRIALS).map(|trial| trial as usize);
            let by_round = rounds().map(|round| (round as u32, cost(round, &mut chance))).collect();
            let mut level = level(experiment, place, by_round);
            level.core_hz = rounds().map(|round| (round as u32, hz(round))).collect();
            run.levels.push(level);
        }
    }
    run
}

/// The same without the frequencies.
fn unobserved(run: &ReducedRun) -> ReducedRun {
    let mut run = ReducedRun { core_frequency: None, ..run.clone() };
    run.levels.iter_mut().for_each(|level| level.core_hz.clear());
    run
}

fn families_of(before: &ReducedRun, after: &ReducedRun) -> Vec<PooledFamily> {
    compared(before, after, 0.02).families
}

fn is_different(families: &[PooledFamily]) -> bool {
    families.iter().any(|family| family.verdict.is_difference())
}

#[test]
fn a_core_that_changes_its_frequency_makes_no_family_differ_and_two_per_cent_on_calls_are_found() {
    let pairs: Vec<[ReducedRun; 2]> =
        (1..=100).map(|seed| [wandering(1.0, 2 * seed), wandering(1.0, 2 * seed + 1)]).collect();
    let alarms = pairs.iter().filter(|[one, other]| is_different(&families_of(one, other))).count();
    let without = pairs
        .iter()
        .filter(|[one, other]| is_different(&families_of(&unobserved(one), &unobserved(other))))
        .count();
    println!("{alarms} alarms in 100 equal pairs, {without} where the frequency is not observed");
    assert!(alarms <= 5 && without > 5, "{alarms}, {without} where the frequency is not observed");
    let found = (1..=100)
        .filter(|seed| {
            let families = families_of(&wandering(1.0, 2 * seed), &wandering(1.02, 2 * seed + 1));
            let worse = families.iter().filter(|family| family.verdict == Verdict::Worse);
            worse.map(|family| family.name).eq(["system calls"])
        })
        .count();
    assert!(found >= 90, "{found} of 100");
}

#[test]
fn a_core_that_is_slower_throughout_is_named_and_not_the_operations_that_follow_it() {
    let slowed = |run: &ReducedRun| {
        let mut run = run.clone();
        run.core_frequency = run.core_frequency.map(|level| LogLevel { value: level.value - 0.25, ..level });
        for level in &mut run.levels {
            let times = if level.experiment == CALLS { 0.25_f64.exp() } else { 0.125_f64.exp() };
            multiply(level, times);
            level.core_hz.iter_mut().for_each(|(_, hz)| *hz /= 0.25_f64.exp());
        }
        run
    };
    let families = families_of(&wandering(1.0, 1), &slowed(&wandering(1.0, 2)));
    let worse: Vec<&str> =
        families.iter().filter(|family| family.verdict == Verdict::Worse).map(|family| family.name).collect();
    assert_eq!(worse, ["cycle of the core"], "{families:#?}");
}

/// The variable that names runs of one machine by one program, separated by colons, or their folder: `FATHOM_EQUAL_RUNS=runs/ cargo
/// test --test hermetic equal_runs -- --nocapture`.
const RUNS: &str = "FATHOM_EQUAL_RUNS";

fn named() -> Vec<ReducedRun> {
    let names = std::env::var(RUNS).unwrap_or_default();
    let mut paths: Vec<PathBuf> = vec![];
    for name in names.split(':').filter(|name| !name.is_empty()) {
        match std::fs::read_dir(name) {
            Ok(folder) => paths.extend(folder.flatten().map(|entry| entry.path())),
            Err(_) => paths.push(PathBuf::from(name)),
        }
    }
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    paths.sort();
    paths.par_iter().map(|path| ReducedRun::of_run(&Run::read(Path::new(path)).expect("a run"))).collect()
}

/// The second run with the points of a family, as they are in a comparison, slower by a share.
fn slower(run: &ReducedRun, family: &str, comparison: &Comparison, by: f64) -> ReducedRun {
    let mut run = run.clone();
    for row in comparison.rows.iter().filter(|row| row.family() == Some(family)) {
        let point = row.other_point.as_ref().unwrap_or(&row.point);
        let mine =
            run.levels.iter_mut().find(|level| level.experiment == row.experiment && level.point == *point);
        let times =
            if row.unit == fathom::quantity::Unit::BytesPerSecond { 1.0 / (1.0 + by) } else { 1.0 + by };
        mine.into_iter().for_each(|level| multiply(level, times));
    }
    run
}

/// What was seen of a family in all pairs.
#[derive(Default)]
struct Tally {
    pairs: usize,
    different: usize,
    visible: Vec<f64>,
    /// For each planted change, and at the end that which a comparison says it would have seen: how often it was found.
    found: [usize; 5],
}

const PLANTED: [f64; 4] = [0.03, 0.05, 0.10, 0.20];

#[test]
fn equal_runs_that_are_named_have_few_false_verdicts_and_what_is_planted_is_found() {
    let runs = named();
    let pairs: Vec<(usize, usize)> =
        (0..runs.len()).flat_map(|one| (one + 1..runs.len()).map(move |other| (one, other))).collect();
    let all: Vec<(Comparison, BTreeMap<&str, [bool; 5]>)> = pairs
        .par_iter()
        .map(|(one, other)| {
            let comparison = compared(&runs[*one], &runs[*other], 0.05);
            let found = comparison.families.iter().filter(|family| family.points > 0).map(|family| {
                let is_found = |by: f64| {
                    let planted = slower(&runs[*other], family.name, &comparison, by);
                    let again = compared(&runs[*one], &planted, 0.05).families;
                    again.iter().any(|other| other.name == family.name && other.verdict == Verdict::Worse)
                };
                let [least, less, more, most] = PLANTED.map(is_found);
                (family.name, [least, less, more, most, is_found(family.smallest_visible)])
            });
            let found = found.collect();
            (comparison, found)
        })
        .collect();
    let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
    let (mut points, mut false_points, mut pairs_with_any) = (0, 0, 0);
    for (comparison, found) in &all {
        points += comparison.rows.len();
        false_points += comparison.rows.iter().filter(|row| row.verdict.is_difference()).count();
        pairs_with_any += usize::from(is_different(&comparison.families));
        for family in &comparison.families {
            let tally = tallies.entry(family.name).or_default();
            tally.pairs += 1;
            tally.different += usize::from(family.verdict.is_difference());
            tally.visible.push(family.smallest_visible);
            for (count, found) in tally.found.iter_mut().zip(found.get(family.name).into_iter().flatten()) {
                *count += usize::from(*found);
            }
        }
    }
    for (name, tally) in &mut tallies {
        tally.visible.sort_by(f64::total_cmp);
        println!(
            "{name}: {} of {} equal pairs called different; smallest change {:.3} ({:.3} to {:.3}); found of {PLANTED:?} and that: {:?}",
            tally.different,
            tally.pairs,
            tally.visible[tally.visible.len() / 2],
            tally.visible[0],
            tally.visible[tally.visible.len() - 1],
            tally.found
        );
    }
    let judged: usize = tallies.values().map(|tally| tally.pairs).sum();
    let different: usize = tallies.values().map(|tally| tally.different).sum();
    println!(
        "{} runs: {different} of {judged} families, {false_points} of {points} points called different; {pairs_with_any} of {} pairs",
        runs.len(),
        pairs.len()
    );
    assert!(different * 20 <= judged && false_points * 20 <= points, "{different} of {judged}");
    let (planted, found) = tallies
        .values()
        .filter(|tally| tally.found != [0; 5])
        .fold((0, 0), |sum, tally| (sum.0 + tally.pairs, sum.1 + tally.found[4]));
    assert!(found * 5 >= planted * 4, "{found} of {planted} changes of the smallest visible size");
}
