//! Trials that were made under conditions of which one is known: their level at a reference value of it.
//!
//! Where the level of trials follows a known quantity, most of what they scatter by is no uncertainty: every trial is moved to the
//! reference along the line of all (analysis of covariance: Cochran 1957, "Analysis of covariance: its nature and uses", Biometrics
//! 13). What the line leaves open is added to the interval: it follows the trials, so that they lie nearer to it than to the
//! true one, and its slope has an error, which counts by how far the middle of the trials is from the reference (Draper & Smith
//! 1998, section 1.4, the variance of a predicted mean).
//!
//! A slope is used if its range is known beforehand and the trials do not contradict it: the middle of the range, half of which counts
//! as its error. Or it is used if the trials show one: its 95 % interval excludes zero, meets what is possible and is no wider than
//! that: a steeper or vaguer one is of something else that changed at the same time.
//! Otherwise trials stay as they are, with all of their scatter. A line is not followed beyond the trials: one that they show has to
//! have trials on both sides of the reference.

use super::distribution::student_quantile;
use super::estimate::{Estimate, MINIMUM_TRIALS};
use super::line::fit_line;
use super::measured::Interval;
use super::quantile::LEVEL;

/// The least range of the covariate's logarithm over which trials show a slope: covariates are themselves measured.
const LEAST: f64 = 0.001;

/// Below so many trials the interval is widened more, four do not show a slope, and five none against what is known of it: with so
/// few, the choice of the slope by its own test and the interval beside it held the truth 92 times in 100 of
/// `tests/statistics/covariate.rs`.
const FEW: f64 = 6.0;

/// What a slope is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SlopeSource {
    /// It was known beforehand.
    Kind,
    /// The trials show it.
    Trials,
    /// The trials show it, and contradict what was known.
    TrialsAgainstKind,
}

/// How the logarithms of trials' levels follow a covariate, near a reference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CovariateFit {
    /// The slope: the change of the logarithm of the level by that of the covariate.
    pub slope: f64,
    /// The 95 % interval of the slope, or the range that is known beforehand; `None` where exactly the slope is known.
    pub slope_interval: Option<Interval>,
    /// What the slope is from.
    source: SlopeSource,
    /// The mean distance of the trials from the reference, of the covariate's logarithm.
    from_reference: f64,
    trials: usize,
}

impl CovariateFit {
    /// For trials, each as the distance of the covariate from the reference and its level, both as logarithms; `possible` is the range
    /// of slopes, `known` the narrower one that the kind of the work gives, if it does. `None` where the trials stay as they are.
    pub fn of(trials: &[(f64, f64)], possible: Interval, known: Option<Interval>) -> Option<Self> {
        let mean = trials.iter().map(|(distance, _)| distance).sum::<f64>() / trials.len() as f64;
        let (low, high) = trials
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), (at, _)| (low.min(*at), high.max(*at)));
        let line = fit_line(trials).filter(|_| high - low >= LEAST);
        let shown = line.as_ref().and_then(|line| line.slope_interval);
        let fit = |source, slope, slope_interval| CovariateFit {
            slope,
            slope_interval,
            source,
            from_reference: mean,
            trials: trials.len(),
        };
        let agrees =
            |known: &Interval| shown.is_none_or(|ends| ends.low <= known.high && known.low <= ends.high);
        if let Some(known) = known.filter(agrees) {
            let range = (known.low < known.high).then_some(known);
            let middle = f64::midpoint(known.low, known.high);
            return mean.is_finite().then(|| fit(SlopeSource::Kind, middle, range));
        }
        let (line, shown) = (line?, shown?);
        let is_narrow = shown.high - shown.low <= possible.high - possible.low;
        let is_possible = shown.low <= possible.high && shown.high >= possible.low && !shown.contains(0.0);
        let encloses = low <= 0.0 && high >= 0.0;
        let (source, least) = match known {
            None => (SlopeSource::Trials, MINIMUM_TRIALS + 1),
            Some(_) => (SlopeSource::TrialsAgainstKind, MINIMUM_TRIALS + 2),
        };
        (trials.len() >= least && is_narrow && is_possible && encloses)
            .then(|| fit(source, line.slope.clamp(possible.low, possible.high), Some(shown)))
    }

    /// Whether the slope was known beforehand.
    pub fn is_known(&self) -> bool {
        self.source == SlopeSource::Kind
    }

    /// The standard error of the slope, of a range that is known beforehand that of equal chances within it; 0 where exactly the slope
    /// is known.
    pub fn slope_error(&self) -> f64 {
        let Some(ends) = self.slope_interval else { return 0.0 };
        let half = (ends.high - ends.low) / 2.0;
        if self.is_known() {
            return half / 3.0_f64.sqrt();
        }
        half / student_quantile(f64::midpoint(1.0, LEVEL), self.trials as f64 - 2.0)
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
        let by_slope = (slope.high - slope.low) / 2.0 * self.from_reference.abs() * estimate.value.abs();
        let by_line = self.by_own_line();
        let reach = |of: f64| (by_line * of).hypot(by_slope);
        *ends = Interval {
            low: estimate.value - reach(estimate.value - ends.low),
            high: estimate.value + reach(ends.high - estimate.value),
        };
        estimate
    }

    /// The factor by which the scatter about the trials' own line understates that about the true one: they have one degree of freedom
    /// less, and lie nearer to it. 1 for a slope that was known beforehand.
    fn by_own_line(&self) -> f64 {
        let trials = self.trials as f64;
        let quantile = |freedom| student_quantile(f64::midpoint(1.0, LEVEL), freedom);
        let nearer = match self.source {
            SlopeSource::Kind => return 1.0,
            SlopeSource::Trials if trials >= FEW => (trials / (trials - 2.0)).sqrt(),
            SlopeSource::Trials | SlopeSource::TrialsAgainstKind => trials / (trials - 2.0),
        };
        quantile(trials - 2.0) / quantile(trials - 1.0) * nearer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POSSIBLE: Interval = Interval { low: -1.0, high: 0.0 };

    fn exactly(slope: f64) -> Interval {
        Interval { low: slope, high: slope }
    }

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
        let fit = CovariateFit::of(&trials(-0.8, 0.1), POSSIBLE, Some(exactly(-1.0))).expect("known");
        assert_eq!((fit.slope, fit.slope_interval), (-1.0, None));
        let shown = CovariateFit::of(&trials(-0.5, 0.001), POSSIBLE, Some(exactly(-1.0))).expect("shown");
        assert!((shown.slope + 0.5).abs() < 0.05, "{shown:?}");
    }

    #[test]
    fn a_range_of_slopes_counts_by_how_far_the_trials_are_from_the_reference() {
        let range = Interval { low: -1.0, high: -0.9 };
        let wide = |from: f64| {
            let trials: Vec<(f64, f64)> =
                trials(-0.97, 0.001).into_iter().map(|(x, y)| (x + from, y - 0.97 * from)).collect();
            let fit = CovariateFit::of(&trials, POSSIBLE, Some(range)).expect("known");
            assert!((fit.slope + 0.95).abs() < 1e-12 && fit.slope_interval == Some(range), "{fit:?}");
            let ends = Interval { low: 99.0, high: 101.0 };
            let observed = [100.0, 100.0, 100.0];
            let estimate = super::super::estimate(&[&observed; 6]).expect("six trials");
            let ends =
                fit.widened(Estimate { interval: Some(ends), ..estimate }).interval.expect("an interval");
            ends.high - ends.low
        };
        let (near, far) = (wide(-0.01), wide(0.09));
        assert!((near - 2.0).abs() < 1e-9, "they lie around it: {near}");
        let by_slope: f64 = 100.0 * 0.05 * 0.1;
        assert!((far - 2.0 * by_slope.hypot(1.0)).abs() < 1e-9, "half of the range, at this distance: {far}");
        let other = CovariateFit::of(&trials(-0.5, 0.001), POSSIBLE, Some(range)).expect("shown");
        assert!((other.slope + 0.5).abs() < 0.05, "{other:?}");
    }

    #[test]
    fn a_line_is_not_followed_beyond_the_trials() {
        let away: Vec<(f64, f64)> = trials(-0.7, 0.001).into_iter().map(|(x, y)| (x + 0.1, y)).collect();
        assert_eq!(CovariateFit::of(&away, POSSIBLE, None), None);
        assert!(
            CovariateFit::of(&away, POSSIBLE, Some(exactly(-1.0)))
                .is_none_or(|fit| fit.slope_interval.is_none())
        );
    }
}
