//! The straight line of a cost that grows with a parameter: by least squares, and by the median of the slopes between all pairs of points,
//! the robust alternative.

use super::distribution::{normal_quantile, student_quantile, within_tail};
use super::measured::Interval;
use super::quantile::{LEVEL, median, sorted};
use crate::sorting;
use serde::{Deserialize, Serialize};

/// The straight line `y = intercept + slope · x` with the smallest sum of squared residuals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Line {
    /// The cost of one unit of x, in units of y per unit of x.
    pub slope: f64,
    /// The 95 % interval of the slope; none with two points, through which every line is exact.
    pub slope_interval: Option<Interval>,
    /// The value at x = 0, in units of y.
    pub intercept: f64,
    /// The 95 % interval of the intercept; none with two points.
    pub intercept_interval: Option<Interval>,
    /// The share of the variance of y that the line explains, 0 to 1; none if y does not vary.
    pub r_squared: Option<f64>,
    /// The sum of squared residuals, in units of y squared.
    pub squares: f64,
    /// The number of points.
    pub points: usize,
}

impl Line {
    /// The value of the line at `x`.
    pub fn at(&self, x: f64) -> f64 {
        self.intercept + self.slope * x
    }
}

/// Fits the line of least squares to `(x, y)` points, with Student's t intervals for slope and intercept. These presume residuals
/// that are independent, equally scattered and not too far from normal (Draper & Smith 1998, section 1.4; `y` may well be a
/// median over trials). Where that is doubtful, see [`super::theil_sen`].
///
/// `None` with fewer than two different x, or with a number that is not finite.
pub fn fit_line(points: &[(f64, f64)]) -> Option<Line> {
    let n = points.len() as f64;
    let (middle_x, middle_y) = (mean(points.iter().map(|p| p.0))?, mean(points.iter().map(|p| p.1))?);
    let sum = |term: &dyn Fn(f64, f64) -> f64| {
        points.iter().map(|p| term(p.0 - middle_x, p.1 - middle_y)).sum::<f64>()
    };
    let (xx, xy, yy) = (sum(&|x, _| x * x), sum(&|x, y| x * y), sum(&|_, y| y * y));
    if !(xx > 0.0 && xx.is_finite() && yy.is_finite()) {
        return None;
    }
    let slope = xy / xx;
    let intercept = middle_y - slope * middle_x;
    let squares = sum(&|x, y| (y - slope * x).powi(2));
    let freedom = n - 2.0;
    let reach = (freedom > 0.0)
        .then(|| student_quantile(f64::midpoint(1.0, LEVEL), freedom) * (squares / freedom / xx).sqrt());
    let around = |value: f64, factor: f64| {
        reach.map(|reach| Interval { low: value - reach * factor, high: value + reach * factor })
    };
    Some(Line {
        slope,
        slope_interval: around(slope, 1.0),
        intercept,
        intercept_interval: around(intercept, (xx / n + middle_x * middle_x).sqrt()),
        r_squared: (yy > 0.0).then(|| 1.0 - squares / yy),
        squares,
        points: points.len(),
    })
}

/// The residuals: the height of each point above the line, in the order of the points and the unit of y.
pub fn residuals(line: &Line, points: &[(f64, f64)]) -> Vec<f64> {
    points.iter().map(|&(x, y)| y - line.at(x)).collect()
}

/// The mean of some numbers; `None` if there are none or one is not finite.
fn mean(numbers: impl ExactSizeIterator<Item = f64>) -> Option<f64> {
    let count = numbers.len() as f64;
    let mean = numbers.sum::<f64>() / count;
    mean.is_finite().then_some(mean)
}

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
    fn an_exact_line_is_found_exactly() {
        let points: Vec<(f64, f64)> = (0..8).map(|x| (f64::from(x), 5.0 + 1.25 * f64::from(x))).collect();
        let line = fit_line(&points).expect("a line");
        assert!((line.slope - 1.25).abs() < 1e-12 && (line.intercept - 5.0).abs() < 1e-12);
        assert_eq!((line.r_squared, line.points), (Some(1.0), 8));
        assert!(residuals(&line, &points).iter().all(|residual| residual.abs() < 1e-12));
        assert!((line.at(100.0) - 130.0).abs() < 1e-9);
    }

    #[test]
    fn a_published_regression_is_met() {
        // Anscombe 1973, first data set: 3.00 + 0.500 x with standard errors 1.125 and 0.118, R² 0.667.
        let xs = [10.0, 8.0, 13.0, 9.0, 11.0, 14.0, 6.0, 4.0, 12.0, 7.0, 5.0];
        let ys = [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68];
        let line = fit_line(&xs.into_iter().zip(ys).collect::<Vec<_>>()).expect("a line");
        let errors =
            |interval: Option<Interval>| interval.map_or(0.0, |i| (i.high - i.low) / 2.0 / 2.262_157);
        assert!((line.slope - 0.500_09).abs() < 1e-5 && (line.intercept - 3.000_09).abs() < 1e-5);
        assert!((errors(line.slope_interval) - 0.117_9).abs() < 1e-4);
        assert!((errors(line.intercept_interval) - 1.124_7).abs() < 1e-4);
        assert!((line.r_squared.unwrap_or(0.0) - 0.666_54).abs() < 1e-5);
    }

    #[test]
    fn what_determines_no_line_gives_none() {
        assert_eq!(fit_line(&[]), None);
        assert_eq!(fit_line(&[(1.0, 2.0), (1.0, 3.0)]), None);
        assert_eq!(fit_line(&[(1.0, 2.0), (2.0, f64::NAN)]), None);
        let two = fit_line(&[(1.0, 2.0), (2.0, 4.0)]).expect("a line");
        assert_eq!((two.slope, two.slope_interval), (2.0, None));
        assert_eq!(fit_line(&[(0.0, 3.0), (1.0, 3.0), (2.0, 3.0)]).and_then(|line| line.r_squared), None);
        assert_eq!(theil_sen(&[(1.0, 2.0), (1.0, 3.0)]), None);
        assert_eq!(theil_sen(&[(1.0, 2.0), (f64::NAN, 3.0)]), None);
        assert_eq!(theil_sen(&[(0.0, 1.0), (1.0, 2.0)]).map(|line| line.slope_interval), Some(None));
    }

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
}
