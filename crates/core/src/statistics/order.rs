//! The interval of a middle by order statistics: two of the numbers themselves, or places between or a little beyond them.

use super::distribution::binomial_at_most;
use super::measured::Interval;
use super::quantile::{LEVEL, between};

/// How far beyond the extremes of four and five numbers the interval reaches, in ranges: the middle of a normal distribution then
/// lies in it 95 times in 100. The test of the midrange over the range: Walsh 1949, "On the range-midrange test and some tests with
/// bounded significance levels" (Ann. Math. Stat. 20); the probabilities are computed in the test below.
const WIDENINGS: [(usize, f64); 2] = [(4, 0.24), (5, 0.04)];

/// The rank, counted from either end, at which the interval of so many numbers ends; not whole if it lies between two, and below
/// one if it lies beyond the extreme. `None` of fewer than four.
///
/// From six numbers on nothing is assumed of their distribution: the `d`-th from either end enclose the median with the probability
/// that at least `d` of so many coins show each side. Between the two ranks around 95 % it is interpolated: Hettmansperger & Sheather
/// 1986, "Confidence intervals based on interpolated order statistics" (Stat. Probab. Lett. 4). The extremes of four enclose the
/// median only 87.5 times in 100, those of five 93.75; there the numbers are taken for normal.
pub(super) fn rank(count: usize) -> Option<f64> {
    if let Some((_, beyond)) = WIDENINGS.iter().find(|(few, _)| *few == count) {
        return Some(1.0 - beyond);
    }
    let enclosed = |rank: usize| 1.0 - 2.0 * binomial_at_most(rank - 1, count, 0.5);
    if count < WIDENINGS[0].0 {
        return None;
    }
    let whole = (1..count).take_while(|rank| enclosed(*rank) >= LEVEL).last()?;
    let (outer, inner) = (enclosed(whole), enclosed(whole + 1));
    let surplus = (outer - LEVEL) / (outer - inner);
    let (n, d) = (count as f64, whole as f64);
    Some(d + (n - d) * surplus / (d + (n - 2.0 * d) * surplus))
}

/// The interval of the middle of ascending numbers; `None` of fewer than four.
pub(super) fn order_interval(sorted: &[f64]) -> Option<Interval> {
    let rank = rank(sorted.len())?;
    let (first, last) = (sorted[0], sorted[sorted.len() - 1]);
    if rank < 1.0 {
        let beyond = (1.0 - rank) * (last - first);
        return Some(Interval { low: first - beyond, high: last + beyond });
    }
    let (whole, share) = (rank as usize, rank.fract());
    let end = |nth: &dyn Fn(usize) -> f64| between(nth(whole), nth(whole + 1), share);
    Some(Interval { low: end(&|rank| sorted[rank - 1]), high: end(&|rank| sorted[sorted.len() - rank]) })
}

#[cfg(test)]
mod tests {
    use super::super::distribution::normal_below;
    use super::*;

    /// The probability that the middle of a normal distribution lies in the interval around `count` numbers that reaches so many
    /// ranges beyond them. It lies below if the smallest is positive and the largest less than `(1 + beyond) / beyond` times as large.
    fn held_by_normal(count: i32, beyond: f64) -> f64 {
        const STEPS: u32 = 20_000;
        let width = 8.0 / f64::from(STEPS);
        let below = |smallest: f64| {
            let density = (-0.5 * smallest * smallest).exp() / (2.0 * std::f64::consts::PI).sqrt();
            let others = normal_below(smallest * (1.0 + beyond) / beyond) - normal_below(smallest);
            f64::from(count) * density * others.powi(count - 1)
        };
        1.0 - 2.0 * width * (0..STEPS).map(|step| below((f64::from(step) + 0.5) * width)).sum::<f64>()
    }

    #[test]
    fn four_and_five_normal_numbers_are_extended_to_95_in_100() {
        for (count, beyond) in WIDENINGS {
            let held = held_by_normal(i32::try_from(count).unwrap(), beyond);
            assert!((held - LEVEL).abs() < 1.5e-3, "{count}: {held}");
        }
    }

    #[test]
    fn ranks_lie_between_those_of_the_binomial_tables() {
        assert_eq!([0, 3].map(rank), [None, None]);
        // Of ten, the second and ninth enclose it 97.9 times in 100, the third and eighth 89.1.
        for (count, whole) in [(6, 1), (7, 1), (8, 1), (9, 2), (10, 2), (30, 10)] {
            let rank = rank(count).expect("enough");
            assert!((f64::from(whole)..f64::from(whole + 1)).contains(&rank), "{count}: {rank}");
        }
    }

    #[test]
    fn four_that_agree_have_an_interval_of_about_students_width() {
        let ends = order_interval(&[99.9, 99.95, 100.05, 100.1]).expect("four");
        // The mean and 3.18 times half of the standard deviation.
        let student = 3.182_446 * 0.091_287 / 2.0;
        assert!(((ends.high - ends.low) / 2.0 / student - 1.0).abs() < 0.05, "{ends:?}");
    }
}
