//! Change points of a series of levels.

/// The change points of a series: for each change, the index of the first level after it. They divide the series into stretches
/// of one level each such that the sum of squares, each in units of its error, plus `3 ln n` for each change is least. By optimal
/// partitioning (Jackson et al. 2005, "An algorithm for optimal partitioning of data on an interval", IEEE Signal Process. Lett.
/// 12); the penalty is that of Haynes et al. 2017 for a change in mean with known variance. `levels` are logarithms with their
/// standard errors, in order.
pub fn change_points(levels: &[(f64, f64)]) -> Vec<usize> {
    let count = levels.len();
    let sums = Sums::of(levels);
    let penalty = 3.0 * (count.max(2) as f64).ln();
    // The least cost of the first so many levels, and the start of the last stretch of that division.
    let mut best: Vec<(f64, usize)> = vec![(-penalty, 0)];
    for end in 1..=count {
        let divided = |begin: usize| (best[begin].0 + sums.cost(begin, end) + penalty, begin);
        let least = (0..end).map(divided).min_by(|one, other| one.0.total_cmp(&other.0));
        best.push(least.unwrap_or((0.0, 0)));
    }
    let mut changes = vec![];
    let mut end = count;
    while let Some((_, begin)) = best.get(end).filter(|(_, begin)| *begin > 0) {
        changes.push(*begin);
        end = *begin;
    }
    changes.reverse();
    changes
}

/// The standard error of a level in a series that varies by more than the errors of its levels explain: the squares of the given
/// errors plus the median of the additional squared difference between neighbours.
pub fn errors_of_a_series(levels: &[(f64, f64)]) -> Vec<f64> {
    let steps = levels.windows(2).map(|pair| {
        let (own, next) = (pair[0], pair[1]);
        // The median of the square of a difference of two equal normals is 0.455 times its variance.
        ((next.0 - own.0).powi(2) / 0.455 - own.1.powi(2) - next.1.powi(2)) / 2.0
    });
    let common = super::median(&steps.collect::<Vec<_>>()).unwrap_or(0.0).max(0.0);
    levels.iter().map(|(_, error)| (error.powi(2) + common).sqrt()).collect()
}

/// Sums over the first levels, for the cost of any stretch.
struct Sums {
    weights: Vec<f64>,
    values: Vec<f64>,
    squares: Vec<f64>,
}

impl Sums {
    fn of(levels: &[(f64, f64)]) -> Self {
        // A level without error would decide alone.
        let weight = |error: f64| 1.0 / error.max(1e-6).powi(2);
        let cumulated = |term: &dyn Fn(&(f64, f64)) -> f64| {
            let mut all = vec![0.0];
            all.extend(levels.iter().scan(0.0, |sum, level| {
                *sum += term(level);
                Some(*sum)
            }));
            all
        };
        Sums {
            weights: cumulated(&|(_, error)| weight(*error)),
            values: cumulated(&|(value, error)| weight(*error) * value),
            squares: cumulated(&|(value, error)| weight(*error) * value * value),
        }
    }

    /// The sum of squared deviations of a stretch from its own mean, in units of the errors.
    fn cost(&self, begin: usize, end: usize) -> f64 {
        let within = |sums: &[f64]| sums[end] - sums[begin];
        let (weights, values) = (within(&self.weights), within(&self.values));
        (within(&self.squares) - values * values / weights).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Levels around these, a hundredth up and down in turn.
    fn series(levels: &[(f64, usize)]) -> Vec<(f64, f64)> {
        let all = levels.iter().flat_map(|(level, count)| std::iter::repeat_n(*level, *count));
        all.enumerate()
            .map(|(place, level)| (level + if place % 2 == 0 { 0.01 } else { -0.01 }, 0.01))
            .collect()
    }

    #[test]
    fn a_step_is_found_where_it_is_and_noise_is_none() {
        assert_eq!(change_points(&series(&[(0.0, 30)])), Vec::<usize>::new());
        assert_eq!(change_points(&series(&[(0.0, 12), (0.1, 9)])), [12]);
        assert_eq!(change_points(&series(&[(0.0, 8), (0.1, 8), (0.0, 8)])), [8, 16]);
        assert_eq!(change_points(&[]), Vec::<usize>::new());
        assert_eq!(change_points(&[(1.0, 0.1)]), Vec::<usize>::new());
    }

    #[test]
    fn what_all_neighbours_differ_by_is_no_change() {
        let restless: Vec<(f64, f64)> =
            (0..30).map(|place| (f64::from((place * 7) % 5) * 0.1, 0.001)).collect();
        let errors = errors_of_a_series(&restless);
        let known: Vec<(f64, f64)> =
            restless.iter().zip(errors).map(|((value, _), error)| (*value, error)).collect();
        assert!(!change_points(&restless).is_empty());
        assert_eq!(change_points(&known), Vec::<usize>::new());
    }
}
