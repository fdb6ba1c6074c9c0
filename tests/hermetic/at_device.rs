//! Values at the usual time of the device: runs whose device is slower at times, with work that follows it wholly, by a part and not at all.

use crate::described::{measured, planned_of};
use fathom::experiment::Point;
use fathom::quantity::Unit;
use fathom::record::{Run, Trial};
use fathom::results::{InterimEstimate, KnownStates, PointResult, Results};
use fathom::sampling::{DeviceReadings, Observations, Sample};
use fathom::statistics::Estimate;
use fathom::verify::population::Chance;

/// What a direct read usually takes, nanoseconds, and what the operation costs meanwhile.
const READ_NS: f64 = 39_000.0;
const COST_NS: f64 = 84_000.0;

/// A trial while the device takes so many times as long as usually.
fn sample(share: f64, slower: f64, chance: &mut Chance) -> Sample {
    let read = |chance: &mut Chance| READ_NS * slower * (1.0 + 0.01 * chance.normal());
    let cost = COST_NS * (share * slower + 1.0 - share) * (1.0 + 0.01 * chance.normal());
    let values = (0..60).map(|_| cost * (1.0 + 0.04 * chance.normal())).collect();
    let device = Some(DeviceReadings { before_ns: read(chance), after_ns: read(chance) });
    Sample { observations: Observations::Values { values }, operations: 60, device, ..Sample::default() }
}

fn run(share: f64, slower: &[f64], seed: u64) -> Run {
    let planned = planned_of("filesystem/unknown", Point::new());
    let mut run = Run::begun(crate::described::header(vec![planned.clone()]));
    let mut chance = Chance::new(seed);
    for (round, slower) in (1..).zip(slower) {
        run.trials.push(measured(&planned, round, sample(share, *slower, &mut chance)));
    }
    run
}

fn first(run: &Run) -> PointResult {
    Results::of(run).points[0].clone()
}

/// How far the ends of a value are from it, and whether they hold the truth.
fn reach(estimate: &Estimate) -> (f64, bool) {
    let ends = estimate.interval.expect("enough trials");
    ((ends.high - ends.low) / 2.0 / estimate.value, ends.contains(COST_NS))
}

/// A device that is a quarter or half again as slow in three of ten trials.
const AT_TIMES: [f64; 10] = [1.0, 1.0, 1.24, 1.0, 1.0, 1.5, 1.0, 1.24, 1.0, 1.0];

#[test]
fn what_waits_for_a_device_has_a_second_value_at_its_usual_time() {
    for share in [0.5, 1.0] {
        let point = first(&run(share, &AT_TIMES, 3));
        let at = point.at_device.as_ref().expect("its trials show it");
        assert!((at.moved.usual / READ_NS - 1.0).abs() < 0.02, "{at:?}");
        assert!((at.moved.share - share).abs() < 0.15, "{at:?}");
        let (half, holds) = reach(&at.estimate);
        assert!(holds && half < 0.03, "{share}: {at:?}");
        let observed = point.estimate().expect("a figure");
        assert!(reach(observed).0 > 2.0 * half, "{share}: {observed:?} {half}");
        assert_eq!(Some(observed), at.moved.as_observed.as_ref(), "the figure is as it was observed");
    }
}

#[test]
fn what_does_not_follow_the_device_has_none() {
    let point = first(&run(0.0, &AT_TIMES, 4));
    assert!(point.at_device.is_none() && reach(point.estimate().expect("a figure")).1, "{point:?}");
    assert!(first(&run(1.0, &[1.0; 4], 5)).at_device.is_none(), "four trials show nothing");
}

#[test]
fn a_report_has_a_row_for_it_and_says_how_the_device_was() {
    let results = |share: f64| run(share, &AT_TIMES, 3);
    let page =
        |share: f64| crate::reported::in_form(&Results::of(&results(share)), fathom::report::Form::Markdown);
    let moved = page(1.0);
    assert!(moved.contains("Of 1 value of such work one follows the reads visibly"), "{moved}");
    assert!(moved.contains("| while a direct read takes 3"), "{moved}");
    assert!(!page(0.0).contains("a direct read takes"));
}

/// Reads of a device with two times, of which either trial in turn has a little more: the median over trials, 50 µs, was an input of predictions.
#[test]
fn predictions_rest_on_a_time_that_reads_of_a_device_take() {
    let planned = planned_of("filesystem/unknown", Point::new());
    let mut run = Run::begun(crate::described::header(vec![planned.clone()]));
    let mut chance = Chance::new(7);
    for round in 1..=10_u32 {
        let quick = if round % 2 == 0 { 33 } else { 27 };
        let centre = |nth: u32| if nth < quick { 39_000.0 } else { 63_000.0 };
        let values = (0..60).map(|nth| centre(nth) * (1.0 + 0.02 * chance.normal())).collect();
        let device = Some(DeviceReadings { before_ns: 39_000.0, after_ns: 63_000.0 });
        let sample = Sample {
            observations: Observations::Values { values },
            operations: 60,
            device,
            ..Sample::default()
        };
        run.trials.push(measured(&planned, round, sample));
    }
    let trials: Vec<&Trial> = run.trials.iter().collect();
    let basis = InterimEstimate::of(&run, &planned, &trials, KnownStates::default()).basis(Unit::Nanoseconds);
    let ns = basis.expect("a basis").value;
    assert!([39e3, 63e3].iter().any(|time| (ns / time - 1.0).abs() < 0.05), "{ns}");
}
