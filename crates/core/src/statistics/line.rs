//! The straight line of a cost that grows with a parameter, by least squares.

use super::distribution::student_quantile;
use super::estimate::Interval;
use super::quantile::LEVEL;
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
    }
}
