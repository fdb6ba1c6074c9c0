//! The rounds of visits: which parts of the promise, or of those that miss the target precision, and in which order.

use super::{Now, OVERRUN_SHARE, OVERRUN_SHARE_WITHOUT_RESULT, Phase, Planner, done};
use crate::plan::chance;
use crate::plan::jobs::Importance;
use crate::plan::progress::Progress;
use crate::plan::step::{CoreWanted, Step};
use crate::results::COARSE;
use fathom_core::sorting;
use fathom_core::statistics::MINIMUM_TRIALS;
use std::collections::BTreeSet;
use std::time::Duration;

/// A longer preparation fills memory, by hundreds of megabytes.
const COSTLY: Duration = Duration::from_millis(50);

/// Each later round visits this fraction (one in four) of the points that miss the target precision: those that reach it
/// soonest.
const LATER_SHARE: usize = 4;

/// The share of the remaining time up to which a promise is kept in rounds of everything, so that the trials of each point lie all
/// over the run: what changes in minutes (the share of a cache, a device, heat) affects all points alike and shows in their
/// intervals. A promise is made with more to spare; one that needs more than this has met costs that grew.
const AT_EASE: f64 = 0.95;

/// The share of the remaining time that a group of points takes which is measured to the end before the next.
const GROUP: f64 = 0.25;

/// How many times as much as the mean a dear trial costs.
const DEAR: f64 = 3.0;

/// The share of a group's time that the preparation of a block must take for all of its parts to be measured in one group.
const TOGETHER: f64 = 0.02;

impl Planner {
    /// The parts of the next round. Where the promise hardly fits any more, they are a group that is measured to the end: the most
    /// important part alone while nothing has its interval, then the most important and cheapest ones. A line is fitted
    /// within rounds, so the parts of an experiment's lines stay together.
    pub(super) fn due(&mut self, now: Now) -> Vec<usize> {
        let begun: Vec<usize> = self.group.iter().copied().filter(|part| self.is_due(*part, now)).collect();
        if !begun.is_empty() {
            return begun;
        }
        self.group.clear();
        let due: Vec<usize> = (0..self.goals.len()).filter(|part| self.is_due(*part, now)).collect();
        if due.is_empty() || self.is_at_ease(now) {
            return due;
        }
        self.group = match self.first_due(now) {
            Some(first) => vec![first],
            None => self.leading(due, GROUP * self.remaining(now), now),
        };
        self.group.clone()
    }

    fn remaining(&self, now: Now) -> f64 {
        (self.budget() - now.elapsed).max(0.0)
    }

    /// Whether rounds are of everything, because there is time to spare.
    fn is_at_ease(&self, now: Now) -> bool {
        let done = self.done(now);
        let seconds = self.choosing(&done).seconds(&self.goals, self.observe);
        // Where points are left out the next trials may show that more do not fit.
        seconds <= AT_EASE * self.remaining(now) && (self.has_value || !self.goals.contains(&0))
    }

    /// The most important part, while nothing has its interval: unless there is time to spare it is measured alone to the end first.
    fn first_due(&self, now: Now) -> Option<usize> {
        self.first.filter(|first| !self.has_value && self.is_due(*first, now))
    }

    /// The time that preparing for the most important part alone takes, seconds, where its block is prepared again for the rest.
    pub(super) fn prepared_twice(&self, now: Now) -> f64 {
        let Some(first) = self.first_due(now).filter(|_| !self.is_at_ease(now)) else { return 0.0 };
        let block = self.layout.parts[first].block;
        let has_others =
            self.layout.blocks[block].iter().any(|part| *part != first && self.is_due(*part, now));
        let lacks = self.goals[first].saturating_sub(done(&self.layout, first, now).unwrap_or(0)) as f64;
        if has_others { lacks * self.prices.preparation[block] } else { 0.0 }
    }

    /// The most important of these parts and of these the cheapest, as many as need this time in seconds, at least one.
    fn leading(&self, due: Vec<usize>, seconds: f64, now: Now) -> Vec<usize> {
        let part = |part: usize| &self.layout.parts[part];
        let shortfall =
            |part: usize| self.goals[part].saturating_sub(done(&self.layout, part, now).unwrap_or(0)) as f64;
        let preparing =
            |part: usize| shortfall(part) * self.prices.preparation[self.layout.parts[part].block];
        let price = |part: usize| preparing(part) + shortfall(part) * self.prices.own[part].at(self.observe);
        let mut priced: Vec<(f64, usize)> = due.iter().map(|part| (price(*part), *part)).collect();
        sorting::by(&mut priced, |one, other| {
            let importance = part(one.1).importance.cmp(&part(other.1).importance);
            importance.then(one.0.total_cmp(&other.0))
        });
        let (mut seconds_used, mut chosen) = (0.0, vec![false; self.goals.len()]);
        let (mut blocks, mut lines) = (BTreeSet::new(), BTreeSet::new());
        for (price, leader) in priced {
            if seconds_used > 0.0 && seconds_used + price > seconds {
                break;
            }
            seconds_used += price;
            chosen[leader] = true;
            if preparing(leader) > TOGETHER * seconds {
                blocks.insert(part(leader).block);
            }
            lines.extend(part(leader).on_line.then_some(part(leader).experiment));
        }
        let together = |other: &usize| {
            let part = part(*other);
            chosen[*other]
                || blocks.contains(&part.block)
                || (part.on_line && lines.contains(&part.experiment))
        };
        due.into_iter().filter(together).collect()
    }

    /// The parts that a later round visits: those that need the least time to reach their target. The preparation of a block
    /// is divided among the parts for which it is visited.
    pub(super) fn nearest(&self, now: Now) -> Vec<usize> {
        let missing = |part: &usize| self.is_missing(*part, now);
        let mut due: Vec<(f64, usize)> = vec![];
        for (block, parts) in self.layout.blocks.iter().enumerate() {
            let missing: Vec<usize> =
                parts.iter().copied().filter(|part| missing(part) && self.is_affordable(*part)).collect();
            let preparation = self.prices.preparation[block] / missing.len().max(1) as f64;
            due.extend(missing.iter().map(|part| {
                let seconds = preparation + self.prices.own[*part].at(self.observe);
                (self.shortfall(*part, now) * seconds, *part)
            }));
        }
        sorting::by_number(&mut due, |(seconds, _)| *seconds);
        due.truncate(due.len().div_ceil(LATER_SHARE).max(8));
        let mut parts: Vec<usize> = due.into_iter().map(|(_, part)| part).collect();
        // A costly preparation serves all that still lacks precision.
        let prepared: BTreeSet<usize> = parts.iter().map(|part| self.layout.parts[*part].block).collect();
        let costly = prepared.into_iter().filter(|block| self.is_costly(*block));
        let others: Vec<usize> = costly.flat_map(|block| self.layout.blocks[block].iter().copied()).collect();
        parts.extend(others.into_iter().filter(|part| missing(part)));
        parts.sort_unstable();
        parts.dedup();
        // Those that lack trials of one state of the core wait for its moment while the others are measured; without others a round
        // is begun only at the moment.
        let is_besides = |part: &usize| {
            self.is_due_shared(*part, now)
                || !parts.is_empty() && self.may_lack_shared(*part, now)
                || self.may_lack_alone(*part, now)
                || self.is_wide_main_figure(*part, now)
        };
        let besides = (0..self.goals.len())
            .filter(|part| self.is_affordable(*part) && parts.binary_search(part).is_err());
        let besides: Vec<usize> = besides.filter(is_besides).collect();
        parts.extend(besides);
        parts
    }

    /// Whether a main figure whose trials are not dear is wider than every value should be: one process that differs by a tenth makes
    /// an interval of four trials so wide that others seem nearer to their target, and it is what a reader looks at first.
    fn is_wide_main_figure(&self, part: usize, now: Now) -> bool {
        let of = &self.layout.parts[part];
        let is_wide = |progress: &Progress| progress.reach.is_some_and(|reach| reach > COARSE);
        of.importance == Importance::Main
            && self.is_missing(part, now)
            && self.progress_of(part, now).any(is_wide)
            && self.prices.visit(of.block, &[part], self.observe) <= self.dear
    }

    /// The expected number of trials until the first of a part's points reaches its target.
    fn shortfall(&self, part: usize, now: Now) -> f64 {
        let precision = self.settings.precision;
        let points = self.layout.parts[part].points.iter().map(|point| &now.progress[*point]);
        let missing = points.filter(|progress| progress.is_missing(precision));
        missing.map(Progress::shortfall).fold(f64::INFINITY, f64::min)
    }

    /// Draws the order of a round: of its blocks, and of the parts in each. Blocks with costly preparation follow one
    /// another: the next process can reuse memory that one has just returned, while a hypervisor that is informed of it
    /// withdraws it within seconds, and filling a gigabyte then costs ten times as much.
    pub(super) fn begin_round(&mut self, mut due: Vec<usize>) {
        self.round += 1;
        self.visiting = false;
        let mut chance = chance::of_round(self.settings.seed, self.round);
        sorting::by_key(&mut due, |part| (self.layout.parts[*part].block, *part));
        let same =
            |one: &usize, other: &usize| self.layout.parts[*one].block == self.layout.parts[*other].block;
        let mut visits: Vec<Vec<usize>> = due.chunk_by(same).map(<[usize]>::to_vec).collect();
        chance::shuffle(&mut visits, &mut chance);
        for parts in &mut visits {
            chance::shuffle(parts, &mut chance);
        }
        let is_costly = |parts: &Vec<usize>| self.is_costly(self.layout.parts[parts[0]].block);
        // The first of them keeps its drawn place.
        let first = visits.iter().position(is_costly).unwrap_or(visits.len());
        let (costly, others): (Vec<_>, Vec<_>) = visits.split_off(first).into_iter().partition(is_costly);
        self.queue = visits.into_iter().chain(costly).chain(others).collect();
    }

    /// The next visit of the round that fits into the remaining time; others are passed over.
    pub(super) fn queued(&mut self, now: Now) -> Option<Step> {
        while !self.queue.is_empty() {
            let Some((place, core)) = self.suiting(now) else { return Some(self.wait()) };
            // What waits for another moment is left for the next round, unless this one has measured nothing yet. Such a visit is
            // chosen only if all others wait too.
            if self.visiting && core == CoreWanted::Shared && self.awaits_all_alone(&self.queue[place], now) {
                self.queue.clear();
                continue;
            }
            let visit = self.queue.remove(place).unwrap_or_default();
            let (parts, closed): (Vec<usize>, Vec<usize>) =
                visit.into_iter().partition(|part| self.is_open(*part, now));
            if parts.is_empty() {
                continue;
            }
            let (parts, mut others) = self.by_core(parts, core, now);
            others.extend(closed.into_iter().filter(|part| self.awaits_shared(*part, now)));
            self.queue.extend(Some(others).filter(|others| !others.is_empty()));
            let block = self.layout.parts[parts[0]].block;
            let room = self.room(&parts, now);
            let reserve = self.kept_back(&parts, now);
            let parts = self.fitting(block, parts, room - reserve);
            if !parts.is_empty() {
                let end = self.end_of_known(&parts, now);
                return Some(self.visit(&parts, core, (room.min(end), end), now));
            }
        }
        None
    }

    pub(super) fn compare_prices(&mut self) {
        let parts = self.layout.parts.len().max(1) as f64;
        let visit = |(block, parts): (usize, &Vec<usize>)| self.prices.visit(block, parts, self.observe);
        let all: f64 = self.layout.blocks.iter().enumerate().map(visit).sum();
        self.dear = DEAR * all / parts;
    }

    /// Whether a part of dear trials has as many as an interval needs: the two more that others are promised are worth more elsewhere,
    /// and come once that is done, if they bring its interval to the target. A main figure must be precise besides. Cheap trials are made
    /// all the same: they may meet a state of the machine that is seldom.
    pub(super) fn has_enough_dear(&self, part: usize, now: Now) -> bool {
        let is_main = self.layout.parts[part].importance == Importance::Main;
        let enough = |progress: &Progress| {
            progress.counted() >= MINIMUM_TRIALS
                && (!is_main || progress.is_surely_precise(self.settings.precision))
        };
        self.is_dear(part) && self.progress_of(part, now).all(enough)
    }

    /// Whether a part is promised no more trials than an interval needs: they are dear, and it is no main figure.
    pub(super) fn gets_least(&self, part: usize) -> bool {
        self.is_dear(part) && self.layout.parts[part].importance != Importance::Main
    }

    /// Whether a part's trials are dear, with its share of what prepares its block, in a run that chooses their number, and no line
    /// needs more of them.
    pub(super) fn is_dear(&self, part: usize) -> bool {
        let of = &self.layout.parts[part];
        let preparation = self.prices.preparation[of.block] / self.layout.blocks[of.block].len() as f64;
        self.settings.trials.is_none()
            && !of.on_line
            && preparation + self.prices.own[part].at(self.observe) > self.dear
    }

    /// Whether the preparation of a block takes long.
    fn is_costly(&self, block: usize) -> bool {
        self.prices.preparation[block] > COSTLY.as_secs_f64()
    }

    /// Whether a part of the round is still due.
    fn is_open(&self, part: usize, now: Now) -> bool {
        match self.phase {
            Phase::Spend => self.is_missing(part, now) || self.is_due_shared(part, now),
            _ => self.is_due(part, now),
        }
    }

    /// Whether this is the moment for a part that lacks only trials with the core shared.
    fn is_due_shared(&self, part: usize, now: Now) -> bool {
        self.may_be(part, CoreWanted::Shared, now) && self.may_lack_shared(part, now)
    }

    /// Whether a part lacks trials with the core shared, in a run that may make them.
    fn may_lack_shared(&self, part: usize, now: Now) -> bool {
        self.settings.trials.is_none() && self.lacks_shared(part, now)
    }

    /// Whether a part of the round lacks nothing but trials with the core shared.
    pub(super) fn awaits_shared(&self, part: usize, now: Now) -> bool {
        self.phase == Phase::Spend && !self.is_missing(part, now) && self.may_lack_shared(part, now)
    }

    /// Whether a part lacks trials with the core alone, in a run that may make them.
    fn may_lack_alone(&self, part: usize, now: Now) -> bool {
        self.is_missing(part, now) && self.progress_of(part, now).any(Progress::lacks_alone)
    }

    /// Whether all parts of a visit wait for the core to be alone.
    pub(super) fn awaits_all_alone(&self, parts: &[usize], now: Now) -> bool {
        parts.iter().all(|part| self.awaits_alone(*part, now))
    }

    /// Whether a part of the round has its value with the core shared and lacks that of the core alone, and this is not its moment.
    fn awaits_alone(&self, part: usize, now: Now) -> bool {
        self.phase == Phase::Spend
            && !self.may_be(part, CoreWanted::Alone, now)
            && self.may_lack_alone(part, now)
            && !self.progress_of(part, now).any(Progress::wants_shared)
    }

    /// The time limit of a visit, seconds: a promised interval may take a little more than the remaining time.
    fn room(&self, parts: &[usize], now: Now) -> f64 {
        let short = |part: &usize| done(&self.layout, *part, now).is_some_and(|done| done < self.promised());
        let beyond = match self.phase {
            Phase::Promise if !self.has_value => OVERRUN_SHARE_WITHOUT_RESULT,
            Phase::Promise if parts.iter().any(short) => OVERRUN_SHARE,
            _ => 0.0,
        };
        self.budget() * (1.0 + beyond) - now.elapsed
    }

    fn fitting(&self, block: usize, parts: Vec<usize>, room: f64) -> Vec<usize> {
        let mut remaining = room - self.prices.preparation[block];
        let observe = if parts.is_empty() { self.observe } else { self.observes(&parts) };
        let fits = |part: &usize| {
            let own = self.prices.own[*part].at(observe);
            let fits = own <= remaining;
            remaining -= if fits { own } else { 0.0 };
            fits
        };
        parts.into_iter().filter(fits).collect()
    }
}
