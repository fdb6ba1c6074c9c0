//! Medians, percentiles, and the sample sizes that they need.

use super::distribution::binomial_at_most;
use crate::sorting;

/// The percentiles a report may print, as shares of the distribution below them.
const REPORTED: [f64; 5] = [0.5, 0.9, 0.95, 0.99, 0.999];

/// The probability with which the intervals of this module hold the truth.
pub(super) const LEVEL: f64 = 0.95;

/// The median of a sample: half of it lies on either side. In the unit of the sample.
///
/// `None` for an empty sample and for one with an observation that is not finite.
pub fn median(sample: &[f64]) -> Option<f64> {
    let last = sample.len().checked_sub(1)?;
    if !sample.iter().all(|value| value.is_finite()) {
        return None;
    }
    // Of the sorted sample, only the middle is needed.
    let mut partly_sorted = sample.to_vec();
    let (_, below, after) = partly_sorted.select_nth_unstable_by(last / 2, f64::total_cmp);
    let above = if last % 2 == 0 { None } else { after.iter().copied().min_by(f64::total_cmp) };
    Some(above.map_or(*below, |above| between(*below, above, 0.5)))
}

/// The mean of the middle half of a sample (the midmean: Tukey 1977, "Exploratory data analysis"), which numbers that are counted in
/// steps do not move by a whole step as they do a median. `None` for an empty sample, and for one with numbers that are not finite.
pub fn midmean(sample: &[f64]) -> Option<f64> {
    if sample.is_empty() || !sample.iter().all(|value| value.is_finite()) {
        return None;
    }
    let mut sorted = sample.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let quarter = sorted.len() / 4;
    let middle = &sorted[quarter..sorted.len() - quarter];
    Some(middle.iter().sum::<f64>() / middle.len() as f64)
}

/// A growing sample in ascending order, whose median is available at any time.
#[derive(Debug, Clone, Default)]
pub struct SortedSample(Vec<f64>);

impl SortedSample {
    /// The median of all observations so far, as [`median`] gives it.
    pub fn median(&self) -> Option<f64> {
        quantile(&self.0, 0.5)
    }

    /// The value below which the share `level` of the observations so far lies, as [`quantile`] gives it.
    pub fn quantile(&self, level: f64) -> Option<f64> {
        quantile(&self.0, level)
    }

    /// The number of observations so far.
    pub fn count(&self) -> usize {
        self.0.len()
    }
}

impl Extend<f64> for SortedSample {
    fn extend<I: IntoIterator<Item = f64>>(&mut self, values: I) {
        for value in values {
            let place = self.0.partition_point(|other| other.total_cmp(&value).is_lt());
            self.0.insert(place, value);
        }
    }
}

/// The value below which the share `level` (0 to 1) of an ascending sample lies. In the unit of the sample.
///
/// Between two observations it is interpolated: type 7 of Hyndman & Fan 1996, "Sample quantiles in statistical
/// packages", which is also the default of R and numpy. `None` for an empty sample, one that is not ascending or
/// not finite, and for a level outside 0 to 1.
pub fn quantile(sorted: &[f64], level: f64) -> Option<f64> {
    let ascending = sorted.is_sorted() && sorted.iter().all(|value| value.is_finite());
    if sorted.is_empty() || !ascending || !(0.0..=1.0).contains(&level) {
        return None;
    }
    let place = level * (sorted.len() - 1) as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    Some(between(sorted[below], sorted[above], place - below as f64))
}

/// The smallest sample in which the extremes enclose the quantile `level` with 95 % probability, whatever the
/// distribution: the least `n` with `1 - q^n - (1 - q)^n >= 0.95`. Below it no two-sided interval exists, and the
/// quantile must not be printed.
///
/// Source: order statistics, David & Nagaraja 2003, section 7.1. `usize::MAX` for levels not strictly between 0 and 1.
pub fn minimum_sample(level: f64) -> usize {
    if !(level > 0.0 && level < 1.0) {
        return usize::MAX;
    }
    let missed = |n: f64| level.powf(n) + (1.0 - level).powf(n);
    // The rarer side decides: start where it alone would be satisfied, then step on for rounding and the other side.
    let start = ((1.0 - LEVEL).ln() / level.max(1.0 - level).ln()).floor().max(1.0);
    let mut n = start;
    while missed(n) > 1.0 - LEVEL {
        n += 1.0;
    }
    n as usize
}

/// Those of p50, p90, p95, p99 and p99.9 that the sample is large enough for, as `(level, value)`.
///
/// Empty if the sample is too small for any, or holds an observation that is not finite.
pub fn supported_percentiles(sample: &[f64]) -> Vec<(f64, f64)> {
    let Some(sorted) = sorted(sample) else { return Vec::new() };
    let supported = REPORTED.into_iter().filter(|&level| sorted.len() >= minimum_sample(level));
    supported.filter_map(|level| Some((level, quantile(&sorted, level)?))).collect()
}

/// An interval that holds the quantile `level` with at least 95 % probability, whatever the distribution, when the observations
/// are independent: two of the observations themselves, chosen by exact binomial ranks.
///
/// The number of observations below the quantile is binomial, so the `l`-th and `u`-th observation enclose it with probability
/// `P(l <= B < u)`. Both tails get the same share as long as the sample has the ranks for it; near the edge, the tail that cannot
/// be halved keeps its probability and the other gets less. Source: David & Nagaraja 2003, section 7.1. `None` below
/// [`minimum_sample`] and where [`quantile`] gives `None`.
pub fn quantile_interval(sorted: &[f64], level: f64) -> Option<(f64, f64)> {
    quantile(sorted, level)?;
    let n = sorted.len();
    if n < minimum_sample(level) {
        return None;
    }
    let half = (1.0 - LEVEL) / 2.0;
    let below_first = (1.0 - level).powf(n as f64);
    let above_last = level.powf(n as f64);
    let lower_tail = if above_last > half { 2.0 * half - above_last } else { half.max(below_first) };
    let upper_tail = if below_first > half { 2.0 * half - below_first } else { half.max(above_last) };
    Some((sorted[lower_rank(n, level, lower_tail) - 1], sorted[upper_rank(n, level, upper_tail) - 1]))
}

/// The largest rank `l` with `P(B < l) <= tail`, at least 1.
fn lower_rank(n: usize, level: f64, tail: f64) -> usize {
    partition(1, n, |rank| binomial_at_most(rank, n, level) <= tail)
}

/// The smallest rank `u` with `P(B >= u) <= tail`, at most `n`.
fn upper_rank(n: usize, level: f64, tail: f64) -> usize {
    partition(1, n, |rank| 1.0 - binomial_at_most(rank - 1, n, level) > tail)
}

/// The first number from `first` on for which the condition no longer holds, at most `last`.
fn partition(first: usize, last: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (first, last);
    while low < high {
        let middle = usize::midpoint(low, high);
        if holds(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

/// The sample in ascending order, or `None` if an observation is not finite.
pub(super) fn sorted(sample: &[f64]) -> Option<Vec<f64>> {
    if !sample.iter().all(|value| value.is_finite()) {
        return None;
    }
    let mut sorted = sample.to_vec();
    sorting::numbers(&mut sorted);
    Some(sorted)
}

/// The point at `share` (0 to 1) of the way from `low` to `high`, exact at both ends.
pub(super) fn between(low: f64, high: f64, share: f64) -> f64 {
    low * (1.0 - share) + high * share
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_midmean_moves_by_less_than_a_step_and_not_for_outliers() {
        assert_eq!(midmean(&[999.0, 1000.0, 1000.0, 999.0, 1000.0, 1000.0, 1.0, 9e9]), Some(999.75));
        assert_eq!(midmean(&[7.0]), Some(7.0));
        assert_eq!(midmean(&[]), None);
        assert_eq!(midmean(&[1.0, f64::NAN]), None);
    }

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median(&[3.0, 1.0, 100.0]), Some(3.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 100.0]), Some(3.0));
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[1.0, f64::NAN]), None);
        assert_eq!(median(&[1.0, f64::INFINITY, 2.0]), None);
    }

    proptest! {
        #[test]
        fn the_median_is_that_of_the_sorted_sample(sample in prop::collection::vec(-9.0..9.0_f64, 1..60)) {
            prop_assert_eq!(median(&sample), quantile(&sorted(&sample).unwrap(), 0.5));
        }
    }

    #[test]
    fn quantiles_interpolate_as_type_seven() {
        let sample = [10.0, 20.0, 30.0, 40.0, 50.0];
        assert_eq!(quantile(&sample, 0.25), Some(20.0));
        assert_eq!(quantile(&sample, 0.9), Some(46.0));
        assert_eq!(quantile(&sample, 1.0), Some(50.0));
        assert_eq!(quantile(&sample, 1.5), None);
        assert_eq!(quantile(&[2.0, 1.0], 0.5), None);
    }

    #[test]
    fn minimum_samples_are_those_of_the_design() {
        let sizes: Vec<usize> = REPORTED.into_iter().map(minimum_sample).collect();
        assert_eq!(sizes, [6, 29, 59, 299, 2995]);
        assert_eq!(minimum_sample(0.1), 29);
        assert_eq!(minimum_sample(1.0), usize::MAX);
        assert_eq!(minimum_sample(f64::NAN), usize::MAX);
    }

    #[test]
    fn a_percentile_appears_with_its_minimum_and_not_before() {
        let levels = |n: u32| {
            let sample: Vec<f64> = (0..n).map(f64::from).collect();
            supported_percentiles(&sample).into_iter().map(|(level, _)| level).collect::<Vec<_>>()
        };
        assert!(levels(5).is_empty());
        assert_eq!(levels(28), [0.5]);
        assert_eq!(levels(29), [0.5, 0.9]);
        assert_eq!(levels(2995), REPORTED);
    }

    #[test]
    fn ranks_are_those_of_the_binomial_tables() {
        let ranks = |n: u32, level: f64| {
            let sample: Vec<f64> = (1..=n).map(f64::from).collect();
            quantile_interval(&sample, level)
        };
        assert_eq!(ranks(5, 0.5), None);
        assert_eq!(ranks(6, 0.5), Some((1.0, 6.0)));
        assert_eq!(ranks(10, 0.5), Some((2.0, 9.0)));
        assert_eq!(ranks(30, 0.5), Some((10.0, 21.0)));
        assert_eq!(ranks(100, 0.5), Some((40.0, 61.0)));
        assert_eq!(ranks(28, 0.9), None);
        assert_eq!(ranks(29, 0.9).map(|(_, high)| high), Some(29.0));
    }

    #[test]
    fn every_order_statistic_interval_holds_what_it_promises() {
        for level in [0.1, 0.5, 0.9, 0.99] {
            for n in minimum_sample(level)..minimum_sample(level) + 80 {
                let sample: Vec<f64> = (1..=n).map(|rank| rank as f64).collect();
                let (low, high) = quantile_interval(&sample, level).expect("the sample is large enough");
                let held = binomial_at_most(high as usize - 1, n, level)
                    - if low > 1.0 {
                        binomial_at_most(low as usize - 1, n, level)
                    } else {
                        (1.0 - level).powf(n as f64)
                    };
                assert!(held >= LEVEL - 1e-12, "p{level} of {n}: {held}");
            }
        }
    }
}
