//! Which points are visited next, and until when: a pure function of what visits have cost and found.
//!
//! The pilot round finds out what trials cost. Then it is settled which points get the trials that an interval needs, within
//! the budget; the rest is left out at once, with its price, instead of leaving everything without. Rounds in a drawn order
//! keep that promise, and are settled anew where costs have grown. What is left of the time goes to the intervals that
//! reach the target precision the soonest, counting what a trial costs.

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

/// A trial that observes for longer learns little more.
const LONGEST: Duration = Duration::from_millis(30);

/// The share of the time left that is promised: visits vary in what they take.
const PROMISED: f64 = 0.85;

/// By how much of the budget the run may be longer where a point lacks only little to its interval.
const BEYOND: f64 = 0.05;

/// Costs are looked at again whenever this share of the budget has gone by.
const LOOK: f64 = 0.02;

/// A preparation that takes longer fills memory, by the hundred megabytes.
const COSTLY: Duration = Duration::from_millis(50);

/// Of the points that miss the target precision, each later round visits this share: those that it brings there the soonest.
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
    /// What everything is believed to cost, as known when last looked at; of what was visited since, as known now.
    prices: Prices,
    pilot: Pilot,
    phase: Phase,
    round: u32,
    /// Visits of this round that are not yet made: the parts, all of one block.
    queue: VecDeque<Vec<usize>>,
    /// Whether any visit of this round was made.
    visiting: bool,
    /// Trials that each part is to have; 0 where it is left out.
    goals: Vec<usize>,
    /// How long trials observe, seconds.
    observe: f64,
    /// When costs were last looked at, seconds.
    looked: f64,
}

impl Planner {
    /// A planner that knows no cost yet.
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

    /// The relative half-width that every interval is to have.
    pub(super) fn precision(&self) -> f64 {
        self.settings.precision
    }

    /// What a visit that was last asked for has taken: the preparation that belongs to no point, with starting and ending the
    /// process, and what each point took by itself. Points that were not reached are left away.
    pub fn visited(&mut self, block: usize, preparation: Duration, points: &[(usize, Duration)]) {
        let observe = Duration::from_secs_f64(self.observe);
        self.remember(block, preparation, points, observe);
    }

    /// The same of a visit that observed for another time, such as one before the run was taken up again.
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

    /// What comes next, so long after the run began or was taken up again. `progress` has an entry for each point.
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

    /// A visit that keeps the promise, or what has become of it; `None` once there is nothing left to promise.
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

    /// Costs may have grown: what is promised must still fit, or the least important goes before everything is left without.
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
        // What was left out once comes back when the promise is kept, not in the middle of it.
        for (goal, chosen) in self.goals.iter_mut().zip(chosen).filter(|(goal, _)| **goal > 0) {
            *goal = chosen;
        }
        (self.promised_points(&done) != promised).then(|| Step::Settle(self.settlement(now)))
    }

    /// Whatever has not got its interval and will not get it is left out.
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

    /// Where trials were cheaper than believed there is time for more points.
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

    /// A visit of what is nearest to the target precision, or the end.
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

    /// The parts that a later round visits: those that take the least time to where they should be. A block's preparation is shared by those that it is visited for.
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

    /// Trials that the first of a part's points to be there is expected to lack.
    fn lacking(&self, part: usize, now: Now) -> f64 {
        let precision = self.settings.precision;
        let points = self.layout.parts[part].points.iter().map(|point| &now.progress[*point]);
        let missing = points.filter(|progress| progress.is_missing(precision));
        missing.map(Progress::lacking).fold(f64::INFINITY, f64::min)
    }

    /// Draws the order of a round: of its blocks, and of the parts in each. What is costly to prepare goes one after the
    /// other: memory that a process has just given back is still there for the next, where a hypervisor that was told of it
    /// takes it away within seconds and a gigabyte then costs ten times as much to fill.
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
        // The first of them keeps the place that was drawn for it.
        let first = visits.iter().position(is_costly).unwrap_or(visits.len());
        let (costly, others): (Vec<_>, Vec<_>) = visits.split_off(first).into_iter().partition(is_costly);
        self.queue = visits.into_iter().chain(costly).chain(others).collect();
    }

    /// The next visit of the round that fits into the time left; what does not is passed over.
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

    /// How long a visit may take, seconds: a promised interval may take a little more than there is.
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

/// How far the run is.
#[derive(Debug, Clone, Copy)]
struct Now<'run> {
    /// Seconds since it began or was taken up again.
    elapsed: f64,
    progress: &'run [Progress],
}

/// Trials that a part has for an interval; `None` where it is given up.
fn done(layout: &Layout, part: usize, now: Now) -> Option<usize> {
    let points = layout.parts[part].points.iter().map(|point| &now.progress[*point]);
    points.filter(|progress| !progress.is_given_up()).map(|progress| progress.observed).min()
}
