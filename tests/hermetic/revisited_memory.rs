//! Work that goes through its memory again and again, on a clock that we control: what is observed is what such work finds, not
//! what one visit left behind.

use crate::known_truth::{FakeClock, observe_in};
use fathom::experiment::{Shared, Workload};
use fathom::quantity::Unit;
use fathom::sampling::RawSample;
use fathom::statistics;

/// Loads of an iteration.
const LOADS: u64 = 64;

/// A chase through so many lines, of which a load takes a time by the number of visits of all lines before, nanoseconds.
fn chase(clock: &FakeClock, lines: u64, load_ns: fn(u64) -> u64) -> Workload<'static> {
    let (clock, mut loads) = (clock.clone(), 0);
    let run = move |n| {
        for _ in 0..n {
            clock.pass(LOADS * load_ns(loads / lines));
            loads += LOADS;
        }
        Ok(())
    };
    Workload::batched(run).per_iteration(LOADS)
}

fn observed(clock: &FakeClock, mut work: Workload) -> RawSample {
    observe_in(&Shared::new(|| 0), 20_000_000, clock, &mut work).unwrap()
}

fn median(found: &RawSample) -> f64 {
    statistics::median(&found.observations.operation(Unit::Nanoseconds, 1e9)).unwrap()
}

/// A shared cache keeps what was used ten times.
fn kept_late(visits: u64) -> u64 {
    if visits < 10 { 250 } else { 50 }
}

/// A shared cache loses within a few visits what was just written.
fn lost_early(visits: u64) -> u64 {
    if visits < 4 { 25 } else { 180 }
}

#[test]
fn the_caches_have_adapted_before_the_first_observation() {
    for (load_ns, truth) in [(kept_late as fn(u64) -> u64, 50.0), (lost_early, 180.0)] {
        for lines in [512, 8192, 16_384] {
            let clock = FakeClock::default();
            let found = observed(&clock, chase(&clock, lines, load_ns).revisiting(lines / LOADS));
            assert!((median(&found) / truth - 1.0).abs() < 0.01, "{lines} lines: {}", median(&found));
            assert!(found.witnessed["visits_before"] >= 9.0, "{:?}", found.witnessed);
        }
    }
}

#[test]
fn without_visits_a_trial_finds_what_the_preparation_left() {
    let clock = FakeClock::default();
    let found = observed(&clock, chase(&clock, 8192, kept_late));
    assert!(median(&found) > 200.0 && !found.witnessed.contains_key("visits_before"), "{}", median(&found));
}

/// A gigabyte takes seconds to visit, and no cache holds it.
#[test]
fn memory_that_takes_long_to_visit_is_not_visited_again() {
    let clock = FakeClock::default();
    let lines = 16 << 20;
    let found = observed(&clock, chase(&clock, lines, |_| 100).revisiting(lines / LOADS));
    assert!(found.witnessed["visits_before"].abs() < 1e-9, "{:?}", found.witnessed);
    assert!(clock.now.get() < 100_000_000, "{} ns", clock.now.get());
}
