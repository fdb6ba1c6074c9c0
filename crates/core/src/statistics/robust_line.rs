//! The robust alternative to least squares: the median of the slopes between all pairs of points.

use super::distribution::{normal_quantile, within_tail};
use super::measured::Interval;
use super::quantile::{LEVEL, median, sorted};
use crate::sorting;
use serde::{Deserialize, Serialize};

/// The greatest number of points for the exact distribution of discordant pairs, whose cost is cubic.
const EXACT: usize = 40;

/// A line that up to 29 % of the points may contradict strongly without moving it far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RobustLine {
    /// The median of the slopes between all pairs of points with different x, in units of y per unit of x.
    pub slope: f64,
    /// The interval of the slope, with at least 95 % probability; none with fewer than five points.
    pub slope_interval: Option<Interval>,
    /// The median of the intercepts of lines of this slope through the points, in units of y.
    pub intercept: f64,
    /// The number of points.
    pub points: usize,
}

/// Fits Theil and Sen's line to `(x, y)` points.
///
/// Its interval presumes only that the residuals are exchangeable: after the true slope is subtracted, every pair is as likely to
/// rise as to fall, so the number of pairs that fall has Kendall's distribution, and the ends are two of the sorted slopes.
/// Source: Sen 1968, "Estimates of the regression coefficient based on Kendall's tau", with his correction for equal x. `None`
/// with fewer than two different x, or with a number that is not finite.
pub fn theil_sen(points: &[(f64, f64)]) -> Option<RobustLine> {
    let slopes = sorted(&pair_slopes(points))?;
    let slope = median(&slopes)?;
    let intercept = median(&points.iter().map(|&(x, y)| y - slope * x).collect::<Vec<_>>())?;
    let rank = rank(points, slopes.len());
    let slope_interval =
        (rank > 0).then(|| Interval { low: slopes[rank - 1], high: slopes[slopes.len() - rank] });
    Some(RobustLine { slope, slope_interval, intercept, points: points.len() })
}

/// The slopes between all pairs of points that differ in x.
fn pair_slopes(points: &[(f64, f64)]) -> Vec<f64> {
    let pairs = points.iter().enumerate().flat_map(|(i, a)| points[..i].iter().map(move |b| (a, b)));
    pairs.filter(|(a, b)| (a.0 - b.0).abs() > 0.0).map(|(a, b)| (a.1 - b.1) / (a.0 - b.0)).collect()
}

/// The rank of the slope, from either end, at which the interval stops; 0 if there are too few points for one.
fn rank(points: &[(f64, f64)], pairs: usize) -> usize {
    let tail = (1.0 - LEVEL) / 2.0;
    let ties = ties(points);
    if points.len() <= EXACT && ties.is_empty() {
        return exact_rank(points.len(), tail);
    }
    let cubic = |count: usize| (count * (count - 1) * (2 * count + 5)) as f64;
    let variance = (cubic(points.len()) - ties.into_iter().map(cubic).sum::<f64>()) / 18.0;
    let rank = 0.5 * (pairs as f64 + normal_quantile(tail) * variance.sqrt());
    rank.max(0.0).floor() as usize
}

/// The sizes of the groups of points with the same x; groups of one are left out.
fn ties(points: &[(f64, f64)]) -> Vec<usize> {
    let mut xs: Vec<f64> = points.iter().map(|point| point.0).collect();
    sorting::numbers(&mut xs);
    xs.chunk_by(|a, b| a >= b).map(<[f64]>::len).filter(|&size| size > 1).collect()
}

/// The largest rank below which the number of discordant pairs among `n` points stays with probability at most `tail`.
///
/// A further point is discordant with 0 to n - 1 of the points before it, each as likely: the distribution is the
/// convolution of uniform ones.
fn exact_rank(n: usize, tail: f64) -> usize {
    let mut chances = vec![1.0];
    for size in 2..=n {
        let mut next = vec![0.0; chances.len() + size - 1];
        for (discordant, chance) in chances.iter().enumerate() {
            next[discordant..discordant + size].iter_mut().for_each(|sum| *sum += chance / size as f64);
        }
        chances = next;
    }
    within_tail(&chances, tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wild_point_does_not_move_the_line() {
        let mut points: Vec<(f64, f64)> = (0..9).map(|x| (f64::from(x), 4.0 + 3.0 * f64::from(x))).collect();
        points[8].1 = 1e6;
        let line = theil_sen(&points).expect("a line");
        assert!((line.slope - 3.0).abs() < 1e-12 && (line.intercept - 4.0).abs() < 1e-12);
        assert!(line.slope_interval.is_some_and(|interval| interval.contains(3.0)));
    }

    #[test]
    fn ranks_are_those_of_kendalls_tables() {
        // Hollander & Wolfe 1999, table A.30: P(K >= 8) = 0.042 for n = 5, P(K >= 10) = 0.008; n = 10: K = 23 at 0.023.
        assert_eq!((exact_rank(4, 0.025), exact_rank(5, 0.025), exact_rank(10, 0.025)), (0, 1, 12));
    }

    #[test]
    fn what_determines_no_line_gives_none() {
        assert_eq!(theil_sen(&[(1.0, 2.0), (1.0, 3.0)]), None);
        assert_eq!(theil_sen(&[(1.0, 2.0), (f64::NAN, 3.0)]), None);
        assert_eq!(theil_sen(&[(0.0, 1.0), (1.0, 2.0)]).map(|line| line.slope_interval), Some(None));
    }
}
