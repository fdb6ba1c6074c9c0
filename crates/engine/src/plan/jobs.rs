//! The elements of a plan: points, the trials that produce them, and the blocks that share a preparation.

use crate::record::PlannedPoint;
use fathom_core::experiment::{Effort, Experiment, Placement, Point};
use fathom_core::machine::Machine;
use std::collections::BTreeMap;

/// The importance of a point for a report with little room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Importance {
    /// A main figure of its experiment, or a point of the line behind one.
    Main,
    /// Any other point through which a line is fitted.
    Line,
    /// Any other point of a quick run: what a longer one adds lies between such points, or is of more settings.
    Quick,
    /// Any other point.
    Other,
}

impl Importance {
    /// All of them, the most important first.
    pub(super) const ALL: [Importance; 4] =
        [Importance::Main, Importance::Line, Importance::Quick, Importance::Other];
}

/// The planner's knowledge of a point that is to be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Job {
    /// The experiment, numbered in the order of the report.
    pub experiment: usize,
    /// The block in which it is measured: an index into [`blocks`].
    pub block: usize,
    /// The trial that produces it: points with the same number are prepared and observed once, together.
    pub trial: usize,
    /// Its importance.
    pub importance: Importance,
    /// Whether a line is fitted through it.
    pub on_line: bool,
    /// Whether its work runs between two cores, so that the state of both counts.
    pub between_cores: bool,
}

/// The points that are measured in one fresh process, one block each, in the order of the report; a point alone is a block
/// of one. Skipped points are in none. Numbers are indices into `points`.
pub fn blocks(experiments: &[&'static dyn Experiment], points: &[PlannedPoint]) -> Vec<Vec<usize>> {
    let due_points = points.iter().enumerate().filter(|(_, planned)| planned.skip.is_none());
    let keyed = due_points.filter_map(|(index, planned)| {
        let experiment = of(experiments, planned)?;
        let trial = trial(experiment, &planned.point);
        // A process is pinned as a whole, so points with other CPUs form another block whatever its name.
        let pinned = (planned.point.placement().name(), experiment.cpus(&planned.point));
        let block = experiment.block(&planned.point);
        let alone = block.is_none().then_some(trial);
        Some((index, (&planned.experiment, block, alone, pinned)))
    });
    grouped(keyed)
}

/// The jobs of points, all of which are to be measured, in their order.
pub fn jobs(experiments: &[&'static dyn Experiment], machine: &Machine, points: &[PlannedPoint]) -> Vec<Job> {
    let blocks = numbered(&blocks(experiments, points), points.len());
    let experiment =
        numbered(&grouped(points.iter().map(|point| &point.experiment).enumerate()), points.len());
    let key = |planned: &PlannedPoint| {
        let point = of(experiments, planned).map(|experiment| trial(experiment, &planned.point));
        (planned.experiment.clone(), point)
    };
    let trials = numbered(&grouped(points.iter().map(key).enumerate()), points.len());
    let importance = importance(experiments, machine, points);
    let on_line = |planned: &PlannedPoint| {
        let trends = of(experiments, planned).map_or(&[][..], |experiment| experiment.about().trends);
        trends.iter().any(|trend| planned.point.get(trend.along).is_some())
    };
    (0..points.len())
        .map(|index| Job {
            experiment: experiment[index],
            block: blocks[index],
            trial: trials[index],
            importance: importance[index],
            on_line: on_line(&points[index]),
            between_cores: points[index].point.placement() == Placement::AcrossCpus,
        })
        .collect()
}

fn of(experiments: &[&'static dyn Experiment], planned: &PlannedPoint) -> Option<&'static dyn Experiment> {
    experiments.iter().copied().find(|experiment| experiment.about().name == planned.experiment)
}

/// The point without the parameter that distinguishes the figures of a trial.
fn trial(experiment: &dyn Experiment, point: &Point) -> Point {
    experiment.figure().map_or_else(|| point.clone(), |figure| point.without(figure.name))
}

/// Groups with the same key, in the order of their first members.
fn grouped<K: Ord>(keyed: impl Iterator<Item = (usize, K)>) -> Vec<Vec<usize>> {
    let (mut places, mut groups) = (BTreeMap::new(), Vec::<Vec<usize>>::new());
    for (index, key) in keyed {
        let place = *places.entry(key).or_insert(groups.len());
        if place == groups.len() {
            groups.push(vec![]);
        }
        groups[place].push(index);
    }
    groups
}

/// The number of each member's group.
fn numbered(groups: &[Vec<usize>], members: usize) -> Vec<usize> {
    let mut numbers = vec![0; members];
    for (number, group) in groups.iter().enumerate() {
        for member in group {
            numbers[*member] = number;
        }
    }
    numbers
}

fn importance(
    experiments: &[&'static dyn Experiment],
    machine: &Machine,
    points: &[PlannedPoint],
) -> Vec<Importance> {
    let mut importances = vec![Importance::Other; points.len()];
    for experiment in experiments {
        let name = experiment.about().name;
        let mine: Vec<usize> = (0..points.len()).filter(|index| points[*index].experiment == name).collect();
        let trends = experiment.about().trends;
        for index in &mine {
            if experiment.effort(&points[*index].point, machine) == Effort::Quick {
                importances[*index] = Importance::Quick;
            }
            if trends.iter().any(|trend| points[*index].point.get(trend.along).is_some()) {
                importances[*index] = Importance::Line;
            }
        }
        for index in main_points(*experiment, machine, points, &mine) {
            importances[index] = Importance::Main;
        }
    }
    importances
}

/// The points of an experiment's main figures; its first point if none is named.
fn main_points(
    experiment: &dyn Experiment,
    machine: &Machine,
    points: &[PlannedPoint],
    mine: &[usize],
) -> Vec<usize> {
    let shown = &experiment.about().shown;
    let landmarks = (shown.landmarks)(machine);
    let mut indices = vec![];
    for figure in shown.main_figures {
        let Some(chosen) = figure.choose(mine.iter().map(|index| &points[*index].point), &landmarks) else {
            continue;
        };
        let along = experiment.about().trends.iter().map(|trend| trend.along).filter(|_| figure.slope);
        let on_line =
            |point: &Point| along.clone().any(|along| point.without(along) == chosen.without(along));
        indices.extend(mine.iter().filter(|index| {
            let point = &points[**index].point;
            point == chosen || on_line(point)
        }));
    }
    if indices.is_empty() {
        indices.extend(mine.first());
    }
    indices
}
