//! Which side of a limit a quantile lies on, decided while trials still come in.
//!
//! A measurement that ends as soon as its result is clear looks at its data after every trial, and a test that is right in 95 of 100
//! looks is wrong far more often in one of many. So nothing here depends on when it is looked at.
//!
//! The question is reduced to the mean of numbers between 0 and 1, as the intervals of medians are (`estimate.rs`): *the share `p` of
//! all observations lies below x* says that the share below x, trial by trial, has the mean `p`. Trials are the independent draws, so
//! nothing is assumed of the observations within one: they may all be equal.
//!
//! The mean is tested by betting (Waudby-Smith & Ramdas 2024, "Estimating means of bounded random variables by betting", J. R. Stat.
//! Soc. B 86). A gambler starts with 1 and stakes a part of the capital on every trial, at odds that are fair if the mean is `p`: after
//! a trial with the share `s` the capital is multiplied by `1 + λ (s − p)`, with `0 ≤ λ ≤ 1/p` for a bet that the mean is greater. If it
//! is not, no strategy makes the capital grow: it ever reaches `1/ε` with a probability of at most `ε` (Ville 1939, "Étude critique de
//! la notion de collectif"), however many trials there are, whatever their distribution, and whenever one looks. So a capital of 20
//! decides, and is wrong in at most 5 of 100.
//!
//! The strategy divides the first capital: half is staked in full on every trial (`λ = 1/p`), a quarter by half, and so on to a
//! 128th. The whole is then never far below the best of these in hindsight (a mixture: Robbins 1970, "Statistical methods related to the law
//! of the iterated logarithm", Ann. Math. Stat. 41), and it grows with every `s`, so that the values of x that it does not refute
//! are an interval: a confidence sequence, which holds the quantile at all times together with a probability of `1 − 2ε`.
//!
//! The least number of trials is that after which the capital is 20 where all observations of all trials are below x: 6 for the median,
//! 34 for p90, 70 for p95, 357 for p99, 3583 for p99.9. They are a fifth more than the sizes at which the largest of so many independent
//! values is above the quantile 95 times in 100 (29, 59, 299, 2995), which is the cost of the accounts that do not stake everything. An
//! answer from fewer trials would have to assume that the observations of one process are independent of each other.

use super::pool::Pool;

/// The parts of the stake of the gambler's accounts: all that may be staked, half of it, and so on.
const ACCOUNTS: i32 = 8;

/// Which side of a mean was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SideOfMean {
    /// The mean is smaller.
    Below,
    /// The mean is greater.
    Above,
}

/// The greatest probabilities with which a mean is ever said to be on a side on which it is not.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SideErrors {
    /// That it is called smaller.
    pub below: f64,
    /// That it is called greater.
    pub above: f64,
}

impl SideErrors {
    /// The same for both sides.
    pub const fn both(error: f64) -> Self {
        SideErrors { below: error, above: error }
    }

    /// Those of what is left to 1: its mean is greater where that of the other is smaller.
    #[must_use]
    pub const fn of_the_rest(self) -> Self {
        SideErrors { below: self.above, above: self.below }
    }

    fn are_sound(self) -> bool {
        [self.below, self.above].iter().all(|error| *error > 0.0 && *error < 1.0)
    }
}

/// The logarithms of the capitals of all accounts that bet on one side of a mean.
#[derive(Debug, Clone)]
struct Gambler {
    /// The fair mean.
    mean: f64,
    /// The logarithm of each account.
    accounts: Vec<f64>,
}

impl Gambler {
    /// One who bets that the mean is greater. The first account has half of the capital, each other half as much as the one before,
    /// and the last as much as the one before it.
    fn new(mean: f64) -> Self {
        let part = |account: i32| (account + 1).min(ACCOUNTS - 1);
        let accounts = (0..ACCOUNTS).map(|account| -f64::from(part(account)) * std::f64::consts::LN_2);
        Gambler { mean, accounts: accounts.collect() }
    }

    /// A trial with this share.
    fn settle(&mut self, share: f64) {
        for (account, capital) in self.accounts.iter_mut().enumerate() {
            let stake = 0.5_f64.powi(account as i32) / self.mean;
            // A whole capital that is lost stays lost.
            *capital += (1.0 + stake * (share - self.mean)).max(0.0).ln();
        }
    }

    /// Whether the whole capital has reached a multiple of the first.
    fn has(&self, multiple: f64) -> bool {
        let (most, needed) = (self.accounts.iter().copied().fold(f64::NEG_INFINITY, f64::max), multiple.ln());
        // The whole is at most as many times the greatest as there are accounts.
        if most + f64::from(ACCOUNTS).ln() < needed {
            return false;
        }
        let whole: f64 = self.accounts.iter().map(|capital| (capital - most).exp()).sum();
        most + whole.ln() >= needed
    }
}

/// Which side of `mean` the mean of these numbers between 0 and 1 lies on, with the number of them after which that was first shown;
/// `None` while neither is. Each answer is wrong with a probability of at most its error.
///
/// # Panics
/// If `mean` or an error is not strictly between 0 and 1.
pub fn side_of_mean(shares: &[f64], mean: f64, errors: SideErrors) -> Option<(SideOfMean, usize)> {
    assert!(mean > 0.0 && mean < 1.0 && errors.are_sound(), "{mean} {errors:?}");
    let (mut above, mut below) = (Gambler::new(mean), Gambler::new(1.0 - mean));
    for (place, share) in shares.iter().enumerate() {
        above.settle(*share);
        below.settle(1.0 - share);
        if above.has(1.0 / errors.above) {
            return Some((SideOfMean::Above, place + 1));
        }
        if below.has(1.0 / errors.below) {
            return Some((SideOfMean::Below, place + 1));
        }
    }
    None
}

/// The least number of trials after which a mean on this side of `mean` can be shown: where all numbers are 1, or all 0.
pub fn fewest_to_show(side: SideOfMean, mean: f64, error: f64) -> usize {
    let mean = match side {
        SideOfMean::Above => mean,
        SideOfMean::Below => 1.0 - mean,
    };
    let mut gambler = Gambler::new(mean);
    let mut count = 0;
    while !gambler.has(1.0 / error) && count < MOST_TRIALS {
        gambler.settle(1.0);
        count += 1;
    }
    count
}

/// No test waits for more trials.
const MOST_TRIALS: usize = 1_000_000;

/// A quantile or a mean with the ends of its confidence sequence, in the unit of the observations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SequentialEstimate {
    /// The quantile of all observations, every trial counting the same; or the mean.
    pub value: f64,
    /// The lower end; `None` while the trials do not bound it.
    pub low: Option<f64>,
    /// The upper end; `None` while the trials do not bound it.
    pub high: Option<f64>,
}

/// The value below which the share `level` of all observations lies, with an interval that may be looked at after every trial: at each
/// end it excludes the true one with a probability of at most that side's error, over all looks together. Errors are those of the test
/// of a share below a value: that of `below` is of the lower end. Trials stand in the order in which they were made, because
/// evidence is not forgotten: what an earlier look excluded stays excluded.
///
/// `None` without trials, with an empty one, or with an observation that is not finite.
pub fn sequential_quantile<T: AsRef<[f64]>>(
    trials: &[T],
    level: f64,
    errors: SideErrors,
) -> Option<SequentialEstimate> {
    let pool = Pool::new(trials)?;
    let shows = |shares: &[f64], side: SideOfMean| {
        side_of_mean(shares, level, errors).is_some_and(|(shown, _)| shown == side)
    };
    let count = pool.trials();
    let bounds = |end: f64, side: SideOfMean| shows(&vec![end; count], side);
    let low = || pool.first(|up_to, _| !shows(up_to, SideOfMean::Below));
    let high = || pool.last(|_, before| !shows(before, SideOfMean::Above));
    Some(SequentialEstimate {
        value: pool.quantile(level),
        low: bounds(0.0, SideOfMean::Below).then(low),
        high: bounds(1.0, SideOfMean::Above).then(high),
    })
}

/// The mean of numbers between 0 and 1, with an interval that may be looked at after every one of them: it ends where the test would
/// call the mean greater (its lower end) or smaller. `None` without numbers.
pub fn sequential_mean(shares: &[f64], errors: SideErrors) -> Option<SequentialEstimate> {
    let value = super::mean(shares)?.value;
    let is = |mean: f64, side: SideOfMean| {
        let mean = mean.clamp(STEP, 1.0 - STEP);
        side_of_mean(shares, mean, errors).is_some_and(|(shown, _)| shown == side)
    };
    // The smaller a mean, the easier it is to show that the true one is greater.
    let (mut low, mut high) = ((0.0, value), (value, 1.0));
    for _ in 0..HALVINGS {
        let (middle_low, middle_high) = (f64::midpoint(low.0, low.1), f64::midpoint(high.0, high.1));
        low = if is(middle_low, SideOfMean::Above) { (middle_low, low.1) } else { (low.0, middle_low) };
        high = if is(middle_high, SideOfMean::Below) { (high.0, middle_high) } else { (middle_high, high.1) };
    }
    Some(SequentialEstimate { value, low: Some(low.0), high: Some(high.1) })
}

/// The step to which the ends of the interval of a mean are found, and the halvings of its range down to it.
const STEP: f64 = 1e-6;
const HALVINGS: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;

    const ERROR: f64 = 0.05;
    const BOTH: SideErrors = SideErrors::both(ERROR);

    #[test]
    fn the_least_numbers_of_trials_are_those_of_the_documentation() {
        let fewest = [0.5, 0.9, 0.95, 0.99, 0.999].map(|mean| fewest_to_show(SideOfMean::Above, mean, ERROR));
        assert_eq!(fewest, [6, 34, 70, 357, 3583]);
        let others = [0.5, 0.99].map(|mean| fewest_to_show(SideOfMean::Below, mean, ERROR));
        assert_eq!(others, [6, 1]);
    }

    #[test]
    fn what_is_on_one_side_is_shown_there_and_what_is_at_the_mean_is_not() {
        assert_eq!(side_of_mean(&[1.0; 20], 0.5, BOTH), Some((SideOfMean::Above, 6)));
        assert_eq!(side_of_mean(&[0.0; 20], 0.5, BOTH), Some((SideOfMean::Below, 6)));
        assert_eq!(side_of_mean(&[1.0; 5], 0.5, BOTH), None);
        assert_eq!(side_of_mean(&[0.5; 500], 0.5, BOTH), None);
        // Nine of ten where half would do, one trial in three all wrong.
        let mixed: Vec<f64> = (0..60).map(|trial| if trial % 10 == 9 { 0.0 } else { 0.95 }).collect();
        assert!(
            side_of_mean(&mixed, 0.5, BOTH)
                .is_some_and(|(side, after)| side == SideOfMean::Above && after < 20)
        );
    }

    #[test]
    fn a_decision_stays_whatever_comes_later() {
        let turned: Vec<f64> = [vec![1.0; 8], vec![0.0; 200]].concat();
        assert_eq!(side_of_mean(&turned, 0.5, BOTH), Some((SideOfMean::Above, 6)));
    }

    #[test]
    fn one_lost_stake_does_not_end_the_bet() {
        let mut shares = vec![1.0; 40];
        shares[0] = 0.0;
        let (side, after) = side_of_mean(&shares, 0.5, BOTH).expect("most of them are 1");
        assert!(side == SideOfMean::Above && (8..20).contains(&after), "{after}");
    }

    #[test]
    fn the_interval_excludes_a_limit_exactly_when_the_test_decides() {
        let trials: Vec<Vec<f64>> = (0..30_u32)
            .map(|trial| (0..9).map(|place| f64::from(100 + (trial * 7 + place * 5) % 23)).collect())
            .collect();
        for count in [4, 6, 9, 14, 30] {
            let some = &trials[..count];
            let quantile = sequential_quantile(some, 0.5, BOTH).expect("sound");
            for limit in (95..128).map(|limit| f64::from(limit) + 0.5) {
                let share =
                    |trial: &Vec<f64>| trial.iter().filter(|value| **value <= limit).count() as f64 / 9.0;
                let shares: Vec<f64> = some.iter().map(share).collect();
                let side = side_of_mean(&shares, 0.5, BOTH).map(|(side, _)| side);
                // More than half below the limit: the median is below it too.
                let excluded = if quantile.high.is_some_and(|high| high < limit) {
                    Some(SideOfMean::Above)
                } else if quantile.low.is_some_and(|low| low > limit) {
                    Some(SideOfMean::Below)
                } else {
                    None
                };
                assert_eq!(side, excluded, "{count} {limit} {quantile:?}");
            }
        }
    }

    #[test]
    fn the_interval_of_a_mean_ends_where_the_test_decides() {
        let shares: Vec<f64> = (0..60).map(|place| if place % 6 == 0 { 1.0 } else { 0.0 }).collect();
        let found = sequential_mean(&shares, BOTH).expect("numbers");
        let (low, high) = (found.low.expect("an end"), found.high.expect("an end"));
        assert!((found.value - 1.0 / 6.0).abs() < 1e-12 && low > 0.02 && high < 0.4, "{found:?}");
        assert_eq!(side_of_mean(&shares, low - 1e-3, BOTH).map(|(side, _)| side), Some(SideOfMean::Above));
        assert_eq!(side_of_mean(&shares, low + 1e-3, BOTH), None);
        assert_eq!(side_of_mean(&shares, high + 1e-3, BOTH).map(|(side, _)| side), Some(SideOfMean::Below));
        assert_eq!(sequential_mean(&[], BOTH), None);
        let none = sequential_mean(&[0.0; 400], BOTH).expect("numbers");
        assert!(none.high.is_some_and(|high| high < 0.01) && none.low == Some(0.0), "{none:?}");
    }

    #[test]
    fn each_side_has_an_error_of_its_own() {
        let strict = SideErrors { below: ERROR / 6.0, above: ERROR };
        assert_eq!(side_of_mean(&[1.0; 20], 0.5, strict), Some((SideOfMean::Above, 6)));
        assert_eq!(side_of_mean(&[0.0; 20], 0.5, strict), Some((SideOfMean::Below, 8)));
        assert_eq!(side_of_mean(&[0.0; 20], 0.5, strict.of_the_rest()), Some((SideOfMean::Below, 6)));
        let trials: Vec<Vec<f64>> = (0..24_u32).map(|trial| vec![f64::from(trial * 7 % 24)]).collect();
        let ends = |errors| sequential_quantile(&trials, 0.5, errors).expect("numbers");
        let (usual, wider) = (ends(BOTH), ends(strict));
        assert!(wider.low < usual.low && wider.high == usual.high, "{wider:?} {usual:?}");
    }

    #[test]
    fn too_few_trials_bound_nothing_and_no_trials_are_refused() {
        let few = sequential_quantile(&[[1.0, 2.0], [1.0, 3.0]], 0.5, BOTH).expect("sound");
        assert_eq!((few.value, few.low, few.high), (1.5, None, None));
        assert_eq!(sequential_quantile::<Vec<f64>>(&[], 0.5, BOTH), None);
        assert_eq!(sequential_quantile(&[vec![1.0], vec![f64::NAN]], 0.5, BOTH), None);
    }
}
