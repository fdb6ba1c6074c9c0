//! A line through a sweep that was measured in rounds: every round has a line of its own, and the interval is taken over them.
//!
//! Trials of one round vary together: during a round a core may run at another frequency, or be shared. That moves a whole line
//! and hardly scatters the points about it, so an interval from that scatter is too narrow for the next run.

use super::line::{Line, fit_line};
use super::signed_rank::centre;

/// The factor by which the variance of slope and intercept from all points may grow when a round lacks points.
const MOST_VARIANCE: f64 = 2.0;

/// Fits a line to points `(x, estimate)` that were measured in rounds. `rounds` has the result of each round at each point, in
/// the order of the points; `None` where it has none.
///
/// Slope and intercept are the middles of those of the rounds' own lines (least squares), each with an interval over rounds,
/// which are independent while the points of one round are not. If a round lacks points, their estimates replace them in its
/// line; the round counts if its own points determine slope and intercept nearly as well as all points do. With fewer than four
/// rounds the result is the line of the estimates, without intervals. `r_squared` and `squares` are those of the line of the
/// estimates.
///
/// `None` where [`fit_line`] gives `None` for the estimates.
pub fn line_over_rounds(points: &[(f64, f64)], rounds: &[Vec<Option<f64>>]) -> Option<Line> {
    let whole = Line { slope_interval: None, intercept_interval: None, ..fit_line(points)? };
    let of_rounds = rounds.iter().filter_map(|values| deviation(points, values));
    let (slopes, intercepts): (Vec<f64>, Vec<f64>) =
        of_rounds.map(|(slope, intercept)| (whole.slope + slope, whole.intercept + intercept)).unzip();
    Some(match (centre(&slopes), centre(&intercepts)) {
        (Some((slope, slope_interval @ Some(_))), Some((intercept, intercept_interval))) => {
            Line { slope, slope_interval, intercept, intercept_interval, ..whole }
        }
        _ => whole,
    })
}

/// The slope and intercept of one round's line less those of the line of the estimates. It is fitted to the differences of the
/// points, so that a missing point does not move a round by its distance from the line.
fn deviation(points: &[(f64, f64)], values: &[Option<f64>]) -> Option<(f64, f64)> {
    let present = points.iter().zip(values);
    let present: Vec<(f64, f64)> =
        present.filter_map(|((x, estimate), y)| y.map(|y| (*x, y - estimate))).collect();
    let (all, here) = (variances(points), variances(&present));
    let enough = here.0 <= MOST_VARIANCE * all.0 && here.1 <= MOST_VARIANCE * all.1;
    fit_line(&present).filter(|_| enough).map(|line| (line.slope, line.intercept))
}

/// The variances of slope and intercept of a line through points at these x, of which each has a variance of one.
fn variances(points: &[(f64, f64)]) -> (f64, f64) {
    let n = points.len() as f64;
    let middle = points.iter().map(|(x, _)| x).sum::<f64>() / n;
    let squares = points.iter().map(|(x, _)| (x - middle).powi(2)).sum::<f64>();
    (1.0 / squares, 1.0 / n + middle * middle / squares)
}

#[cfg(test)]
mod tests {
    use super::*;

    const POINTS: [(f64, f64); 4] = [(0.0, 5.0), (1.0, 7.0), (2.0, 9.0), (3.0, 11.0)];

    /// Rounds that find the points so many times as high.
    fn rounds(factors: &[f64]) -> Vec<Vec<Option<f64>>> {
        factors.iter().map(|factor| POINTS.iter().map(|(_, y)| Some(factor * y)).collect()).collect()
    }

    #[test]
    fn rounds_that_move_as_a_whole_make_the_interval() {
        let line = line_over_rounds(&POINTS, &rounds(&[0.8, 0.9, 1.0, 1.0, 1.1, 1.2])).expect("a line");
        let (slope, intercept) = (line.slope_interval.expect("six"), line.intercept_interval.expect("six"));
        assert!((line.slope - 2.0).abs() < 1e-9 && (line.intercept - 5.0).abs() < 1e-9);
        assert!((slope.low - 1.6).abs() < 1e-9 && (slope.high - 2.4).abs() < 1e-9, "{slope:?}");
        assert!((intercept.low - 4.0).abs() < 1e-9 && (intercept.high - 6.0).abs() < 1e-9, "{intercept:?}");
    }

    #[test]
    fn with_three_rounds_it_is_the_line_of_the_estimates_without_intervals() {
        let line = line_over_rounds(&POINTS, &rounds(&[2.0; 3])).expect("a line");
        assert!((line.slope - 2.0).abs() < 1e-9 && line.slope_interval.is_none());
        assert_eq!((line.intercept_interval, line.points), (None, 4));
    }

    #[test]
    fn a_round_counts_that_lacks_little_and_none_that_lacks_much() {
        let is_lost = |place: &[usize]| {
            let mut rounds = rounds(&[1.0; 4]);
            for place in place {
                rounds[0][*place] = None;
            }
            line_over_rounds(&POINTS, &rounds).expect("a line").slope_interval.is_some()
        };
        assert!(is_lost(&[1]) && is_lost(&[2]));
        assert!(!is_lost(&[0]), "the intercept hangs on it");
        assert!(!is_lost(&[0, 1]) && !is_lost(&[1, 2, 3]) && !is_lost(&[0, 1, 2, 3]));
    }

    #[test]
    fn a_point_off_the_line_does_not_move_rounds_that_lack_it() {
        let bent = [(0.0, 5.0), (1.0, 7.0), (2.0, 29.0), (3.0, 11.0)];
        let round_values = |lacks: bool| {
            let round = |(place, (_, y)): (usize, &(f64, f64))| Some(*y).filter(|_| !lacks || place != 2);
            bent.iter().enumerate().map(round).collect::<Vec<_>>()
        };
        let rounds: Vec<_> = (0..8).map(|round| round_values(round % 2 == 0)).collect();
        let line = line_over_rounds(&bent, &rounds).expect("a line");
        assert!(line.slope_interval.is_some_and(|interval| interval.high - interval.low < 1e-9), "{line:?}");
    }
}
