//! Figures at the usual frequency of the core: runs whose frequency is planted, with work that follows it wholly, by a part and not at
//! all.

use crate::described::{measured, planned_of};
use fathom::comparison::{Comparison, Margins, ReducedRun, Side, Verdict};
use fathom::experiment::{Dimension, Point};
use fathom::machine::Fact;
use fathom::record::Run;
use fathom::results::{PointResult, Results};
use fathom::sampling::{CoreReadings, Sample};
use fathom::verify::population::Chance;

/// Nanoseconds of an operation at the usual frequency.
const COST_NS: f64 = 120.0;
/// The usual frequency, GHz.
const USUAL: f64 = 2.7;
/// The cost of reading the described clock at the usual frequency, in cycles of the core, and the links of a chain.
const READING: f64 = 20.0 * USUAL;
const TIMES: u32 = 8;
const LINKS: f64 = 512.0 * TIMES as f64;

/// A trial at a frequency in GHz, of work of which this share follows it and which costs so many times as much.
fn sample((share, times): (f64, f64), ghz: f64, chance: &mut Chance) -> Sample {
    let scatter = 1.0 + 0.001 * chance.normal();
    let cost = times * COST_NS * scatter * (share * USUAL / ghz + 1.0 - share);
    let batches: Vec<i64> =
        (0..50).map(|_| (1000.0 * cost * (1.0 + 0.002 * chance.normal())) as i64).collect();
    let chain = || ((LINKS + READING) / ghz).round() as u32;
    let core = CoreReadings {
        stream: (0..=50).map(|_| 2 * chain()).collect(),
        chain: (0..=50).map(|_| chain()).collect(),
        times: TIMES,
        ..CoreReadings::default()
    };
    Sample { core: Some(core), ..crate::described::batches_of_1000(1, batches, ghz * 1e9) }
}

/// A run of trials at these frequencies by turns.
fn run(experiment: &str, share: f64, ghz: &[f64], seed: u64) -> Run {
    costing(experiment, (share, 1.0), ghz, seed)
}

/// The same of work that costs so many times as much.
fn costing(experiment: &str, work: (f64, f64), ghz: &[f64], seed: u64) -> Run {
    of_points(experiment, &[(Point::new(), work)], ghz, seed)
}

/// The same of several points, each of other work.
fn of_points(experiment: &str, points: &[(Point, (f64, f64))], ghz: &[f64], seed: u64) -> Run {
    let planned = |point: &Point| planned_of(experiment, point.clone());
    let mut header = crate::described::header(points.iter().map(|(point, _)| planned(point)).collect());
    header.machine.processor.observed_hz = Fact::known(USUAL * 1e9, "described");
    let mut run = Run::begun(header);
    let mut chance = Chance::new(seed);
    for (round, ghz) in (1..).zip(ghz) {
        for (point, work) in points {
            run.trials.push(measured(&planned(point), round, sample(*work, *ghz, &mut chance)));
        }
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

const MOVING: [f64; 9] = [2.5, 2.6, 2.65, 2.7, 2.7, 2.7, 2.75, 2.8, 2.9];

#[test]
fn what_follows_the_frequency_by_whatever_share_is_known_at_the_usual_one() {
    for share in [0.4, 0.7, 1.0] {
        let point = first(&run("cpu/unknown", share, &MOVING, 3));
        let moved = point.at_frequency.clone().expect("the trials show it");
        assert!(
            (moved.share - share).abs() < 0.01 && (moved.usual / 1e9 / USUAL - 1.0).abs() < 0.002,
            "{moved:?}"
        );
        let (half, holds) = reach(&point);
        assert!(holds && half < 0.003, "{share}: {:?}", point.estimate());
        let observed = moved.as_observed.and_then(|observed| observed.interval).expect("enough trials");
        assert!((observed.high - observed.low) / 2.0 / COST_NS > 3.0 * half, "{share}: {observed:?} {half}");
        let least = point.published.as_ref().expect("a value").observations.minimum;
        let fastest = COST_NS * (share * USUAL / 2.9 + 1.0 - share);
        let best = point.best().expect("a cost");
        assert!((least / fastest - 1.0).abs() < 0.02, "{share}: {least} {fastest}");
        assert!((best / least - 1.0).abs() < 1e-9, "{share}: {least} {best}");
        assert_eq!(point.core_cycles.is_some(), share > 0.99, "{share}: {:?}", point.core_cycles);
    }
}

#[test]
fn what_does_not_follow_it_stays_as_it_was_observed_whatever_its_kind() {
    for experiment in ["cpu/unknown", "cpu/arithmetic"] {
        let point = first(&run(experiment, 0.0, &MOVING, 4));
        assert_eq!(point.at_frequency, None, "{experiment}");
        assert!(reach(&point).1, "{experiment}: {:?}", point.estimate());
    }
}

#[test]
fn a_table_marks_what_is_at_the_usual_frequency_and_says_which_that_is() {
    let page = |share: f64| {
        let run = run("cpu/unknown", share, &MOVING, 3);
        crate::reported::in_form(&Results::of(&run), fathom::report::Form::Markdown)
    };
    let (moved, observed) = (page(1.0), page(0.0));
    let legend = "†: at 2.7";
    assert!(moved.contains(legend) && moved.matches(" †").count() > 1, "{moved}");
    assert!(!observed.contains('†'), "{observed}");
}

#[test]
fn where_the_frequency_never_moved_only_the_kind_of_the_operation_says_that_it_would_follow() {
    let steady = [USUAL; 9];
    assert_eq!(first(&run("cpu/unknown", 1.0, &steady, 5)).at_frequency, None);
    assert!(fathom::experiments::find("cpu/arithmetic").is_some_and(|method| method.about().version == 1));
    let point = first(&run("cpu/arithmetic", 1.0, &steady, 5));
    let moved = point.at_frequency.clone().expect("by its kind");
    assert_eq!((moved.share, moved.share_interval), (1.0, None));
    assert!(reach(&point).1);
}

#[test]
fn what_contradicts_no_known_share_is_moved_by_it_even_with_four_trials() {
    assert!(fathom::experiments::find("cpu/system_call").is_some());
    let few = &[2.5, 2.7, 2.7, 2.9];
    let kernel = first(&run("cpu/system_call", 0.97, few, 7));
    let moved = kernel.at_frequency.clone().expect("by its kind");
    let range = moved.share_interval.expect("a range");
    assert!(moved.is_by_kind() && (range.low, range.high) == (0.9, 1.0), "{moved:?}");
    let (half, holds) = reach(&kernel);
    assert!(holds && half < 0.01, "{:?}", kernel.estimate());
    assert_eq!(first(&run("cpu/unknown", 0.97, few, 7)).at_frequency, None, "four trials show no share");
    let other =
        first(&run("cpu/system_call", 0.5, &MOVING, 7)).at_frequency.clone().expect("nine trials show it");
    assert!(!other.is_by_kind() && (other.share - 0.5).abs() < 0.05, "{other:?}");
}

#[test]
fn two_runs_at_other_frequencies_are_compared_at_one() {
    let side = |name: &str, times: f64, slower: f64| {
        let ghz: Vec<f64> = MOVING.iter().map(|ghz| ghz * slower).collect();
        let run = costing("cpu/unknown", (1.0, times), &ghz, 6);
        Side::of_run(name, ReducedRun::of_run(&run))
    };
    let compared = |times: f64, slower: f64| {
        let (before, after) = (side("before", 1.0, 1.0), side("after", times, slower));
        Comparison::of(&before, &after, &Margins::all(Some(0.05)), false).rows[0].clone()
    };
    let slow = compared(1.0, 0.93);
    assert!((slow.contrast.ratio() - 1.0).abs() < 0.005, "{slow:?}");
    assert!(!matches!(slow.verdict, Verdict::Worse | Verdict::Better), "{slow:?}");
    let worse = compared(1.2, 0.93);
    assert!((worse.contrast.ratio() - 1.2).abs() < 0.01 && worse.verdict == Verdict::Worse, "{worse:?}");
}

#[test]
fn cycles_of_times_at_the_usual_frequency_owe_nothing_to_how_far_it_moved() {
    fathom::experiments::register();
    let method = fathom::experiments::find("cpu/arithmetic").expect("registered").about();
    let parameter = |name: &str| method.parameters.iter().find(|of| of.name == name).expect("a parameter");
    let chains = |number| {
        Point::new().named(parameter("instruction"), "integer-add").with(parameter("chains"), number)
    };
    let run = of_points("cpu/arithmetic", &[(chains(1), (1.0, 1.0)), (chains(8), (1.0, 0.25))], &MOVING, 8);
    let results = Results::of(&run);
    let cycles = results.findings.iter().flat_map(|(_, of)| of).flat_map(|of| of.statement.figures());
    let cycles: Vec<_> = cycles.filter(|of| of.found.dimension == Dimension::Cycles).collect();
    assert!(!cycles.is_empty());
    for figure in cycles {
        let (low, high) = figure.found.ends().expect("enough trials");
        assert!(low <= COST_NS * USUAL && COST_NS * USUAL <= high, "{figure:?}");
        assert!((high - low) / (COST_NS * USUAL) < 0.006, "{figure:?}");
    }
    let mut printed = crate::printed::Findings::default();
    crate::printed::known::cycles(&results, &mut printed);
    assert!(printed.broken.is_empty(), "{printed:?}");
}

/// The few chains around the trials of one run differed by up to six steps of its clock, 3.6 %, and their range stood as that of the core,
/// while additions took the same time within four in ten thousand.
#[test]
fn what_the_clocks_steps_make_of_the_chains_around_trials_is_no_range_of_the_core() {
    let mut run = run("cpu/unknown", 1.0, &[USUAL; 8], 5);
    for (nth, trial) in run.trials.iter_mut().enumerate() {
        let fathom::record::TrialOutcome::Measured { sample } = &mut trial.outcome else { continue };
        sample.conditions.core_hz_before = Some((0.97 + 0.01 * (nth % 6) as f64) * USUAL * 1e9);
        sample.conditions.core_hz_after = sample.conditions.core_hz_before;
    }
    let results = Results::of(&run);
    let [most, own] =
        [results.core_hz_ends.map(|most| (most.low, most.high)), results.points[0].disturbance.core_hz];
    for (low, high) in [most, own].map(|range| range.expect("a range")) {
        assert!(high / low < 1.001 && (low / 1e9 / USUAL - 1.0).abs() < 0.002, "{low} to {high}");
    }
    let page = fathom::report::RunReport::of(&results);
    let text =
        fathom::report::render(&page, fathom::report::Form::Markdown, fathom::report::Style::default());
    assert!(
        text.contains(
            "The core ran at 2.700 GHz in the median over the trials, at 2.700 GHz in two of three"
        ),
        "{text}"
    );
}
