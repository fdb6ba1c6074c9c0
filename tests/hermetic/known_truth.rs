//! Known truths: a clock that we control drives the whole sampler, and what it found goes through the run file to the
//! results. The numbers that come out are those that were put in.

use crate::described::{fake_run, planned};
use fathom::experiment::{Failure, Shared, Workload};
use fathom::quantity::Unit;
use fathom::record::{Line, Run, Trial, lines};
use fathom::results::{Outcome, Results};
use fathom::sampling::clock::{Clock, Reading, overhead};
use fathom::sampling::{ClockKind, Observations, RawSample, Sample, Sampler, SharedStopwatch};
use std::cell::Cell;
use std::rc::Rc;

const PER_OPERATION: u64 = 37;
const PER_READING: u64 = 20;
const PER_ITERATION_OF_THE_LOOP: u64 = 5;

/// A clock of one tick a nanosecond; reading it takes 20 of them.
#[derive(Clone, Default)]
pub struct FakeClock {
    pub now: Rc<Cell<u64>>,
}

impl FakeClock {
    pub fn pass(&self, nanoseconds: u64) {
        self.now.set(self.now.get() + nanoseconds);
    }
}

impl Clock for FakeClock {
    fn start(&self) -> Reading {
        self.pass(PER_READING);
        Reading { ticks: self.now.get(), cpu: 0 }
    }

    fn stop(&self) -> Reading {
        self.start()
    }
}

/// Interruptions from a seed: a few in a hundred batches last 50 µs longer.
pub fn interruption(chance: &mut u64) -> u64 {
    *chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    if *chance >> 58 == 0 { 50_000 } else { 0 }
}

fn observe(clock: &FakeClock, workload: &mut Workload) -> Result<RawSample, Failure> {
    observe_in(&Shared::new(|| 0), 5_000_000, clock, workload)
}

/// A trial of this duration, nanoseconds, in a process with this equipment.
pub fn observe_in(
    shared: &Shared,
    duration_ns: u64,
    clock: &FakeClock,
    workload: &mut Workload,
) -> Result<RawSample, Failure> {
    observe_after(|| (), shared, duration_ns, clock, workload)
}

/// The same, with what is done last before the observations, as a trial reads its counters.
pub fn observe_after(
    begin: impl FnOnce(),
    shared: &Shared,
    duration_ns: u64,
    clock: &FakeClock,
    workload: &mut Workload,
) -> Result<RawSample, Failure> {
    let stopwatch = SharedStopwatch::new(ClockKind::MonotonicRaw, 1e9).expect("a page of shared memory");
    let sampler = Sampler {
        clock,
        ticks_per_second: 1e9,
        reading_ticks: overhead(clock),
        duration_ns,
        reading_times: 1,
        stopwatch: &stopwatch,
        core_wait: None,
        partner_core: None,
        shared,
    };
    sampler.observe(workload, begin).map(|(found, ())| found)
}

/// The trial that a sampler's findings make, by way of its JSON.
fn trial(round: u32, found: RawSample) -> Trial {
    let sample = Sample {
        observations: found.observations,
        operations: found.operations,
        baseline_iterations: found.baseline_iterations,
        witnessed: found.witnessed,
        ..Sample::default()
    };
    let trial = crate::described::measured(&planned(), round, sample);
    let line = serde_json::to_string(&Line::Trial(Box::new(trial))).unwrap();
    match lines::line::<Run>(&line).unwrap() {
        Line::Trial(trial) => *trial,
        other => panic!("not a trial: {other:?}"),
    }
}

fn run_of(trials: Vec<Trial>) -> Run {
    Run { trials, ..fake_run() }
}

fn eight(workload: impl Fn(&FakeClock, u64) -> Workload<'static>) -> Run {
    let visit = |round| {
        let clock = FakeClock::default();
        let mut workload = workload(&clock, u64::from(round));
        trial(round, observe(&clock, &mut workload).unwrap())
    };
    run_of((1..=8).map(visit).collect())
}

fn interrupted(
    clock: &FakeClock,
    seed: u64,
    per_iteration: u64,
) -> impl FnMut(u64) -> Result<(), Failure> + 'static {
    let (clock, mut chance) = (clock.clone(), seed);
    move |n| {
        clock.pass(n * per_iteration + interruption(&mut chance));
        Ok(())
    }
}

/// The operations of a batch in a run's first trial.
fn found_operations(run: &Run) -> u64 {
    match &run.samples().next().unwrap().observations {
        Observations::Ticks { operations, .. } => *operations,
        Observations::Values { .. } => 0,
    }
}

#[test]
fn an_operation_of_37_ns_measured_with_readings_of_20_ns_takes_37_ns() {
    let run = eight(|clock, seed| Workload::batched(interrupted(clock, seed, PER_OPERATION)));
    let results = Results::of(&run);
    let estimate = results.points[0].estimate().unwrap();
    assert!((estimate.value - 37.0).abs() < 1e-9, "{estimate:?}");
    let interval = estimate.interval.unwrap();
    // What is left of the interval is the clock's step of a nanosecond, shared by the operations of a batch.
    let operations = found_operations(&run);
    let step = 1.0 / operations as f64;
    assert!(operations > 100 && interval.low <= 37.0 && 37.0 <= interval.high, "{operations} {interval:?}");
    assert!((interval.high - interval.low - step).abs() < 1e-9, "{interval:?}");
    assert!(matches!(results.points[0].outcome, Outcome::Value(_)));
    assert!(
        results.points[0].outliers.as_ref().unwrap().count() > 0,
        "interruptions are seen, and not removed"
    );
}

#[test]
fn sixty_four_bytes_every_37_ns_are_a_rate() {
    let moved = |clock: &FakeClock, seed| {
        Workload::batched(interrupted(clock, seed, PER_OPERATION)).per_iteration(64)
    };
    let mut run = eight(moved);
    run.header.plan[0].unit = Unit::BytesPerSecond;
    let point = &Results::of(&run).points[0];
    let (estimate, truth) = (point.estimate().unwrap(), 64.0 / 37e-9);
    assert!((estimate.value / truth - 1.0).abs() < 1e-9, "{estimate:?}");
    let interval = estimate.interval.unwrap();
    assert!(interval.low < truth && truth < interval.high && interval.high / interval.low < 1.001);
    assert!((point.best().unwrap() / truth - 1.0).abs() < 1e-9, "the best rate is the highest");
}

#[test]
fn operations_timed_one_by_one_take_37_ns_too() {
    let run = eight(|clock, seed| Workload::each(interrupted(clock, seed, PER_OPERATION)));
    let results = Results::of(&run);
    assert!((results.points[0].estimate().unwrap().value - 37.0).abs() < 1e-9);
    let interval = results.points[0].estimate().unwrap().interval.unwrap();
    assert!(
        (interval.high - interval.low - 1.0).abs() < 1e-9,
        "a clock of one nanosecond cannot tell more: {interval:?}"
    );
    assert!(results.points[0].percentiles.iter().any(|(level, _)| (level - 0.99).abs() < 1e-9));
}

/// A trial whose first observation meets a stall of 75 ms holds as many others as one that meets it last, or never.
#[test]
fn a_stall_does_not_use_up_the_time_of_a_trial() {
    const STALL: u64 = 75_000_000;
    let observations = |stalls: bool| {
        let (clock, stall) = (FakeClock::default(), Rc::new(Cell::new(0)));
        let (passing, next) = (clock.clone(), stall.clone());
        let mut workload = Workload::each(move |_| {
            passing.pass(40_000 + next.take());
            Ok(())
        });
        let begin = || stall.set(if stalls { STALL } else { 0 });
        let found = observe_after(begin, &Shared::new(|| 0), 5_000_000, &clock, &mut workload).unwrap();
        match found.observations {
            Observations::Ticks { operation, .. } => operation,
            Observations::Values { .. } => panic!("it was timed"),
        }
    };
    let (calm, stalled) = (observations(false), observations(true));
    assert!(stalled.iter().max() > Some(&(STALL as i64)), "the stall is seen");
    assert!(calm.len() > 100 && calm.len().abs_diff(stalled.len()) <= 10, "{} {}", calm.len(), stalled.len());
}

#[test]
fn the_loop_around_an_operation_is_subtracted_by_its_baseline() {
    let run = eight(|clock, seed| {
        let operation = interrupted(clock, seed, PER_OPERATION + PER_ITERATION_OF_THE_LOOP);
        Workload::batched(operation).against(interrupted(clock, seed + 100, PER_ITERATION_OF_THE_LOOP))
    });
    let results = Results::of(&run);
    let point = &results.points[0];
    assert!((point.estimate().unwrap().value - 37.0).abs() < 1e-9, "{:?}", point.estimate());
    assert!((point.baseline.as_ref().unwrap().value - 5.0).abs() < 1e-9);
    assert_eq!(point.estimate().unwrap().min, None, "there is no best observed difference");
}

#[test]
fn an_operation_that_costs_nothing_is_below_resolution_and_not_zero() {
    let run = eight(|clock, seed| {
        let same = || interrupted(clock, seed, PER_ITERATION_OF_THE_LOOP);
        Workload::batched(same()).against(same())
    });
    assert!(
        matches!(Results::of(&run).points[0].outcome, Outcome::BelowResolution { below, .. } if below > 0.0)
    );
}

#[test]
fn an_operation_quicker_than_its_own_baseline_is_implausible() {
    let run = eight(|clock, seed| {
        Workload::batched(interrupted(clock, seed, 5)).against(interrupted(clock, seed, PER_OPERATION))
    });
    assert!(matches!(Results::of(&run).points[0].outcome, Outcome::Implausible { .. }));
}

#[test]
fn several_operations_of_an_iteration_and_time_not_asked_for_are_accounted_for() {
    let run = eight(|clock, seed| {
        Workload::batched(interrupted(clock, seed, 64 * PER_OPERATION)).per_iteration(64)
    });
    assert!((Results::of(&run).points[0].estimate().unwrap().value - 37.0).abs() < 1e-9);
    let run = eight(|clock, seed| {
        Workload::each(interrupted(clock, seed, 100_000 + PER_OPERATION)).beyond(100_000.0)
    });
    assert!((Results::of(&run).points[0].estimate().unwrap().value - 37.0).abs() < 1e-9);
}

#[test]
fn a_broken_operation_yields_no_observation() {
    let clock = FakeClock::default();
    let mut calls = 0;
    let mut workload = Workload::batched(move |_| {
        calls += 1;
        if calls > 30 { Err(Failure::Broke("it broke".to_owned())) } else { Ok(()) }
    });
    assert_eq!(observe(&clock, &mut workload).unwrap_err().to_string(), "it broke");
}

#[test]
fn exactly_as_many_iterations_are_run_as_are_claimed() {
    let clock = FakeClock::default();
    let run = Rc::new(Cell::new(0));
    let (counted, passing) = (run.clone(), clock.clone());
    let mut workload = Workload::batched(move |n| {
        run.set(run.get() + n);
        passing.pass(n * PER_OPERATION);
        Ok(())
    })
    .witnessed(move || vec![("iterations", counted.get() as f64)]);
    let found = observe(&clock, &mut workload).unwrap();
    let witnessed = found.witnessed["iterations"] as u64;
    assert_eq!(witnessed, found.operations, "warm-up and calibration are not counted");
    let Observations::Ticks { operation, operations, .. } = &found.observations else { panic!() };
    assert_eq!(operation.len() as u64 * operations, found.operations);
}

#[test]
fn the_clock_costs_less_than_a_hundredth_of_a_batch_and_a_batch_stays_short() {
    let clock = FakeClock::default();
    let mut workload = Workload::batched(interrupted(&clock, 1, PER_OPERATION));
    let Observations::Ticks { operation, .. } = observe(&clock, &mut workload).unwrap().observations else {
        panic!()
    };
    let shortest = operation.iter().min().unwrap();
    assert!(*shortest >= 100 * PER_READING as i64 && *shortest < 100_000, "{shortest} ns");
}

/// Numbers 1, 2, 3, …, a millisecond each; how many there were is both counted and gauged.
fn numbers(clock: &FakeClock) -> Workload<'static> {
    let (clock, given) = (clock.clone(), Rc::new(Cell::new(0.0)));
    let (counted, gauged) = (Rc::clone(&given), Rc::clone(&given));
    let next = move || {
        clock.pass(1_000_000);
        given.set(given.get() + 1.0);
        Ok(Some(given.get()))
    };
    let workload = Workload::recorded(next).witnessed(move || vec![("counted", counted.get())]);
    workload.gauged(move || vec![("gauged", gauged.get())])
}

#[test]
fn a_first_call_warms_up_unless_the_work_is_to_be_cold_and_a_gauge_tells_what_is_in_the_end() {
    let clock = FakeClock::default();
    let seen = |workload: &mut Workload| {
        let found = observe(&clock, workload).unwrap();
        let Observations::Values { values } = found.observations else { panic!() };
        (values, found.witnessed["counted"], found.witnessed["gauged"])
    };
    assert_eq!(seen(&mut numbers(&clock)), (vec![2.0, 3.0, 4.0, 5.0, 6.0], 5.0, 6.0));
    assert_eq!(seen(&mut numbers(&clock).cold()), (vec![1.0, 2.0, 3.0, 4.0, 5.0], 5.0, 5.0));
}
