//! The headline of every point: a median with an interval taken over trials.
//!
//! What is estimated is the median of an observation drawn at random from a trial drawn at random. Trials are fresh
//! processes and independent of each other; the observations within one are not: they share the process's memory
//! layout, its CPU and its moment, and follow each other in time. Three decisions follow.
//!
//! 1. **Trials are drawn with replacement; the observations of a drawn trial are taken whole.** A trial's own share of
//!    small observations already wavers because its observations were drawn at random, so the spread between trials
//!    already contains the spread within them, and any correlation too. Drawing the observations again would count
//!    that spread twice, and would treat correlated observations as independent. This is the second strategy of Davison
//!    & Hinkley 1997, "Bootstrap Methods and their Application", section 3.8 (draw groups with replacement, and
//!    within a group without), which they show to match the variance of grouped data; Field & Welsh 2007,
//!    "Bootstrapping clustered data", find the same for the general case.
//! 2. **The percentiles lie further out than 2.5 and 97.5.** With few trials the bootstrap sees too small a variance
//!    (it divides by n, not n - 1) and the variance it sees is itself uncertain (Student's t, not the normal). Hesterberg
//!    2015, "What teachers should know about the bootstrap", section 4.1, corrects for both by reading the bootstrap
//!    distribution at `Φ(-sqrt(n / (n - 1)) · t)`. With six trials that is 0.24 % instead of 2.5 %.
//! 3. **Below six trials there is no interval**, because even the extremes of five trials hold the median of trials
//!    only 94 times in 100 (see [`super::minimum_sample`]).
//!
//! The median of a draw lies below x exactly if more than half of the drawn shares below x exceed it, so this interval
//! is at heart Student's test of "half of a trial lies below x", asked at every x (Woodruff 1952). Shares lie between 0
//! and 1 whatever the tails of the observations do, which is why heavy tails, gaps between modes and correlation
//! leave the coverage where it should be. `tests/statistics_coverage.rs` measures it.

use super::chance::Chance;
use super::distribution::{normal_below, student_quantile};
use super::pool::Pool;
use super::quantile::{LEVEL, quantile, sorted};
use serde::{Deserialize, Serialize};

/// The fewest trials an interval is taken over.
pub const MINIMUM_TRIALS: usize = 6;

/// The ends of an interval, in the unit of the value they belong to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// Whether a value lies in the interval, ends included.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// A value with its interval over trials; everything in the unit of the observations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Estimate {
    /// The median over all observations, every trial counting the same; for a difference, the difference of two such.
    pub value: f64,
    /// Where the true value lies with the probability `level`; none with fewer than six trials.
    pub interval: Option<Interval>,
    /// The probability with which the interval is meant to hold the truth.
    pub level: f64,
    /// The smallest observation, "best observed"; none for a difference, where it would reward a fluke of the baseline.
    pub min: Option<f64>,
    /// How many trials were used.
    pub trials: usize,
    /// How many observations they held in all; for a difference, those of the operation.
    pub observations: usize,
}

impl Estimate {
    /// Whether the value is known to be greater than zero: its interval lies above zero altogether. A difference that is
    /// not resolved is *below resolution*; it is neither zero nor a value. Without an interval nothing is resolved.
    pub fn resolved(&self) -> bool {
        self.interval.is_some_and(|interval| interval.low > 0.0)
    }
}

/// How an interval is drawn. The same settings and the same numbers give the same interval, bit for bit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Bootstrap {
    /// How often trials are drawn anew. Six trials read the distribution at 0.24 %, which wants thousands.
    pub draws: usize,
    /// Where chance comes from.
    pub seed: u64,
    /// The probability with which the interval is meant to hold the truth, strictly between 0 and 1.
    pub level: f64,
}

impl Bootstrap {
    /// The settings used for every headline: 10,000 draws and 95 %.
    pub fn new(seed: u64) -> Self {
        Self { draws: 10_000, seed, level: LEVEL }
    }

    /// The median of the trials' observations with its interval; see [`estimate`].
    pub fn estimate<T: AsRef<[f64]>>(&self, trials: &[T]) -> Option<Estimate> {
        let pool = Pool::new(trials)?;
        let (value, interval) = self.interval(pool.trials(), |times| pool.median(times));
        let (trials, observations) = (pool.trials(), pool.observations());
        Some(Estimate {
            value,
            interval,
            level: self.level,
            min: Some(pool.smallest()),
            trials,
            observations,
        })
    }

    /// A statistic of trials, each taken as often as it is told, with its interval. Ends of the interval that chance
    /// put on the wrong side of the value are moved to it.
    pub(super) fn interval(
        &self,
        trials: usize,
        statistic: impl Fn(&[f64]) -> f64,
    ) -> (f64, Option<Interval>) {
        let value = statistic(&vec![1.0; trials]);
        let sound = self.draws > 0 && self.level > 0.0 && self.level < 1.0;
        if trials < MINIMUM_TRIALS || !sound {
            return (value, None);
        }
        let drawn = sorted(&self.draw(trials, statistic));
        let tail = expanded_tail(trials, self.level);
        let ends = drawn.and_then(|drawn| Some((quantile(&drawn, tail)?, quantile(&drawn, 1.0 - tail)?)));
        (value, ends.map(|(low, high)| Interval { low: low.min(value), high: high.max(value) }))
    }

    /// The statistic of as many trials, drawn with replacement; `draws` times.
    fn draw(&self, trials: usize, statistic: impl Fn(&[f64]) -> f64) -> Vec<f64> {
        let mut chance = Chance::new(self.seed);
        let mut times = vec![0.0; trials];
        let mut once = || {
            times.fill(0.0);
            for _ in 0..trials {
                times[chance.below(trials as u64) as usize] += 1.0;
            }
            statistic(&times)
        };
        (0..self.draws).map(|_| once()).collect()
    }
}

/// The median of all observations with a 95 % interval over trials. `trials` holds the sample of each trial; value
/// and interval have the observations' unit.
///
/// `None` without trials, with an empty one, or with an observation that is not finite. Fewer than
/// [`MINIMUM_TRIALS`] give a value without interval.
pub fn estimate<T: AsRef<[f64]>>(trials: &[T], seed: u64) -> Option<Estimate> {
    Bootstrap::new(seed).estimate(trials)
}

/// The share of the bootstrap distribution left out on either side: Hesterberg 2015, section 4.1.
fn expanded_tail(trials: usize, level: f64) -> f64 {
    let n = trials as f64;
    let t = student_quantile(f64::midpoint(1.0, level), n - 1.0);
    normal_below(-(n / (n - 1.0)).sqrt() * t)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trials(count: u32) -> Vec<Vec<f64>> {
        (0..count)
            .map(|trial| (0..20).map(|place| f64::from(100 + (trial * 7 + place * 3) % 11)).collect())
            .collect()
    }

    #[test]
    fn the_value_is_the_median_of_all_observations() {
        let samples = trials(8);
        let found = estimate(&samples, 1).expect("sound");
        assert_eq!(Some(found.value), super::super::median(&samples.concat()));
        assert_eq!((found.trials, found.observations, found.min), (8, 160, Some(100.0)));
    }

    #[test]
    fn the_same_seed_gives_the_same_interval() {
        assert_eq!(estimate(&trials(10), 5), estimate(&trials(10), 5));
    }

    #[test]
    fn five_trials_give_a_value_without_interval_and_six_an_interval() {
        let five = estimate(&trials(5), 1).expect("sound");
        assert_eq!((five.interval, five.resolved()), (None, false));
        let six = estimate(&trials(6), 1).expect("sound");
        assert!(six.interval.is_some_and(|interval| interval.contains(six.value)) && six.resolved());
    }

    #[test]
    fn what_was_never_measured_is_refused() {
        assert_eq!(estimate::<Vec<f64>>(&[], 1), None);
        assert_eq!(estimate(&[vec![1.0], vec![]], 1), None);
        assert_eq!(estimate(&[vec![1.0], vec![f64::NAN]], 1), None);
        assert_eq!(estimate(&[vec![1.0], vec![f64::NEG_INFINITY]], 1), None);
    }

    #[test]
    fn equal_observations_have_an_interval_of_no_width() {
        let found = estimate(&vec![vec![37.0; 20]; 6], 1).expect("sound");
        assert_eq!(found.interval, Some(Interval { low: 37.0, high: 37.0 }));
    }

    #[test]
    fn percentiles_lie_further_out_the_fewer_the_trials() {
        let tails: Vec<f64> = [6, 10, 30, 1_000_000].into_iter().map(|n| expanded_tail(n, 0.95)).collect();
        for (found, expected) in tails.iter().zip([0.002_43, 0.008_56, 0.018_76, 0.025]) {
            assert!((found - expected).abs() < 1e-4, "{tails:?}");
        }
    }
}
