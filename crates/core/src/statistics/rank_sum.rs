//! Whether two samples are of one distribution, by the order of their values alone.

use super::distribution::{binomial_at_most, within_tail};

/// A test of two samples by their ranks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankSum {
    /// Whether they differ.
    pub differs: bool,
    /// How often two samples of one distribution would be said to differ: at most the level asked for, and less for few values,
    /// whose ranks have few sums.
    pub by_chance: f64,
}

/// The test of Mann & Whitney 1947, two-sided and exact, at a level such as 0.05: it counts in how many pairs the value of `other` is
/// the greater. Equal values count half, which makes the test only more careful.
///
/// `None` if a sample is empty or has a value that is not finite.
pub fn rank_sum(one: &[f64], other: &[f64], level: f64) -> Option<RankSum> {
    let is_usable = |sample: &[f64]| !sample.is_empty() && sample.iter().all(|value| value.is_finite());
    (is_usable(one) && is_usable(other)).then_some(())?;
    let pairs = one.iter().flat_map(|one| other.iter().map(move |other| (one, other)));
    let greater: f64 =
        pairs.map(|(one, other)| f64::from(i8::from(other > one) - i8::from(other < one))).sum();
    let all = (one.len() * other.len()) as f64;
    let from_the_nearer_end = (all - greater.abs()) / 2.0;
    let chances = pair_counts(one.len(), other.len());
    let rejected = within_tail(&chances, level / 2.0);
    Some(RankSum {
        differs: from_the_nearer_end < rejected as f64,
        by_chance: 2.0 * chances.iter().take(rejected).sum::<f64>(),
    })
}

/// The chance that at least so many of several tests reject, each with this chance and independent of the others.
pub fn chance_of_at_least(rejected: usize, tests: usize, by_chance: f64) -> f64 {
    if rejected == 0 { 1.0 } else { 1.0 - binomial_at_most(rejected - 1, tests, by_chance) }
}

/// The chance of each number of pairs in which the second value is the greater, of samples of one distribution: the greatest of all
/// values is one of the first sample's or one of the second's.
fn pair_counts(ones: usize, others: usize) -> Vec<f64> {
    // The rows for 0, 1, … values of the first sample; in each the counts for all numbers of the second up to `others`.
    let mut row: Vec<Vec<f64>> = vec![vec![1.0]; others + 1];
    for first in 1..=ones {
        let mut next = vec![vec![1.0]];
        for second in 1..=others {
            let mut chances = vec![0.0; first * second + 1];
            let share = first as f64 / (first + second) as f64;
            for (count, chance) in row[second].iter().enumerate() {
                chances[count] += share * chance;
            }
            for (count, chance) in next[second - 1].iter().enumerate() {
                chances[count + first] += (1.0 - share) * chance;
            }
            next.push(chances);
        }
        row = next;
    }
    row.pop().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_those_of_the_tables() {
        // Mann & Whitney 1947, table I: P(U <= 2) = 0.057 for 4 and 4, P(U <= 1) = 0.029; P(U <= 5) = 0.021 for 6 and 6.
        let at_most =
            |ones, others, count: usize| pair_counts(ones, others).iter().take(count + 1).sum::<f64>();
        let close = |value: f64, expected: f64| assert!((value - expected).abs() < 0.000_5, "{value}");
        close(at_most(4, 4, 1), 2.0 / 70.0);
        close(at_most(4, 4, 2), 4.0 / 70.0);
        close(at_most(6, 6, 5), 0.0206);
        close(at_most(3, 5, 15), 1.0);
    }

    #[test]
    fn samples_apart_differ_and_mingled_ones_do_not() {
        let (low, high) = ([1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]);
        let apart = rank_sum(&low, &high, 0.05).expect("two samples");
        assert!(apart.differs && (apart.by_chance - 2.0 / 70.0).abs() < 1e-9, "{apart:?}");
        assert_eq!(rank_sum(&high, &low, 0.05), Some(apart));
        let mingled = rank_sum(&[1.0, 3.0, 6.0, 8.0], &[2.0, 4.0, 5.0, 7.0], 0.05).expect("two samples");
        assert!(!mingled.differs);
        let equal = rank_sum(&[1.0; 8], &[1.0; 8], 0.05).expect("two samples");
        assert!(!equal.differs, "equal values are no order");
    }

    #[test]
    fn too_few_values_differ_never() {
        let three = rank_sum(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0], 0.05).expect("two samples");
        assert!(!three.differs && three.by_chance < 1e-12, "{three:?}");
        assert_eq!(rank_sum(&[], &[1.0], 0.05), None);
        assert_eq!(rank_sum(&[1.0], &[f64::NAN], 0.05), None);
    }

    #[test]
    fn many_tests_reject_some_by_chance() {
        assert!((chance_of_at_least(0, 20, 0.05) - 1.0).abs() < 1e-12);
        assert!((chance_of_at_least(1, 20, 0.05) - (1.0 - 0.95_f64.powi(20))).abs() < 1e-9);
        assert!(chance_of_at_least(6, 18, 0.04) < 0.001);
    }
}
