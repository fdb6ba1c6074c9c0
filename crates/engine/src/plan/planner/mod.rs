//! The points that are visited next, and the time limit: a pure function of the costs and results of visits.
//!
//! The pilot round measures the cost of trials. Then the planner settles which points get the trials that an interval needs,
//! within the budget; the rest is left out at once, with its cost, instead of leaving everything without an interval. Rounds
//! in a drawn order keep that promise, which is settled again if costs have grown. The remaining time goes to the intervals
//! that reach the target precision soonest, given the cost of a trial.
//!
//! A run never ends with nothing (`limits.rs`): the most important point is visited first, time for its trials is kept until
//! some point has its interval, and no visit may take so long that this time is lost. Where costs have grown so that the promise
//! hardly fits, points are measured to the end in groups, one after the other (`rounds.rs`).

mod limits;
mod moments;
mod rounds;
mod settling;

use super::costs::{Costs, Prices};
use super::jobs::Job;
use super::layout::Layout;
use super::pilot::{self, Pilot};
use super::progress::Progress;
use super::step::{CoreWanted, Moments, PlannerSettings, Step, Visit};
use crate::record::Ending;
use moments::CoreStates;
use std::collections::VecDeque;
use std::time::Duration;

/// A longer observation per trial gives little more information.
const LONGEST: Duration = Duration::from_millis(30);

/// The share of the remaining time that is promised: the durations of visits vary.
const PROMISED_SHARE: f64 = 0.85;

/// The share of the budget by which the run may be longer if a point lacks little to its interval.
const OVERRUN_SHARE: f64 = 0.05;

/// The same share while no point has its interval.
const OVERRUN_SHARE_WITHOUT_RESULT: f64 = 0.2;

/// Costs are reviewed whenever this share of the budget has passed.
const REVIEW_INTERVAL: f64 = 0.02;

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
    /// The parts that are measured to the end before others where time is short; empty if all are visited in every round.
    group: Vec<usize>,
    /// The most important part, the first of several.
    first: Option<usize>,
    /// The longest visit of that part alone so far, seconds.
    dearest: f64,
    /// The parts of the last visit.
    last: Vec<usize>,
    /// Whether any part has its interval.
    has_value: bool,
    settled: bool,
    /// The time at which more was last attempted after a promise, seconds: without a visit since then it changes nothing.
    attempted: f64,
    /// The number of trials that each part gets; 0 if it is left out.
    goals: Vec<usize>,
    /// The observation time of promised trials, seconds.
    observe: f64,
    /// That of the last visit's trials, seconds.
    last_observe: f64,
    /// The cost of a trial above which it is dear, seconds.
    dear: f64,
    /// The time of the last review of costs, seconds.
    reviewed_at: f64,
    /// The states of the core so far.
    core_states: CoreStates,
    /// The time that each experiment has taken, seconds.
    seconds_by_experiment: Vec<f64>,
}

impl Planner {
    /// A planner without known costs.
    pub fn new(settings: PlannerSettings, jobs: &[Job]) -> Self {
        let layout = Layout::of(jobs);
        let costs = Costs::new(&layout);
        let first = (0..layout.parts.len()).min_by_key(|part| layout.parts[*part].importance);
        let mut pilot = Pilot::new(&layout, settings.budget.as_secs_f64());
        if let Some(first) = first {
            pilot.begin_with(&layout, first);
        }
        Planner {
            prices: costs.prices(&layout),
            costs,
            pilot,
            phase: Phase::Pilot,
            round: settings.rounds + 1,
            queue: VecDeque::new(),
            visiting: false,
            group: vec![],
            first,
            dearest: 0.0,
            last: vec![],
            has_value: false,
            settled: false,
            attempted: -1.0,
            goals: vec![0; layout.parts.len()],
            observe: settings.pilot_observes().as_secs_f64(),
            last_observe: settings.pilot_observes().as_secs_f64(),
            dear: f64::INFINITY,
            reviewed_at: 0.0,
            core_states: CoreStates::default(),
            seconds_by_experiment: vec![0.0; layout.fair_shares.len()],
            layout,
            settings,
        }
    }

    /// The target of the intervals: how far the farther end may be from the value, as a share of it.
    pub(super) fn precision(&self) -> f64 {
        self.settings.precision
    }

    /// Records the durations of the last requested visit: the preparation that belongs to no point, with starting and ending
    /// the process, and each point's own time. Points that were not reached are omitted.
    pub fn visited(&mut self, block: usize, preparation: Duration, points: &[(usize, Duration)]) {
        let observe = Duration::from_secs_f64(self.last_observe);
        self.remember(block, preparation, points, observe);
        let own = |point: &&(usize, Duration)| self.first == Some(self.layout.part_of[point.0]);
        let own: Duration = points.iter().filter(own).map(|(_, took)| *took).sum();
        if own > Duration::ZERO {
            self.dearest = self.dearest.max((preparation + own).as_secs_f64());
        }
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
        if let Some((point, _)) = points.first() {
            let own: Duration = points.iter().map(|(_, took)| *took).sum();
            let experiment = self.layout.parts[self.layout.part_of[*point]].experiment;
            self.seconds_by_experiment[experiment] += (preparation + own).as_secs_f64();
        }
        self.costs.update(&self.layout, block, &mut self.prices);
    }

    /// Records that the last requested visit was ended in the middle of a point's trial, which was not made, and would have taken
    /// longer than this.
    pub fn ended(&mut self, point: usize, least: Duration) {
        let part = self.layout.part_of[point];
        self.costs.saw_ended(part, least.as_secs_f64());
        self.costs.update(&self.layout, self.layout.parts[part].block, &mut self.prices);
    }

    /// The next step, `elapsed` after the run began or was resumed, in this state of the cores. `progress` has an entry for each
    /// point.
    pub fn next(&mut self, elapsed: Duration, moments: impl Into<Moments>, progress: &[Progress]) -> Step {
        let now = Now { elapsed: elapsed.as_secs_f64(), moments: moments.into(), progress };
        self.core_states.saw(now.elapsed, now.moments.on_one);
        self.notice(now);
        loop {
            let step = match self.phase {
                Phase::Pilot => self.pilot(now),
                Phase::Promise => self.next_promised(now),
                Phase::Spend => Some(self.improve(now)),
            };
            if let Some(step) = step {
                return step;
            }
        }
    }

    /// A visit of parts whose cost is unknown, or the settlement; `None` if it is as before.
    fn pilot(&mut self, now: Now) -> Option<Step> {
        if let Some(step) = self.unknown(now) {
            return Some(step);
        }
        self.phase = Phase::Promise;
        self.prices = self.costs.prices(&self.layout);
        if self.settled {
            return self.extend(now);
        }
        self.compare_prices();
        self.goals = self.choose(now, self.affordable(now), self.longest());
        self.settled = true;
        Some(Step::Settle(self.settlement(now)))
    }

    /// A visit of parts whose cost is unknown; `None` if none is left that may be begun.
    fn unknown(&mut self, now: Now) -> Option<Step> {
        let mut pilot = std::mem::take(&mut self.pilot);
        let is_wanted = |part: usize| {
            let unknown = !self.costs.knows(part) && done(&self.layout, part, now).is_some();
            // Once the first pilot is over, nothing is begun that costs too much by what its neighbours cost.
            unknown && (!self.settled || self.may_fit(part, now))
        };
        let mut begin = None;
        while let Some((parts, limit)) = pilot.next(&self.layout, now.elapsed, is_wanted) {
            let end = self.end_of_unknown(&parts, now);
            if end > 0.0 {
                begin = Some((parts, (limit.min(end), end)));
                break;
            }
        }
        self.pilot = pilot;
        begin.map(|(parts, limits)| self.visit(&parts, CoreWanted::Any, limits, now))
    }

    /// A visit that keeps the promise, or a changed settlement; `None` once nothing is left of the promise.
    fn next_promised(&mut self, now: Now) -> Option<Step> {
        let is_due = now.elapsed >= self.reviewed_at + REVIEW_INTERVAL * self.budget();
        if let Some(step) = is_due.then(|| self.review(now)).flatten() {
            return Some(step);
        }
        if let Some(step) = self.queued(now) {
            return Some(step);
        }
        let due = self.due(now);
        let hopeless = !due.is_empty() && self.round > self.settings.rounds + 1 && !self.visiting;
        if hopeless && !self.group.is_empty() {
            // The next group may fit.
            self.visiting = true;
            return self.drop_short(now);
        }
        if due.is_empty() || hopeless {
            return self.after_the_promise(now);
        }
        self.begin_round(due);
        None
    }

    /// The settlement once nothing is left of a promise; `None` if it is as before.
    fn after_the_promise(&mut self, now: Now) -> Option<Step> {
        self.phase = Phase::Spend;
        self.visiting = true;
        let again = std::mem::replace(&mut self.attempted, now.elapsed) >= now.elapsed;
        if let Some(part) = self.nearest_to_a_value(now).filter(|_| !again) {
            return self.rescue(part, now);
        }
        let step = match self.drop_short(now) {
            Some(dropped) if again => Some(dropped),
            dropped => self.extend(now).or(dropped),
        };
        if step.is_none() && !again {
            self.probe(now);
        }
        step
    }

    /// Reviews costs, which may have grown: if the promise no longer fits, the least important points are left out.
    fn review(&mut self, now: Now) -> Option<Step> {
        self.reviewed_at = now.elapsed;
        self.prices = self.costs.prices(&self.layout);
        self.compare_prices();
        self.raise_what_is_dear_no_more();
        let done = self.done(now);
        let beyond = if self.has_value { OVERRUN_SHARE } else { OVERRUN_SHARE_WITHOUT_RESULT };
        let remaining = self.budget() * (1.0 + beyond) - now.elapsed;
        let fits = self.choosing(&done).seconds(&self.goals, self.observe) <= remaining;
        let points_before = self.promised_points(&done);
        let chosen = if fits {
            self.limited(self.goals.clone(), now)
        } else {
            self.choose(now, remaining, self.observe)
        };
        // Parts that were left out return only after the promise is kept.
        for (goal, chosen) in self.goals.iter_mut().zip(chosen).filter(|(goal, _)| **goal > 0) {
            *goal = chosen;
        }
        if self.promised_points(&done) == points_before {
            return None;
        }
        self.queue.clear();
        Some(Step::Settle(self.settlement(now)))
    }

    /// Parts that were promised the least while they were dear get what others get.
    fn raise_what_is_dear_no_more(&mut self) {
        for part in 0..self.goals.len() {
            if (1..self.promised()).contains(&self.goals[part]) && !self.gets_least(part) {
                self.goals[part] = self.promised();
            }
        }
    }

    /// Ends the promise to the current group, or to all: what has no interval is left out.
    fn drop_short(&mut self, now: Now) -> Option<Step> {
        let group = std::mem::take(&mut self.group);
        let all: Vec<usize> = (0..self.goals.len()).collect();
        let mut left_out = false;
        for part in if group.is_empty() { all } else { group } {
            let Some(done) = done(&self.layout, part, now).filter(|_| self.goals[part] > 0) else { continue };
            let has_interval = self.has_interval(part, now);
            self.goals[part] = if has_interval { self.goals[part].min(done) } else { 0 };
            left_out |= !has_interval;
        }
        left_out.then(|| Step::Settle(self.settlement(now)))
    }

    /// Takes in more points if trials were cheaper than estimated.
    fn extend(&mut self, now: Now) -> Option<Step> {
        let done = self.done(now);
        let before = (self.promised_points(&done), self.goals.clone(), self.observe);
        self.goals = self.choose(now, self.affordable(now), self.observe);
        if self.promised_points(&done) <= before.0 {
            (self.goals, self.observe) = (before.1, before.2);
            return None;
        }
        self.phase = Phase::Promise;
        Some(Step::Settle(self.settlement(now)))
    }

    /// A visit of the parts nearest to the target precision, or the end.
    fn improve(&mut self, now: Now) -> Step {
        loop {
            if let Some(step) = self.queued(now) {
                return step;
            }
            let due = self.nearest(now);
            if due.is_empty() {
                // What was left out for want of time is not precise.
                let nothing = !self.has_value && self.goals.contains(&0);
                return Step::Done(if nothing { Ending::Budget } else { Ending::Precision });
            }
            if !self.visiting {
                return Step::Done(Ending::Budget);
            }
            self.begin_round(due);
        }
    }

    /// A visit of parts of one block; `limit` and `end` in seconds.
    fn visit(&mut self, parts: &[usize], core: CoreWanted, (limit, end): (f64, f64), now: Now) -> Step {
        self.visiting = true;
        self.last = parts.to_vec();
        self.last_observe = self.observes(parts);
        Step::Visit(Visit {
            round: self.round,
            block: self.layout.parts[parts[0]].block,
            points: self.layout.points(parts),
            observe: Duration::from_secs_f64(self.last_observe),
            core,
            puts_back: self.phase != Phase::Pilot && self.puts_back(parts),
            limit: Duration::from_secs_f64(limit.max(0.0)),
            end: Duration::from_secs_f64(end.max(0.0)),
            making: Duration::from_secs_f64(self.making(parts, now).max(0.0)),
        })
    }

    /// The observation time of each trial of a visit, seconds: as promised, and beyond the promise as long as the rest of
    /// the visit takes. If a trial's variance is B + W/t after an observation of t, and it costs F besides, (F + t)(B + W/t) is least at
    /// t = √(FW/B); with t = F it is at most twice as much, whatever B and W are.
    fn observes(&self, parts: &[usize]) -> f64 {
        if self.phase != Phase::Spend || self.settings.observe.is_some() {
            return self.observe;
        }
        let block = self.layout.parts[parts[0]].block;
        let besides = self.prices.visit(block, parts, 0.0) / parts.len() as f64;
        besides.min(self.longest()).max(self.observe)
    }

    fn done(&self, now: Now) -> Vec<Option<usize>> {
        (0..self.layout.parts.len()).map(|part| done(&self.layout, part, now)).collect()
    }

    fn is_due(&self, part: usize, now: Now) -> bool {
        let lacks = done(&self.layout, part, now).is_some_and(|done| done < self.goals[part]);
        lacks && !self.has_enough_dear(part, now)
    }

    fn is_missing(&self, part: usize, now: Now) -> bool {
        let missing = |point: &usize| now.progress[*point].is_missing(self.settings.precision);
        let may_be_more = self.settings.trials.is_none() && self.goals[part] > 0;
        may_be_more && self.layout.parts[part].points.iter().any(missing)
    }

    /// Notices whether any part has its interval, of those of the last visit.
    fn notice(&mut self, now: Now) {
        let visited = self.last.iter().any(|part| self.has_interval(*part, now));
        let before = || (0..self.goals.len()).any(|part| self.has_interval(part, now));
        self.has_value |= if self.last.is_empty() { before() } else { visited };
    }

    /// Whether an experiment has not yet taken more than its share of the run.
    fn is_affordable(&self, part: usize) -> bool {
        let experiment = self.layout.parts[part].experiment;
        self.seconds_by_experiment[experiment] <= self.layout.fair_shares[experiment] * self.budget()
    }

    fn has_interval(&self, part: usize, now: Now) -> bool {
        let enough = done(&self.layout, part, now).is_some_and(|done| done >= self.promised());
        enough || self.has_enough_dear(part, now)
    }

    /// Whether the budget is too short for everything on any machine: then nothing is promised whose cost is unknown.
    fn is_short(&self) -> bool {
        pilot::is_short(&self.layout, self.budget())
    }

    /// The least number of trials of a point that is not left out.
    fn promised(&self) -> usize {
        self.settings.goals().1
    }

    fn budget(&self) -> f64 {
        self.settings.budget.as_secs_f64()
    }

    fn longest(&self) -> f64 {
        self.settings.observe.unwrap_or(LONGEST).as_secs_f64()
    }
}

#[derive(Debug, Clone, Copy)]
struct Now<'run> {
    /// Seconds since the run began or was resumed.
    elapsed: f64,
    moments: Moments,
    progress: &'run [Progress],
}

/// The number of a part's trials that count for an interval; `None` if it is given up.
fn done(layout: &Layout, part: usize, now: Now) -> Option<usize> {
    let points = layout.parts[part].points.iter().map(|point| &now.progress[*point]);
    points.filter(|progress| !progress.is_given_up()).map(Progress::counted).min()
}
