//! The observations of all trials in one ascending sequence, from which the share of each trial below a value is found quickly.

use super::quantile::quantile;

/// The number of observations between two places whose shares are stored.
const STRIDE: usize = 16;

/// A tolerance for rounding, which must not decide whether exactly half of the weight is reached.
const ROUNDING: f64 = 1e-9;

/// All observations in ascending order. Every trial has the total weight 1, however many observations it holds, because trials
/// were drawn at random; so an observation weighs one over the number in its trial.
pub(super) struct Pool {
    values: Vec<f64>,
    /// The trial each value belongs to.
    trials: Vec<usize>,
    /// The weight of one observation of each trial.
    weights: Vec<f64>,
    /// For every `STRIDE`-th place of the sequence, the share of each trial before it.
    shares: Vec<Vec<f64>>,
}

impl Pool {
    /// `None` if there is no trial, if one is empty, or if an observation is not finite.
    pub(super) fn new<T: AsRef<[f64]>>(trials: &[T]) -> Option<Self> {
        let samples = || trials.iter().map(AsRef::as_ref);
        let sound = |sample: &[f64]| !sample.is_empty() && sample.iter().all(|value| value.is_finite());
        if trials.is_empty() || !samples().all(sound) {
            return None;
        }
        let mut row: Vec<(f64, usize)> =
            samples().enumerate().flat_map(|(trial, s)| s.iter().map(move |&value| (value, trial))).collect();
        row.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let weights: Vec<f64> = samples().map(|sample| 1.0 / sample.len() as f64).collect();
        let shares = shares(&row, &weights);
        let (values, trials) = row.into_iter().unzip();
        Some(Self { values, trials, weights, shares })
    }

    /// The same with the logarithms of all values; `None` unless all are above zero.
    pub(super) fn in_logarithms(mut self) -> Option<Self> {
        self.values.iter_mut().for_each(|value| *value = value.ln());
        self.values[0].is_finite().then_some(self)
    }

    pub(super) fn trials(&self) -> usize {
        self.weights.len()
    }

    pub(super) fn observations(&self) -> usize {
        self.values.len()
    }

    pub(super) fn smallest(&self) -> f64 {
        self.values[0]
    }

    pub(super) fn largest(&self) -> f64 {
        self.values[self.values.len() - 1]
    }

    /// The mean weight of an observation in its trial: one over the number of observations where all trials have as many.
    pub(super) fn mean_weight(&self) -> f64 {
        self.weights.iter().sum::<f64>() / self.weights.len() as f64
    }

    /// The lower quartile, the median and the upper quartile of each trial.
    pub(super) fn quartiles(&self) -> Vec<[f64; 3]> {
        let mut samples = vec![vec![]; self.trials()];
        for (value, trial) in self.values.iter().zip(&self.trials) {
            samples[*trial].push(*value);
        }
        // A pool has no empty trial.
        samples.iter().filter_map(|sample| array_of(|level| quantile(sample, level))).collect()
    }

    /// The median with equal weights of the trials. With equally many observations in each it is the plain median of all.
    pub(super) fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// The value below which a share (0 to 1) lies, with equal weights of the trials; the middle of two where it lies between them.
    pub(super) fn quantile(&self, level: f64) -> f64 {
        let part = level * self.trials() as f64;
        let weight = |shares: &[f64]| shares.iter().sum::<f64>();
        let low = self.first(|up_to, _| weight(up_to) >= part - ROUNDING);
        let high = self.last(|_, before| weight(before) <= part + ROUNDING);
        f64::midpoint(low, high)
    }

    /// The share of each trial below a value, plus half of the share that equals it.
    pub(super) fn shares_below(&self, value: f64) -> Vec<f64> {
        let before = self.shares_before(self.values.partition_point(|&other| other < value));
        let up_to = self.shares_before(self.values.partition_point(|&other| other <= value));
        before.iter().zip(&up_to).map(|(before, up_to)| f64::midpoint(*before, *up_to)).collect()
    }

    /// The first value that satisfies a condition which, once satisfied, stays so; the last value if none does. The condition
    /// receives the share of each trial at or below the value, and the share strictly below it.
    pub(super) fn first(&self, condition: impl Fn(&[f64], &[f64]) -> bool) -> f64 {
        let (mut low, mut high) = (0, self.values.len() - 1);
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.satisfied(middle, &condition) { high = middle } else { low = middle + 1 }
        }
        self.values[low]
    }

    /// The last value that satisfies a condition which, once it fails, stays so; the first if none does.
    pub(super) fn last(&self, condition: impl Fn(&[f64], &[f64]) -> bool) -> f64 {
        let (mut low, mut high) = (0, self.values.len() - 1);
        while low < high {
            let middle = usize::midpoint(low, high) + (high - low) % 2;
            if self.satisfied(middle, &condition) { low = middle } else { high = middle - 1 }
        }
        self.values[low]
    }

    fn satisfied(&self, place: usize, condition: impl Fn(&[f64], &[f64]) -> bool) -> bool {
        let value = self.values[place];
        let from = self.values.partition_point(|&other| other < value);
        let to = self.values.partition_point(|&other| other <= value);
        condition(&self.shares_before(to), &self.shares_before(from))
    }

    /// The share of each trial before `place`.
    fn shares_before(&self, place: usize) -> Vec<f64> {
        let block = (place / STRIDE).min(self.shares.len() - 1);
        let mut shares = self.shares[block].clone();
        for &trial in &self.trials[block * STRIDE..place] {
            shares[trial] += self.weights[trial];
        }
        shares
    }
}

/// The quartiles and the median, by the function that gives a quantile.
fn array_of(quantile: impl Fn(f64) -> Option<f64>) -> Option<[f64; 3]> {
    Some([quantile(0.25)?, quantile(0.5)?, quantile(0.75)?])
}

/// The share of each trial before every `STRIDE`-th place.
fn shares(row: &[(f64, usize)], weights: &[f64]) -> Vec<Vec<f64>> {
    let mut counts = vec![0_u32; weights.len()];
    let mut shares = Vec::with_capacity(row.len() / STRIDE + 1);
    for (place, &(_, trial)) in row.iter().enumerate() {
        if place % STRIDE == 0 {
            shares
                .push(counts.iter().zip(weights).map(|(&count, weight)| f64::from(count) * weight).collect());
        }
        counts[trial] += 1;
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::Pool;
    use crate::statistics::median;
    use proptest::prelude::*;

    #[test]
    fn a_trial_counts_once_however_many_observations_it_holds() {
        let pool = Pool::new(&[vec![1.0; 100], vec![2.0], vec![3.0]]).expect("sound");
        assert!((pool.median() - 2.0).abs() < 1e-12);
    }

    #[test]
    fn shares_count_what_is_below_and_half_of_what_is_equal() {
        let pool = Pool::new(&[vec![1.0, 2.0, 2.0, 3.0], vec![0.0, 2.0]]).expect("sound");
        assert_eq!(pool.shares_below(2.0), [0.5, 0.75]);
    }

    proptest! {
        #[test]
        fn trials_of_equal_size_have_the_median_of_all_observations(
            samples in (1_usize..40).prop_flat_map(|size| prop::collection::vec(prop::collection::vec(0_u8..40, size), 1..9)),
        ) {
            let samples: Vec<Vec<f64>> = samples.iter().map(|s| s.iter().map(|&x| f64::from(x)).collect()).collect();
            let pool = Pool::new(&samples).expect("sound");
            prop_assert_eq!(Some(pool.median()), median(&samples.concat()));
        }
    }
}
