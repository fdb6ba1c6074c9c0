//! What planning and keeping a run cost must not grow faster than the plan: CPU time of this thread, in ratios.

use crate::claim::{Figure, at_most, decided};
use crate::described::planted::{Described, described, server};
use crate::simulated_machine::{Machine as Simulated, run};
use crate::tier::{Outcome, Test, alone};
use fathom::experiment::{Effort, SweepOptions};
use fathom::experiments;
use fathom::plan;
use fathom::record::{Journal, Run};
use fathom::run::RunInProgress;
use std::time::Duration;

pub const TESTS: &[Test] = &alone![
    planning_does_not_grow_faster_than_the_plan,
    eight_thousand_points_cost_eight_times_what_a_thousand_cost,
];

/// Pairs of a small and a large plan, of whose ratios the least and the greatest make the interval.
const PAIRS: usize = 5;

/// CPU time that this thread has used, seconds.
fn used_s() -> f64 {
    // SAFETY: zero is a valid time.
    let mut time: libc::timespec = unsafe { std::mem::zeroed() };
    // SAFETY: a valid place for it.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn timed(work: impl FnOnce()) -> f64 {
    let began = used_s();
    work();
    used_s() - began
}

fn planning_does_not_grow_faster_than_the_plan() -> Outcome {
    let planning = |points: usize| {
        let mut machine = Simulated::alone(points, 0.01);
        timed(|| drop(run(&mut machine, points as f64 * 0.25)))
    };
    planning(200);
    decided(|| {
        let ratios = (0..PAIRS).map(|_| 1.0 / planning(500) * planning(5000));
        // Ten times the points; quadratic work would take a hundred times as long.
        Ok(vec![at_most("5000 points over 500", Some(Figure::spanning(ratios.collect())), 40.0)])
    })
}

/// What a trial costs the run itself must not grow with the number of points: predictions, standing, progress.
fn eight_thousand_points_cost_eight_times_what_a_thousand_cost() -> Outcome {
    let (few, many) = (kept_s(46).0, kept_s(128).0);
    let more = many as f64 / few as f64;
    decided(|| {
        let ratios = (0..PAIRS).map(|_| 1.0 / kept_s(46).1 * kept_s(128).1);
        Ok(vec![at_most(
            format!("{many} points over {few}"),
            Some(Figure::spanning(ratios.collect())),
            2.5 * more,
        )])
    })
}

/// The points of a plan over every pair of so many CPUs, and how long it takes to predict and keep a trial of each, seconds.
fn kept_s(cpus: usize) -> (usize, f64) {
    let table = server().replace("online = 0-127", &format!("online = 0-{}", cpus - 1));
    let machine = described(&table, &Described { affinity: (0..cpus).collect(), ..Described::default() });
    let experiment = experiments::find("cpu/core_to_core").unwrap();
    let asked = SweepOptions { every_pair: true, ..SweepOptions::default() };
    let plan = plan::points(&[experiment], &machine, Effort::Thorough, &asked);
    let points = plan.len();
    let run = Run::begun(fathom::record::Header { machine, ..crate::described::header(plan.clone()) });
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::create(&folder.path().join("run.jsonl")).unwrap();
    let mut in_progress = RunInProgress::new(run, journal, Duration::from_secs(60), None).unwrap();
    let seconds = timed(|| {
        for (index, planned) in plan.into_iter().enumerate() {
            in_progress.predict(experiment, index).unwrap();
            in_progress.record_trial(index, crate::described::trial(planned, 1));
        }
    });
    (points, seconds)
}
