//! Figures at the usual time of the device: runs whose device is slower at times, with work that follows it wholly, by a part and not at all.

use crate::described::{measured, planned_of};
use fathom::experiment::Point;
use fathom::record::Run;
use fathom::results::{Covariate, PointResult, Results};
use fathom::sampling::{DeviceReadings, Observations, Sample};
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

/// How far the ends of a point's figure are from its value, and from the truth.
fn reach(point: &PointResult) -> (f64, bool) {
    let estimate = point.estimate().expect("a figure");
    let ends = estimate.interval.expect("enough trials");
    ((ends.high - ends.low) / 2.0 / estimate.value, ends.contains(COST_NS))
}

/// A device that is a quarter or half again as slow in three of ten trials.
const AT_TIMES: [f64; 10] = [1.0, 1.0, 1.24, 1.0, 1.0, 1.5, 1.0, 1.24, 1.0, 1.0];

#[test]
fn what_waits_for_a_device_is_known_at_its_usual_time() {
    for share in [0.5, 1.0] {
        let point = first(&run(share, &AT_TIMES, 3));
        let moved = point.at_device().expect("its trials show it");
        assert!(moved.covariate == Covariate::DeviceTime && point.at_frequency().is_none());
        assert!((moved.usual / READ_NS - 1.0).abs() < 0.02, "{moved:?}");
        assert!((moved.share - share).abs() < 0.15, "{moved:?}");
        let (half, holds) = reach(&point);
        assert!(holds && half < 0.03, "{share}: {:?}", point.estimate());
        let observed = moved.as_observed.as_ref().and_then(|observed| observed.interval).expect("enough");
        assert!((observed.high - observed.low) / 2.0 / COST_NS > 2.0 * half, "{share}: {observed:?} {half}");
    }
}

#[test]
fn what_does_not_follow_the_device_stays_as_it_was_observed() {
    let point = first(&run(0.0, &AT_TIMES, 4));
    assert!(point.at_device().is_none() && reach(&point).1, "{:?}", point.at_usual);
    assert!(first(&run(1.0, &[1.0; 4], 5)).at_device().is_none(), "four trials show nothing");
}

#[test]
fn a_report_says_how_the_device_was_and_what_was_observed() {
    let results = |share: f64| run(share, &AT_TIMES, 3);
    let page =
        |share: f64| crate::reported::in_form(&Results::of(&results(share)), fathom::report::Form::Markdown);
    let moved = page(1.0);
    assert!(
        moved.contains("One figure follows it visibly and is stated at the usual time (\\# in tables)"),
        "{moved}"
    );
    assert!(
        moved.contains("on one CPU \\#") && moved.contains("\\#: while a direct read takes 39"),
        "{moved}"
    );
    assert!(!page(0.0).contains("\\#: while"));
}
