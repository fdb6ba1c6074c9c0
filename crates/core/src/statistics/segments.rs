//! A cost whose slope changes at some point: two lines that meet, if the data support two.

use super::line::fit_line;
use super::measured::Measured;
use super::signed_rank::centre;
use crate::sorting;
use serde::{Deserialize, Serialize};

/// The fewest different x on either side of the break, so that each slope rests on more than its own two ends.
const SIDE: usize = 3;

/// The number of parameters of two lines that meet: a height, two slopes and a place.
const PARAMETERS: f64 = 4.0;

/// Residuals smaller than this share of the variation of y are rounding, not noise.
const ROUNDING: f64 = 1e-20;

/// Two straight lines that meet at `break_at`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Segments {
    /// Where the slope changes, in units of x; it need not be one of the x measured.
    pub break_at: f64,
    /// The height of the lines where they meet, in units of y.
    pub value_at_break: f64,
    /// The slope before the break, in units of y per unit of x.
    pub slope_before: f64,
    /// The slope after it.
    pub slope_after: f64,
    /// The sum of squared residuals, in units of y squared.
    pub squares: f64,
    /// The Bayesian information criterion of one line less that of two: 2 is weak evidence for the break, 6 strong, 10 very
    /// strong (Kass & Raftery 1995).
    pub evidence: f64,
    /// The number of points.
    pub points: usize,
}

impl Segments {
    /// The value of the lines at `x`.
    pub fn at(&self, x: f64) -> f64 {
        let slope = if x < self.break_at { self.slope_before } else { self.slope_after };
        self.value_at_break + slope * (x - self.break_at)
    }
}

/// The two lines that fit `(x, y)` points best, if they are preferred to one line; otherwise `None`.
///
/// The break is the place with the least sum of squares. Between two neighbouring x that place is where the lines through the
/// points on either side cross, or else one of the two x (Hudson 1966, "Fitting segmented curves whose join points have to be
/// estimated"). The Bayesian information criterion decides between one line and two. The break place counts as two parameters
/// because it is searched for (Liu, Wu & Zidek 1997 likewise ask more of a break than of a slope), and the degrees of freedom
/// that two lines leave replace the number of points; otherwise six points would show a break by chance eight times in 100.
/// `None` also with fewer than three different x on either side and with a number that is not finite.
pub fn two_segments(points: &[(f64, f64)]) -> Option<Segments> {
    let line = fit_line(points)?;
    let best = best_hinge(points)?;
    let level = points.iter().map(|point| point.1 * point.1).sum::<f64>() * ROUNDING;
    let n = points.len() as f64;
    let evidence = (n - PARAMETERS) * ((line.squares + level) / (best.squares + level)).ln() - 3.0 * n.ln();
    (evidence > 0.0).then_some(Segments { evidence, ..best })
}

/// The two lines that fit best, whether or not the points support two.
fn best_hinge(points: &[(f64, f64)]) -> Option<Segments> {
    let fits = knots(points).into_iter().filter_map(|knot| hinge(points, knot));
    fits.min_by(|one, other| one.squares.total_cmp(&other.squares))
}

/// Two lines that meet, with the intervals over rounds of where and of both slopes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SegmentsOverRounds {
    /// Where the slope changes, in units of x.
    pub break_at: Measured,
    /// The slope before the break, in units of y per unit of x.
    pub slope_before: Measured,
    /// The slope after it.
    pub slope_after: Measured,
}

/// The share of the points that a round has at least if its own two lines count.
const ENOUGH: f64 = 0.75;

/// As [`two_segments`], of points that were measured in rounds (as for a line over rounds): each round has a break of its own,
/// searched for as that of all, and the intervals are taken over rounds, so that they contain what the search adds. Where a round
/// lacks a point, the point's estimate replaces it. With fewer than four rounds there are no intervals.
pub fn segments_over_rounds(
    points: &[(f64, f64)],
    rounds: &[Vec<Option<f64>>],
) -> Option<SegmentsOverRounds> {
    let whole = two_segments(points)?;
    let of_rounds: Vec<Segments> =
        rounds.iter().filter_map(|values| best_hinge(&of_round(points, values)?)).collect();
    let over = |of: fn(&Segments) -> f64| {
        let values: Vec<f64> = of_rounds.iter().map(of).collect();
        match centre(&values) {
            Some((value, interval @ Some(_))) => Measured { value, interval },
            _ => Measured { value: of(&whole), interval: None },
        }
    };
    Some(SegmentsOverRounds {
        break_at: over(|lines| lines.break_at),
        slope_before: over(|lines| lines.slope_before),
        slope_after: over(|lines| lines.slope_after),
    })
}

/// A round's values at the points; `None` if it lacks too many.
fn of_round(points: &[(f64, f64)], values: &[Option<f64>]) -> Option<Vec<(f64, f64)>> {
    let present = values.iter().filter(|value| value.is_some()).count();
    let filled = points.iter().zip(values).map(|((x, estimate), y)| (*x, y.unwrap_or(*estimate)));
    (present as f64 >= ENOUGH * points.len() as f64).then(|| filled.collect())
}

/// The candidate places of the best break.
fn knots(points: &[(f64, f64)]) -> Vec<f64> {
    let mut points = points.to_vec();
    sorting::by_number(&mut points, |(x, _)| *x);
    let mut xs: Vec<f64> = points.iter().map(|point| point.0).collect();
    xs.dedup();
    let mut knots = Vec::new();
    for place in SIDE..(xs.len() + 1).saturating_sub(SIDE) {
        let split = points.partition_point(|point| point.0 < xs[place]);
        knots.extend(crossing(&points[..split], &points[split..], xs[place - 1], xs[place]));
        if place + SIDE < xs.len() {
            knots.push(xs[place]);
        }
    }
    knots
}

/// The crossing of the lines through the points on either side, if that is between `low` and `high`.
fn crossing(before: &[(f64, f64)], after: &[(f64, f64)], low: f64, high: f64) -> Option<f64> {
    let ((before, slope_before), (after, slope_after)) = (least_squares(before)?, least_squares(after)?);
    let place = (after - before) / (slope_before - slope_after);
    (low..=high).contains(&place).then_some(place)
}

/// Intercept and slope of the line with the least squared residuals.
fn least_squares(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let n = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |sum, point| (sum.0 + point.0 / n, sum.1 + point.1 / n));
    let (xx, xy) = points.iter().fold((0.0, 0.0), |sum, point| {
        (sum.0 + (point.0 - x).powi(2), sum.1 + (point.0 - x) * (point.1 - y))
    });
    (xx > 0.0).then(|| (y - xy / xx * x, xy / xx))
}

/// Two lines that meet at a given place, by least squares: `y = value + before · min(x - knot, 0) + after · max(x - knot, 0)`.
fn hinge(points: &[(f64, f64)], knot: f64) -> Option<Segments> {
    let mut normal = [[0.0; 4]; 3];
    let terms = |x: f64| [1.0, (x - knot).min(0.0), (x - knot).max(0.0)];
    for &(x, y) in points {
        let terms = terms(x);
        for (row, &factor) in normal.iter_mut().zip(&terms) {
            terms.iter().chain([&y]).zip(row).for_each(|(right, sum)| *sum += factor * right);
        }
    }
    let [value_at_break, slope_before, slope_after] = solve(normal)?;
    let fit = |x: f64| {
        terms(x).iter().zip([value_at_break, slope_before, slope_after]).map(|(t, c)| t * c).sum::<f64>()
    };
    let squares = points.iter().map(|&(x, y)| (y - fit(x)).powi(2)).sum();
    let points = points.len();
    Some(Segments {
        break_at: knot,
        value_at_break,
        slope_before,
        slope_after,
        squares,
        evidence: 0.0,
        points,
    })
}

/// Solves three linear equations, given as rows of three coefficients and a right-hand side, by Gauss's elimination with the
/// largest pivot; `None` if they do not determine the unknowns.
fn solve(mut rows: [[f64; 4]; 3]) -> Option<[f64; 3]> {
    for step in 0..3 {
        let pivot = (step..3).max_by(|&a, &b| rows[a][step].abs().total_cmp(&rows[b][step].abs()))?;
        rows.swap(step, pivot);
        let lead = rows[step];
        if lead[step] == 0.0 || !lead[step].is_finite() {
            return None;
        }
        for (_, row) in rows.iter_mut().enumerate().filter(|&(place, _)| place != step) {
            let factor = row[step] / lead[step];
            row.iter_mut().zip(lead).for_each(|(value, lead)| *value -= factor * lead);
        }
    }
    Some([0, 1, 2].map(|place| rows[place][3] / rows[place][place]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hockey_stick(count: u32, knee: f64) -> Vec<(f64, f64)> {
        (0..count)
            .map(|x| (f64::from(x), 10.0 + f64::from(x) + 4.0 * (f64::from(x) - knee).max(0.0)))
            .collect()
    }

    #[test]
    fn an_exact_break_is_found_also_between_two_points() {
        for knee in [4.0, 4.3, 5.9] {
            let fit = two_segments(&hockey_stick(10, knee)).expect("a break");
            assert!((fit.break_at - knee).abs() < 1e-6, "{fit:?}");
            assert!((fit.slope_before - 1.0).abs() < 1e-6 && (fit.slope_after - 5.0).abs() < 1e-6);
            assert!(
                (fit.at(0.0) - 10.0).abs() < 1e-6 && (fit.at(9.0) - (19.0 + 4.0 * (9.0 - knee))).abs() < 1e-6
            );
        }
    }

    /// Rounds of a knee at 5 in which the whole curve is so many times as high.
    fn rounds(factors: &[f64]) -> Vec<Vec<Option<f64>>> {
        let curve = hockey_stick(10, 5.0);
        factors.iter().map(|factor| curve.iter().map(|(_, y)| Some(factor * y)).collect()).collect()
    }

    #[test]
    fn rounds_give_the_knee_and_the_slopes_their_intervals() {
        let fit = segments_over_rounds(&hockey_stick(10, 5.0), &rounds(&[0.8, 0.9, 1.0, 1.0, 1.1, 1.2]));
        let fit = fit.expect("a break");
        let ends = |of: Measured| of.interval.map(|ends| (ends.low, ends.high)).expect("an interval");
        let is = |(low, high): (f64, f64), (least, most): (f64, f64)| {
            (low - least).abs() < 1e-6 && (high - most).abs() < 1e-6
        };
        assert!(is(ends(fit.break_at), (5.0, 5.0)), "every round has it there: {fit:?}");
        assert!(is(ends(fit.slope_before), (0.8, 1.2)) && is(ends(fit.slope_after), (4.0, 6.0)), "{fit:?}");
    }

    #[test]
    fn three_rounds_give_no_interval_and_a_round_with_half_of_the_points_does_not_count() {
        let curve = hockey_stick(10, 5.0);
        let few = segments_over_rounds(&curve, &rounds(&[1.0; 3])).expect("a break");
        assert_eq!(few.break_at.interval, None);
        let mut short = rounds(&[1.0; 4]);
        short[0][..5].fill(None);
        assert_eq!(segments_over_rounds(&curve, &short).expect("a break").slope_after.interval, None);
    }

    #[test]
    fn a_straight_line_has_no_break() {
        assert_eq!(
            two_segments(&(0..12).map(|x| (f64::from(x), 3.0 * f64::from(x))).collect::<Vec<_>>()),
            None
        );
        assert_eq!(two_segments(&(0..12).map(|x| (f64::from(x), 1.0 / 3.0)).collect::<Vec<_>>()), None);
    }

    #[test]
    fn too_few_points_have_no_break() {
        assert_eq!(two_segments(&hockey_stick(5, 2.0)), None);
        assert_eq!(two_segments(&[]), None);
        assert_eq!(two_segments(&[(1.0, f64::NAN); 9]), None);
    }
}
