//! The headline of every point: a median with an interval taken over trials.
//!
//! What is estimated is the median of an observation drawn at random from a trial drawn at random. Trials are fresh processes and
//! independent of each other. The observations within one are not: they share the process's memory layout, its CPU and its time,
//! and follow each other. So the interval relies on trials only:
//!
//! *Could x be the median? Then on average half of a trial lies below x. Take from every trial the share of its observations
//! below x. Those shares are as many independent numbers as there are trials. If Student's t says that their mean is not one
//! half, x is not the median. The interval is all x that survive.*
//!
//! This is Woodruff 1952, "Confidence intervals for medians and other position measures" (J. Am. Stat. Assoc. 47), with the
//! variance taken at x itself as in Francisco & Fuller 1991, "Quantile estimation with a complex survey design" (Ann. Stat. 19).
//! Shares lie between 0 and 1 whatever the tails of the observations are, and the dependence of the observations within a trial
//! is already in its share: heavy tails, gaps between modes and correlation do not disturb the method.
//!
//! Two cases do disturb it. Trials that differ much have shares near 0 and 1, and between the extremes of four there is the median of
//! trials only 87.5 times in 100, whatever x is tested: the shares cannot look beyond what was observed. And lopsided observations in
//! trials that differ about as much make lopsided shares (most a little above one half, a few far below), of which six trials may
//! contain none of the few: it held the truth 84 times in 100 there.
//!
//! In both cases the medians of the trials still say how far trials scatter. So their order statistics join in (`order.rs`: Hettmansperger
//! & Sheather 1986; of four and five, extended as the midrange of a normal sample asks, Walsh 1949), moved from the median of those
//! medians to the value, and stretched by up to two fifths on the side to which the observations of trials are lopsided, by Bowley's
//! coefficient of their quartiles: what makes observations lopsided makes trials lopsided, which few trials do not show. How much they
//! join in, `w`, is the part of the variance `v` of the shares that the chance of drawing the observations does not explain (the
//! variance as a share of that of shares which are all 0 or 1, `1 - min(1/n, 1/20) / v`), falling as 5.5 over the number of trials from
//! six on:
//!
//! *end = (1 - w) · end by shares + w · (v² · end by medians + (1 - v²) · the farther of both).*
//!
//! Without differences between trials that is the share test; with trials that do not overlap it is the sign test of their medians,
//! or about Student's t of four: the mean ± 3.18 s / 2. With many trials it is the share test again, which needs no symmetry then. The
//! constants (two fifths, 5.5, 20) were chosen so that all populations of `tests/statistics` are held as often, not for any machine.
//! From six trials on no end lies beyond all that was observed, where moving the medians' interval would put it.
//!
//! How often it held the median in 100 of 2000 to 10,000 draws, with 20 and with 100 observations in a trial (chance moves it by 0.2 to 0.5):
//!
//! | observations, trials | 4 | 5 | 6 | 10 | 30 |
//! |---|---|---|---|---|---|
//! | trials alike, ten shapes | 95.3 to 96.1, 94.9 to 95.5 | 94.8 to 96.4, 95.0 to 96.1 | 95.0 to 96.1, 94.9 to 96.3 | 95.0 to 96.0, 95.0 to 96.2 | 94.5 to 95.8, 94.5 to 97.0 |
//! | shifted by half of the scatter, six shapes | 95.1 to 95.9, 95.2 to 95.9 | 95.2 to 95.8, 95.3 to 96.2 | 95.1 to 96.2, 95.1 to 96.1 | 95.5 to 96.4, 95.8 to 96.6 | 95.4 to 96.0, 95.0 to 96.0 |
//! | shifted by the scatter, seven shapes | 94.7 to 96.1, 94.8 to 96.3 | 94.7 to 96.2, 95.1 to 96.6 | 95.2 to 96.1, 95.2 to 96.3 | 95.3 to 96.3, 95.9 to 97.0 | 95.4 to 95.9, 95.0 to 96.2 |
//! | shifted by four times it, six shapes | 94.4 to 96.0, 94.7 to 96.4 | 94.9 to 96.3, 94.4 to 96.5 | 95.3 to 96.4, 95.0 to 96.3 | 95.1 to 96.0, 95.2 to 96.3 | 95.1 to 96.1, 94.3 to 95.8 |
//! | stretched by 20 %, three shapes | 95.5 to 95.7, 95.1 to 95.8 | 95.1 to 95.6, 95.2 to 96.2 | 95.2 to 95.4, 95.2 to 96.5 | 95.3 to 95.9, 95.5 to 96.7 | 95.1 to 95.8, 95.5 to 97.0 |
//! | two modes, 55 to 45, shifted by half | 98.5, 98.6 | 97.4, 97.2 | 97.3, 96.3 | 96.3, 93.4 | 95.7, 94.0 |
//! | normal, shifted by an exponential effect | 93.6, 92.9 | 93.5, 93.6 | 94.2, 94.6 | 95.0, 95.3 | 95.2, 95.6 |
//! | lognormal, shifted by an exponential effect | 93.1, 89.9 | 91.9, 91.2 | 92.8, 92.8 | 94.2, 93.7 | 94.9, 95.0 |
//!
//! The exceptions are those of which few trials know nothing. Where the effects of trials are themselves lopsided (exponential), four
//! to six of them often hold none of the few that lie far off. And of a state that holds three trials in ten, four trials know
//! nothing in 24 cases of 100: those that met both states held the median 99 times in 100, the others as good as never. A lower
//! `level` would be no honest answer: the trials that miss are those that agree.
//!
//! What else was tried, on the same populations: Student's t of the trials' medians is right where trials differ evenly, and with
//! thirty trials of lopsided observations holds 80 in 100, because the mean of medians is not the median of all; around the value it
//! holds 82 of four where the median lies next to a gap. Shares smoothed over the width of the interval lost as much there.
//! Hall's cubic (1992) for skewness gained about one in 100, a weighted bootstrap-t (after Owen 2025) about two, and both made the
//! intervals of trials that differ strongly too long.
//!
//! Why not a hierarchical bootstrap, trials first and observations within them second? It was tried first, on the populations of
//! `tests/statistics/`. Drawing the observations again counts the spread within trials twice (a trial's share varies
//! already because its observations were drawn at random). Drawing trials only (Davison & Hinkley 1997, section 3.8) is right
//! with many trials, but with six its percentiles held the truth 85 times in 100, and 92.5 times with the percentiles moved
//! outwards as in Hesterberg 2015; the share test holds it 95 times. That bootstrap also tends to the share test, which needs no
//! random draws.

use super::measured::{Interval, Measured};
use super::over_trials::interval;
use super::pool::Pool;
use super::quantile::LEVEL;
use serde::{Deserialize, Serialize};

/// The fewest trials over which there is an interval. Plans intend more.
pub const MINIMUM_TRIALS: usize = 4;

/// A value with its interval over trials, as it is recorded; everything in the unit of the observations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Estimate {
    /// The median over all observations, every trial counting the same; for a difference, the difference of two such.
    pub value: f64,
    /// The interval that holds the true value with the probability `level`; none with fewer than four trials.
    pub interval: Option<Interval>,
    /// The probability with which the interval is meant to hold the truth.
    pub level: f64,
    /// The smallest observation; none for a difference, where it would depend on one slow baseline.
    pub min: Option<f64>,
    /// The largest observation; none for a difference.
    pub max: Option<f64>,
    /// The number of trials.
    pub trials: usize,
    /// The number of observations in all trials; for a difference, those of the operation.
    pub observations: usize,
}

impl Estimate {
    /// The value with its interval, to compute with.
    pub fn measured(&self) -> Measured {
        Measured { value: self.value, interval: self.interval }
    }

    /// Whether the value is known to be greater than zero, as [`Measured::is_resolved`] says.
    pub fn resolved(&self) -> bool {
        self.measured().is_resolved()
    }
}

/// The median of all observations with a 95 % interval over trials. `trials` holds the sample of each trial; value
/// and interval have the observations' unit. Every trial counts the same, however many observations it holds.
///
/// `None` without trials, with an empty one, or with an observation that is not finite. Fewer than
/// [`MINIMUM_TRIALS`] give a value without interval.
pub fn estimate<T: AsRef<[f64]>>(trials: &[T]) -> Option<Estimate> {
    let pool = Pool::new(trials)?;
    Some(of_pool(&pool, interval(&pool)))
}

/// The same of a quantity that is above zero, such as a time or a rate: what makes trials differ may change it by a factor, so that few
/// trials which lie on one side of it by chance are no reason to reach far below all of them. The interval reaches on each side as far
/// as that of the numbers or that of their logarithms, whichever is nearer. Where trials differ by some per cent these are the same.
pub fn estimate_in_proportion<T: AsRef<[f64]>>(trials: &[T]) -> Option<Estimate> {
    let pool = Pool::new(trials)?;
    let whole = of_pool(&pool, interval(&pool));
    let Some(logarithms) = pool.in_logarithms() else { return Some(whole) };
    // Rounding must not part the value from its interval.
    let nearer = |(one, other): (Interval, Interval)| Interval {
        low: one.low.max(other.low.exp()).min(whole.value),
        high: one.high.min(other.high.exp()).max(whole.value),
    };
    let ends = whole.interval.zip(interval(&logarithms)).map(nearer);
    Some(Estimate { interval: ends, ..whole })
}

fn of_pool(pool: &Pool, interval: Option<Interval>) -> Estimate {
    Estimate {
        value: pool.median(),
        interval,
        level: LEVEL,
        min: Some(pool.smallest()),
        max: Some(pool.largest()),
        trials: pool.trials(),
        observations: pool.observations(),
    }
}

/// The cost of the operation beyond the baseline: the difference of their medians with a 95 % interval over trials, in the unit
/// of the observations.
///
/// `operation[i]` and `baseline[i]` were interleaved in the same process, so effects of the process on both (its layout, its
/// CPU's frequency) cancel as far as they really were common. Nothing is clamped: a negative difference is reported as such, and
/// [`Estimate::resolved`] says whether it is known to be above zero. There is no `min` of a difference.
///
/// The variance of both enters: the ends are as far from the value as the intervals of the two medians reach, added like standard
/// deviations with the correlation found between the trials of the two (Zou 2007, "Toward using confidence intervals to compare
/// correlations", and Zou & Donner 2008). Each reach replaces a standard error on its own side, so asymmetric intervals stay
/// asymmetric.
///
/// `None` if the two do not have equally many trials, and where [`super::estimate`] gives `None` for either.
pub fn difference<T: AsRef<[f64]>>(operation: &[T], baseline: &[T]) -> Option<Estimate> {
    let (operation, baseline) = (Pool::new(operation)?, Pool::new(baseline)?);
    if operation.trials() != baseline.trials() {
        return None;
    }
    Some(Estimate {
        value: operation.median() - baseline.median(),
        interval: reach(&operation, &baseline, interval),
        level: LEVEL,
        min: None,
        max: None,
        trials: operation.trials(),
        observations: operation.observations(),
    })
}

/// The interval of the difference of two medians, from the interval of each.
pub(super) fn reach(
    operation: &Pool,
    baseline: &Pool,
    interval: impl Fn(&Pool) -> Option<Interval>,
) -> Option<Interval> {
    let (of_operation, of_baseline) = (interval(operation)?, interval(baseline)?);
    let (median, base) = (operation.median(), baseline.median());
    let together = correlation(&operation.shares_below(median), &baseline.shares_below(base));
    // The variance of a difference; rounding must not make it negative.
    let join = |a: f64, b: f64| (a * a + b * b - 2.0 * together * a * b).max(0.0).sqrt();
    Some(Interval {
        low: median - base - join(median - of_operation.low, of_baseline.high - base),
        high: median - base + join(of_operation.high - median, base - of_baseline.low),
    })
}

/// The correlation (Pearson) of two quantities over the same trials, -1 to 1; 0 if one of them does not vary.
fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len() as f64;
    let (middle_a, middle_b) = (a.iter().sum::<f64>() / n, b.iter().sum::<f64>() / n);
    let sum = |x: &[f64], y: &[f64], middle_x: f64, middle_y: f64| {
        x.iter().zip(y).map(|(x, y)| (x - middle_x) * (y - middle_y)).sum::<f64>()
    };
    let scale = (sum(a, a, middle_a, middle_a) * sum(b, b, middle_b, middle_b)).sqrt();
    if scale > 0.0 { (sum(a, b, middle_a, middle_b) / scale).clamp(-1.0, 1.0) } else { 0.0 }
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
        let result = estimate(&samples).expect("sound");
        assert_eq!(Some(result.value), super::super::median(&samples.concat()));
        assert_eq!((result.trials, result.observations, result.min), (8, 160, Some(100.0)));
    }

    #[test]
    fn the_order_of_trials_and_observations_does_not_matter() {
        let mut turned = trials(10);
        turned.reverse();
        for sample in &mut turned {
            sample.reverse();
        }
        assert_eq!(estimate(&trials(10)), estimate(&turned));
    }

    #[test]
    fn three_trials_give_a_value_without_interval_and_four_an_interval() {
        let three = estimate(&trials(MINIMUM_TRIALS as u32 - 1)).expect("sound");
        assert_eq!((three.interval, three.resolved()), (None, false));
        let four = estimate(&trials(MINIMUM_TRIALS as u32)).expect("sound");
        assert!(four.interval.is_some_and(|interval| interval.contains(four.value)) && four.resolved());
    }

    #[test]
    fn four_trials_that_agree_within_a_thousandth_have_an_interval_of_about_that_width() {
        let around = |middle: f64| (0..100).map(|place| middle + 1e-4 * f64::from(place - 50)).collect();
        let samples: Vec<Vec<f64>> = [454.5, 454.7, 454.8, 454.9].map(around).to_vec();
        let ends = estimate(&samples).and_then(|found| found.interval).expect("four");
        // Student's t: the mean and 3.18 times half of the standard deviation, 0.17.
        let half = (ends.high - ends.low) / 2.0;
        assert!((0.22..=0.33).contains(&half), "{ends:?}");
    }

    #[test]
    fn another_unit_and_another_zero_give_the_same_interval() {
        let samples: Vec<Vec<f64>> =
            trials(7).iter().map(|sample| sample.iter().map(|x| x * x).collect()).collect();
        let moved: Vec<Vec<f64>> =
            samples.iter().map(|sample| sample.iter().map(|x| 1000.0 - 3.0 * x).collect()).collect();
        let ends = |samples: &[Vec<f64>]| estimate(samples).and_then(|found| found.interval).expect("seven");
        let (one, other) = (ends(&samples), ends(&moved));
        assert!((1000.0 - 3.0 * one.low - other.high).abs() < 1e-6, "{one:?} {other:?}");
        assert!((1000.0 - 3.0 * one.high - other.low).abs() < 1e-6, "{one:?} {other:?}");
    }

    /// Four trials at one level and two far from it, whose medians' interval is moved to the value.
    #[test]
    fn no_end_lies_beyond_all_observations_of_six_trials() {
        let around = |middle: f64, few: f64| {
            (0..20).map(|place| if place < 9 { middle } else { middle + few * f64::from(place) }).collect()
        };
        for far in [2.0, 5.0, 20.0] {
            let levels = [7.5, 7.6, 7.7, 7.8, 7.5 * far, 7.6 * far];
            let samples: Vec<Vec<f64>> = levels.map(|level| around(level, 0.4)).to_vec();
            let found = estimate(&samples).expect("sound");
            let ends = found.interval.expect("six");
            assert!(
                found.min.is_some_and(|min| min <= ends.low) && found.max.is_some_and(|max| ends.high <= max),
                "{ends:?}"
            );
        }
    }

    /// Trials at 18, 18, 19 and 48 ns: none was below 17, and of four trials an interval must reach beyond them.
    #[test]
    fn costs_of_few_trials_that_differ_by_a_factor_do_not_reach_far_below_all_of_them() {
        let around = |level: f64| (0..20).map(|place| level + 0.05 * f64::from(place - 10)).collect();
        let trials = |times: f64| -> Vec<Vec<f64>> {
            [17.7, 17.9, 19.0, 48.0].map(|level| around(times * level)).to_vec()
        };
        let ends = |found: Option<Estimate>| found.and_then(|found| found.interval).expect("four");
        let (of_costs, of_any) = (ends(estimate_in_proportion(&trials(1.0))), ends(estimate(&trials(1.0))));
        assert!(of_any.low < 11.0 && of_costs.low > 13.0, "{of_any:?} {of_costs:?}");
        assert!((of_any.high - of_costs.high).abs() < 1e-9, "nor farther above: {of_any:?} {of_costs:?}");
        let far = ends(estimate_in_proportion(&trials(100.0)));
        assert!((far.low / of_costs.low / 100.0 - 1.0).abs() < 0.01, "another unit: {far:?}");
        // Below zero there is no proportion.
        let moved: Vec<Vec<f64>> =
            trials(1.0).iter().map(|sample| sample.iter().map(|x| x - 18.0).collect()).collect();
        assert_eq!(estimate_in_proportion(&moved), estimate(&moved));
    }

    #[test]
    fn costs_that_differ_little_have_the_interval_of_all_numbers() {
        let around = |level: f64| (0..20).map(|place| level + 0.05 * f64::from(place - 10)).collect();
        let samples: Vec<Vec<f64>> = [454.5, 454.7, 456.8, 455.9].map(around).to_vec();
        let (of_costs, of_any) = (estimate_in_proportion(&samples).unwrap(), estimate(&samples).unwrap());
        assert!((of_costs.value - of_any.value).abs() < 1e-9);
        let ends = of_costs.interval.zip(of_any.interval);
        assert!(ends.is_some_and(
            |(one, other)| (one.low - other.low).abs() < 0.01 && (one.high - other.high).abs() < 0.01
        ));
    }

    #[test]
    fn what_was_never_measured_is_refused() {
        assert_eq!(estimate::<Vec<f64>>(&[]), None);
        assert_eq!(estimate(&[vec![1.0], vec![]]), None);
        assert_eq!(estimate(&[vec![1.0], vec![f64::NAN]]), None);
        assert_eq!(estimate(&[vec![1.0], vec![f64::NEG_INFINITY]]), None);
    }

    #[test]
    fn equal_observations_have_an_interval_of_no_width() {
        let result = estimate(&vec![vec![37.0; 20]; 6]).expect("sound");
        assert_eq!(result.interval, Some(Interval { low: 37.0, high: 37.0 }));
    }

    fn eight_trials(level: f64) -> Vec<Vec<f64>> {
        (0..8_u32)
            .map(|trial| (0..15).map(|place| level + f64::from((trial * 5 + place * 3) % 7)).collect())
            .collect()
    }

    #[test]
    fn the_baseline_is_taken_away() {
        let result = difference(&eight_trials(137.0), &eight_trials(100.0)).expect("sound");
        assert!((result.value - 37.0).abs() < 1e-12 && result.resolved());
        assert_eq!(result.min, None);
    }

    #[test]
    fn a_negative_difference_stays_negative() {
        let result = difference(&eight_trials(90.0), &eight_trials(100.0)).expect("sound");
        assert!((result.value + 10.0).abs() < 1e-12 && !result.resolved());
    }

    #[test]
    fn what_a_process_does_to_both_cancels() {
        let drift = |level: f64| -> Vec<Vec<f64>> {
            (0..9_u32).map(|trial| vec![level + 1000.0 * f64::from(trial); 5]).collect()
        };
        let interval =
            difference(&drift(3.0), &drift(1.0)).and_then(|result| result.interval).expect("nine trials");
        assert!((interval.low - 2.0).abs() < 1e-9 && (interval.high - 2.0).abs() < 1e-9);
    }

    #[test]
    fn trials_without_a_partner_are_refused() {
        assert_eq!(difference(&eight_trials(2.0), &eight_trials(1.0)[1..]), None);
    }
}
