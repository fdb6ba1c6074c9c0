//! Which visit comes next: by the state of the cores, in the order of the rounds, and where the time that is left is best spent.

use super::{PRECISION, check, foresees};
use crate::simulated_machine::{Costs, Course, Machine, after, fresh, run, settings};
use fathom::plan::{CoreWanted, Importance, Moment, Planner, Progress, Step, forecast};
use fathom::results::CoreTrials;
use std::time::Duration;

/// Counts a trial of a point with its core alone or shared.
fn observe(point: &mut Progress, is_shared: bool) {
    (point.trials, point.observed) = (point.trials + 1, point.observed + 1);
    let core = point.core.get_or_insert(CoreTrials { alone: 0, shared: 0 });
    *(if is_shared { &mut core.shared } else { &mut core.alone }) += 1;
}

#[test]
fn a_block_is_prepared_once_a_visit() {
    let mut machine = Machine::of(vec![Costs::block(1, 40, 1.0, 0.01)]);
    let course = check(&mut machine, 30.0);
    assert_eq!(course.settlements[0].points, 40);
    assert!(course.settlements[0].least_trials >= 6);
    foresees(&course).unwrap();
}

#[test]
fn work_between_two_cores_waits_for_both_and_other_work_for_either() {
    let mut machine = Machine::alone(2, 0.01);
    machine.jobs[1].between_cores = true;
    let mut planner = Planner::new(settings(100.0), &machine.jobs);
    let mut progress = fresh(&machine);
    // The neighbour of one of the two cores comes and goes, while the other is alone.
    let (mut trials, mut moment, mut waits) = ([[0; 2]; 2], Moment::Alone, 0);
    for step in 0..400 {
        moment = if step % 40 < 20 { Moment::Either } else { Moment::Alone };
        let at = Duration::from_millis(50 * step);
        match planner.next(at, moment, &progress) {
            Step::Visit(visit) => {
                let point = visit.points[0];
                trials[point][usize::from(moment == Moment::Alone)] +=
                    usize::from(visit.core == CoreWanted::Alone);
                observe(&mut progress[point], visit.core == CoreWanted::Shared);
                planner.visited(visit.block, Duration::from_millis(4), &[(point, Duration::from_millis(10))]);
            }
            Step::Wait(_) => waits += 1,
            Step::Settle(_) => {}
            Step::Done(_) => break,
        }
    }
    assert!(trials[0][0] > 2, "one core is alone: {trials:?}");
    assert!(trials[1][0] == 0 && trials[1][1] > 2, "two are not: {trials:?}, {waits} waits at {moment:?}");
}

#[test]
fn what_lacks_only_its_second_value_waits_within_a_round_for_its_moment() {
    let mut machine = Machine::alone(30, 0.01);
    machine.jobs.iter_mut().for_each(|job| job.on_line = false);
    let mut planner = Planner::new(settings(100.0), &machine.jobs);
    let mut progress = fresh(&machine);
    // Once all have their trials the core is alone when a round begins, and shared from its third visit to its fifth.
    let (mut round, mut visits, mut shared) = (0, 0, 0);
    for step in 0..2000 {
        let is_shared = round > 9 && (2..5).contains(&visits);
        let moment = if is_shared { Moment::Shared } else { Moment::Alone };
        match planner.next(Duration::from_millis(20 * step), moment, &progress) {
            Step::Visit(visit) => {
                visits = if visit.round == round { visits + 1 } else { 0 };
                round = visit.round;
                for point in &visit.points {
                    let one = &mut progress[*point];
                    observe(one, is_shared);
                    // The first ten are precise at once, the others never.
                    one.look(Some(if *point < 10 { 0.001 } else { 0.5 }), PRECISION);
                    one.further = Some(if *point < 10 { 0 } else { 1000 });
                    shared += usize::from(is_shared && *point < 10);
                }
                let took: Vec<_> =
                    visit.points.iter().map(|point| (*point, Duration::from_millis(10))).collect();
                planner.visited(visit.block, Duration::from_millis(4), &took);
            }
            Step::Wait(_) | Step::Settle(_) => {}
            Step::Done(_) => break,
        }
    }
    let second = progress[..10].iter().filter(|one| one.core.is_some_and(|core| core.shared >= 4)).count();
    assert!(
        second >= 9,
        "{second} of 10 have a second value, of {shared} trials with the core shared in {round} rounds"
    );
}

#[test]
fn a_point_that_lacks_its_last_trial_when_time_is_up_is_left_out() {
    let machine = Machine::alone(1, 10.0);
    let mut planner = Planner::new(settings(100.0), &machine.jobs);
    let mut progress = fresh(&machine);
    let mut next = |seconds: f64, observed: usize| {
        (progress[0].trials, progress[0].observed) = (observed, observed);
        let step = planner.next(Duration::from_secs_f64(seconds), Moment::Unknown, &progress);
        planner.visited(0, Duration::ZERO, &[(0, Duration::from_secs(10))]);
        step
    };
    assert!(matches!(next(0.0, 0), Step::Visit(_)));
    assert!(matches!(next(10.0, 1), Step::Settle(settled) if settled.points == 1));
    assert!(matches!(next(94.0, 5), Step::Visit(_)), "a sixth trial may go a little beyond the time");
    assert!(matches!(next(104.0, 5), Step::Visit(_)), "and further while nothing has its interval");
    // It broke, and no other fits.
    assert!(matches!(next(114.0, 5), Step::Settle(settled) if settled.left_out.len() == 1));
    assert!(matches!(next(114.0, 5), Step::Done(_)));
}

#[test]
fn time_left_goes_where_it_is_soonest_enough_and_the_cheap_are_visited_more_often() {
    let mut machine = Machine::of(vec![Costs::alone(50, 0.007), Costs::alone(50, 0.3)]);
    machine.width = 0.3;
    let course = check(&mut machine, 240.0);
    let trials = |points: std::ops::Range<usize>| -> usize {
        course.progress[points].iter().map(|progress| progress.observed).sum()
    };
    assert!(trials(0..50) > 2 * trials(50..100));
    // At the same price what is a little too wide comes before what is five times as wide.
    let mut uneven = Machine::alone(100, 0.01);
    uneven.width = 0.03;
    uneven.make_wide(50..100, 5.0);
    let precise = |course: &Course, points: std::ops::Range<usize>| {
        course.progress[points].iter().filter(|progress| progress.reach.unwrap() <= 0.02).count()
    };
    let course = check(&mut uneven, 90.0);
    assert_eq!((precise(&course, 0..50), precise(&course, 50..100)), (50, 0));
    // A main figure is not left as wide as that, though others are nearer to their target.
    uneven.make_wide(50..100, 8.0);
    let [other, main] = [Importance::Other, Importance::Main].map(|importance| {
        uneven.jobs[60].importance = importance;
        check(&mut uneven, 60.0).progress[60].reach.unwrap()
    });
    assert!(main < 0.9 * other, "{other} {main}");
    let mut precise = Machine::alone(50, 0.01);
    precise.width = 0.001;
    assert!(check(&mut precise, 60.0).elapsed < Duration::from_secs(30), "what is precise is left alone");
}

#[test]
fn figures_of_one_trial_are_visited_together_and_once() {
    let mut machine = Machine::alone(60, 0.02);
    machine.join_figures(3);
    let mut planner = Planner::new(settings(30.0), &machine.jobs);
    let mut progress = fresh(&machine);
    fathom::plan::simulate(&mut planner, &mut machine, &mut progress, &mut |step, _, _| {
        if let Step::Visit(visit) = step {
            assert_eq!(visit.points.len(), 3);
            assert!(visit.points.iter().all(|point| point / 3 == visit.points[0] / 3));
        }
        false
    });
}

#[test]
fn the_pilot_goes_in_the_order_of_the_report_and_later_rounds_are_drawn() {
    let mut machine = Machine::of(vec![Costs::alone(40, 0.007), Costs::block(4, 10, 0.1, 0.01)]);
    let mut rounds = std::collections::BTreeMap::<u32, Vec<usize>>::new();
    let course = run(&mut machine, 60.0);
    for visit in &course.visits {
        rounds.entry(visit.round).or_default().extend(&visit.points);
    }
    assert_eq!(rounds[&1], (0..80).collect::<Vec<_>>());
    let mut second = rounds[&2].clone();
    assert_ne!(second, rounds[&1]);
    assert_ne!(second, rounds[&3]);
    second.sort_unstable();
    assert_eq!(second, rounds[&1], "every point is visited once a round");
    assert_eq!(course.visits, run(&mut machine.clone(), 60.0).visits, "the same seed, the same order");
}

#[test]
fn what_is_costly_to_prepare_is_visited_one_after_the_other_in_an_order_that_is_drawn() {
    let mut machine = Machine::of(vec![Costs::alone(40, 0.007), Costs::block(4, 10, 0.1, 0.01)]);
    let course = run(&mut machine, 60.0);
    let blocks = |round: u32| {
        let visits = course.visits.iter().filter(move |visit| visit.round == round);
        visits.map(|visit| visit.block).collect::<Vec<_>>()
    };
    let (mut orders, mut places) = (vec![], vec![]);
    for round in 2..=7 {
        let blocks = blocks(round);
        let first = blocks.iter().position(|block| *block >= 40).unwrap();
        assert!(blocks[first..first + 4].iter().all(|block| *block >= 40), "round {round}: {blocks:?}");
        orders.push(blocks[first..first + 4].to_vec());
        places.push(first);
    }
    let all_same = |one: &Vec<usize>| orders.iter().all(|order| order == one);
    assert!(!all_same(&orders[0]) && places.iter().any(|place| *place != places[0]), "{orders:?} {places:?}");
}

#[test]
fn a_run_that_is_taken_up_again_goes_on_from_what_is_known() {
    let machine = Machine::of(vec![Costs::alone(100, 0.007), Costs::alone(60, 0.4)]);
    let first = run(&mut machine.clone(), 60.0);
    let left_out = first.settlements.last().unwrap().left_out.clone();
    assert!(!left_out.is_empty());
    let again = after(&first, &mut machine.clone(), 200.0);
    assert!(again.settlements.last().unwrap().left_out.is_empty());
    assert!(again.visits.iter().all(|visit| visit.round > first.visits.last().unwrap().round));
    let pilot = again.visits.iter().filter(|visit| visit.round == again.visits[0].round);
    for visit in pilot {
        assert_eq!(first.progress[visit.points[0]].trials, 0, "what costs are known needs no pilot");
    }
}

#[test]
fn points_that_only_break_are_given_up_and_are_no_reason_to_leave_others_out() {
    let mut machine = Machine::alone(20, 0.01);
    let mut planner = Planner::new(settings(20.0), &machine.jobs);
    let mut progress = fresh(&machine);
    progress[3].trials = 2;
    progress[3].failed_in_a_row = 2;
    let settled = forecast(&mut planner, &mut machine, &mut progress).unwrap();
    assert_eq!((settled.points, settled.left_out.len(), progress[3].trials), (19, 0, 2));
}

#[test]
fn the_trials_of_each_point_lie_all_over_the_run_though_its_promise_leaves_little_time() {
    let mut machine = Machine::of(vec![Costs::alone(150, 0.01), Costs::alone(50, 0.08)]);
    let course = check(&mut machine, 50.0);
    let settled = &course.settlements[0];
    assert!(settled.left_out.is_empty() && settled.end > course.budget.mul_f64(0.75), "{settled:?}");
    let later: Vec<usize> =
        course.visits.iter().filter(|visit| visit.round > 1).map(|visit| visit.points[0]).collect();
    let promised = settled.trials.min(later.len());
    for point in 0..machine.jobs.len() {
        let places: Vec<usize> = (0..promised).filter(|place| later[*place] == point).collect();
        let span = places.last().unwrap_or(&0) - places.first().unwrap_or(&0);
        assert!(2 * span > promised, "point {point}: visits {places:?} of {promised}");
    }
}
