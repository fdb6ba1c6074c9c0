//! The costs of visits made, and the estimated costs of others.

use super::layout::Layout;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The duration of a part of a visit: a fixed time, and one proportional to the observation time. Seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Own {
    fixed: f64,
    /// Seconds for each second of requested observation: 1, or less for work that ends by itself.
    observing: f64,
}

impl Own {
    fn from_visit(took: f64, observe: f64) -> Self {
        let observing = took.min(observe);
        let share = if observe > 0.0 { observing / observe } else { 0.0 };
        Own { fixed: took - observing, observing: share }
    }

    /// The average with the latest, which has a weight of one half.
    fn with(self, latest: Own) -> Self {
        Own {
            fixed: f64::midpoint(self.fixed, latest.fixed),
            observing: f64::midpoint(self.observing, latest.observing),
        }
    }

    /// The duration with this observation time, both in seconds.
    pub(super) fn at(self, observe: f64) -> f64 {
        self.fixed + self.observing * observe
    }
}

/// The observed costs: the latest visit has a weight of one half, so that a device that has become slower is noticed soon.
#[derive(Debug)]
pub(super) struct Costs {
    own: Vec<Option<Own>>,
    preparation: Vec<Option<f64>>,
    /// The parts whose only trial was ended before it was made, so that they cost more than is known.
    ended: Vec<bool>,
}

impl Costs {
    pub(super) fn new(layout: &Layout) -> Self {
        let parts = layout.parts.len();
        Costs {
            own: vec![None; parts],
            preparation: vec![None; layout.blocks.len()],
            ended: vec![false; parts],
        }
    }

    /// Whether a part costs more than is known.
    pub(super) fn is_more(&self, part: usize) -> bool {
        self.ended[part]
    }

    /// Learns the least cost of a trial that was ended before it was made, seconds.
    pub(super) fn saw_ended(&mut self, part: usize, least: f64) {
        self.ended[part] |= self.own[part].is_none();
        let own = Own { fixed: least, observing: 0.0 };
        self.own[part] = Some(self.own[part].unwrap_or(own).with(own));
    }

    pub(super) fn knows(&self, part: usize) -> bool {
        self.own[part].is_some()
    }

    /// Learns from a visit with this observation time.
    pub(super) fn saw_visit(
        &mut self,
        layout: &Layout,
        block: usize,
        preparation: Duration,
        points: &[(usize, Duration)],
        observe: Duration,
    ) {
        let prepared = preparation.as_secs_f64();
        let before = self.preparation[block].unwrap_or(prepared);
        self.preparation[block] = Some(f64::midpoint(before, prepared));
        let mut of_part = BTreeMap::<usize, f64>::new();
        for (point, took) in points {
            *of_part.entry(layout.part_of[*point]).or_default() += took.as_secs_f64();
        }
        for (part, took) in of_part {
            let own = Own::from_visit(took, observe.as_secs_f64());
            let before = self.own[part].filter(|_| !std::mem::replace(&mut self.ended[part], false));
            self.own[part] = Some(before.unwrap_or(own).with(own));
        }
    }

    /// Updates the estimated costs of a block after its last visit.
    pub(super) fn update(&self, layout: &Layout, block: usize, prices: &mut Prices) {
        prices.preparation[block] = self.preparation[block].unwrap_or(prices.preparation[block]);
        for part in &layout.blocks[block] {
            prices.own[*part] = self.own[*part].unwrap_or(prices.own[*part]);
        }
    }

    /// The estimated costs of everything: a part that was not visited costs as much as its nearest neighbour in the
    /// experiment, or as the mean of all if the experiment has none.
    pub(super) fn prices(&self, layout: &Layout) -> Prices {
        let experiment = |part: usize| layout.parts[part].experiment;
        let own = filled(&self.own, experiment, |known| {
            let mean =
                |of: &dyn Fn(&Own) -> f64| known.iter().map(of).sum::<f64>() / known.len().max(1) as f64;
            Own { fixed: mean(&|own| own.fixed), observing: mean(&|own| own.observing) }
        });
        let of_block =
            |block: usize| layout.blocks[block].first().map_or(usize::MAX, |part| experiment(*part));
        let preparation = filled(&self.preparation, of_block, |known| {
            known.iter().sum::<f64>() / known.len().max(1) as f64
        });
        let whole = |part: &usize| self.knows(*part) && !self.ended[*part];
        let experiments = (0..self.own.len()).filter(whole).map(experiment).collect();
        Prices { own, preparation, experiments }
    }
}

#[derive(Debug)]
pub(super) struct Prices {
    pub(super) own: Vec<Own>,
    /// The preparation of each block, seconds, which belongs to none of its parts.
    pub(super) preparation: Vec<f64>,
    /// The experiments of which some trial was made, so that the cost of the others is that of neighbours.
    experiments: BTreeSet<usize>,
}

impl Prices {
    /// Whether some trial of a part's experiment was made, and not only ended before.
    pub(super) fn knows_experiment(&self, layout: &Layout, part: usize) -> bool {
        self.experiments.contains(&layout.parts[part].experiment)
    }

    /// The cost of one visit of a block for these parts, seconds.
    pub(super) fn visit(&self, block: usize, parts: &[usize], observe: f64) -> f64 {
        self.preparation[block] + parts.iter().map(|part| self.own[*part].at(observe)).sum::<f64>()
    }

    /// The cost of this many trials of a part, visited alone, seconds.
    pub(super) fn for_trials(&self, trials: usize, layout: &Layout, part: usize, observe: f64) -> f64 {
        trials as f64 * self.visit(layout.parts[part].block, &[part], observe)
    }
}

/// The known values, with each unknown one taken from the nearest known value of the same group before it, else after it,
/// else from all.
fn filled<T: Copy>(
    known: &[Option<T>],
    group: impl Fn(usize) -> usize,
    of_all: impl Fn(&[T]) -> T,
) -> Vec<T> {
    let mut costs = known.to_vec();
    for at in 1..costs.len() {
        if costs[at].is_none() && group(at) == group(at - 1) {
            costs[at] = costs[at - 1];
        }
    }
    for at in (1..costs.len()).rev() {
        if costs[at - 1].is_none() && group(at) == group(at - 1) {
            costs[at - 1] = costs[at];
        }
    }
    let all = of_all(&known.iter().flatten().copied().collect::<Vec<_>>());
    costs.into_iter().map(|own| own.unwrap_or(all)).collect()
}
