//! The pilot round: what does a trial cost here? It goes in the order of the report, because predictions stand on what
//! experiments before them have found, and it must not eat the run.

use super::layout::Layout;
use std::collections::VecDeque;

/// The share of the budget that the pilot may take. Eight rounds of equal cost are an eighth each, so where the whole fits
/// into the budget the pilot does too, with as much again for trials that cost more at their first visit.
pub(super) const SHARE: f64 = 0.25;

/// How many times its share the pilot may have taken before it is broken off: single visits may cost more than was left.
const MOST: f64 = 2.0;

/// Which blocks are visited to learn their cost, and for how long.
#[derive(Debug)]
pub(super) struct Pilot {
    blocks: VecDeque<usize>,
    /// What each experiment may take, seconds.
    shares: Vec<f64>,
    /// The experiment that is visited, and until when it may be.
    current: Option<usize>,
    until: f64,
    /// What the whole pilot may take, seconds.
    whole: f64,
    /// Whether all experiments have had their share, and what they have left goes to whoever still needs it.
    again: bool,
}

impl Pilot {
    /// Of a run that may take so many seconds.
    pub(super) fn new(layout: &Layout, budget: f64) -> Self {
        let whole = budget * SHARE;
        let mut shares = vec![0.0; layout.parts.iter().map(|part| part.experiment + 1).max().unwrap_or(0)];
        for part in &layout.parts {
            shares[part.experiment] += whole / layout.parts.len() as f64;
        }
        let blocks = (0..layout.blocks.len()).collect();
        Pilot { blocks, shares, current: None, until: 0.0, whole, again: false }
    }

    /// The next block, of those that `wanted` finds something to learn of, and for how many seconds it may be visited.
    pub(super) fn next(
        &mut self,
        layout: &Layout,
        elapsed: f64,
        wanted: impl Fn(usize) -> Vec<usize>,
    ) -> Option<(usize, Vec<usize>, f64)> {
        loop {
            while let Some(block) = self.blocks.pop_front() {
                let parts = wanted(block);
                let Some(first) = parts.first() else { continue };
                let left = self.left(layout.parts[*first].experiment, elapsed);
                if left > 0.0 {
                    return Some((block, parts, left));
                }
            }
            if self.again {
                return None;
            }
            self.again = true;
            self.blocks = (0..layout.blocks.len()).collect();
        }
    }

    /// What an experiment may still take, seconds: its share, and what those before it have left of theirs. What they took
    /// beyond theirs is not its debt.
    fn left(&mut self, experiment: usize, elapsed: f64) -> f64 {
        if self.again {
            return self.whole - elapsed;
        }
        if self.current != Some(experiment) {
            self.current = Some(experiment);
            self.until = self.until.max(elapsed) + self.shares[experiment];
        }
        self.until.min(self.whole * MOST) - elapsed
    }
}
