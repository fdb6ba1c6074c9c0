//! The pilot round, which measures the cost of trials on this machine. It follows the order of the report, because
//! predictions use the results of earlier experiments, and its time is limited.

use super::layout::Layout;
use std::collections::VecDeque;

/// The share of the budget that the pilot may take. Eight rounds of equal cost are an eighth each, so if the whole fits into
/// the budget the pilot does too, with as much again for trials that cost more at their first visit.
pub(super) const SHARE: f64 = 0.25;

/// The multiple of its share after which the pilot is ended: single visits may cost more than was left.
const MOST: f64 = 2.0;

/// The blocks that are visited to learn their cost, and the time for it.
#[derive(Debug)]
pub(super) struct Pilot {
    blocks: VecDeque<usize>,
    /// The time of each experiment, seconds.
    shares: Vec<f64>,
    /// The current experiment, and the end of its time.
    current: Option<usize>,
    until: f64,
    /// The time of the whole pilot, seconds.
    whole: f64,
    /// Whether all experiments have had their share, so that the unused rest goes to those that still need it.
    again: bool,
}

impl Pilot {
    /// For a run with this budget, seconds.
    pub(super) fn new(layout: &Layout, budget: f64) -> Self {
        let whole = budget * SHARE;
        let mut shares = vec![0.0; layout.parts.iter().map(|part| part.experiment + 1).max().unwrap_or(0)];
        for part in &layout.parts {
            shares[part.experiment] += whole / layout.parts.len() as f64;
        }
        let blocks = (0..layout.blocks.len()).collect();
        Pilot { blocks, shares, current: None, until: 0.0, whole, again: false }
    }

    /// The next block, among those for which `wanted` is true, and the time limit of its visit in seconds.
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

    /// The time that an experiment may still take, seconds: its share, and the unused time of those before it. Their excess
    /// is not deducted.
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
