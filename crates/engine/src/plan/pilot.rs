//! The pilot round, which measures the cost of trials on this machine. Its time is limited.
//!
//! It follows the order of the report, because predictions use the results of earlier experiments. Only where the budget is too
//! short for everything on any machine it follows the order of importance, and ends as soon as the points that it has visited fill
//! the rest of the time.

use super::layout::Layout;
use super::step::PROMISED_TRIALS;
use fathom_core::sorting;
use std::collections::VecDeque;

/// The share of the budget that the pilot may take. Eight rounds of equal cost are an eighth each, so if the whole fits into
/// the budget the pilot does too, with as much again for trials that cost more at their first visit.
pub(super) const SHARE: f64 = 0.25;

/// The multiple of its share after which the pilot is ended: single visits may cost more than was left.
const MOST: f64 = 1.2;

/// The share of the remaining time that a pilot by importance takes: five more trials of what it has visited, of the same cost,
/// take 85 % of the rest.
const FILLING: f64 = 1.0 / 7.0;

/// The time of a trial on a fast machine, seconds: a process is started, and observes.
const FAST: f64 = 0.01;

/// The parts that are visited to learn their cost, by blocks, and the time for it.
#[derive(Debug, Default)]
pub(super) struct Pilot {
    visits: VecDeque<Vec<usize>>,
    /// The time of each experiment, seconds; `None` if the order is that of importance.
    shares: Option<Vec<f64>>,
    /// The current experiment, and the end of its time.
    current: Option<usize>,
    until: f64,
    /// The end of the whole pilot, seconds.
    whole: f64,
    /// Whether all experiments have had their share, so that the unused rest goes to those that still need it.
    again: bool,
}

impl Pilot {
    /// For a run with this budget, seconds.
    pub(super) fn new(layout: &Layout, budget: f64) -> Self {
        if is_short(layout, budget) {
            return Pilot::by_importance(layout, 0.0, budget);
        }
        let whole = budget * SHARE;
        let mut shares = vec![0.0; layout.parts.iter().map(|part| part.experiment + 1).max().unwrap_or(0)];
        for part in &layout.parts {
            shares[part.experiment] += whole / layout.parts.len() as f64;
        }
        Pilot {
            visits: in_order(layout),
            shares: Some(shares),
            current: None,
            until: 0.0,
            whole,
            again: false,
        }
    }

    /// The most important first, from now on.
    pub(super) fn by_importance(layout: &Layout, now: f64, budget: f64) -> Self {
        let whole = now + (budget - now).max(0.0) * FILLING;
        let mut visits: Vec<Vec<usize>> = vec![];
        for parts in &layout.blocks {
            let mut parts = parts.clone();
            sorting::by_key(&mut parts, |part| layout.parts[*part].importance);
            let alike =
                |one: &usize, other: &usize| layout.parts[*one].importance == layout.parts[*other].importance;
            visits.extend(parts.chunk_by(alike).map(<[usize]>::to_vec));
        }
        sorting::by_key(&mut visits, |parts| layout.parts[parts[0]].importance);
        Pilot { visits: visits.into(), shares: None, current: None, until: whole, whole, again: true }
    }

    /// The most important parts first: those of its block come with it.
    pub(super) fn begin_with(&mut self, layout: &Layout, first: usize) {
        let block = layout.parts[first].block;
        let rest = layout.blocks[block].iter().copied().filter(|part| *part != first);
        let rest = rest.filter(|part| {
            self.shares.is_some() || layout.parts[*part].importance == layout.parts[first].importance
        });
        self.visits.push_front(std::iter::once(first).chain(rest).collect());
    }

    /// The next parts of a block, among those that `is_wanted` accepts, and the time for them in seconds.
    pub(super) fn next(
        &mut self,
        layout: &Layout,
        elapsed: f64,
        is_wanted: impl Fn(usize) -> bool,
    ) -> Option<(Vec<usize>, f64)> {
        loop {
            while let Some(mut parts) = self.visits.pop_front() {
                parts.retain(|part| is_wanted(*part));
                let Some(first) = parts.first() else { continue };
                let seconds = self.remaining(layout.parts[*first].experiment, elapsed);
                if seconds > 0.0 {
                    return Some((parts, seconds));
                }
            }
            if self.again {
                return None;
            }
            self.again = true;
            self.visits = in_order(layout);
        }
    }

    /// The time that an experiment may still take, seconds: its share, and the unused time of those before it. Their excess
    /// is not deducted.
    fn remaining(&mut self, experiment: usize, elapsed: f64) -> f64 {
        let Some(shares) = self.shares.as_ref().filter(|_| !self.again) else { return self.whole - elapsed };
        if self.current != Some(experiment) {
            self.current = Some(experiment);
            self.until = self.until.max(elapsed) + shares[experiment];
        }
        self.until.min(self.whole * MOST) - elapsed
    }
}

/// Whether a budget, in seconds, is too short for an interval of everything even on a fast machine.
pub(super) fn is_short(layout: &Layout, budget: f64) -> bool {
    budget < layout.parts.len() as f64 * PROMISED_TRIALS as f64 * FAST
}

fn in_order(layout: &Layout) -> VecDeque<Vec<usize>> {
    layout.blocks.iter().cloned().collect()
}
