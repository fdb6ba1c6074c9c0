//! The points that are visited next, and the time limit: a pure function of the costs and results of visits.
//!
//! The pilot round measures the cost of trials. Then the planner settles which points get the trials that an interval needs,
//! within the budget; the rest is left out at once, with its cost, instead of leaving everything without an interval. Rounds
//! in a drawn order keep that promise, which is settled again if costs have grown. The remaining time goes to the intervals
//! that reach the target precision soonest, given the cost of a trial.

mod settling;

use super::chance;
use super::costs::{Costs, Prices};
use super::jobs::Job;
use super::layout::Layout;
use super::pilot::Pilot;
use super::progress::Progress;
use super::step::{PlannerSettings, Step, Visit};
use crate::record::Ending;
use crate::statistics::MINIMUM_TRIALS;
use std::collections::VecDeque;
use std::time::Duration;

/// A longer observation per trial gives little more information.
const LONGEST: Duration = Duration::from_millis(30);

/// The share of the remaining time that is promised: the durations of visits vary.
const PROMISED: f64 = 0.85;

/// The share of the budget by which the run may be longer if a point lacks little to its interval.
const BEYOND: f64 = 0.05;

/// Costs are reviewed whenever this share of the budget has passed.
const LOOK: f64 = 0.02;

/// A longer preparation fills memory, by hundreds of megabytes.
const COSTLY: Duration = Duration::from_millis(50);

/// Each later round visits this fraction (one in four) of the points that miss the target precision: those that reach it
/// soonest.
const LATER_SHARE: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Phase {
    Pilot,
    Promise,
    Spend,
}

/// Decides what a run does next.
#[derive(Debug)]
pub struct Planner {
    settings: PlannerSettings,
    layout: Layout,
    costs: Costs,
    /// The estimated costs of everything, as of the last review; for blocks visited since, as of now.
    prices: Prices,
    pilot: Pilot,
    phase: Phase,
    round: u32,
    /// The visits of this round that are not yet made: parts of one block each.
    queue: VecDeque<Vec<usize>>,
    /// Whether any visit of this round was made.
    visiting: bool,
    /// The number of trials that each part gets; 0 if it is left out.
    goals: Vec<usize>,
    /// The observation time of trials, seconds.
    observe: f64,
    /// The time of the last review of costs, seconds.
    looked: f64,
}

impl Planner {
    /// A planner without known costs.
    pub fn new(settings: PlannerSettings, jobs: &[Job]) -> Self {
        let layout = Layout::of(jobs);
        let costs = Costs::new(&layout);
        Planner {
            prices: costs.prices(&layout),
            costs,
            pilot: Pilot::new(&layout, settings.budget.as_secs_f64()),
            phase: Phase::Pilot,
            round: settings.rounds + 1,
            queue: VecDeque::new(),
            visiting: false,
            goals: vec![0; layout.parts.len()],
            observe: settings.pilot_observes().as_secs_f64(),
            looked: 0.0,
            layout,
            settings,
        }
    }

    /// The target relative half-width of the intervals.
    pub(super) fn precision(&self) -> f64 {
        self.settings.precision
    }

    /// Records the durations of the last requested visit: the preparation that belongs to no point, with starting and ending
    /// the process, and each point's own time. Points that were not reached are omitted.
    pub fn visited(&mut self, block: usize, preparation: Duration, points: &[(usize, Duration)]) {
        let observe = Duration::from_secs_f64(self.observe);
        self.remember(block, preparation, points, observe);
    }

    /// The same for a visit with another observation time, such as one before the run was resumed.
    pub fn remember(
        &mut self,
        block: usize,
        preparation: Duration,
        points: &[(usize, Duration)],
        observe: Duration,
    ) {
        self.costs.saw_visit(&self.layout, block, preparation, points, observe);
        self.costs.update(&self.layout, block, &mut self.prices);
    }

    /// The next step, `elapsed` after the run began or was resumed. `progress` has an entry for each point.
    pub fn next(&mut self, elapsed: Duration, progress: &[Progress]) -> Step {
        let now = Now { elapsed: elapsed.as_secs_f64(), progress };
        loop {
            let step = match self.phase {
                Phase::Pilot => Some(self.pilot(now)),
                Phase::Promise => self.promised(now),
                Phase::Spend => Some(self.spent(now)),
            };
            if let Some(step) = step {
                return step;
            }
        }
    }

    fn pilot(&mut self, now: Now) -> Step {
        let (layout, costs) = (&self.layout, &self.costs);
        let unknown = |block: usize| {
            let open = |part: &usize| !costs.knows(*part) && done(layout, *part, now).is_some();
            layout.blocks[block].iter().copied().filter(open).collect()
        };
        if let Some((block, parts, limit)) = self.pilot.next(layout, now.elapsed, unknown) {
            return self.visit(block, &parts, limit);
        }
        self.phase = Phase::Promise;
        self.prices = self.costs.prices(&self.layout);
        self.goals = self.choose(now, self.promisable(now), self.longest());
        Step::Settle(self.settlement(now))
    }

    /// A visit that keeps the promise, or a changed settlement; `None` once nothing is left of the promise.
    fn promised(&mut self, now: Now) -> Option<Step> {
        if now.elapsed >= self.looked + LOOK * self.budget()
            && let Some(step) = self.look(now)
        {
            return Some(step);
        }
        if let Some(step) = self.queued(now) {
            return Some(step);
        }
        let due: Vec<usize> = (0..self.goals.len()).filter(|part| self.is_due(*part, now)).collect();
        let hopeless = !due.is_empty() && self.round > self.settings.rounds + 1 && !self.visiting;
        if due.is_empty() || hopeless {
            self.phase = Phase::Spend;
            self.visiting = true;
            return self.renounced(now).or_else(|| self.taken_in(now));
        }
        self.begin_round(due);
        None
    }

    /// Reviews costs, which may have grown: if the promise no longer fits, the least important points are left out.
    fn look(&mut self, now: Now) -> Option<Step> {
        self.looked = now.elapsed;
        self.prices = self.costs.prices(&self.layout);
        let done = self.done(now);
        let left = self.budget() * (1.0 + BEYOND) - now.elapsed;
        if self.choosing(&done).seconds(&self.goals, self.observe) <= left {
            return None;
        }
        let promised = self.promised_points(&done);
        let chosen = self.choose(now, left, self.observe);
        // Parts that were left out return only after the promise is kept.
        for (goal, chosen) in self.goals.iter_mut().zip(chosen).filter(|(goal, _)| **goal > 0) {
            *goal = chosen;
        }
        (self.promised_points(&done) != promised).then(|| Step::Settle(self.settlement(now)))
    }

    /// Leaves out parts that have no interval and will not get one.
    fn renounced(&mut self, now: Now) -> Option<Step> {
        let short = |part: &usize| {
            self.goals[*part] > 0 && done(&self.layout, *part, now).is_some_and(|done| done < MINIMUM_TRIALS)
        };
        let short: Vec<usize> = (0..self.goals.len()).filter(short).collect();
        for part in &short {
            self.goals[*part] = 0;
        }
        (!short.is_empty()).then(|| Step::Settle(self.settlement(now)))
    }

    /// Takes in more points if trials were cheaper than estimated.
    fn taken_in(&mut self, now: Now) -> Option<Step> {
        let done = self.done(now);
        let before = (self.promised_points(&done), self.goals.clone(), self.observe);
        self.goals = self.choose(now, self.promisable(now), self.observe);
        if self.promised_points(&done) <= before.0 {
            (self.goals, self.observe) = (before.1, before.2);
            return None;
        }
        self.phase = Phase::Promise;
        Some(Step::Settle(self.settlement(now)))
    }

    /// A visit of the parts nearest to the target precision, or the end.
    fn spent(&mut self, now: Now) -> Step {
        loop {
            if let Some(step) = self.queued(now) {
                return step;
            }
            let due = self.nearest(now);
            if due.is_empty() {
                return Step::Done(Ending::Precision);
            }
            if !self.visiting {
                return Step::Done(Ending::Budget);
            }
            self.begin_round(due);
        }
    }

    /// The parts that a later round visits: those that need the least time to reach their target. The preparation of a block
    /// is divided among the parts for which it is visited.
    fn nearest(&self, now: Now) -> Vec<usize> {
        let missing = |part: &usize| self.is_missing(*part, now);
        let mut due: Vec<(f64, usize)> = vec![];
        for (block, parts) in self.layout.blocks.iter().enumerate() {
            let missing: Vec<usize> = parts.iter().copied().filter(missing).collect();
            let preparation = self.prices.preparation[block] / missing.len().max(1) as f64;
            due.extend(missing.iter().map(|part| {
                let seconds = preparation + self.prices.own[*part].at(self.observe);
                (self.lacking(*part, now) * seconds, *part)
            }));
        }
        due.sort_by(|one, other| one.0.total_cmp(&other.0));
        due.truncate(due.len().div_ceil(LATER_SHARE).max(8));
        due.into_iter().map(|(_, part)| part).collect()
    }

    /// The expected number of trials until the first of a part's points reaches its target.
    fn lacking(&self, part: usize, now: Now) -> f64 {
        let precision = self.settings.precision;
        let points = self.layout.parts[part].points.iter().map(|point| &now.progress[*point]);
        let missing = points.filter(|progress| progress.is_missing(precision));
        missing.map(Progress::lacking).fold(f64::INFINITY, f64::min)
    }

    /// Draws the order of a round: of its blocks, and of the parts in each. Blocks with costly preparation follow one
    /// another: the next process can reuse memory that one has just returned, while a hypervisor that is informed of it
    /// withdraws it within seconds, and filling a gigabyte then costs ten times as much.
    fn begin_round(&mut self, mut due: Vec<usize>) {
        self.round += 1;
        self.visiting = false;
        let mut chance = chance::of_round(self.settings.seed, self.round);
        due.sort_unstable_by_key(|part| (self.layout.parts[*part].block, *part));
        let same =
            |one: &usize, other: &usize| self.layout.parts[*one].block == self.layout.parts[*other].block;
        let mut visits: Vec<Vec<usize>> = due.chunk_by(same).map(<[usize]>::to_vec).collect();
        chance::shuffle(&mut visits, &mut chance);
        for parts in &mut visits {
            chance::shuffle(parts, &mut chance);
        }
        let is_costly = |parts: &Vec<usize>| {
            self.prices.preparation[self.layout.parts[parts[0]].block] > COSTLY.as_secs_f64()
        };
        // The first of them keeps its drawn place.
        let first = visits.iter().position(is_costly).unwrap_or(visits.len());
        let (costly, others): (Vec<_>, Vec<_>) = visits.split_off(first).into_iter().partition(is_costly);
        self.queue = visits.into_iter().chain(costly).chain(others).collect();
    }

    /// The next visit of the round that fits into the remaining time; others are passed over.
    fn queued(&mut self, now: Now) -> Option<Step> {
        while let Some(mut parts) = self.queue.pop_front() {
            parts.retain(|part| match self.phase {
                Phase::Spend => self.is_missing(*part, now),
                _ => self.is_due(*part, now),
            });
            let Some(first) = parts.first() else { continue };
            let block = self.layout.parts[*first].block;
            let room = self.room(&parts, now);
            let parts = self.fitting(block, parts, room);
            if !parts.is_empty() {
                return Some(self.visit(block, &parts, room));
            }
        }
        None
    }

    /// The time limit of a visit, seconds: a promised interval may take a little more than the remaining time.
    fn room(&self, parts: &[usize], now: Now) -> f64 {
        let short = |part: &usize| done(&self.layout, *part, now).is_some_and(|done| done < MINIMUM_TRIALS);
        let beyond = if self.phase == Phase::Promise && parts.iter().any(short) { BEYOND } else { 0.0 };
        self.budget() * (1.0 + beyond) - now.elapsed
    }

    fn fitting(&self, block: usize, parts: Vec<usize>, room: f64) -> Vec<usize> {
        let mut left = room - self.prices.preparation[block];
        let fits = |part: &usize| {
            let own = self.prices.own[*part].at(self.observe);
            let fits = own <= left;
            left -= if fits { own } else { 0.0 };
            fits
        };
        parts.into_iter().filter(fits).collect()
    }

    fn visit(&mut self, block: usize, parts: &[usize], limit: f64) -> Step {
        self.visiting = true;
        Step::Visit(Visit {
            round: self.round,
            block,
            points: self.layout.points(parts),
            observe: Duration::from_secs_f64(self.observe),
            limit: Duration::from_secs_f64(limit.max(0.0)),
        })
    }

    fn done(&self, now: Now) -> Vec<Option<usize>> {
        (0..self.layout.parts.len()).map(|part| done(&self.layout, part, now)).collect()
    }

    fn is_due(&self, part: usize, now: Now) -> bool {
        done(&self.layout, part, now).is_some_and(|done| done < self.goals[part])
    }

    fn is_missing(&self, part: usize, now: Now) -> bool {
        let missing = |point: &usize| now.progress[*point].is_missing(self.settings.precision);
        self.goals[part] > 0 && self.layout.parts[part].points.iter().any(missing)
    }

    fn budget(&self) -> f64 {
        self.settings.budget.as_secs_f64()
    }

    fn longest(&self) -> f64 {
        self.settings.observe.unwrap_or(LONGEST).as_secs_f64()
    }
}

/// The state of the run.
#[derive(Debug, Clone, Copy)]
struct Now<'run> {
    /// Seconds since the run began or was resumed.
    elapsed: f64,
    progress: &'run [Progress],
}

/// The number of a part's trials that count for an interval; `None` if it is given up.
fn done(layout: &Layout, part: usize, now: Now) -> Option<usize> {
    let points = layout.parts[part].points.iter().map(|point| &now.progress[*point]);
    points.filter(|progress| !progress.is_given_up()).map(|progress| progress.observed).min()
}
