//! The arrangement of points in trials, and of trials in blocks.

use super::jobs::{Importance, Job};
use std::collections::BTreeMap;

/// A point, or the points that are figures of the same trial: visited or left out as a whole.
#[derive(Debug)]
pub(super) struct PlanPart {
    pub(super) experiment: usize,
    pub(super) block: usize,
    /// The greatest importance of its points.
    pub(super) importance: Importance,
    /// Whether a line is fitted through one of its points.
    pub(super) on_line: bool,
    /// Whether its work runs between two cores.
    pub(super) between_cores: bool,
    pub(super) points: Vec<usize>,
}

/// How many times its share of the values an experiment may take of a run's time.
const SHARES: f64 = 3.0;

/// The share of a run that an experiment may take if it is one of many: with the round that is then under way, a tenth. Of a few
/// experiments, which were asked for by name, each may take [`SHARES`] times as much as with equal shares.
const ONE_OF_MANY: f64 = 0.08;

/// The share that one of many may take for the trials that its intervals need, and how many are many: each of fewer was asked for.
const MOST_OF_MANY: f64 = 0.1;
const MANY: f64 = 10.0;

#[derive(Debug)]
pub(super) struct Layout {
    /// The parts in the order of the report.
    pub(super) parts: Vec<PlanPart>,
    /// The parts of each block, in the order of the report.
    pub(super) blocks: Vec<Vec<usize>>,
    pub(super) part_of: Vec<usize>,
    /// The share of a run that each experiment may take beyond the trials that its intervals need.
    pub(super) fair_shares: Vec<f64>,
    /// The share that any of them may take with these.
    pub(super) greatest_share: f64,
}

impl Layout {
    pub(super) fn of(jobs: &[Job]) -> Self {
        let blocks = jobs.iter().map(|job| job.block + 1).max().unwrap_or(0);
        let mut layout = Layout {
            parts: vec![],
            blocks: vec![vec![]; blocks],
            part_of: Vec::with_capacity(jobs.len()),
            fair_shares: vec![],
            greatest_share: 1.0,
        };
        layout.share(jobs);
        let mut places = BTreeMap::new();
        for (point, job) in jobs.iter().enumerate() {
            let part = *places.entry(job.trial).or_insert(layout.parts.len());
            if part == layout.parts.len() {
                layout.blocks[job.block].push(part);
                let (experiment, block, importance) = (job.experiment, job.block, job.importance);
                let (on_line, between_cores, points) = (false, job.between_cores, vec![]);
                layout.parts.push(PlanPart { experiment, block, importance, on_line, between_cores, points });
            }
            layout.parts[part].points.push(point);
            layout.parts[part].importance = layout.parts[part].importance.min(job.importance);
            layout.parts[part].on_line |= job.on_line;
            layout.part_of.push(part);
        }
        layout
    }

    /// All points of these parts, in their order.
    pub(super) fn points(&self, parts: &[usize]) -> Vec<usize> {
        parts.iter().flat_map(|part| self.parts[*part].points.iter().copied()).collect()
    }

    /// Settles which share of a run each experiment may take.
    fn share(&mut self, jobs: &[Job]) {
        let mut points = vec![0.0; jobs.iter().map(|job| job.experiment + 1).max().unwrap_or(0)];
        for job in jobs {
            points[job.experiment] += 1.0;
        }
        let experiments = points.iter().filter(|mine| **mine > 0.0).count() as f64;
        let equal = SHARES / experiments;
        let fair =
            |mine: &f64| (SHARES * mine / jobs.len() as f64).clamp(ONE_OF_MANY, equal.max(ONE_OF_MANY));
        self.fair_shares = points.iter().map(fair).collect();
        self.greatest_share = if experiments < MANY { f64::INFINITY } else { equal.max(MOST_OF_MANY) };
    }
}
