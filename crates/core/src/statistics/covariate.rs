//! Trials that were made under conditions of which one is known: their level at a reference value of it.
//!
//! Where the level of trials follows a known quantity, most of what they scatter by is no uncertainty: every trial is moved to the
//! reference along the line of all (analysis of covariance: Cochran 1957, "Analysis of covariance: its nature and uses", Biometrics
//! 13). What the line leaves open is added to the interval: it follows the trials, so that they lie nearer to it than to the
//! true one, and its slope has an error, which counts by how far the middle of the trials is from the reference (Draper & Smith
//! 1998, section 1.4, the variance of a predicted mean).
//!
//! A slope is used if it is known beforehand and the trials do not contradict it, or if they show one: its 95 % interval excludes zero,
//! meets what is possible and is no wider than that: a steeper or vaguer one is of something else that changed at the same time.
//! Otherwise trials stay as they are, with all of their scatter. A line is not followed beyond the trials: one that they show has to
//! have trials on both sides of the reference.

use super::distribution::student_quantile;
use super::estimate::{Estimate, MINIMUM_TRIALS};
use super::line::fit_line;
use super::measured::Interval;
use super::quantile::LEVEL;

/// The least range of the covariate's logarithm over which trials show a slope: covariates are themselves measured.
const LEAST: f64 = 0.001;

/// Below so many trials the interval is widened more, and four do not show a slope: with so few, the choice of the slope by its own
/// test and the interval beside it held the truth 92 times in 100 of `tests/statistics/covariate.rs`.
const FEW: f64 = 6.0;

/// How the logarithms of trials' levels follow a covariate, near a reference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CovariateFit {
    /// The slope: the change of the logarithm of the level by that of the covariate.
    pub slope: f64,
    /// The 95 % interval of the slope; `None` where it is known beforehand.
    pub slope_interval: Option<Interval>,
    /// The mean distance of the trials from the reference, of the covariate's logarithm.
    from_reference: f64,
    /// The number of trials.
    trials: usize,
}

impl CovariateFit {
    /// For trials, each as the distance of the covariate from the reference and its level, both as logarithms; `possible` is the range
    /// of slopes, `known` the slope if the kind of the work gives it. `None` where the trials stay as they are.
    pub fn of(trials: &[(f64, f64)], possible: Interval, known: Option<f64>) -> Option<Self> {
        let mean = trials.iter().map(|(distance, _)| distance).sum::<f64>() / trials.len() as f64;
        let (low, high) = trials
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), (at, _)| (low.min(*at), high.max(*at)));
        let line = fit_line(trials).filter(|_| high - low >= LEAST);
        let shown = line.as_ref().and_then(|line| line.slope_interval);
        let fit = |slope, slope_interval| CovariateFit {
            slope,
            slope_interval,
            from_reference: mean,
            trials: trials.len(),
        };
        if let Some(known) = known.filter(|slope| shown.is_none_or(|ends| ends.contains(*slope))) {
            return mean.is_finite().then(|| fit(known, None));
        }
        let (line, shown) = (line?, shown?);
        let is_known = shown.high - shown.low <= possible.high - possible.low;
        let is_possible = shown.low <= possible.high && shown.high >= possible.low && !shown.contains(0.0);
        let encloses = low <= 0.0 && high >= 0.0;
        (trials.len() > MINIMUM_TRIALS && is_known && is_possible && encloses)
            .then(|| fit(line.slope.clamp(possible.low, possible.high), Some(shown)))
    }

    /// The standard error of the slope; 0 where it is known beforehand.
    pub fn slope_error(&self) -> f64 {
        let quantile = || student_quantile(f64::midpoint(1.0, LEVEL), self.trials as f64 - 2.0);
        self.slope_interval.map_or(0.0, |ends| (ends.high - ends.low) / 2.0 / quantile())
    }

    /// The factor that moves a trial at this distance to the reference.
    pub fn factor(&self, distance: f64) -> f64 {
        (-self.slope * distance).exp()
    }

    /// The estimate of trials that were moved, with the uncertainty of the line.
    #[must_use]
    pub fn widened(&self, mut estimate: Estimate) -> Estimate {
        let (Some(slope), Some(ends)) = (self.slope_interval, &mut estimate.interval) else {
            return estimate;
        };
        let freedom = self.trials as f64 - 1.0;
        let quantile = |freedom| student_quantile(f64::midpoint(1.0, LEVEL), freedom);
        let trials = self.trials as f64;
        let nearer = (trials / (trials - 2.0)).powf(if trials < FEW { 1.0 } else { 0.5 });
        let fewer = quantile(freedom - 1.0) / quantile(freedom) * nearer;
        let by_slope = (slope.high - slope.low) / 2.0 * self.from_reference.abs() * estimate.value.abs();
        let reach = |of: f64| (fewer * of).hypot(by_slope);
        *ends = Interval {
            low: estimate.value - reach(estimate.value - ends.low),
            high: estimate.value + reach(ends.high - estimate.value),
        };
        estimate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POSSIBLE: Interval = Interval { low: -1.0, high: 0.0 };

    fn trials(slope: f64, noise: f64) -> Vec<(f64, f64)> {
        let noises = [0.3, -1.0, 0.8, -0.2, 1.0, -0.9];
        (0..6)
            .map(|nth| 0.02 * (f64::from(nth) - 2.0))
            .zip(noises)
            .map(|(x, e)| (x, slope * x + noise * e))
            .collect()
    }

    #[test]
    fn a_slope_that_trials_show_is_used_and_no_other() {
        let fit = CovariateFit::of(&trials(-0.7, 0.001), POSSIBLE, None).expect("a slope");
        assert!((fit.slope + 0.7).abs() < 0.05 && fit.slope_interval.is_some(), "{fit:?}");
        assert_eq!(CovariateFit::of(&trials(-0.7, 0.1), POSSIBLE, None), None, "noise hides it");
        assert_eq!(CovariateFit::of(&trials(0.7, 0.001), POSSIBLE, None), None, "it is not possible");
        let steep = CovariateFit::of(&trials(-1.02, 0.001), POSSIBLE, None).expect("a slope");
        assert!((steep.slope + 1.0).abs() < 1e-12, "{steep:?}");
    }

    #[test]
    fn a_known_slope_is_used_unless_the_trials_contradict_it() {
        let fit = CovariateFit::of(&trials(-0.8, 0.1), POSSIBLE, Some(-1.0)).expect("known");
        assert_eq!((fit.slope, fit.slope_interval), (-1.0, None));
        let shown = CovariateFit::of(&trials(-0.5, 0.001), POSSIBLE, Some(-1.0)).expect("shown");
        assert!((shown.slope + 0.5).abs() < 0.05, "{shown:?}");
    }

    #[test]
    fn a_line_is_not_followed_beyond_the_trials() {
        let away: Vec<(f64, f64)> = trials(-0.7, 0.001).into_iter().map(|(x, y)| (x + 0.1, y)).collect();
        assert_eq!(CovariateFit::of(&away, POSSIBLE, None), None);
        assert!(CovariateFit::of(&away, POSSIBLE, Some(-1.0)).is_none_or(|fit| fit.slope_interval.is_none()));
    }
}
