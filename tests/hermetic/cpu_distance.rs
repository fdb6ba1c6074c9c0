//! Work on two CPUs that a host moves: a figure is of one distance, and the value at the other stands beside it.

use fathom::comparison::{Comparison, Margins, Obstacle, ReducedRun, Side, Verdict};
use fathom::experiment::{Basis, Parameter, Placement, Point, Prediction};
use fathom::quantity::Unit;
use fathom::record::{Look, PlannedPoint, PredictionLine, Run, Trial, TrialOutcome};
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

/// A figure of false sharing joined a mark of CPUs 160 ns apart with those of 32.9 ns.
#[test]
fn a_mark_of_another_distance_than_most_of_a_figure_is_a_cross_that_the_caption_names() {
    let text = |is_far_alone: bool| {
        let mut run = run(16, |round| round % 8 < 3, 1);
        let is_last = |trial: &Trial| trial.point.number_of("number") == Some(2);
        run.trials.retain(|trial| !is_far_alone || !is_last(trial) || trial.round % 8 < 3);
        render(&RunReport::of(&Results::of(&run)), Form::Markdown, Style::default())
    };
    let crossed = text(true);
    let caption = crossed.lines().find(|line| line.contains("Crosses: CPUs 2")).expect("a caption");
    assert!(
        caption.contains("ns apart (number 2") && caption.contains("Other marks of one distance: CPUs 23.9"),
        "{caption}"
    );
    assert!(
        caption.contains("But for the crosses along number, on two CPUs changes by no more"),
        "{caption}"
    );
    assert!(!text(false).contains("Crosses"), "all are of one distance");
}

/// Of 2 443 looks 45 found 17 ns, between which 20 trials lay that no value has.
#[test]
fn a_seldom_position_has_its_looks_and_its_trials() {
    let mut run = run(16, |round| round % 8 < 3, 1);
    let hz = run.header.clock.ticks_per_second;
    for at_s in [8.0, 10.0, 12.0] {
        run.looks.extend([0.095, 0.105].map(|after| Look {
            at_s: at_s + after,
            cores: vec![],
            line_ticks: Some(2.0 * 10.0 * hz / 1e9),
        }));
    }
    run.looks.sort_by(|one, other| one.at_s.total_cmp(&other.at_s));
    let results = Results::of(&run);
    let [_, _, seldom] = results.cpu_positions.as_slice() else { panic!("{:?}", results.cpu_positions) };
    assert!(seldom.is_seldom && (seldom.at.line_ns - 10.0).abs() < 0.1, "{seldom:?}");
    assert_eq!((seldom.at.looks, seldom.trials, seldom.left_out), (6, 3, 3));
    assert!(!seldom.is_of_one_core(), "no core was read: {seldom:?}");
    let page = render(&RunReport::of(&results), Form::Markdown, Style::default());
    assert!(
        page.contains("and 10.0 ns in 6 of 38 looks.") && !page.contains("two threads of one core"),
        "{page}"
    );
    assert!(page.contains("3 of 3 trials at 10.0 ns"), "{page}");
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

/// What another point is predicted from: a term with this value, of the run's first point.
fn predicted_from_the_first(run: &Run) -> PredictionLine {
    let [input, point, ..] = &run.header.plan[..] else { panic!("two points") };
    let basis = Basis::measured(COST_NEAR, &input.experiment, input.point.clone());
    PredictionLine {
        experiment: point.experiment.clone(),
        point: point.point.clone(),
        prediction: Some(Prediction::new().software("as the first", 1.0, basis)),
        unpredicted: None,
        bound: None,
    }
}

#[test]
fn a_prediction_from_trials_at_another_distance_is_none_of_a_figure() {
    let judged = |first_is_far: bool, moved: bool| {
        let mut run =
            run(16, move |round| (5..=8).contains(&round) || round == 1 && (first_is_far || moved), 11);
        if moved {
            run.looks[1].line_ticks = run.looks[2].line_ticks;
        }
        run.predictions.push(predicted_from_the_first(&run));
        let point = Results::of(&run).points.swap_remove(1);
        assert!(holds(&point, COST_NEAR), "{:?}", point.estimate());
        (point.factor().is_some(), point.unpredicted.is_some())
    };
    assert_eq!(judged(false, false), (true, false), "its input was measured near as well");
    assert_eq!(judged(true, false), (false, true), "its input was measured far apart");
    assert_eq!(judged(false, true), (false, true), "its input was moved while it was measured");
}

#[test]
fn while_a_run_lasts_predictions_rest_on_trials_at_the_usual_distance() {
    let basis = |most: u32, moved: bool| {
        let mut run = run(16, |round| round <= 3, 12);
        if moved {
            run.looks[1].line_ticks = Some(2.0 * NEAR_NS * run.header.clock.ticks_per_second / 1e9);
        }
        let distances = CpuDistances::of(&run);
        let states = KnownStates { distances: distances.as_ref(), ..KnownStates::default() };
        let of = |trial: &&Trial| trial.point == run.trials[0].point && trial.round <= most;
        let trials: Vec<&Trial> = run.trials.iter().filter(of).collect();
        let estimate = InterimEstimate::of(&run, &run.header.plan[0], &trials, states);
        estimate.basis(Unit::Nanoseconds).map(|found| found.value)
    };
    assert_eq!([basis(3, false), basis(1, true)], [None, None], "far apart, and on the way");
    let near = basis(5, false).expect("two trials near");
    assert!((near / COST_NEAR - 1.0).abs() < 0.05, "{near}");
}

/// The latency beside a full load was told at the distance of most of the time alone, and was another at the other.
#[test]
fn what_a_question_asks_at_each_distance_is_answered_at_each() {
    const LOAD: Parameter = Parameter::named("load", "");
    const DELAY: Parameter = Parameter::count("delay", "");
    const THREADS: Parameter = Parameter::count("load_threads", "");
    const FIGURE: Parameter = Parameter::named("figure", "");
    fathom::experiments::register();
    let name = "memory/loaded_latency";
    let point = Point::at(Placement::Spread).named(&LOAD, "read").with(&DELAY, 0).with(&THREADS, 1);
    let method = fathom::experiment::registry::find(name).expect("an experiment");
    let planned = crate::described::planned_by(method, point.named(&FIGURE, "latency"));
    let mut run = run(16, |round| round % 8 < 3, 1);
    run.header.plan[0] = planned.clone();
    for trial in run.trials.iter_mut().filter(|trial| trial.point.number_of("number") == Some(0)) {
        (trial.experiment, trial.point) = (planned.experiment.clone(), planned.point.clone());
    }
    let page = render(&RunReport::of(&Results::of(&run)), Form::Markdown, Style::default());
    let asked = "What a load takes while others read at full speed";
    // The planted trials have no evidence, so the figure at the usual distance is none that answers.
    assert!(
        page.contains(
            "Not answered in this run: what a load takes while others read at full speed. It has 1 value"
        ),
        "{page}"
    );
    assert!(page.contains(&format!("{asked} (CPUs 209 ns apart, 6 trials): read · delay 0")), "{page}");
}

/// A run of so many rounds, every second of them far apart, and then looks at both distances, so that both are known.
fn at_each_in_turn(rounds: u32) -> Run {
    let mut run = run(rounds, |round| round % 2 == 0, 10);
    let (end, hz) = (run.looks.last().expect("looks").at_s, run.header.clock.ticks_per_second);
    run.looks.extend((1..=20).map(|nth| Look {
        at_s: end + f64::from(nth),
        cores: vec![],
        line_ticks: Some(2.0 * (if nth > 10 { NEAR_NS } else { FAR_NS }) * hz / 1e9),
    }));
    run
}

/// Of an experiment all values were lost, and no line of its paper named it; the line on disturbances named steal.
#[test]
fn lost_values_are_named_with_what_cost_them() {
    const MOVED: &str = "its two CPUs were moved nearer and apart";
    let mut run = at_each_in_turn(6);
    let page = |run: &Run, form| {
        let text = render(
            &RunReport::of(&Results::of(run)).in_full(true),
            form,
            Style { width: 400, colour: false },
        );
        text.replace("\\_", "_")
    };
    let kept = page(&run, Form::Markdown);
    assert!(kept.contains(&format!("3 of 4 values lost ({MOVED}): number 0 · on two CPUs;")), "{kept}");
    assert!(!kept.contains("Of one more"), "{kept}");
    let screen = page(&run, Form::Text);
    assert!(screen.contains(&format!(" 3 values lost ({MOVED})")), "{screen}");
    for planned in run.header.plan.iter_mut().take(3) {
        planned.experiment = "cpu/lost".to_owned();
    }
    for trial in run.trials.iter_mut().filter(|trial| trial.point.placement() == Placement::AcrossCpus) {
        trial.experiment = "cpu/lost".to_owned();
    }
    let all = page(&run, Form::Markdown);
    assert!(all.contains("1 experiment ask"), "{all}");
    assert!(all.contains(&format!("Of one more all values were lost: `cpu/lost` ({MOVED}).")), "{all}");
}

/// Of 178 loads 45 got no time, and their section named none of them.
#[test]
fn planned_figures_without_time_are_named_in_their_section() {
    let mut run = at_each_in_turn(6);
    let first = run.header.plan[0].point.clone();
    let mut refused = run.trials.iter().find(|trial| trial.point == first).expect("a trial").clone();
    run.trials.retain(|trial| trial.point != first);
    let page = |run: &Run| {
        let results = Results::of(run);
        let report = RunReport::of(&results).in_full(true);
        render(&report, Form::Markdown, Style { width: 400, colour: false })
    };
    let untried = page(&run);
    assert!(untried.contains("1 of 4 planned figures got too little time for a value: "), "{untried}");
    assert!(untried.contains("1 of 4 planned, 1 without time"), "{untried}");
    // 31 were said to be without time, one of which this file system cannot do.
    refused.outcome = TrialOutcome::Skipped { reason: "not on this file system".to_owned() };
    run.trials.push(refused);
    let tried = page(&run);
    assert!(tried.contains("1 of 3 planned, 2 disturbed") && !tried.contains("without time"), "{tried}");
    assert!(!tried.contains("got too little time"), "{tried}");
}

#[test]
fn too_few_trials_at_each_distance_give_no_value() {
    let outcome = |rounds: u32, looks_agree: bool| {
        let mut run = at_each_in_turn(rounds);
        if !looks_agree {
            let hz = run.header.clock.ticks_per_second;
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
