//! The plan keeps its word on machines that nobody has: what they cost is set here, and what the planner promises is held
//! against what comes of it.

mod any_machine;
mod visits;

use crate::simulated_machine::{Costs, Course, Machine, run, run_with_trials};
use fathom::plan::Importance;
use fathom::plan::Progress;
use std::time::Duration;

/// The target of the imaginary runs.
const PRECISION: f64 = 0.02;

/// What must hold on every machine, whatever it costs.
fn keeps_its_word(course: &Course, machine: &Machine) -> Result<(), String> {
    let last = course.settlements.last().ok_or("nothing was settled")?;
    let out: Vec<usize> = last.left_out.iter().map(|price| price.point).collect();
    for (point, progress) in course.progress.iter().enumerate() {
        // Of dear trials four are enough, of main figures only if they agree.
        let agree = progress.reach.is_some_and(|reach| reach <= PRECISION / 4.0);
        let few = machine.may_be_dear(point, &course.progress) && (agree || !machine.is_main(point));
        if progress.observed < if few { 4 } else { 6 } && !out.contains(&point) {
            return Err(format!("point {point} ends with {} trials and no skip", progress.observed));
        }
    }
    // What a first visit costs is not known before, so one of them may go beyond the time however it is planned.
    let surprise = machine.dearest_visit().saturating_sub(course.budget / 2);
    // A run without a value may take a fifth more to get one, and no run ends at the very moment.
    let without_value = course.first_value.is_none_or(|at| at > course.budget);
    let most = if without_value { 1.25 } else { 1.1 };
    if course.elapsed > course.budget.mul_f64(most) + surprise {
        return Err(format!("{:?} of {:?}", course.elapsed, course.budget));
    }
    Ok(())
}

/// What must hold where visits of a point cost about the same every time. How well trials will agree is not known before: points
/// that are precise with fewer than the promised trials end the promise early, and only they do.
fn foresees(course: &Course) -> Result<(), String> {
    let settled = &course.settlements[0];
    let (said, came) = (settled.end.as_secs_f64(), course.promised_end.as_secs_f64());
    let is_late = came - said > 0.25 * came;
    let is_early = said - came > 0.25 * came;
    let agree = |point: &Progress| {
        point.observed < settled.most_trials && point.reach.is_some_and(|reach| reach <= PRECISION / 4.0)
    };
    if is_late || (is_early && !course.progress.iter().any(agree)) {
        return Err(format!("forecast {said} s, came {came} s"));
    }
    Ok(())
}

/// A machine that was drawn (`any_machine.rs`): its only point has its interval with the last of the trials that its time allows.
#[test]
fn a_run_without_a_value_may_take_a_fifth_longer_to_get_one() {
    let mut machine = Machine::of(vec![Costs::alone(1, 1.130_871_000_788_795_1)]);
    machine.vary(0.5, 669);
    machine.width = 0.001;
    let course = check(&mut machine, 5.402_873_990_820_124);
    assert!(course.elapsed > course.budget.mul_f64(1.1), "{:?}", course.elapsed);
    assert!(course.first_value.is_none_or(|at| at > course.budget), "{:?}", course.first_value);
}

#[test]
fn a_promise_ends_early_only_where_trials_agree() {
    let mut machine = Machine::of(vec![Costs::alone(60, 0.01), Costs::alone(4, 1.0)]);
    machine.width = PRECISION / 8.0;
    (60..64).for_each(|main| machine.make_important(main, 1.0));
    let mut course = check(&mut machine, 60.0);
    let (said, came) = (course.settlements[0].end, course.promised_end);
    assert!(said > came.mul_f64(1.25), "dear trials that agree end early: {said:?}, {came:?}");
    foresees(&course).unwrap();
    for point in &mut course.progress {
        point.reach = Some(PRECISION);
    }
    assert!(foresees(&course).is_err(), "the same without agreement is a wrong forecast");
}

fn check(machine: &mut Machine, budget: f64) -> Course {
    let course = run(machine, budget);
    keeps_its_word(&course, machine).unwrap();
    course
}

#[test]
fn a_plan_that_fits_gives_eight_trials_to_everything_and_observes_longer_for_half_of_the_time() {
    let course = check(&mut Machine::alone(400, 0.007), 120.0);
    let settled = &course.settlements[0];
    assert_eq!((settled.points, settled.least_trials, settled.left_out.len()), (400, 8, 0));
    assert!(settled.observe > Duration::from_millis(4), "there is time for more: {:?}", settled.observe);
    let promised = settled.end.as_secs_f64() - settled.at.as_secs_f64();
    assert!((0.35..0.5).contains(&(promised / 120.0)), "the rest is for more trials: {promised} s");
    foresees(&course).unwrap();
    assert!(course.progress.iter().all(|progress| progress.observed >= 8));
}

#[test]
fn a_number_of_trials_that_was_asked_for_is_that_of_every_point_or_leaves_it_out() {
    let mut machine = Machine::alone(100, 0.01);
    let course = run_with_trials(&mut machine, 120.0, 20);
    assert!(course.progress.iter().all(|point| point.observed == 20), "{:?}", course.progress[0]);
    let settled = &course.settlements[0];
    assert_eq!((settled.least_trials, settled.most_trials, settled.left_out.len()), (20, 20, 0));
    let scarce = run_with_trials(&mut Machine::alone(100, 0.1), 30.0, 20);
    let settled = scarce.settlements.last().unwrap();
    assert!(!settled.left_out.is_empty() && settled.points > 0 && settled.least_trials == 20, "{settled:?}");
    let few = run_with_trials(&mut Machine::alone(100, 0.01), 120.0, 4);
    assert!(few.progress.iter().all(|point| point.observed == 4), "{:?}", few.progress[0]);
}

#[test]
fn where_time_is_short_observation_is_shortened_first_then_trials_then_points() {
    let settled = |budget| run(&mut Machine::alone(200, 0.02), budget).settlements[0].clone();
    let (ample, shorter, fewer, scarce) = (settled(200.0), settled(100.0), settled(45.0), settled(15.0));
    assert_eq!(ample.observe, Duration::from_millis(30));
    assert!(shorter.observe < ample.observe && shorter.least_trials == 8, "{shorter:?}");
    assert!(fewer.least_trials == 6 && fewer.left_out.is_empty(), "{fewer:?}");
    assert!(scarce.points < 200 && scarce.least_trials >= 6, "{scarce:?}");
}

#[test]
fn what_a_line_is_fitted_through_gets_two_trials_more_where_time_is_short() {
    let mut machine = Machine::alone(200, 0.02);
    machine.fit_a_line(30..50);
    let course = check(&mut machine, 45.0);
    let settled = &course.settlements[0];
    assert_eq!((settled.least_trials, settled.most_trials, settled.left_out.len()), (6, 8, 0));
    assert!(course.progress[30..50].iter().all(|progress| progress.observed >= 8));
}

#[test]
fn memory_that_is_ten_times_slower_leaves_out_the_dear_and_keeps_the_rest() {
    let mut machine = Machine::of(vec![Costs::alone(300, 0.008), Costs::block(8, 30, 0.9, 0.12)]);
    let usual = check(&mut machine, 90.0);
    machine.slow_down(0.0, 10.0, 1);
    let slow = check(&mut machine, 90.0);
    let kept = |course: &Course, from: usize, to: usize| {
        course.progress[from..to].iter().filter(|progress| progress.observed >= 6).count()
    };
    assert_eq!(kept(&usual, 0, 300), 300);
    assert_eq!(kept(&slow, 0, 300), 300, "what is cheap is not left out for what is dear");
    assert!(kept(&slow, 300, 540) < kept(&usual, 300, 540));
    foresees(&slow).unwrap();
}

#[test]
fn a_disk_of_ten_milliseconds_128_cpus_and_one_cpu() {
    let disk = vec![Costs::alone(300, 0.007), Costs::alone(150, 0.35)];
    let pairs = vec![Costs::alone(300, 0.007), Costs::alone(128 * 127 / 2, 0.012)];
    for (costs, budget) in [(disk, 90.0), (pairs, 90.0), (vec![Costs::alone(150, 0.015)], 90.0)] {
        let course = check(&mut Machine::of(costs), budget);
        foresees(&course).unwrap();
        assert!(course.progress[..150].iter().all(|progress| progress.observed >= 6));
    }
}

#[test]
fn where_everything_costs_more_than_there_is_nothing_is_left_without_an_interval_or_a_price() {
    let course = check(&mut Machine::alone(30, 20.0), 60.0);
    let settled = course.settlements.last().unwrap();
    assert!(settled.left_out.len() + settled.points == 30 && settled.points == 0, "{settled:?}");
    assert!(settled.left_out.iter().all(|price| price.cost >= Duration::from_secs(100)));
    let slow = check(&mut Machine::of(vec![Costs::block(1, 40, 1.0, 10.0)]), 60.0);
    assert!(slow.elapsed < Duration::from_secs(60), "a visit ends when its time is over: {:?}", slow.elapsed);
}

#[test]
fn the_budget_that_a_skip_names_is_enough() {
    for costs in [
        vec![Costs::alone(300, 0.007), Costs::alone(150, 0.35)],
        vec![Costs::alone(100, 0.007), Costs::block(30, 30, 1.0, 0.05)],
        vec![Costs::alone(20, 3.0)],
    ] {
        let machine = Machine::of(costs);
        let short = run(&mut machine.clone(), 30.0);
        let named = short.settlements[0].enough;
        assert!(!short.settlements[0].left_out.is_empty());
        let enough = run(&mut machine.clone(), named.as_secs_f64());
        assert!(
            enough.settlements.last().unwrap().left_out.is_empty(),
            "{named:?}: {:?}",
            enough.settlements
        );
    }
}

#[test]
fn main_figures_come_first_though_they_are_dear() {
    let mut machine = Machine::alone(200, 0.05);
    machine.make_important(150, 0.3);
    let course = check(&mut machine, 20.0);
    assert!(course.progress[150].observed >= 6);
    assert!(course.progress.iter().filter(|progress| progress.observed < 6).count() > 50);
}

#[test]
fn a_device_that_becomes_slower_costs_some_points_and_not_all_their_sixth_trial() {
    let mut machine = Machine::of(vec![Costs::alone(200, 0.007), Costs::alone(100, 0.05)]);
    machine.slow_down(30.0, 5.0, 1);
    let course = check(&mut machine, 90.0);
    let whole = course.progress.iter().filter(|progress| progress.observed >= 4).count();
    assert!(course.settlements.len() > 1, "it is settled again");
    // Who keeps all of them to the end has too few trials of most of the slow ones.
    assert!(whole >= 245, "{whole} points have their interval");
}

#[test]
fn what_was_believed_dear_is_taken_in_when_it_turns_out_cheap() {
    let mut machine = Machine::of(vec![Costs::alone(100, 0.05)]);
    machine.slow_down(0.0, 8.0, 0);
    machine.recover(15.0);
    let course = check(&mut machine, 60.0);
    assert!(!course.settlements[0].left_out.is_empty());
    assert!(course.settlements.last().unwrap().left_out.is_empty(), "{:?}", course.settlements.last());
}

#[test]
fn of_dear_trials_that_agree_four_are_enough_and_cheap_ones_are_made_all_the_same() {
    let costs = |own| Costs::alone(if own < 0.1 { 60 } else { 2 }, own);
    let mut machine = Machine::of(vec![costs(0.01), costs(0.5)]);
    machine.width = PRECISION / 8.0;
    let course = check(&mut machine, 30.0);
    let (cheap, dear) = course.progress.split_at(60);
    assert!(cheap.iter().all(|point| point.observed >= 6), "{cheap:?}");
    assert!(dear.iter().all(|point| (4..6).contains(&point.observed)), "{dear:?}");
    assert!(course.settlements.last().unwrap().left_out.is_empty());
}

#[test]
fn dear_trials_that_scatter_are_four_and_the_time_goes_where_it_makes_a_value_known() {
    let mut machine = Machine::of(vec![Costs::alone(60, 0.01), Costs::alone(3, 0.5)]);
    machine.make_wide(60..63, 8.0);
    machine.make_important(62, 0.5);
    let course = check(&mut machine, 24.0);
    let (cheap, dear) = course.progress.split_at(60);
    assert!(dear[..2].iter().all(|point| point.observed == 4), "{dear:?}");
    assert!(dear[2].observed >= 6, "a main figure: {dear:?}");
    let more = cheap.iter().filter(|point| point.observed > 8).count();
    assert!(more >= 10, "{more} of 60 have more than is promised");
}

#[test]
fn one_of_many_whose_costs_grow_does_not_take_the_run() {
    let mut experiments = vec![Costs::alone(20, 0.01); 39];
    experiments.push(Costs::alone(3, 0.5));
    let mut machine = Machine::of(experiments);
    machine.slow_down(15.0, 8.0, 39);
    let course = run(&mut machine, 120.0);
    let visits = course.visits.iter().filter(|visit| visit.points[0] >= 780);
    let late = visits.filter(|visit| visit.round > 1).count();
    assert!(late <= 3, "each of {late} visits took 4 s of 120");
    assert!(!course.settlements.last().unwrap().left_out.is_empty());
    assert!(course.progress[..780].iter().all(|point| point.observed >= 6));
}

/// A rate is searched for seconds in each trial: the eight trials of a main figure would be a sixth of the run.
#[test]
fn a_main_figure_of_one_of_many_gets_four_trials_where_eight_are_more_than_its_share() {
    let mut experiments = vec![Costs::alone(20, 0.05); 39];
    experiments.push(Costs::alone(1, 7.0));
    let mut machine = Machine::of(experiments);
    machine.make_important(780, 7.0);
    machine.make_wide(780..781, 8.0);
    let course = run(&mut machine, 360.0);
    assert_eq!(course.progress[780].observed, 4);
    assert!(course.progress[..780].iter().all(|point| point.observed >= 6));
}

/// Of a curve of many sizes in few blocks a quick run has one size in four: they stay when not all fit into the share of one of many.
#[test]
fn one_of_many_that_is_too_dear_keeps_what_a_quick_run_has_of_it() {
    let mut experiments = vec![Costs::alone(20, 0.01); 39];
    experiments.push(Costs::block(2, 32, 0.02, 0.08));
    let mut machine = Machine::of(experiments);
    let is_quick = |point: &usize| point % 4 == 0;
    (780..844).filter(is_quick).for_each(|point| machine.jobs[point].importance = Importance::Quick);
    let course = run(&mut machine, 120.0);
    let (quick, others): (Vec<usize>, Vec<usize>) = (780..844).partition(is_quick);
    let least = |of: &[usize]| of.iter().map(|point| course.progress[*point].observed).min();
    assert!(least(&quick) >= Some(4), "{:?}", least(&quick));
    assert!(least(&others) < Some(4), "{:?}", least(&others));
}

#[test]
fn the_pilot_does_not_eat_the_run() {
    let mut machine =
        Machine::of(vec![Costs::alone(100, 0.007), Costs::alone(100, 2.0), Costs::alone(50, 0.01)]);
    let course = check(&mut machine, 60.0);
    assert!(course.settlements[0].at < Duration::from_secs(20), "{:?}", course.settlements[0].at);
    let late = course.visits.iter().any(|visit| visit.round == 1 && visit.points[0] >= 200);
    assert!(late, "those behind a dear experiment have their share");
}

#[test]
fn costs_that_vary_by_half_are_foreseen_in_the_sum() {
    for seed in 0..5 {
        let mut machine = Machine::of(vec![Costs::alone(300, 0.02), Costs::block(10, 20, 0.3, 0.03)]);
        machine.vary(0.5, seed);
        foresees(&check(&mut machine, 120.0)).unwrap();
    }
}
