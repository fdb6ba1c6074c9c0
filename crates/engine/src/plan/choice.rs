//! How many trials each point gets within a time: the important and cheap ones first.

use super::costs::Prices;
use super::jobs::Importance;
use super::layout::Layout;
use fathom_core::sorting;

/// The number of trials that a point should have: two more than an interval needs at least, because the half-width falls by
/// a fifth with them (Student's t over the root of the trials: 1.05 with six, 0.84 with eight), and a trial may fail.
pub(super) const GOAL: usize = 8;

/// The share of the time up to which every point gets more than an interval needs at least: eight trials instead of six, and
/// longer ones. The rest is for further trials where they are needed: most points that reach the target do so with six, and
/// on a busy virtual machine the medians of trials of a context switch differed by 11 to 22 %, each known to 0.1 to 1 %
/// after 4 ms or 25.
const FOR_ALL: f64 = 0.5;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Choice {
    /// The total number of trials that each part gets; 0 if it is left out.
    pub(super) goals: Vec<usize>,
    /// The observation time of each further trial, seconds.
    pub(super) observe: f64,
}

pub(super) struct Choosing<'plan> {
    pub(super) layout: &'plan Layout,
    pub(super) prices: &'plan Prices,
    /// The number of trials that each part has; `None` if it gets no more, whatever the time.
    pub(super) done: &'plan [Option<usize>],
    /// A part that comes before all others.
    pub(super) before_all: Option<usize>,
    /// The number of trials that a part should have, and the least number of one that is not left out.
    pub(super) trials: (usize, usize),
}

impl Choosing<'_> {
    /// Chooses for a time in seconds: shorter observation comes before fewer trials, and these before leaving points out.
    pub(super) fn within(&self, seconds: f64, (shortest, longest): (f64, f64)) -> Choice {
        let (for_all, (goal, promised)) = (FOR_ALL * seconds, self.trials);
        let all: Vec<usize> = self.done.iter().map(|done| done.map_or(0, |done| done.max(goal))).collect();
        let (least, most) = (self.seconds(&all, shortest), self.seconds(&all, longest));
        if least <= for_all {
            // The cost is linear in the observation time.
            let share = if most > for_all { (for_all - least) / (most - least) } else { 1.0 };
            return Choice { goals: all, observe: shortest + share * (longest - shortest) };
        }
        let mut goals: Vec<usize> = self.done.iter().map(|done| self.finished(*done)).collect();
        if let Some(part) = self.before_all {
            goals[part] = goals[part].max(promised);
        }
        self.raise(&mut goals, promised, seconds, shortest);
        if goal > promised {
            self.raise_lines(&mut goals, seconds, shortest);
            self.raise(&mut goals, goal, for_all, shortest);
        }
        Choice { goals, observe: shortest }
    }

    /// The cost of the trials still to be made, seconds: a block is prepared once per round for all its parts.
    pub(super) fn seconds(&self, goals: &[usize], observe: f64) -> f64 {
        (0..self.layout.blocks.len()).map(|block| self.seconds_of(block, goals, observe)).sum()
    }

    /// The same for one block.
    pub(super) fn seconds_of(&self, block: usize, goals: &[usize], observe: f64) -> f64 {
        let parts = &self.layout.blocks[block];
        let own = parts.iter().map(|part| self.own(*part, self.needed(*part, goals[*part]), observe));
        self.rounds(block, goals) as f64 * self.prices.preparation[block] + own.sum::<f64>()
    }

    /// The number of trials still to be made, counted once for each of their points.
    pub(super) fn trials(&self, goals: &[usize]) -> usize {
        let of_part = |part: usize| self.needed(part, goals[part]) * self.layout.parts[part].points.len();
        (0..goals.len()).map(of_part).sum()
    }

    /// The number of trials that a part still needs for a goal.
    pub(super) fn needed(&self, part: usize, goal: usize) -> usize {
        self.done[part].map_or(0, |done| goal.saturating_sub(done))
    }

    fn own(&self, part: usize, trials: usize, observe: f64) -> f64 {
        trials as f64 * self.prices.own[part].at(observe)
    }

    /// The number of visits that a block still needs.
    fn rounds(&self, block: usize, goals: &[usize]) -> usize {
        self.layout.blocks[block].iter().map(|part| self.needed(*part, goals[*part])).max().unwrap_or(0)
    }

    /// Raises goals as far as time allows, the most important first and of these the cheapest: from zero to the least number
    /// of trials; beyond it only parts that have that number.
    fn raise(&self, goals: &mut [usize], goal: usize, seconds: f64, observe: f64) {
        let mut remaining = seconds - self.seconds(goals, observe);
        for importance in Importance::ALL {
            let blocks = self.candidates(goals, goal, importance, observe);
            let price = |parts: &Vec<usize>| {
                let (_, seconds) = self.raised(goals, parts, goal, f64::INFINITY, observe);
                seconds / parts.len() as f64
            };
            let mut priced: Vec<(f64, Vec<usize>)> =
                blocks.into_iter().map(|parts| (price(&parts), parts)).collect();
            sorting::by_number(&mut priced, |(seconds, _)| *seconds);
            for (_, parts) in priced {
                let (raised, seconds) = self.raised(goals, &parts, goal, remaining, observe);
                for part in raised {
                    goals[part] = goal;
                }
                remaining -= seconds;
            }
        }
    }

    /// Raises the goals of parts through which lines are fitted: a round in which one of its points fails is lost to the
    /// line, and six rounds must remain for its interval.
    fn raise_lines(&self, goals: &mut [usize], seconds: f64, observe: f64) {
        let mut remaining = seconds - self.seconds(goals, observe);
        let (goal, promised_trials) = self.trials;
        for parts in &self.layout.blocks {
            let promised = |part: &usize| {
                self.layout.parts[*part].on_line && (promised_trials..goal).contains(&goals[*part])
            };
            let parts: Vec<usize> = parts.iter().copied().filter(promised).collect();
            if parts.is_empty() {
                continue;
            }
            let (raised, seconds) = self.raised(goals, &parts, goal, remaining, observe);
            for part in raised {
                goals[part] = goal;
            }
            remaining -= seconds;
        }
    }

    /// The parts of one importance whose goal may be raised, by blocks, the cheapest first in each.
    fn candidates(
        &self,
        goals: &[usize],
        goal: usize,
        importance: Importance,
        observe: f64,
    ) -> Vec<Vec<usize>> {
        let is_wanted = |part: &usize| {
            let reached = goals[*part];
            let promised = self.trials.1;
            let next = if goal > promised { reached >= promised } else { reached == 0 };
            let mine = self.layout.parts[*part].importance == importance;
            mine && next && reached < goal && self.done[*part].is_some()
        };
        let of_block = |parts: &Vec<usize>| {
            let mut due: Vec<usize> = parts.iter().copied().filter(is_wanted).collect();
            let price = |part: &usize| self.own(*part, self.needed(*part, goal), observe);
            sorting::by_number(&mut due, price);
            due
        };
        self.layout.blocks.iter().map(of_block).filter(|parts| !parts.is_empty()).collect()
    }

    /// The parts of a block whose goal can be raised in the time left, and the cost of that, seconds.
    fn raised(
        &self,
        goals: &[usize],
        parts: &[usize],
        goal: usize,
        remaining: f64,
        observe: f64,
    ) -> (Vec<usize>, f64) {
        let block = self.layout.parts[parts[0]].block;
        let (mut rounds, mut raised, mut seconds) = (self.rounds(block, goals), vec![], 0.0);
        for part in parts {
            let needed = self.needed(*part, goal);
            let own = self.own(*part, needed - self.needed(*part, goals[*part]), observe);
            let preparing = needed.saturating_sub(rounds) as f64 * self.prices.preparation[block];
            if seconds + own + preparing <= remaining {
                raised.push(*part);
                rounds = rounds.max(needed);
                seconds += own + preparing;
            }
        }
        (raised, seconds)
    }

    /// A part that has its interval keeps it.
    fn finished(&self, done: Option<usize>) -> usize {
        done.filter(|done| *done >= self.trials.1).unwrap_or(0)
    }
}
