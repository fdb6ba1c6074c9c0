//! Settling: a choice within the remaining time, its forecast, and the cost of the points left out.

use super::{Now, OVERRUN_SHARE_WITHOUT_RESULT, PROMISED_SHARE, Phase, Planner};
use crate::plan::choice::Choosing;
use crate::plan::jobs::Importance;
use crate::plan::layout::PlanPart;
use crate::plan::pilot::Pilot;
use crate::plan::settlement::{Price, Settlement, rounded_up};
use crate::plan::step::Step;
use fathom_core::sorting;
use fathom_core::statistics::MINIMUM_TRIALS;
use std::time::Duration;

impl Planner {
    /// The time that may be promised, seconds.
    pub(super) fn affordable(&self, now: Now) -> f64 {
        (self.budget() - now.elapsed) * PROMISED_SHARE
    }

    /// Chooses for a time in seconds, and sets the observation time of trials.
    pub(super) fn choose(&mut self, now: Now, seconds: f64, longest: f64) -> Vec<usize> {
        let mut done = self.done(now);
        // Nothing is promised on a cost that is unknown, nor, while nothing has its interval, on one that is only known to be more.
        let unsure = |part: usize| {
            (self.is_short() && !self.costs.knows(part)) || (!self.has_value && self.costs.is_more(part))
        };
        done.iter_mut().enumerate().filter(|(part, _)| unsure(*part)).for_each(|(_, done)| *done = None);
        let shortest = self.settings.pilot_observes().as_secs_f64();
        let before_all =
            self.first.filter(|first| !self.has_value && self.can_have_interval(*first, &done, now));
        let choosing = self.choosing(&done);
        let within = |before_all| Choosing { before_all, ..choosing }.within(seconds, (shortest, longest));
        let mut choice = within(before_all);
        // A promise of costs that are all taken from neighbours would be a bet.
        let sure = |(part, goal): (usize, &usize)| *goal > 0 && self.costs.knows(part);
        let some_sure = choice.goals.iter().enumerate().any(sure);
        let nearest = self.nearest_to_a_value(now).filter(|nearest| done[*nearest].is_some());
        if let Some(nearest) = nearest.filter(|_| !some_sure) {
            choice = within(Some(nearest));
        }
        self.observe = choice.observe;
        self.limited(choice.goals, now)
    }

    /// The goals, where parts of dear trials get as few as an interval needs, those of an experiment that would take more than its
    /// share of the run no more than are promised, and of one that would take more than any may, dear main figures as few as an interval
    /// needs and the dearest others none.
    pub(super) fn limited(&self, mut goals: Vec<usize>, now: Now) -> Vec<usize> {
        let done = self.done(now);
        for part in (0..goals.len()).filter(|part| self.gets_least(*part)) {
            goals[part] = goals[part].min(MINIMUM_TRIALS.max(done[part].unwrap_or(0)));
        }
        let seconds = self.seconds_of_experiments(&goals, &self.choosing(&done));
        let share = |experiment: usize| self.layout.fair_shares[experiment] * self.budget();
        for (part, goal) in goals.iter_mut().enumerate() {
            let PlanPart { experiment, on_line, .. } = self.layout.parts[part];
            if seconds[experiment] > share(experiment) && !on_line {
                *goal = (*goal).min(self.promised().max(done[part].unwrap_or(0)));
            }
        }
        let most = self.layout.greatest_share * self.budget();
        for (experiment, seconds) in seconds.iter().enumerate().filter(|(_, seconds)| **seconds > most) {
            let choosing = self.choosing(&done);
            let beyond = self.spare_dear_trials(experiment, seconds - most, &mut goals, &choosing);
            self.leave_out_the_dearest(experiment, beyond, &mut goals, &choosing);
        }
        goals
    }

    /// Gives the main figures of an experiment that takes so many seconds beyond its share as few trials as an interval needs, where these
    /// are dear; the seconds that are then beyond it.
    fn spare_dear_trials(
        &self,
        experiment: usize,
        beyond: f64,
        goals: &mut [usize],
        choosing: &Choosing,
    ) -> f64 {
        let before = choosing.seconds(goals, self.observe);
        let is_mine = |part: &usize| self.layout.parts[*part].experiment == experiment;
        for part in (0..goals.len()).filter(is_mine).filter(|part| self.is_dear(*part)) {
            goals[part] = goals[part].min(MINIMUM_TRIALS.max(choosing.done[part].unwrap_or(0)));
        }
        beyond - (before - choosing.seconds(goals, self.observe))
    }

    /// The time that each experiment has taken and would take with these goals, seconds.
    fn seconds_of_experiments(&self, goals: &[usize], choosing: &Choosing) -> Vec<f64> {
        let mut seconds = self.seconds_by_experiment.clone();
        for (block, parts) in self.layout.blocks.iter().enumerate() {
            let Some(first) = parts.first() else { continue };
            seconds[self.layout.parts[*first].experiment] += choosing.seconds_of(block, goals, self.observe);
        }
        seconds
    }

    /// Leaves out parts of an experiment up to what takes it so many seconds beyond its share, the least important first and of these the
    /// dearest: costs may have grown since they were chosen. Those with main figures stay.
    fn leave_out_the_dearest(
        &self,
        experiment: usize,
        mut beyond: f64,
        goals: &mut [usize],
        choosing: &Choosing,
    ) {
        let parts = &self.layout.parts;
        let may_go = |part: &usize| {
            let is_mine =
                parts[*part].experiment == experiment && parts[*part].importance != Importance::Main;
            is_mine && choosing.needed(*part, goals[*part]) > 0
        };
        let mut dearest: Vec<usize> = (0..goals.len()).filter(may_go).collect();
        sorting::by_number(&mut dearest, |part| -choosing.prices.own[*part].at(self.observe));
        sorting::by_key(&mut dearest, |part| std::cmp::Reverse(parts[*part].importance));
        for part in dearest {
            if beyond <= 0.0 {
                break;
            }
            let block = parts[part].block;
            let before = choosing.seconds_of(block, goals, self.observe);
            goals[part] = 0;
            beyond -= before - choosing.seconds_of(block, goals, self.observe);
        }
    }

    /// Whether a part of known cost can still have its interval. Of the most important part this decides that time is kept for its
    /// trials while nothing has an interval (`kept_back`), and so it comes before all: others would be promised the same time.
    fn can_have_interval(&self, part: usize, done: &[Option<usize>], now: Now) -> bool {
        let remaining = self.budget() * (1.0 + OVERRUN_SHARE_WITHOUT_RESULT) - now.elapsed;
        self.costs.knows(part) && done[part].is_some_and(|done| self.missing_seconds(part, done) <= remaining)
    }

    pub(super) fn choosing<'plan>(&'plan self, done: &'plan [Option<usize>]) -> Choosing<'plan> {
        Choosing {
            layout: &self.layout,
            prices: &self.prices,
            done,
            before_all: None,
            trials: self.settings.goals(),
        }
    }

    pub(super) fn settlement(&self, now: Now) -> Settlement {
        let done = self.done(now);
        let choosing = self.choosing(&done);
        let is_promised = |part: &usize| self.goals[*part] > 0 && done[*part].is_some();
        let goals = || (0..self.goals.len()).filter(is_promised).map(|part| self.goals[part]);
        let remaining = choosing.seconds(&self.goals, self.observe) + self.prepared_twice(now);
        Settlement {
            at: Duration::from_secs_f64(now.elapsed),
            budget: self.settings.budget,
            points: self.promised_points(&done),
            trials: choosing.trials(&self.goals),
            least_trials: goals().min().unwrap_or(0),
            most_trials: goals().max().unwrap_or(0),
            observe: Duration::from_secs_f64(self.observe),
            end: Duration::from_secs_f64(now.elapsed + remaining),
            left_out: self.left_out(&choosing),
            enough: self.enough(),
        }
    }

    /// The points left out, each with its share of the cost of all points of its block that are left out.
    fn left_out(&self, choosing: &Choosing) -> Vec<Price> {
        let observe = self.settings.pilot_observes().as_secs_f64();
        let mut prices = vec![];
        for (block, parts) in self.layout.blocks.iter().enumerate() {
            let out = |part: &usize| self.goals[*part] == 0 && choosing.done[*part].is_some();
            let out: Vec<usize> = parts.iter().copied().filter(out).collect();
            let alone = out.len() == parts.len();
            let preparation =
                if alone { choosing.prices.preparation[block] / out.len().max(1) as f64 } else { 0.0 };
            for part in out {
                let missing = self.promised() - choosing.done[part].unwrap_or(0).min(self.promised());
                let visit = preparation + choosing.prices.own[part].at(observe);
                let points = &self.layout.parts[part].points;
                let cost = Duration::from_secs_f64(missing as f64 * visit / points.len() as f64);
                let more = self.costs.is_more(part);
                let has_interval = choosing.done[part].is_some_and(|done| done >= MINIMUM_TRIALS);
                prices.extend(points.iter().map(|point| Price { point: *point, cost, more, has_interval }));
            }
        }
        prices
    }

    /// While nothing has its interval: the part that can still have it, the most important one or else the nearest to it.
    pub(super) fn nearest_to_a_value(&self, now: Now) -> Option<usize> {
        if self.has_value {
            return None;
        }
        let done = self.done(now);
        let possible = (0..done.len()).filter(|part| self.can_have_interval(*part, &done, now));
        possible.min_by(|one, other| {
            let rank = |part: usize| self.first != Some(part);
            let seconds = |part: usize| self.missing_seconds(part, done[part].unwrap_or(0));
            rank(*one).cmp(&rank(*other)).then(seconds(*one).total_cmp(&seconds(*other)))
        })
    }

    /// Promises this part alone.
    pub(super) fn rescue(&mut self, part: usize, now: Now) -> Option<Step> {
        let mut goals = vec![0; self.goals.len()];
        goals[part] = self.promised();
        self.phase = Phase::Promise;
        self.group.clear();
        let changed = std::mem::replace(&mut self.goals, goals) != self.goals;
        changed.then(|| Step::Settle(self.settlement(now)))
    }

    /// Begins a further pilot, of parts whose cost is unknown, if there are any that may fit into the remaining time.
    pub(super) fn probe(&mut self, now: Now) {
        let open = |part: &usize| !self.costs.knows(*part) && self.goals[*part] == 0;
        let may_fit = |part: usize| self.may_fit(part, now);
        if (self.is_short() || !self.has_value) && (0..self.goals.len()).filter(open).any(may_fit) {
            self.pilot = Pilot::by_importance(&self.layout, now.elapsed, self.budget());
            self.phase = Phase::Pilot;
        }
    }

    /// Whether a part of unknown cost may have its interval in the remaining time, by what its neighbours cost. Trials that
    /// were ended may have hung, so while nothing has its interval they exclude no other.
    pub(super) fn may_fit(&self, part: usize, now: Now) -> bool {
        let fits = || {
            let cost = self.prices.for_trials(self.promised(), &self.layout, part, self.observe);
            cost <= self.budget() - now.elapsed
        };
        fits() || (!self.has_value && !self.prices.knows_experiment(&self.layout, part))
    }

    /// A budget with which this planner would leave nothing out: a pilot round, and the other trials in their share of the
    /// rest.
    fn enough(&self) -> Duration {
        let observe = self.settings.pilot_observes().as_secs_f64();
        let visit = |(block, parts): (usize, &Vec<usize>)| self.prices.visit(block, parts, observe);
        let round: f64 = self.layout.blocks.iter().enumerate().map(visit).sum();
        let further = (self.promised() - 1) as f64;
        let least = round * (1.0 + further / PROMISED_SHARE);
        // If costs have grown during the run, the same budget would not suffice again.
        let left_out = self.goals.contains(&0);
        let more = if left_out { self.budget() * 1.1 } else { self.budget() };
        rounded_up(least.max(more))
    }

    pub(super) fn promised_points(&self, done: &[Option<usize>]) -> usize {
        let is_promised = |(part, goal): (usize, &usize)| {
            if *goal > 0 && done[part].is_some() { self.layout.parts[part].points.len() } else { 0 }
        };
        self.goals.iter().enumerate().map(is_promised).sum()
    }
}
