//! The middle of a few independent numbers with a symmetric distribution, which an outlier hardly moves.

use super::distribution::within_tail;
use super::measured::Interval;
use super::order::order_interval;
use super::quantile::{LEVEL, median, sorted};

/// The median of the means of all pairs of the numbers, each also with itself (Hodges & Lehmann 1963), and the interval that
/// holds the middle of their distribution with at least 95 % probability if that is symmetric: the means that Wilcoxon's signed
/// ranks do not reject (Hollander & Wolfe 1999, section 3.4). Of four or five numbers these ranks reject nothing; they have the
/// interval of [`order_interval`], for a normal distribution. Fewer have none.
///
/// `None` without numbers, and with one that is not finite.
pub(super) fn centre(values: &[f64]) -> Option<(f64, Option<Interval>)> {
    let pairs =
        values.iter().enumerate().flat_map(|(place, one)| values[..=place].iter().map(move |b| (one, b)));
    let means = sorted(&pairs.map(|(one, other)| f64::midpoint(*one, *other)).collect::<Vec<_>>())?;
    let rank = rank(values.len(), (1.0 - LEVEL) / 2.0);
    let interval = match rank {
        0 => order_interval(&sorted(values)?),
        rank => Some(Interval { low: means[rank - 1], high: means[means.len() - rank] }),
    };
    Some((median(&means)?, interval))
}

/// The largest rank below which the sum of the ranks of the positive numbers stays with probability at most `tail`.
///
/// Each rank from 1 to `n` is as likely in the sum as not.
fn rank(n: usize, tail: f64) -> usize {
    let mut chances = vec![1.0];
    for rank in 1..=n {
        let mut next = vec![0.0; chances.len() + rank];
        for (sum, chance) in chances.iter().enumerate() {
            next[sum] += chance / 2.0;
            next[sum + rank] += chance / 2.0;
        }
        chances = next;
    }
    within_tail(&chances, tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_those_of_wilcoxons_tables() {
        // Hollander & Wolfe 1999, table A.4: P(T+ <= 0) = 0.016 for n = 6, P(T+ <= 8) = 0.024 for n = 10.
        assert_eq!([5, 6, 7, 8, 10].map(|n| rank(n, 0.025)), [0, 1, 3, 4, 9]);
    }

    #[test]
    fn a_wild_number_hardly_moves_the_middle() {
        let mut numbers: Vec<f64> = (1..=12).map(f64::from).collect();
        let calm = centre(&numbers).expect("numbers");
        numbers[11] = 1e9;
        let (middle, interval) = centre(&numbers).expect("numbers");
        assert!((middle - calm.0).abs() < 0.51, "{middle}");
        assert!(
            interval.is_some_and(|interval| interval.contains(6.5) && interval.high < 12.0),
            "{interval:?}"
        );
    }

    #[test]
    fn four_numbers_have_an_interval_beyond_them_and_three_none() {
        let (middle, interval) = centre(&[1.0, 2.0, 3.0, 4.0]).expect("numbers");
        assert!((middle - 2.5).abs() < 1e-12);
        assert!(interval.is_some_and(|interval| interval.low < 1.0 && interval.high > 4.0), "{interval:?}");
        assert_eq!(centre(&[1.0, 2.0, 3.0]), Some((2.0, None)));
        assert_eq!(centre(&[]), None);
        assert_eq!(centre(&[1.0, f64::NAN]), None);
    }
}
