//! Runs of one machine against each other: how often a family is called different that is not, and whether what is planted is found
//! as surely as a comparison says of itself.
//!
//! Simulated cores change their frequency for seconds at a time. Real runs are judged where they are named.

use crate::families::{CALLS, POINTS, TRIALS, compared, level, multiply, normal};
use fathom::comparison::{Comparison, Level, PooledFamily, ReducedRun, Verdict};
use fathom::quantity::Kind;
use fathom::record::Run;
use fathom::statistics::{LogLevel, mean};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
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
    let mut run = ReducedRun {
        header,
        core_shared: None,
        core_frequency: Some(frequency),
        usual_hz: None,
        levels: vec![],
    };
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
    let mut run = ReducedRun { core_frequency: None, usual_hz: None, ..run.clone() };
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
fn a_gate_sees_software_on_a_core_whose_frequency_wanders() {
    let comparison = compared(&wandering(1.0, 1), &wandering(1.0, 2), 0.05);
    let of = |name: &str| comparison.families.iter().find(|family| family.name == name).expect("a family");
    let (cycle, calls) = (of("cycle of the core"), of("system calls"));
    assert!(cycle.smallest_visible > cycle.margin && cycle.verdict == Verdict::Inconclusive, "{cycle:?}");
    assert!(calls.smallest_visible < calls.margin, "{calls:?}");
    assert_eq!(fathom::comparison::decide(&comparison), fathom::comparison::Decision::Passed);
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
    paths.iter().map(|path| ReducedRun::of_run(&Run::read(Path::new(path)).expect("a run"))).collect()
}

/// The second run with the points of a family, as they are in a comparison, slower by a share.
fn slower(run: &ReducedRun, family: &str, comparison: &Comparison, by: f64) -> ReducedRun {
    let mut run = run.clone();
    for row in comparison.rows.iter().filter(|row| row.family() == Some(family)) {
        let point = row.other_point.as_ref().unwrap_or(&row.point);
        let is_it = |level: &&mut Level| level.experiment == row.experiment && level.point == *point;
        let times = if row.unit.kind() == Kind::Rate { 1.0 / (1.0 + by) } else { 1.0 + by };
        if let Some(level) = run.levels.iter_mut().find(is_it) {
            multiply(level, times);
        }
    }
    run
}

const PLANTED: [f64; 4] = [0.03, 0.05, 0.10, 0.20];

/// A pair of equal runs: its comparison, and of each family of points whether each planted change is found, at the end that of the
/// size that the comparison says it would have seen.
struct Pair {
    comparison: Comparison,
    found: BTreeMap<&'static str, [bool; 5]>,
}

impl Pair {
    fn of(before: &ReducedRun, after: &ReducedRun) -> Self {
        let comparison = compared(before, after, 0.05);
        let is_found = |family: &PooledFamily, by: f64| {
            let planted = slower(after, family.name, &comparison, by);
            let again = compared(before, &planted, 0.05).families;
            again.iter().any(|other| other.name == family.name && other.verdict == Verdict::Worse)
        };
        let with_points = comparison.families.iter().filter(|family| family.points > 0);
        let found = with_points.map(|family| {
            let [least, less, more, most] = PLANTED.map(|by| is_found(family, by));
            (family.name, [least, less, more, most, is_found(family, family.smallest_visible)])
        });
        Pair { found: found.collect(), comparison }
    }
}

/// What was seen of a family in all pairs.
#[derive(Debug, Default)]
struct Tally {
    different: usize,
    visible: Vec<f64>,
    /// How often each planted change was found; `None` of what has no points.
    found: Option<[usize; 5]>,
}

fn tallies(pairs: &[Pair]) -> BTreeMap<&'static str, Tally> {
    let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
    for pair in pairs {
        for family in &pair.comparison.families {
            let tally = tallies.entry(family.name).or_default();
            tally.different += usize::from(family.verdict.is_difference());
            tally.visible.push(family.smallest_visible);
            if let Some(found) = pair.found.get(family.name) {
                let before = tally.found.unwrap_or_default();
                tally.found = Some(std::array::from_fn(|place| before[place] + usize::from(found[place])));
            }
        }
    }
    for tally in tallies.values_mut() {
        tally.visible.sort_by(f64::total_cmp);
    }
    tallies
}

#[test]
fn equal_runs_that_are_named_have_few_false_verdicts_and_what_is_planted_is_found() {
    let runs = named();
    let places = (0..runs.len()).flat_map(|one| (one + 1..runs.len()).map(move |other| (one, other)));
    let places: Vec<(usize, usize)> = places.collect();
    let pairs: Vec<Pair> = places.iter().map(|(one, other)| Pair::of(&runs[*one], &runs[*other])).collect();
    let tallies = tallies(&pairs);
    for (name, Tally { different, visible, found }) in &tallies {
        let (count, middle) = (visible.len(), visible[visible.len() / 2]);
        println!(
            "{name}: {different} of {count} called different; smallest change {middle:.3}; found of {PLANTED:?} and it: {found:?}"
        );
    }
    let judged: usize = tallies.values().map(|tally| tally.visible.len()).sum();
    let different: usize = tallies.values().map(|tally| tally.different).sum();
    let rows = || pairs.iter().flat_map(|pair| &pair.comparison.rows);
    let (points, changed) = (rows().count(), rows().filter(|row| row.verdict.is_difference()).count());
    let any = pairs.iter().filter(|pair| is_different(&pair.comparison.families)).count();
    println!(
        "{different} of {judged} families, {changed} of {points} points, {any} of {} pairs",
        pairs.len()
    );
    assert!(
        different * 20 <= judged && changed * 20 <= points,
        "{different} of {judged}, {changed} of {points}"
    );
    let planted: Vec<&Tally> = tallies.values().filter(|tally| tally.found.is_some()).collect();
    let count: usize = planted.iter().map(|tally| tally.visible.len()).sum();
    let found: usize = planted.iter().filter_map(|tally| Some(tally.found?[4])).sum();
    assert!(found * 5 >= count * 4, "{found} of {count} changes of the smallest visible size");
}
