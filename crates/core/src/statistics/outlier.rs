//! Outliers are counted, never removed.

use super::quantile::{median, quantile, sorted};
use serde::{Deserialize, Serialize};

/// The numbers of observations beyond Tukey's fences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Outliers {
    /// More than 3 times the interquartile range below the first quartile.
    pub severe_low: usize,
    /// More than 1.5 times, but not 3.
    pub mild_low: usize,
    /// More than 1.5 times the interquartile range above the third quartile, but not 3.
    pub mild_high: usize,
    /// More than 3 times.
    pub severe_high: usize,
}

impl Outliers {
    /// All of them.
    pub fn count(&self) -> usize {
        self.severe_low + self.mild_low + self.mild_high + self.severe_high
    }
}

/// The spread of a sample by measures that outliers do not move, in the unit of the sample.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Spread {
    /// The distance between the first and the third quartile: half of the sample lies between them.
    pub interquartile_range: f64,
    /// The median distance from the median. Multiplied by 1.4826 it would estimate the standard deviation of a normal
    /// distribution; it is given without that factor.
    pub median_deviation: f64,
}

/// The standard deviation of a normal distribution by its distances from its centre, of which outliers move the median little: the
/// median distance is 0.6745 of the deviation. `None` without distances.
pub fn normal_deviation(distances: &[f64]) -> Option<f64> {
    Some(median(distances)? / 0.6745)
}

/// Counts the observations beyond Tukey's fences (Tukey 1977, "Exploratory data analysis"), which lie 1.5 and 3 interquartile
/// ranges outside the quartiles (type 7). If a coarse clock makes the quartiles equal, every other value counts as severe; the
/// caller shows the counts.
///
/// `None` for an empty sample and for one with an observation that is not finite.
pub fn outliers(sample: &[f64]) -> Option<Outliers> {
    let sorted = sorted(sample)?;
    let (first, third) = (quantile(&sorted, 0.25)?, quantile(&sorted, 0.75)?);
    let fence = |times: f64| (first - times * (third - first), third + times * (third - first));
    let ((inner_low, inner_high), (outer_low, outer_high)) = (fence(1.5), fence(3.0));
    let below = |limit: f64| sorted.partition_point(|&value| value < limit);
    let above = |limit: f64| sorted.len() - sorted.partition_point(|&value| value <= limit);
    let (severe_low, severe_high) = (below(outer_low), above(outer_high));
    let (mild_low, mild_high) = (below(inner_low) - severe_low, above(inner_high) - severe_high);
    Some(Outliers { severe_low, mild_low, mild_high, severe_high })
}

/// The interquartile range and the median absolute deviation of a sample.
///
/// `None` for an empty sample and for one with an observation that is not finite.
pub fn spread(sample: &[f64]) -> Option<Spread> {
    let sorted = sorted(sample)?;
    let interquartile_range = quantile(&sorted, 0.75)? - quantile(&sorted, 0.25)?;
    let middle = quantile(&sorted, 0.5)?;
    let distances: Vec<f64> = sorted.iter().map(|value| (value - middle).abs()).collect();
    Some(Spread { interquartile_range, median_deviation: median(&distances)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_lie_one_and_a_half_and_three_ranges_outside_the_quartiles() {
        // Quartiles 101 and 103: inner fences 98 and 106, outer 95 and 109.
        let mut sample: Vec<f64> = [100.0, 101.0, 102.0, 103.0, 104.0].repeat(40);
        assert_eq!(outliers(&sample), Some(Outliers::default()));
        sample.extend([94.9, 95.1, 97.9, 106.1, 109.1, 900.0]);
        let result = outliers(&sample).expect("finite");
        let counts = (result.severe_low, result.mild_low, result.mild_high, result.severe_high);
        assert_eq!((counts, result.count()), ((1, 2, 1, 2), 6));
    }

    #[test]
    fn the_spread_is_not_moved_by_an_outlier() {
        let result = spread(&[1.0, 2.0, 3.0, 4.0, 1e9]).expect("finite");
        assert_eq!(result, Spread { interquartile_range: 2.0, median_deviation: 1.0 });
        assert_eq!(spread(&[1.0, f64::NAN]), None);
        assert_eq!(outliers(&[]), None);
    }
}
