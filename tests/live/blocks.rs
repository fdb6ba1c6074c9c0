//! Points of a block are measured in one process, one after the other: the figure of none of them may depend on which others
//! stood before it.

use crate::claim::{Figure, at_least, between, decided};
use crate::tier::{Outcome, Test, alone};
use fathom::experiment::{
    About, Check, Experiment, Failure, Known, Observed, Parameter, Point, Prediction, Site, Workload,
};
use fathom::experiments;
use fathom::machine::Machine;
use fathom::quantity::Unit;
use fathom::sampling::{Block, Setting, TrialOutcome, Visit};
use fathom::statistics::{self, Estimate};
use std::cell::Cell;
use std::path::Path;

pub const TESTS: &[Test] = &alone![
    a_kernel_moves_as_much_behind_others_as_alone,
    a_chase_takes_as_long_behind_others_as_alone,
    a_dependence_on_the_points_before_is_found,
];

/// Trials of either kind: enough for an interval.
const TRIALS: u64 = 10;

fn setting(machine: &Machine) -> Setting {
    Setting {
        home: machine.allowed_cpus().last().copied(),
        // SAFETY: getppid touches nothing.
        parent: unsafe { libc::getppid() } as u32,
        ..crate::described::setting(7, 4_000_000)
    }
}

/// What a point observes as the last of a block of these points.
fn last_of(experiment: &dyn Experiment, points: &[&Point], seed: u64) -> Vec<f64> {
    let machine = Machine::describe(Path::new("."));
    let setting = setting(&machine);
    let block = Block::new(experiment, &setting);
    let visit = |point: &&Point| {
        block.visit(&Visit { points: vec![(*point).clone()], seed, making_s: None, core_wait: None })
    };
    let visited = points.iter().map(visit).collect::<Vec<_>>().pop().expect("a point");
    match visited.outcomes.into_iter().next().expect("an answer") {
        TrialOutcome::Measured { sample } => sample.observations.operation(experiment.unit(points[0]), 1e9),
        unmeasured => panic!("{unmeasured:?}"),
    }
}

/// Whether a point alone and the same point behind others are told apart, measured in turn.
fn alone_and_behind(experiment: &dyn Experiment, before: &[Point], point: &Point) -> (Estimate, Estimate) {
    let (mut alone, mut behind) = (vec![], vec![]);
    let block: Vec<&Point> = before.iter().chain([point]).collect();
    for seed in 0..TRIALS {
        alone.push(last_of(experiment, &[point], seed));
        behind.push(last_of(experiment, &block, seed));
    }
    (statistics::estimate(&alone).unwrap(), statistics::estimate(&behind).unwrap())
}

/// What a point costs behind others over what it costs alone.
fn ratio(experiment: &dyn Experiment, before: &[Point], point: &Point) -> Option<Figure> {
    let (alone, behind) = alone_and_behind(experiment, before, point);
    let figure = |estimate: &Estimate| {
        estimate.interval.map(|interval| Figure {
            value: estimate.value,
            low: interval.low,
            high: interval.high,
        })
    };
    Some(figure(&behind)?.over(figure(&alone)?))
}

/// Behind others a point costs what it costs alone.
fn agree(experiment: &dyn Experiment, before: &[Point], point: &Point) -> Outcome {
    decided(|| {
        Ok(vec![between(format!("{point} behind others"), ratio(experiment, before, point), 0.95, 1.05)])
    })
}

/// The points of the block that the first such point is in: at most so many.
fn block_of(
    name: &str,
    wanted: impl Fn(&Point) -> bool,
    most: usize,
) -> (&'static dyn Experiment, Vec<Point>) {
    let machine = Machine::describe(Path::new("."));
    let experiment = experiments::find(name).expect("a known experiment");
    let possible = |point: &Point| {
        wanted(point) && experiment.requires(point).iter().all(|need| need.unmet_reason(&machine).is_none())
    };
    let points: Vec<Point> = experiment.sweep(&machine).into_iter().filter(possible).collect();
    let block = experiment.block(&points[0]);
    assert!(block.is_some(), "{name} measures in blocks");
    let mine = points.into_iter().filter(|point| experiment.block(point) == block);
    (experiment, mine.take(most).collect())
}

fn a_kernel_moves_as_much_behind_others_as_alone() -> Outcome {
    let (experiment, points) = block_of("memory/bandwidth", |_| true, 6);
    agree(experiment, &points[1..], &points[0])
}

fn a_chase_takes_as_long_behind_others_as_alone() -> Outcome {
    let small = |point: &Point| {
        let size = point.get("size").map(ToString::to_string).and_then(|size| size.parse::<u64>().ok());
        size.is_some_and(|size| (16 << 10..=256 << 10).contains(&size))
    };
    let (experiment, points) = block_of("memory/load_latency", small, 6);
    agree(experiment, &points[1..], &points[0])
}

/// An experiment whose points slow one another: each of a block takes longer than the one before.
struct Dependent;

const PLACE: Parameter = Parameter::count("place", "any");

static ABOUT: About = crate::described::about("test/dependent", &[PLACE]);

impl Experiment for Dependent {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn sweep(&self, _: &Machine) -> Vec<Point> {
        (0..3).map(|place| Point::new().with(&PLACE, place)).collect()
    }

    fn unit(&self, _: &Point) -> Unit {
        Unit::Nanoseconds
    }

    fn predict(&self, _: &Point, _: &Known) -> Result<Prediction, String> {
        Err("of no consequence".to_owned())
    }

    fn prepare<'site>(&self, _: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
        let visits = site.shared.get_or_make(|| Ok(Cell::new(0_u64)))?;
        visits.set(visits.get() + 1);
        let turns = 100 * visits.get();
        Ok(Workload::batched(move |n| {
            for _ in 0..n * turns {
                std::hint::black_box(());
            }
            Ok(())
        }))
    }

    fn evidence(&self, _: &Point, _: &Observed) -> Vec<Check> {
        vec![]
    }
}

fn a_dependence_on_the_points_before_is_found() -> Outcome {
    let points = Dependent.sweep(&Machine::describe(Path::new(".")));
    let seen = || ratio(&Dependent, &points[..2], &points[2]);
    decided(|| Ok(vec![at_least("three times the work behind two others", seen(), 2.0)]))
}
