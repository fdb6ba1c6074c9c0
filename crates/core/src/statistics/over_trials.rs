//! The interval of the median over trials. What it is made of, and why, stands at the head of `estimate.rs`.

use super::distribution::student_quantile;
use super::measured::Interval;
use super::order::order_interval;
use super::pool::Pool;
use super::quantile::{LEVEL, between, median, sorted};

/// From so many trials on the shares of trials count more and more, and the medians of trials less: their number over this.
const FEW: f64 = 5.5;

/// The number of independent observations in a trial beyond which it is of no account how many they are: with fewer, shares scatter
/// by chance as widely as those of trials that differ.
const MANY: f64 = 20.0;

/// The most by which the interval is stretched on the side to which the observations of trials are lopsided.
const LOPSIDED: f64 = 0.4;

/// The interval of the median of a pool; none with fewer than [`super::MINIMUM_TRIALS`].
pub(super) fn interval(pool: &Pool) -> Option<Interval> {
    let value = pool.median();
    let shares = of_shares(pool, pool.trials());
    let medians = of_medians(pool, value)?;
    let apart = apart(pool, value);
    let weight = differing(pool, apart) * (FEW / pool.trials() as f64).min(1.0);
    // Where trials do not overlap their shares are steps, which add nothing to the medians.
    let steps = apart.min(1.0).powi(2);
    let end = |share: f64, median: f64, outer: f64| between(share, between(outer, median, steps), weight);
    let ends = Interval {
        low: end(shares.low, medians.low, shares.low.min(medians.low)).min(value),
        high: end(shares.high, medians.high, shares.high.max(medians.high)).max(value),
    };
    Some(within_observed(pool, ends))
}

/// From so many trials on, all their observations lie on one side of the median in no more than 1 of 32 cases, if each trial has half
/// of its own on either side.
const ENCLOSING: usize = 6;

/// An interval that does not reach beyond what was observed, where the trials are enough to enclose the median: their medians are moved
/// to the value, which may move an end there.
fn within_observed(pool: &Pool, ends: Interval) -> Interval {
    if pool.trials() < ENCLOSING {
        return ends;
    }
    Interval { low: ends.low.max(pool.smallest()), high: ends.high.min(pool.largest()) }
}

/// The interval if there were so many trials like the existing ones: it shrinks on each side as that of the shares does.
pub(super) fn foreseen(pool: &Pool, trials: usize) -> Option<Interval> {
    let (value, now) = (pool.median(), interval(pool)?);
    let (shares, then) = (of_shares(pool, pool.trials()), of_shares(pool, trials));
    let by_number = (pool.trials() as f64 / trials as f64).sqrt();
    let side = |now: f64, share: f64, then: f64| now * if share > 0.0 { then / share } else { by_number };
    Some(Interval {
        low: value - side(value - now.low, value - shares.low, value - then.low),
        high: value + side(now.high - value, shares.high - value, then.high - value),
    })
}

/// The observations that could be the median by the shares of so many trials below them, from the first to the last.
///
/// Ties count in favour of x: x is too small only if too few observations lie at or below it, and too large only if too many lie
/// strictly below it.
fn of_shares(pool: &Pool, trials: usize) -> Interval {
    let limit = student_quantile(f64::midpoint(1.0, LEVEL), trials as f64 - 1.0);
    let low = pool.first(|up_to, _| excess(up_to, trials) >= -limit);
    let high = pool.last(|_, before| excess(before, trials) <= limit);
    let median = pool.median();
    // The standard error changes from x to x and could reverse the statistic; the value itself always stays in the interval.
    Interval { low: low.min(median), high: high.max(median) }
}

/// The statistic of Student's t for so many trials: how many standard errors the mean of the shares is above one half.
fn excess(shares: &[f64], trials: usize) -> f64 {
    let n = shares.len() as f64;
    let mean = shares.iter().sum::<f64>() / n;
    let variance = shares.iter().map(|share| (share - mean).powi(2)).sum::<f64>() / n;
    let error = (variance / (trials as f64 - 1.0)).sqrt();
    // Shares that agree to the last bit are all 0, all 1, or all the same half.
    if error < 1e-12 { ((mean - 0.5) / 1e-12).clamp(-1e9, 1e9) } else { (mean - 0.5) / error }
}

/// The interval of the middle of the trials' medians, moved from their median to the value, and stretched on the side to which the
/// observations of trials are lopsided.
fn of_medians(pool: &Pool, value: f64) -> Option<Interval> {
    let quartiles = pool.quartiles();
    let medians = sorted(&quartiles.iter().map(|[_, middle, _]| *middle).collect::<Vec<_>>())?;
    let Interval { low, high } = order_interval(&medians)?;
    let middle = median(&medians)?;
    let stretch = lopsidedness(&quartiles).clamp(-LOPSIDED, LOPSIDED);
    Some(Interval {
        low: value - (middle - low) * (1.0 - stretch.min(0.0)),
        high: value + (high - middle) * (1.0 + stretch.max(0.0)),
    })
}

/// Bowley's coefficient of skewness, -1 to 1, from the quartiles of all trials: how much farther the upper ones are from the medians
/// than the lower ones, over both together (Bowley 1920, "Elements of statistics").
fn lopsidedness(quartiles: &[[f64; 3]]) -> f64 {
    let above: f64 = quartiles.iter().map(|[_, middle, upper]| upper - middle).sum();
    let below: f64 = quartiles.iter().map(|[lower, middle, _]| middle - lower).sum();
    if above + below > 0.0 { (above - below) / (above + below) } else { 0.0 }
}

/// How far the trials lie apart: the variance of their shares below the value over that of shares which are all 0 or 1. About one
/// over the number of observations in a trial if trials do not differ, and about 1 if they do not overlap.
fn apart(pool: &Pool, value: f64) -> f64 {
    let shares = pool.shares_below(value);
    let squares: f64 = shares.iter().map(|share| (share - 0.5).powi(2)).sum();
    4.0 * squares / (shares.len() as f64 - 1.0)
}

/// The part of that variance which the chance of drawing observations does not explain, 0 to 1.
fn differing(pool: &Pool, apart: f64) -> f64 {
    let by_chance = pool.mean_weight().min(1.0 / MANY);
    if apart > by_chance { 1.0 - by_chance / apart } else { 0.0 }
}
