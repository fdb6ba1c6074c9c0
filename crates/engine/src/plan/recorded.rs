//! Costs from an earlier run: for the forecast of a run that has not begun, and for a run that is resumed.

use super::costs::{Costs, Prices};
use super::jobs::Job;
use super::layout::Layout;
use super::planner::Planner;
use super::simulation::{Simulated, VisitTimes};
use super::step::Visit;
use crate::record::{PlannedPoint, Run, Trial};
use fathom_core::experiment::Point;
use std::collections::BTreeMap;
use std::time::Duration;

/// A recorded visit: its block, the time that belongs to no point, the time of each point, and the observation time.
type PastVisit = (usize, Duration, Vec<(usize, Duration)>, Duration);

/// The machine of a recorded run, with its costs at that time.
pub struct RecordedCosts {
    layout: Layout,
    prices: Prices,
    /// The number of points whose cost is known; the others are estimated from their neighbours.
    pub known: usize,
}

impl RecordedCosts {
    /// The recorded costs of these points.
    pub fn of(run: &Run, points: &[PlannedPoint], jobs: &[Job]) -> Self {
        let layout = Layout::of(jobs);
        let mut costs = Costs::new(&layout);
        for (block, preparation, points, observe) in visits(run, points, jobs) {
            costs.saw_visit(&layout, block, preparation, &points, observe);
        }
        let known = layout.part_of.iter().filter(|part| costs.knows(**part)).count();
        RecordedCosts { prices: costs.prices(&layout), layout, known }
    }
}

impl Simulated for RecordedCosts {
    fn spend(&mut self, visit: &Visit, _: Duration) -> VisitTimes {
        let point = |point: &usize| {
            let part = self.layout.part_of[*point];
            let together = self.prices.own[part].at(visit.observe.as_secs_f64());
            (*point, Duration::from_secs_f64(together / self.layout.parts[part].points.len() as f64))
        };
        let preparation = Duration::from_secs_f64(self.prices.preparation[visit.block]);
        VisitTimes { preparation, points: visit.points.iter().map(point).collect(), put_back: vec![] }
    }

    /// Irrelevant before the settlement.
    fn reach(&self, _: usize, _: usize) -> f64 {
        1.0
    }
}

impl Planner {
    /// Records the costs of the trials of a run that is resumed.
    pub fn remember_run(&mut self, run: &Run, points: &[PlannedPoint], jobs: &[Job]) {
        for (block, preparation, points, observe) in visits(run, points, jobs) {
            self.remember(block, preparation, &points, observe);
        }
    }
}

/// The index of each point in a list, by which its trials are found.
pub fn places(points: &[PlannedPoint]) -> BTreeMap<(&str, &Point), usize> {
    let numbered = points.iter().enumerate();
    numbered.map(|(place, planned)| ((planned.experiment.as_str(), &planned.point), place)).collect()
}

/// The visits of a run: the trials of one round and block were made in one process.
fn visits(run: &Run, points: &[PlannedPoint], jobs: &[Job]) -> Vec<PastVisit> {
    let places = places(points);
    let seconds = |seconds: f64| Duration::try_from_secs_f64(seconds).unwrap_or_default();
    let mut visits = BTreeMap::<(u32, usize), (Duration, Vec<(usize, Duration)>)>::new();
    for trial in &run.trials {
        let Some(place) = places.get(&(trial.experiment.as_str(), &trial.point)) else { continue };
        let shared = seconds(trial.block.as_ref().map_or(0.0, |block| block.shared_s));
        let (preparation, points) = visits.entry((trial.round, jobs[*place].block)).or_default();
        *preparation += shared;
        points.push((*place, seconds(trial.took_s).saturating_sub(shared)));
    }
    let first = run.trials.iter().map(|trial: &Trial| trial.round).min();
    let observe = |round| {
        let settled = run.settled.as_ref().filter(|_| Some(round) != first).map(|settled| settled.trial_ns);
        Duration::from_nanos(settled.unwrap_or(run.header.settings.trial_ns))
    };
    let past_visit = |((round, block), (preparation, points))| (block, preparation, points, observe(round));
    visits.into_iter().map(past_visit).collect()
}
