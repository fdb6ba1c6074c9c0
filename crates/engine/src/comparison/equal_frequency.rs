//! What operations cost at the same frequency of the core.
//!
//! Trials of one family are made within seconds of each other, and the frequency of the core changes from second to second and
//! from run to run, so the whole of a family may be measured while the core is slow. No round shows that as an error. But every trial
//! observes the frequency beside its work, so it is a covariate that is known (analysis of covariance: Cochran 1957, "Analysis of
//! covariance: its nature and uses", Biometrics 13): how far a family's costs follow it is fitted within the points of both sides,
//! and each trial is moved to one frequency by that much. What is compared is then the operation, and the frequency is compared by
//! itself.
//!
//! The time of an operation has a part that follows the core's cycle and a part that does not (memory, devices), so the share that
//! follows is between 0 and 1. Where the frequency hardly varied within the runs, their trials do not say where: the share is then
//! taken for any in that range alike (its mean ½, its deviation 1/√12), and what that leaves open is part of the error wherever the two
//! sides had different frequencies.

use super::families::FROM_RUN_TO_RUN;
use super::side::{Level, LevelAtFrequency};
use crate::record::Run;
use crate::results;
use fathom_core::experiment::Point;
use fathom_core::statistics::{self, LogLevel};
use std::collections::BTreeMap;

/// The mean and the deviation of a share of which nothing is known.
const UNKNOWN: (f64, f64) = (0.5, 0.288_675);

/// From how many of its deviations on a residual counts less than in full (Huber's constant), and how often the fit is repeated.
const FAR: f64 = 1.5;
const REPETITIONS: usize = 8;

/// How a family's costs follow the frequency of the core.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct EqualFrequency {
    /// The share of the cost that follows it, 0 to 1, with its standard error.
    share: f64,
    error: f64,
    /// The logarithm of the frequency to which trials are moved.
    reference: f64,
}

/// The trials of a point in one run: its costs by round as logarithms, each with the logarithm of the frequency.
pub(super) type RoundSeries = Vec<(f64, f64)>;

impl EqualFrequency {
    /// For a point whose figures were moved to the usual frequency of their run (`results/at_usual.rs`): by the share that its own
    /// trials follow it, to the frequency whose logarithm is the reference. `None` where no side knows its share, or one no frequency.
    pub fn of_point(levels: &[&Level], reference: f64) -> Option<Self> {
        let shares: Vec<&LevelAtFrequency> =
            levels.iter().filter_map(|level| level.at_frequency.as_ref()).collect();
        let share = statistics::mean(&shares.iter().map(|moved| moved.share).collect::<Vec<_>>())?.value;
        let error = shares.iter().map(|moved| moved.error).fold(0.0, f64::max);
        let have_frequencies = levels.iter().all(|level| level.log_hz().is_some());
        have_frequencies.then_some(EqualFrequency { share, error, reference })
    }

    /// By how much the logarithm of a level's cost moves from the frequency of its figure, and the error of that.
    pub fn of_figure(&self, level: &Level) -> (f64, f64) {
        let distance = level.log_hz().unwrap_or(self.reference) - self.reference;
        // Both sides move by the same share, so its errors add, and those of two levels are joined as if they were independent.
        (self.share * distance, std::f64::consts::SQRT_2 * self.error * distance.abs())
    }

    /// Trials stay as they are.
    pub const NONE: Self = EqualFrequency { share: 0.0, error: 0.0, reference: 0.0 };

    /// From the series of all points of a family in all runs. `NONE` where no trial knows the frequency.
    pub fn of(all: &[RoundSeries]) -> Self {
        let logs: Vec<f64> = all.iter().flatten().map(|(hz, _)| *hz).collect();
        let Some(reference) = statistics::mean(&logs) else { return Self::NONE };
        let (share, error) = share(&all.iter().flat_map(deviations).collect::<Vec<_>>());
        EqualFrequency { share, error, reference: reference.value }
    }

    /// The logarithm of a cost at the frequency of the others.
    fn moved(&self, cost: f64, hz: Option<f64>) -> f64 {
        cost + hz.map_or(0.0, |hz| self.share * (hz.ln() - self.reference))
    }

    /// The logarithms of a point's costs by round at one frequency; `cost` makes a cost of a logarithm of its figure.
    pub fn costs(&self, level: &Level, cost: impl Fn(f64) -> f64) -> Vec<(u32, f64)> {
        let costs = with_frequency(level, cost);
        costs.into_iter().map(|(round, cost, hz)| (round, self.moved(cost, hz))).collect()
    }

    /// By how much the median of a point's trials moves.
    pub fn shift(&self, level: &Level, cost: impl Fn(f64) -> f64) -> f64 {
        let costs = with_frequency(level, cost);
        let before: Vec<f64> = costs.iter().map(|(_, cost, _)| *cost).collect();
        let after: Vec<f64> = costs.iter().map(|(_, cost, hz)| self.moved(*cost, *hz)).collect();
        match (statistics::median(&before), statistics::median(&after)) {
            (Some(before), Some(after)) => after - before,
            _ => 0.0,
        }
    }

    /// The error that the share leaves where frequencies differ by so much, on logarithms.
    pub fn error_at(&self, distance: f64) -> f64 {
        self.error * distance.abs()
    }
}

/// The costs of a point by round, as logarithms, with the frequency in hertz where it was observed.
fn with_frequency(level: &Level, cost: impl Fn(f64) -> f64) -> Vec<(u32, f64, Option<f64>)> {
    let hz = |round: u32| level.core_hz.iter().find(|(other, _)| *other == round).map(|(_, hz)| *hz);
    let positive = level.by_round.iter().filter(|(_, median)| *median > 0.0);
    positive.map(|(round, median)| (*round, cost(median.ln()), hz(*round))).collect()
}

/// The series of a point in one run: the trials whose frequency is known.
pub(super) fn series(level: &Level, cost: impl Fn(f64) -> f64) -> RoundSeries {
    with_frequency(level, cost).into_iter().filter_map(|(_, cost, hz)| Some((hz?.ln(), cost))).collect()
}

/// The distances of a series from its own means; none of one that is too short to have any.
fn deviations(series: &RoundSeries) -> RoundSeries {
    let mean = |of: fn(&(f64, f64)) -> f64| statistics::mean(&series.iter().map(of).collect::<Vec<_>>());
    let (Some(hz), Some(cost)) = (mean(|each| each.0), mean(|each| each.1)) else { return vec![] };
    series.iter().map(|(one, other)| (one - hz.value, other - cost.value)).collect()
}

/// The share of costs that follows the frequency, with its error: a line through the origin in which what is far from it has little
/// influence (Huber 1964), joined with what is known of any share.
fn share(deviations: &[(f64, f64)]) -> (f64, f64) {
    let (mut slope, mut error) = (0.0, f64::INFINITY);
    let mut weights = vec![1.0; deviations.len()];
    for _ in 0..REPETITIONS {
        let sum = |of: &dyn Fn(&(f64, f64)) -> f64| -> f64 {
            deviations.iter().zip(&weights).map(|(each, weight)| weight * of(each)).sum()
        };
        let squares = sum(&|(hz, _)| hz * hz);
        if squares <= 0.0 {
            return UNKNOWN;
        }
        slope = -sum(&|(hz, cost)| hz * cost) / squares;
        let residual = |(hz, cost): &(f64, f64)| cost + slope * hz;
        let variance = sum(&|each| residual(each).powi(2)) / weights.iter().sum::<f64>();
        // Trials of a round move together, as runs of a family do beyond their rounds.
        error = FROM_RUN_TO_RUN * (variance / squares).sqrt();
        let distances: Vec<f64> = deviations.iter().map(|each| residual(each).abs()).collect();
        let far = FAR * statistics::normal_deviation(&distances).unwrap_or_default();
        weights =
            distances.iter().map(|distance| if *distance > far { far / distance } else { 1.0 }).collect();
    }
    let (usual, spread) = UNKNOWN;
    let (known, prior) = (error.max(f64::MIN_POSITIVE.sqrt()).powi(-2), spread.powi(-2));
    let joined = (known * slope + prior * usual) / (known + prior);
    (joined.clamp(0.0, 1.0), (known + prior).powf(-0.5))
}

/// The frequency of the core in the trials of each point, hertz, with their rounds.
pub(super) type FrequenciesByPoint<'a> = BTreeMap<(&'a str, &'a Point), Vec<(u32, f64)>>;

/// The parts of equal length into which a run is divided, to see how much its frequency varies in time.
const PARTS: usize = 8;

/// The least error of a logarithm of the frequency over a run: the clock's own frequency is not known better.
const LEAST_ERROR: f64 = 0.0005;

/// The frequency in each trial that observed it.
pub(super) fn by_point(run: &Run) -> FrequenciesByPoint<'_> {
    let mut frequencies = FrequenciesByPoint::new();
    for trial in &run.trials {
        if let Some(hz) = results::core_hz_of(&run.header, trial) {
            let place = frequencies.entry((trial.experiment.as_str(), &trial.point)).or_default();
            place.push((trial.round, hz));
        }
    }
    frequencies
}

/// The logarithm of the frequency over the run, with the error of a mean of its parts; `None` where too few of these observed it.
pub(super) fn over(run: &Run) -> Option<LogLevel> {
    let observed: Vec<(f64, f64)> = run
        .trials
        .iter()
        .filter_map(|trial| Some((trial.began_s, results::core_hz_of(&run.header, trial)?.ln())))
        .collect();
    let end = observed.iter().map(|(at, _)| *at).fold(f64::MIN_POSITIVE, f64::max);
    let mut parts: Vec<Vec<f64>> = vec![vec![]; PARTS];
    for (at, log) in observed {
        parts[((at / end * PARTS as f64) as usize).min(PARTS - 1)].push(log);
    }
    let means: Vec<f64> = parts.iter().filter_map(|part| Some(statistics::mean(part)?.value)).collect();
    let mean = statistics::mean(&means).filter(|_| means.len() >= statistics::MINIMUM_TRIALS)?;
    let error = (mean.deviation? / (means.len() as f64).sqrt()).max(LEAST_ERROR);
    Some(LogLevel { value: mean.value, below: error, above: error, freedom: means.len() as f64 - 1.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Trials at two frequencies, of which a share of the cost follows the core's.
    fn at_two_frequencies(follows: f64) -> Vec<RoundSeries> {
        let point = |level: f64| {
            (0..8_u32).map(move |trial| {
                let hz = if trial % 3 == 0 { 3.7e9_f64.ln() } else { 4.1e9_f64.ln() };
                (hz, level - follows * hz + 0.002 * (f64::from(trial * 5 % 7) / 3.0 - 1.0))
            })
        };
        (0..10).map(|level| point(f64::from(level)).collect()).collect()
    }

    #[test]
    fn the_share_that_follows_the_frequency_is_found_and_one_slow_trial_changes_it_little() {
        for follows in [0.0, 0.4, 1.0] {
            let mut all = at_two_frequencies(follows);
            let found = EqualFrequency::of(&all);
            assert!((found.share - follows).abs() < 0.02 && found.error < 0.02, "{follows}: {found:?}");
            all[3][0].1 += 1.0;
            let disturbed = EqualFrequency::of(&all);
            assert!((disturbed.share - found.share).abs() < 0.05, "{follows}: {disturbed:?}");
        }
    }

    #[test]
    fn where_the_frequency_never_varied_any_share_is_possible() {
        let all: Vec<RoundSeries> = vec![vec![(22.0, 1.0), (22.0, 1.1), (22.0, 0.9)]];
        let found = EqualFrequency::of(&all);
        assert!((found.share - 0.5).abs() < 1e-9 && (found.error - 0.288_675).abs() < 1e-9, "{found:?}");
        assert!((found.error_at(-0.1) - 0.028_867_5).abs() < 1e-9);
        assert_eq!(EqualFrequency::of(&[]), EqualFrequency::NONE);
    }
}
