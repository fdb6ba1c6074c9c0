//! Runs against each other: simulated machines of which the truth is known, measured twice.

use crate::described::{each_time, measured, sample_of, samples};
use crate::families::{normal, uniform};
use fathom::comparison::{Comparison, Decision, Margins, Obstacle, ReducedRun, Side, Verdict, decide};
use fathom::experiment::{Parameter, Point};
use fathom::quantity::Unit;
use fathom::record::{Interleaved, PlannedPoint, Run, Trial};
use fathom::results::CoreState;
use fathom::sampling::{Observations, Sample};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Points of a simulated run, and trials of each.
const POINTS: u64 = 24;
const TRIALS: u32 = 8;

const CALL: Parameter = Parameter::named("call", "");

/// How a simulated machine behaves.
#[derive(Clone, Copy)]
struct Behaviour {
    /// By what share a trial's level differs from the point's.
    trials: f64,
    /// By what share the whole machine drifts during a run, up or down.
    drift: f64,
    /// By what share each point's level differs from half a run to the next.
    slow: f64,
    /// How often a trial has its core shared, and then takes half as long again.
    shared: f64,
    /// By what share the first point costs more.
    injected: f64,
}

const CALM: Behaviour = Behaviour { trials: 0.01, drift: 0.0, slow: 0.0, shared: 0.0, injected: 0.0 };

fn planned(place: u64, unit: Unit) -> PlannedPoint {
    let point = Point::new().named(&CALL, &format!("call {place}"));
    PlannedPoint { point, unit, ..crate::described::planned() }
}

/// A run of the machine, of which every seed is another moment.
fn run(behaviour: Behaviour, seed: u64) -> Run {
    run_of(behaviour, TRIALS, seed)
}

/// The same with so many trials of each point.
fn run_of(behaviour: Behaviour, trials: u32, seed: u64) -> Run {
    let mut chance = Xoshiro256PlusPlus::seed_from_u64(seed);
    let plan: Vec<PlannedPoint> = (0..POINTS).map(|place| planned(place, Unit::Nanoseconds)).collect();
    let mut run = Run::begun(crate::described::header(plan.clone()));
    let slope = behaviour.drift * normal(&mut chance);
    let mut levels = || (0..POINTS).map(|_| 1.0 + behaviour.slow * normal(&mut chance)).collect::<Vec<_>>();
    let halves = [levels(), levels()];
    for round in 1..=trials {
        let now = 1.0 + slope * (f64::from(round) / f64::from(trials) - 0.5);
        for (place, planned) in plan.iter().enumerate() {
            let injected = if place == 0 { 1.0 + behaviour.injected } else { 1.0 };
            let shared = if uniform(&mut chance) < behaviour.shared { 1.5 } else { 1.0 };
            let of_half = halves[usize::from(2 * round > trials)][place];
            let usual = 1e5 * (1.0 + place as f64) * injected * now * shared * of_half;
            let level = usual * (1.0 + behaviour.trials * normal(&mut chance));
            run.trials.push(trial(planned, round, level, &mut chance));
        }
    }
    run
}

fn trial(planned: &PlannedPoint, round: u32, level: f64, chance: &mut impl Rng) -> Trial {
    let observe = |_| (level * (1.0 + 0.005 * normal(chance))) as i64;
    let operation: Vec<i64> = (0..9).map(observe).collect();
    let observations = Observations::Ticks {
        operations: 1,
        operation,
        baseline: vec![],
        each: true,
        beyond_ns: 0.0,
        overhead_ticks: 0.0,
    };
    let sample = Sample { observations, operations: 9, ..Sample::default() };
    measured(planned, round, sample)
}

fn side(behaviour: Behaviour, seeds: &[u64]) -> Side {
    let runs = seeds.iter().map(|seed| ReducedRun::of_run(&run(behaviour, *seed)));
    Side { name: "simulated".to_owned(), runs: runs.collect() }
}

fn compared(before: &Side, after: &Side, margin: f64) -> Comparison {
    Comparison::of(before, after, &Margins::all(Some(margin)), false)
}

/// In how many of a hundred pairs of runs of an unchanged machine a difference is called real.
fn false_alarms(behaviour: Behaviour, margin: f64) -> usize {
    let alarm = |pair: &u64| {
        let found = compared(&side(behaviour, &[2 * pair]), &side(behaviour, &[2 * pair + 1]), margin);
        assert!(found.rows.len() as u64 >= POINTS - 2, "{} rows", found.rows.len());
        found.rows.iter().any(|row| row.verdict.is_difference())
    };
    (1..=100).filter(alarm).count()
}

/// Five in a hundred are promised; fourteen come by chance once in four hundred times where it is five.
const MOST_ALARMS: usize = 13;

#[test]
fn an_unchanged_machine_is_seldom_called_better_or_worse() {
    // Hardly any margin, so that it is the intervals that keep the promise.
    let alarms = false_alarms(CALM, 1e-6);
    assert!(alarms <= MOST_ALARMS, "{alarms} of 100 calm pairs");
    let shared = Behaviour { shared: 0.2, ..CALM };
    let alarms = false_alarms(shared, 0.05);
    assert!(alarms <= MOST_ALARMS, "{alarms} of 100 pairs on a core that is shared a fifth of the time");
    let slow = Behaviour { slow: 0.01, ..CALM };
    let alarms = false_alarms(slow, 1e-6);
    assert!(alarms <= MOST_ALARMS, "{alarms} of 100 pairs whose levels move slowly");
    let drifting = Behaviour { drift: 0.02, ..CALM };
    let alarms = false_alarms(drifting, 0.05);
    assert!(alarms <= MOST_ALARMS, "{alarms} of 100 drifting pairs");
}

#[test]
fn a_real_difference_is_found_and_only_that() {
    let slower = Behaviour { injected: 0.15, ..CALM };
    let found = compared(&side(CALM, &[1]), &side(slower, &[2]), 0.05);
    let worse: Vec<_> = found.with(Verdict::Worse).iter().map(|row| row.point.clone()).collect();
    assert_eq!(worse, [planned(0, Unit::Nanoseconds).point]);
    let row = found.with(Verdict::Worse)[0];
    assert!(row.contrast.interval().contains(1.15), "{:?}", row.contrast.interval());
    assert!(found.count(Verdict::Equivalent) as u64 > POINTS / 2);
    // The other way round it has become better, by the inverse.
    let back = compared(&side(slower, &[2]), &side(CALM, &[1]), 0.05);
    assert_eq!(back.count(Verdict::Better), 1);
    assert!((back.with(Verdict::Better)[0].contrast.ratio() * row.contrast.ratio() - 1.0).abs() < 1e-9);
}

#[test]
fn several_runs_of_a_side_show_what_one_cannot() {
    // A level that each run has anew is not seen within a run.
    let moved = |seeds: &[u64], by: &[f64]| {
        let mut side = side(CALM, seeds);
        for (run, by) in side.runs.iter_mut().zip(by) {
            for level in &mut run.levels {
                if let fathom::results::Outcome::Value(estimate) = &mut level.outcome {
                    estimate.value *= by;
                    estimate.interval = estimate.interval.map(|ends| fathom::statistics::Interval {
                        low: ends.low * by,
                        high: ends.high * by,
                    });
                }
            }
        }
        side
    };
    let one = compared(&moved(&[1], &[1.0]), &moved(&[2], &[1.1]), 0.02);
    assert!(one.count(Verdict::Worse) > 20, "single runs ten percent apart: {}", one.count(Verdict::Worse));
    let by = [0.9, 1.0, 1.1];
    let several = compared(&moved(&[1, 3, 5], &by), &moved(&[2, 4, 6], &[0.95, 1.05, 1.12]), 0.02);
    assert_eq!(several.count(Verdict::Worse), 0);
    assert!(several.repeatability.overall() > 10.0);
}

#[test]
fn more_bytes_a_second_are_better_and_sizes_are_neither() {
    let faster = |unit: Unit| {
        let mut found = Vec::new();
        for by in [1.0, 1.3] {
            let mut reduced = ReducedRun::of_run(&run(CALM, 1));
            for level in &mut reduced.levels {
                level.unit = unit;
                if let fathom::results::Outcome::Value(estimate) = &mut level.outcome {
                    estimate.value *= by;
                    estimate.interval = estimate.interval.map(|ends| fathom::statistics::Interval {
                        low: ends.low * by,
                        high: ends.high * by,
                    });
                }
            }
            found.push(Side::of_run("rates", reduced));
        }
        compared(&found[0], &found[1], 0.05)
    };
    assert_eq!(faster(Unit::BytesPerSecond).count(Verdict::Better) as u64, POINTS);
    assert_eq!(faster(Unit::Bytes).count(Verdict::Changed) as u64, POINTS);
    assert_eq!(faster(Unit::Nanoseconds).count(Verdict::Worse) as u64, POINTS);
}

#[test]
fn other_methods_are_not_compared_unless_that_is_meant() {
    let before = side(CALM, &[1]);
    let mut after = side(CALM, &[2]);
    after.runs[0].levels[0].method_version += 1;
    let found = compared(&before, &after, 0.05);
    assert_eq!(found.rows.len() as u64, POINTS - 1);
    assert!(matches!(found.not_compared[0].because, Obstacle::OtherMethod { .. }));
    let meant = Comparison::of(&before, &after, &Margins::all(None), true);
    assert_eq!(meant.rows.len() as u64, POINTS);
}

#[test]
fn machines_that_differ_are_told_apart_before_any_figure() {
    let before = side(CALM, &[1]);
    let mut after = side(CALM, &[2]);
    assert_eq!(compared(&before, &after, 0.05).differences, []);
    after.runs[0].header.settings.effort = fathom::experiment::Effort::Standard;
    let differences = compared(&before, &after, 0.05).differences;
    assert_eq!(
        differences.iter().map(|difference| difference.doubtful).collect::<Vec<_>>(),
        [Some("settings")]
    );
}

#[test]
fn the_verdicts_do_not_depend_on_the_order_of_rows() {
    let slower = Behaviour { injected: 0.15, ..CALM };
    let (before, mut after) = (side(CALM, &[1]), side(slower, &[2]));
    let found = compared(&before, &after, 0.05);
    after.runs[0].levels.reverse();
    assert_eq!(compared(&before, &after, 0.05), found);
    let mut turned = before.clone();
    turned.runs[0].levels.reverse();
    let mut again = compared(&turned, &after, 0.05);
    again.rows.reverse();
    assert_eq!(again.rows, found.rows);
}

#[test]
fn readings_in_whole_steps_are_known_to_half_a_step() {
    // A clock of one nanosecond reads 16 on one day and 17 on the next, each time the same in all trials.
    let reading = |ticks: f64| {
        let mut run = run(CALM, 1);
        let (mut place, mut chance) = (0, Xoshiro256PlusPlus::seed_from_u64(1));
        for sample in samples(&mut run.trials) {
            if let Observations::Ticks { operation, .. } = &mut sample.observations {
                operation.fill(ticks as i64);
                // Now and then the neighbouring step.
                operation[0] += i64::from(place % 2 == 0) - i64::from(uniform(&mut chance) < 0.1);
                place += 1;
            }
        }
        Side::of_run("steps", ReducedRun::of_run(&run))
    };
    let found = compared(&reading(16.0), &reading(17.0), 0.05);
    assert!(found.rows.iter().all(|row| row.verdict == Verdict::Inconclusive), "{:?}", found.rows[0]);
    let found = compared(&reading(16.0), &reading(24.0), 0.05);
    assert!(found.rows.iter().all(|row| row.verdict == Verdict::Worse), "{:?}", found.rows[0]);
}

/// Trials of each half: where they differ by a hundredth, as many as it takes to see another hundredth among two dozen points.
const PAIRS: u32 = 80;

/// Two halves of one measurement: what drifts drifts in both, and everything else is drawn anew.
fn halves(injected: f64, seed: u64) -> [Side; 2] {
    let mut chance = Xoshiro256PlusPlus::seed_from_u64(seed);
    let wandering: Vec<f64> = (0..PAIRS)
        .scan(1.0, |level, _| {
            *level *= 1.0 + 0.03 * normal(&mut chance);
            Some(*level)
        })
        .collect();
    [(0.0, 1), (injected, 2)].map(|(injected, half)| {
        let mut run = run_of(Behaviour { injected, ..CALM }, PAIRS, 1000 * half + seed);
        run.header.settings.interleaved = Some(Interleaved { session: seed.to_string(), setting: vec![] });
        for trial in &mut run.trials {
            let moved = wandering[trial.round as usize - 1];
            let Some(sample) = sample_of(trial) else { continue };
            each_time(sample, |ticks| *ticks = (*ticks as f64 * moved) as i64);
        }
        Side::of_run("half", ReducedRun::of_run(&run))
    })
}

#[test]
fn two_per_cent_are_found_where_settings_are_measured_in_turns_and_nowhere_else() {
    let found = |in_turns: bool, seed: u64| {
        let [before, mut after] = halves(0.02, seed);
        if !in_turns {
            after.runs[0].header.settings.interleaved = None;
        }
        let compared = compared(&before, &after, 0.01);
        assert_eq!(compared.interleaved, in_turns);
        let worse: Vec<Point> = compared.with(Verdict::Worse).iter().map(|row| row.point.clone()).collect();
        worse == [planned(0, Unit::Nanoseconds).point]
    };
    let of_ten = |in_turns: bool| (1..=10).filter(|seed| found(in_turns, *seed)).count();
    assert!(of_ten(true) >= 9, "{} of 10", of_ten(true));
    // On a machine that wanders by three per cent from one trial to the next two runs do not show it.
    assert!(of_ten(false) <= 1, "{} of 10", of_ten(false));
}

#[test]
fn a_gate_passes_nothing_that_broke_and_condemns_no_suspect_that_was_not_seen_again() {
    let before = side(CALM, &[1]);
    let same = || side(CALM, &[2]);
    assert_eq!(decide(&compared(&before, &same(), 0.05)), Decision::Passed);
    let mut broken = same();
    broken.runs[0].levels[3].outcome = fathom::results::Outcome::Failed { reason: "it died".to_owned() };
    assert_eq!(decide(&compared(&before, &broken, 0.05)), Decision::Inconclusive);
    // Twice as slow in the first run, and not reached by the second.
    let slower = Behaviour { injected: 1.0, ..CALM };
    let mut found = compared(&before, &side(slower, &[2]), 0.05);
    assert_eq!(decide(&found), Decision::Regressed);
    let mut unreached = side(slower, &[3]);
    unreached.runs[0].levels.remove(0);
    found.confirm(&compared(&before, &unreached, 0.05));
    assert_eq!(decide(&found), Decision::Inconclusive);
}

#[test]
fn a_point_that_met_another_state_of_the_core_is_compared_where_a_second_measurement_meets_its_own() {
    let in_state = |behaviour, seed, core| {
        let mut side = side(behaviour, &[seed]);
        side.runs[0].levels[0].core = Some(core);
        side
    };
    let slower = Behaviour { injected: 1.0, ..CALM };
    let before = in_state(CALM, 1, CoreState::Alone);
    let mut found = compared(&before, &in_state(slower, 2, CoreState::Shared), 0.05);
    assert_eq!((found.unlike().len(), decide(&found)), (1, Decision::Passed));
    found.complete(&compared(&before, &in_state(slower, 3, CoreState::Shared), 0.05));
    assert_eq!((found.unlike().len(), decide(&found)), (1, Decision::Passed), "met the same state again");
    found.complete(&compared(&before, &in_state(slower, 4, CoreState::Alone), 0.05));
    assert_eq!((found.unlike().len(), decide(&found)), (0, Decision::Regressed));
}
