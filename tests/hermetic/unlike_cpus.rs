//! CPUs of one kind are equals only if they are: a described host whose second CPU is slower, though the machine calls both alike.

use crate::described::{measured, planned_by, planned_of};
use fathom::experiment::Point;
use fathom::record::{BlockVisit, PlannedPoint, Run};
use fathom::report::{Form, RunReport, Style, render};
use fathom::results::Results;
use fathom::sampling::Sample;
use fathom::verify::population::Chance;

const COST: f64 = 160.0;
const HZ: f64 = 2.8e9;

/// A trial on a CPU whose work takes so many times as long, at a frequency that explains it or not.
fn sample(cpu: usize, times: f64, hz: f64, chance: &mut Chance) -> Sample {
    let scatter = 1.0 + 0.005 * chance.normal();
    let observed = |_| (1000.0 * COST * times * scatter * (1.0 + 0.002 * chance.normal())) as i64;
    let batches = (0..40).map(observed).collect();
    crate::described::batches_of_1000(cpu, batches, hz * (1.0 + 0.001 * chance.normal()))
}

/// A run on CPU 1 that also used CPU 0, with what is particular about that.
fn run(times: f64, hz: f64) -> Run {
    let number = fathom::experiment::Parameter::count("number", "");
    let of = |value: u64| planned_of("cpu/unknown", Point::new().with(&number, value));
    let plan: Vec<PlannedPoint> = (0..3).map(of).collect();
    let mut run = Run::begun(crate::described::header(plan.clone()));
    run.header.settings.alike = vec![0];
    let mut chance = Chance::new(11);
    for round in 1..=12 {
        for planned in &plan {
            let sample = match round % 2 {
                0 => sample(0, times, hz, &mut chance),
                _ => sample(1, 1.0, HZ, &mut chance),
            };
            run.trials.push(measured(planned, round, sample));
        }
    }
    run
}

#[test]
fn a_cpu_that_takes_a_tenth_longer_is_named_and_its_trials_count_for_nothing() {
    // By its own frequency, or by something that no chain shows.
    for hz in [HZ / 1.1, HZ] {
        let run = run(1.1, hz);
        let results = Results::of(&run);
        let [unlike] = results.unlike_cpus.as_slice() else { panic!("{:?}", results.unlike_cpus) };
        let cost = unlike.cost.expect("eighteen pairs of trials");
        assert!((unlike.cpu, unlike.trials) == (0, 18) && (cost.value - 1.1).abs() < 0.01, "{unlike:?}");
        for point in &results.points {
            let estimate = point.estimate().expect("an estimate");
            assert!(
                estimate.trials == 6 && estimate.interval.is_some_and(|ends| ends.contains(COST)),
                "{estimate:?}"
            );
        }
        let screen = render(&RunReport::of(&results), Form::Text, Style::default());
        assert!(
            screen.contains("CPU 0 differs from CPU 1, though both are of one kind: the same work takes 1.1"),
            "{screen}"
        );
        assert!(
            render(&RunReport::of(&results), Form::Html, Style::default())
                .contains("CPU 0 differs from CPU 1")
        );
    }
}

#[test]
fn a_lower_frequency_alone_is_enough() {
    let run = run(1.0, HZ / 1.1);
    let results = Results::of(&run);
    let frequency = results.unlike_cpus.first().and_then(|unlike| unlike.frequency).expect("unlike");
    assert!((frequency.value - 1.0 / 1.1).abs() < 0.005, "{frequency:?}");
    // What differs stands first; what does not is no part of the difference.
    let screen = render(&RunReport::of(&results), Form::Text, Style { width: 2000, colour: false });
    assert!(screen.contains("both are of one kind: its frequency is 0.9"), "{screen}");
    assert!(screen.contains("as high (the same work takes "), "{screen}");
    assert!(
        screen.contains(
            "as long there: not surely more than 1 % apart). No figure of work on one CPU uses its 18"
        ),
        "{screen}"
    );
}

#[test]
fn cpus_that_are_alike_are_measured_together() {
    // Alike; a little slower by their frequency at the time; and by their frequency alone, which the work does not follow.
    for (times, hz) in [(1.0, HZ), (1.03, HZ / 1.03), (1.0, HZ / 1.03)] {
        let run = run(times, hz);
        let results = Results::of(&run);
        assert!(results.unlike_cpus.is_empty(), "{:?}", results.unlike_cpus);
        assert!(results.points.iter().all(|point| point.trials.0 == 12));
    }
}

#[test]
fn a_moment_beside_a_neighbour_makes_no_cpu_unlike() {
    let mut run = run(1.1, HZ);
    // All trials on the other CPU are of one process, so of one moment.
    for trial in run.trials.iter_mut().filter(|trial| trial.round % 2 == 0) {
        trial.block = Some(BlockVisit { process: 2, place: trial.round, shared_s: 0.0 });
    }
    let results = Results::of(&run);
    assert!(results.unlike_cpus.is_empty(), "{:?}", results.unlike_cpus);
}

#[test]
fn a_figure_of_the_unlike_cpu_itself_keeps_its_trials() {
    let mut run = run(1.1, HZ);
    let noise = fathom::experiments::find("cpu/noise").expect("an experiment");
    let points = noise.sweep(&run.header.machine);
    let point =
        points.into_iter().find(|point| noise.cpus(point) == Some((0, 0))).expect("a figure of CPU 0");
    let planned = planned_by(noise, point);
    run.header.plan.push(planned.clone());
    let mut chance = Chance::new(3);
    for round in 1..=6 {
        run.trials.push(measured(&planned, round, sample(0, 1.1, HZ, &mut chance)));
    }
    let results = Results::of(&run);
    let [unlike] = results.unlike_cpus.as_slice() else { panic!("{:?}", results.unlike_cpus) };
    assert_eq!((unlike.cpu, unlike.trials), (0, 18));
    let of_noise = results.points.iter().find(|point| point.experiment == "cpu/noise").expect("the point");
    assert_eq!(of_noise.trials.0, 6);
}
