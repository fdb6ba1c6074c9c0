//! A cost in cycles of the core: runs at planted frequencies, of work that follows them and of work that does not.

use crate::described::{measured, planned_of};
use fathom::experiment::Point;
use fathom::record::Run;
use fathom::results::{PointResult, Results};
use fathom::sampling::Sample;
use fathom::verify::population::Chance;

/// Cycles of an operation that waits for the core alone, and the nanoseconds of one that does not.
const CYCLES: f64 = 250.0;
const ELSEWHERE_NS: f64 = 90.0;

/// The cost of an operation at a frequency in GHz, nanoseconds.
type Cost = fn(f64) -> f64;

fn by_the_core(ghz: f64) -> f64 {
    CYCLES / ghz
}

fn elsewhere(_: f64) -> f64 {
    ELSEWHERE_NS
}

/// A trial of 50 observations at this frequency.
fn sample(cost: Cost, ghz: f64, chance: &mut Chance) -> Sample {
    let scatter = 1.0 + 0.001 * chance.normal();
    let observed = |_| (1000.0 * cost(ghz) * scatter * (1.0 + 0.002 * chance.normal())) as i64;
    let batches = (0..50).map(observed).collect();
    // Chains have an error of their own, which the cost does not follow.
    let hz = ghz * 1e9 * (1.0 + 0.003 * chance.normal());
    crate::described::batches_of_1000(1, batches, hz)
}

/// The result of an experiment's point whose trials found the core at these frequencies by turns.
fn result(experiment: &str, cost: Cost, frequencies: [f64; 3]) -> PointResult {
    let planned = planned_of(experiment, Point::new());
    let mut run = Run::begun(crate::described::header(vec![planned.clone()]));
    let mut chance = Chance::new(5);
    for round in 1..=9 {
        let ghz = frequencies[round as usize % 3] * (1.0 + 0.0005 * chance.normal());
        run.trials.push(measured(&planned, round, sample(cost, ghz, &mut chance)));
    }
    Results::of(&run).points[0].clone()
}

const CHANGING: [f64; 3] = [2.4, 2.8, 3.3];
const STEADY: [f64; 3] = [2.8, 2.8, 2.8];

#[test]
fn a_cost_that_follows_the_frequency_is_known_in_cycles_and_better_than_in_time() {
    let point = result("cpu/unknown", by_the_core, CHANGING);
    let cycles = point.core_cycles.clone().expect("the trials show it");
    let ends = cycles.interval.expect("nine trials");
    assert!(ends.contains(CYCLES) && (cycles.value / CYCLES - 1.0).abs() < 0.003, "{cycles:?}");
    let time = point.estimate().and_then(|time| time.interval).expect("nine trials");
    assert!((ends.high - ends.low) / CYCLES < 0.1 * (time.high - time.low) / 90.0, "{ends:?} {time:?}");
}

#[test]
fn a_cost_that_does_not_follow_has_no_cycles_whatever_its_kind() {
    for experiment in ["cpu/unknown", "cpu/arithmetic"] {
        assert_eq!(result(experiment, elsewhere, CHANGING).core_cycles, None, "{experiment}");
    }
}

#[test]
fn at_one_frequency_the_kind_of_the_operation_decides() {
    assert_eq!(result("cpu/unknown", by_the_core, STEADY).core_cycles, None);
    assert!(fathom::experiments::find("cpu/arithmetic").is_some_and(|method| method.about().version == 1));
    let point = result("cpu/arithmetic", by_the_core, STEADY);
    let cycles = point.core_cycles.unwrap_or_else(|| panic!("{:?} {:?}", point.outcome, point.parameters));
    assert!(cycles.interval.is_some_and(|ends| ends.contains(CYCLES)), "{cycles:?}");
}
