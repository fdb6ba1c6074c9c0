//! Neighbours that take few issue slots of a core, as one that polls with pauses does.
//!
//! Such a neighbour lengthens a stream by a few per cent, which is less than what the steps of a clock make of one reading. The mean over
//! all readings of a trial shows it. Of the trials with the core alone in each of their readings, of a default run on a Zen 3 and of one on
//! a Zen 4, 8 and 4 in 100 had a mean more than 1 % above the usual one: what they measured took 2 to 15 % longer (medians over trials, by
//! bands of the mean), and a call of the kernel 25 %.

use super::SortedSample;

/// The trials below which it is unknown what is usual.
const FEWEST_TRIALS: usize = 20;

/// By how many standard deviations of trials' means one that is slightly shared exceeds the usual one.
const DEVIATIONS: f64 = 4.0;

/// The least excess, as a share: no two cores of a kind agree better.
const LEAST_EXCESS: f64 = 0.005;

/// The quantile that lies one standard deviation below the median of a normal distribution.
const ONE_BELOW: f64 = 0.159;

/// The mean quotients of trials, each of the readings that had the core alone by themselves.
#[derive(Debug, Clone, Default)]
pub struct AloneMeans(SortedSample);

impl AloneMeans {
    /// Adds the mean of another trial.
    pub fn add(&mut self, mean: f64) {
        self.0.extend([mean]);
    }

    /// The greatest mean of a trial whose core was alone; `None` of few trials. Their spread is that of the means below the median: a
    /// neighbour only adds.
    pub fn most(&self) -> Option<f64> {
        if self.0.count() < FEWEST_TRIALS {
            return None;
        }
        let (median, below) = (self.0.median()?, self.0.quantile(ONE_BELOW)?);
        Some(median + (DEVIATIONS * (median - below)).max(LEAST_EXCESS * median))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_by_the_means_below_the_median() {
        let mut means = AloneMeans::default();
        let wavering = |place: i32| 1.95 * (1.0 + 0.0005 * f64::from(place % 5 - 2));
        (0..19).for_each(|place| means.add(wavering(place)));
        assert_eq!(means.most(), None, "of few trials nothing is usual");
        (19..60).for_each(|place| means.add(wavering(place)));
        let (most, few) = (means.most().expect("many"), 1.95 * (1.0 + LEAST_EXCESS));
        assert!((most / few - 1.0).abs() < 1e-3, "{most}");
        // A fifth of the trials beside a neighbour that polls: the limit stays.
        (0..15).for_each(|_| means.add(1.95 * 1.02));
        assert!(means.most().is_some_and(|most| (1.0..1.02).contains(&(most / few))), "{:?}", means.most());
    }
}
