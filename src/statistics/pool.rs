//! The observations of all trials in one ascending row, in which the median of any choice of trials is found fast.

/// How many observations lie between two remembered places of the row.
const STRIDE: usize = 16;

/// Rounding that must not decide whether exactly half of the weight is reached.
const ROUNDING: f64 = 1e-9;

/// All observations in ascending order. A trial weighs 1 in all, however many observations it holds, because trials
/// are what was drawn at random; so an observation weighs one over the number of its trial's.
pub(super) struct Pool {
    values: Vec<f64>,
    /// The trial each value belongs to.
    trials: Vec<usize>,
    /// What one observation of each trial weighs.
    weights: Vec<f64>,
    /// For every `STRIDE`-th place of the row: what share of each trial lies before it.
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

    pub(super) fn trials(&self) -> usize {
        self.weights.len()
    }

    pub(super) fn observations(&self) -> usize {
        self.values.len()
    }

    pub(super) fn smallest(&self) -> f64 {
        self.values[0]
    }

    /// The median when each trial is taken as often as `times` says. With each taken once and equally many
    /// observations in each, it is the plain median of all observations.
    pub(super) fn median(&self, times: &[f64]) -> f64 {
        let half = 0.5 * times.iter().sum::<f64>();
        let (low, weight_up_to_low) = self.reaching(times, half - ROUNDING * half);
        if weight_up_to_low > half + ROUNDING * half {
            return self.values[low];
        }
        // Exactly half: the middle lies between this observation and the next that was taken at all.
        let high = (low + 1..self.values.len()).find(|&place| times[self.trials[place]] > 0.0);
        f64::midpoint(self.values[low], self.values[high.unwrap_or(low)])
    }

    /// The first place at which the weight up to and including it reaches `wanted`, and that weight.
    fn reaching(&self, times: &[f64], wanted: f64) -> (usize, f64) {
        let before =
            |shares: &Vec<f64>| shares.iter().zip(times).map(|(share, times)| share * times).sum::<f64>();
        let block = self.shares.partition_point(|shares| before(shares) < wanted).saturating_sub(1);
        let mut weight = before(&self.shares[block]);
        for place in block * STRIDE..self.values.len() {
            let trial = self.trials[place];
            weight += self.weights[trial] * times[trial];
            if weight >= wanted {
                return (place, weight);
            }
        }
        (self.values.len() - 1, weight)
    }
}

/// The share of each trial before every `STRIDE`-th place of the row.
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
        assert!((pool.median(&[1.0; 3]) - 2.0).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn taking_trials_repeatedly_is_the_median_of_the_repeated_observations(
            samples in prop::collection::vec(prop::collection::vec(0_u8..40, 12), 1..9),
            times in prop::collection::vec(0_u8..4, 9),
        ) {
            let samples: Vec<Vec<f64>> = samples.iter().map(|s| s.iter().map(|&x| f64::from(x)).collect()).collect();
            let times: Vec<f64> = times[..samples.len()].iter().map(|&times| f64::from(times)).collect();
            prop_assume!(times.iter().sum::<f64>() > 0.0);
            let repeated: Vec<f64> =
                samples.iter().zip(&times).flat_map(|(s, &times)| s.repeat(times as usize)).collect();
            let pool = Pool::new(&samples).expect("sound");
            prop_assert_eq!(Some(pool.median(&times)), median(&repeated));
        }
    }
}
