//! Work on two CPUs that a host moves: a figure is of one distance, and the value at the other stands beside it.

use fathom::comparison::{Comparison, Margins, Obstacle, ReducedRun, Side, Verdict};
use fathom::experiment::{Parameter, Placement, Point};
use fathom::record::{Look, PlannedPoint, Run, Trial};
use fathom::report::{Form, RunReport, Style, render};
use fathom::results::{CpuDistances, InterimEstimate, KnownStates, Outcome, PointResult, Results};
use fathom::verify::population::Chance;

/// Nanoseconds of the work while a line takes so long, and of work on one CPU.
const NEAR_NS: f64 = 24.0;
const FAR_NS: f64 = 210.0;
const COST_NEAR: f64 = 1000.0;
const COST_FAR: f64 = 1400.0;

const NUMBER: Parameter = Parameter::count("number", "");

fn planned(number: u64, placement: Placement) -> PlannedPoint {
    crate::described::planned_of("cpu/unknown", Point::at(placement).with(&NUMBER, number))
}

/// A run of so many rounds, in which the CPUs are far apart in those that `is_far` says. Its ticks are nanoseconds.
fn run(rounds: u32, is_far: impl Fn(u32) -> bool, seed: u64) -> Run {
    let mut plan: Vec<PlannedPoint> = (0..3).map(|number| planned(number, Placement::AcrossCpus)).collect();
    plan.push(planned(9, Placement::OneCpu));
    let mut run = Run::begun(crate::described::header(plan.clone()));
    run.header.settings.partner = Some(0);
    let (mut chance, mut at_s) = (Chance::new(seed), 0.0);
    for round in 1..=rounds {
        let line_ns = if is_far(round) { FAR_NS } else { NEAR_NS };
        let look = |at_s: f64, chance: &mut Chance| {
            let ticks = 2.0 * line_ns * (1.0 + 0.02 * chance.normal());
            Look { at_s, cores: vec![], line_ticks: Some(ticks * run.header.clock.ticks_per_second / 1e9) }
        };
        let (before, after) = (look(at_s, &mut chance), look(at_s + 1.0, &mut chance));
        run.looks.extend([before, after]);
        for (place, planned) in plan.iter().enumerate() {
            let of_both = planned.point.placement() == Placement::AcrossCpus;
            let cost = if of_both && is_far(round) { COST_FAR } else { COST_NEAR };
            let scatter = 1.0 + 0.005 * chance.normal();
            let batches = (0..40).map(|_| (1000.0 * cost * scatter * (1.0 + 0.002 * chance.normal())) as i64);
            let sample = crate::described::batches_of_1000(1, batches.collect(), 3e9);
            let began_s = at_s + 0.1 * (place as f64 + 1.0);
            run.trials.push(Trial { began_s, ..crate::described::measured(planned, round, sample) });
        }
        at_s += 2.0;
    }
    run
}

fn holds(point: &PointResult, truth: f64) -> bool {
    let estimate = point.estimate().expect("an estimate");
    let ends = estimate.interval.expect("an interval");
    ends.low < truth && truth < ends.high && ends.high / ends.low < 1.03
}

#[test]
fn a_figure_is_of_the_distance_of_most_of_the_time_and_has_its_value_at_the_other() {
    let run = run(16, |round| round % 8 < 3, 1);
    let results = Results::of(&run);
    let distances = results.cpu_distances.as_ref().expect("looks");
    let [near, far] = distances.distances.as_slice() else { panic!("{distances:?}") };
    assert!((near.line_ns / NEAR_NS - 1.0).abs() < 0.03 && (far.line_ns / FAR_NS - 1.0).abs() < 0.03);
    assert!((near.share - 10.0 / 16.0).abs() < 0.1, "{near:?}");
    let [one, two, three, alone] = results.points.as_slice() else { panic!("four points") };
    for point in [one, two, three] {
        assert!(holds(point, COST_NEAR), "{:?}", point.estimate());
        let distance = point.cpu_distance.as_ref().expect("it is divided");
        let (at, other, trials) = distance.other.as_ref().expect("six trials");
        assert_eq!((distance.trials, *trials, at.line_ns), (10, 6, far.line_ns));
        assert!(other.interval.is_some_and(|ends| ends.contains(COST_FAR)), "{other:?}");
    }
    // Work on one CPU does not mind: all of its trials count.
    assert!(alone.cpu_distance.is_none() && alone.estimate().is_some_and(|found| found.trials == 16));
    let screen = render(&RunReport::of(&results), Form::Text, Style::default());
    assert!(
        screen.contains("The host moved these virtual CPUs")
            || screen.contains("The distance of two CPUs changed"),
        "{screen}"
    );
    let page = render(&RunReport::of(&results), Form::Html, Style::default());
    assert!(page.contains("3 figures of work on both are of the trials at one of them"));
    assert!(page.contains("CPUs at two distances") && page.contains("ns apart)"));
    let json: serde_json::Value =
        serde_json::from_str(&render(&RunReport::of(&results), Form::Json, Style::default())).expect("JSON");
    assert_eq!(json["points"][0]["cpu_distance"]["other"]["trials"], 6);
}

#[test]
fn of_two_distances_the_shorter_comes_first_wherever_the_figure_is() {
    for (is_far, figure) in [(2, COST_NEAR), (6, COST_FAR)] {
        let run = run(16, move |round| round % 8 < is_far, 3);
        let results = Results::of(&run);
        let point = &results.points[0];
        assert!(holds(point, figure), "{:?}", point.estimate());
        let [(near, at_near), (far, at_far)] = point.near_and_far().expect("two distances");
        assert!(near.line_ns < far.line_ns && at_near.value < at_far.value, "{near:?} {far:?}");
    }
}

#[test]
fn a_distance_at_which_the_cpus_hardly_are_is_none() {
    let mut run = run(16, |round| round % 8 < 3, 8);
    let (end, hz) = (run.looks.last().expect("looks").at_s, run.header.clock.ticks_per_second);
    let mut nearer = |apart_s: f64| {
        run.looks.extend((1..=8).map(|nth| Look {
            at_s: end + apart_s * f64::from(nth),
            cores: vec![],
            line_ticks: Some(2.0 * 8.0 * hz / 1e9),
        }));
        Results::of(&run).cpu_distances.map(|found| found.distances.len())
    };
    assert_eq!(nearer(0.01), Some(2), "0.07 of 31 s");
    assert_eq!(nearer(0.1), Some(3), "0.7 of 31 s");
}

#[test]
fn what_was_measured_at_the_rarer_distance_lacks_trials_at_the_usual_one() {
    // Five rounds far apart and three near; then the CPUs stay near.
    let mut run = run(8, |round| round <= 5, 9);
    let (end, hz) = (run.looks.last().expect("looks").at_s, run.header.clock.ticks_per_second);
    let near = |nth: i32| Look {
        at_s: end + f64::from(nth),
        cores: vec![],
        line_ticks: Some(2.0 * NEAR_NS * hz / 1e9),
    };
    run.looks.extend((1..=20).map(near));
    let distances = CpuDistances::of(&run);
    let states = KnownStates { distances: distances.as_ref(), ..KnownStates::default() };
    let interim = |most: u32| {
        let of = |trial: &&Trial| trial.point == run.trials[0].point && trial.round <= most;
        let trials: Vec<&Trial> = run.trials.iter().filter(of).collect();
        InterimEstimate::of(&run, &run.header.plan[0], &trials, states)
    };
    let all = interim(8);
    assert!(all.is_elsewhere && all.valid == 3 && all.further == Some(2), "{all:?}");
    let none = interim(5);
    assert!(none.is_elsewhere && none.valid == 0 && none.further.is_some_and(|more| more >= 4), "{none:?}");
}

#[test]
fn too_few_trials_at_each_distance_give_no_value() {
    let outcome = |rounds: u32, looks_agree: bool| {
        let mut run = run(rounds, |round| round % 2 == 0, 10);
        // Looks over the rest of the run at both distances, so that both are known.
        let (end, hz) = (run.looks.last().expect("looks").at_s, run.header.clock.ticks_per_second);
        run.looks.extend((1..=20).map(|nth| Look {
            at_s: end + f64::from(nth),
            cores: vec![],
            line_ticks: Some(2.0 * (if nth > 10 { NEAR_NS } else { FAR_NS }) * hz / 1e9),
        }));
        if !looks_agree {
            run.looks.iter_mut().for_each(|look| look.line_ticks = Some(2.0 * NEAR_NS * hz / 1e9));
        }
        Results::of(&run).points.swap_remove(0)
    };
    let point = outcome(6, true);
    let Outcome::Disturbed { by, unusable } = &point.outcome else { panic!("{:?}", point.outcome) };
    assert!(
        by.contains("of its 6 trials 3 while a line took 2") && by.contains("an interval needs 4 at"),
        "{by}"
    );
    assert!(unusable.trials == 6 && point.cpu_distance.is_none());
    assert!(outcome(8, true).estimate().is_some_and(|found| found.trials == 4));
    assert!(outcome(6, false).estimate().is_some_and(|found| found.trials == 6), "one distance");
}

#[test]
fn without_looks_or_at_one_distance_all_trials_count() {
    let still = run(16, |_| false, 2);
    let results = Results::of(&still);
    assert!(results.points.iter().all(|point| point.estimate().is_some_and(|found| found.trials == 16)));
    assert!(
        !render(&RunReport::of(&results), Form::Text, Style::default())
            .contains("a cache line went from CPU")
    );
    let mut moved = run(16, |round| round > 8, 3);
    moved.looks.clear();
    let mixed = Results::of(&moved);
    assert!(
        mixed.cpu_distances.is_none() && mixed.points[0].estimate().is_some_and(|found| found.trials == 16)
    );
    assert!(!holds(&mixed.points[0], COST_NEAR), "the median over both is of neither");
}

#[test]
fn a_comparison_is_of_the_distance_at_which_both_sides_were() {
    let compared = |before: &Run, after: &Run| {
        let side = |name: &str, run: &Run| Side::of_run(name, ReducedRun::of_run(run));
        Comparison::of(&side("before", before), &side("after", after), &Margins::all(None), false)
    };
    // Mostly near, and mostly far apart: the same machine, whose host moved the CPUs at other times.
    let near = run(16, |round| round % 3 == 0, 4);
    let far = run(16, |round| round % 3 != 0, 5);
    let comparison = compared(&near, &far);
    assert_eq!(comparison.rows.len(), 4, "{:?}", comparison.not_compared);
    assert!(comparison.rows.iter().all(|row| !row.verdict.is_difference()), "{:?}", comparison.rows);
    assert!(comparison.rows.iter().any(|row| row.verdict != Verdict::Inconclusive));
    // Never at the same distance: no difference of the machines shows in it.
    let comparison = compared(&run(16, |_| false, 6), &run(16, |_| true, 7));
    assert_eq!(comparison.rows.len(), 1, "the work on one CPU");
    assert!(comparison.not_compared.iter().all(|one| one.because == Obstacle::OtherCpuDistance));
    assert_eq!(comparison.not_compared.len(), 3);
}
