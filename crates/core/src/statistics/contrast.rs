//! The distance between two positive levels on logarithms, where a doubling and a halving are equally far.
//!
//! A level comes from an estimate, whose interval is asymmetric; its standard errors are the two halves of the interval in
//! logarithms over the quantile of Student's t with which the interval was made. Errors of independent levels add by their
//! squares, each on its side (Zou & Donner 2008, see [`Measured`](super::Measured)); the degrees of freedom of such a sum are
//! those of Satterthwaite 1946, "An approximate distribution of estimates of variance components" (Biometrics Bull. 2).

use super::distribution::{student_below, student_quantile};
use super::estimate::{Estimate, MINIMUM_TRIALS};
use super::measured::Interval;
use super::quantile::LEVEL;

/// The logarithm of a positive level, with its standard errors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogLevel {
    /// The natural logarithm of the level.
    pub value: f64,
    /// Its standard error towards smaller values.
    pub below: f64,
    /// Its standard error towards larger values.
    pub above: f64,
    /// The degrees of freedom of both.
    pub freedom: f64,
}

impl LogLevel {
    /// The level of an estimate; `None` without an interval, or where the interval reaches zero.
    pub fn of(estimate: &Estimate) -> Option<Self> {
        let interval = estimate.interval.filter(|interval| interval.low > 0.0)?;
        let freedom = estimate.trials.max(MINIMUM_TRIALS) as f64 - 1.0;
        let reach = student_quantile(f64::midpoint(1.0, estimate.level), freedom);
        let value = estimate.value.ln();
        let (below, above) = (value - interval.low.ln(), interval.high.ln() - value);
        Some(LogLevel { value, below: below / reach, above: above / reach, freedom })
    }

    /// The mean of independent levels with equal weights; `None` of none.
    pub fn mean(levels: &[Self]) -> Option<Self> {
        let count = levels.len() as f64;
        let sum = levels.iter().copied().reduce(Self::plus)?;
        Some(LogLevel {
            value: sum.value / count,
            below: sum.below / count,
            above: sum.above / count,
            freedom: sum.freedom,
        })
    }

    /// The same level with its standard errors multiplied by a factor.
    #[must_use]
    pub fn widened(self, times: f64) -> Self {
        LogLevel { below: self.below * times, above: self.above * times, ..self }
    }

    /// The same level with at least this standard error, which has so many degrees of freedom.
    #[must_use]
    pub fn known_no_better_than(self, error: f64, freedom: f64) -> Self {
        if error > self.below.max(self.above) {
            LogLevel { below: error, above: error, freedom, ..self }
        } else {
            self
        }
    }

    fn plus(self, other: Self) -> Self {
        LogLevel {
            value: self.value + other.value,
            below: self.below.hypot(other.below),
            above: self.above.hypot(other.above),
            freedom: joint_freedom(&self, &other),
        }
    }
}

/// Satterthwaite's degrees of freedom of a sum; errors that differ by side count by the larger.
fn joint_freedom(one: &LogLevel, other: &LogLevel) -> f64 {
    let square = |level: &LogLevel| level.below.max(level.above).powi(2);
    let (one_square, other_square) = (square(one), square(other));
    let parts = one_square.powi(2) / one.freedom + other_square.powi(2) / other.freedom;
    if parts > 0.0 { (one_square + other_square).powi(2) / parts } else { one.freedom.min(other.freedom) }
}

/// The distance of one level from another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contrast(LogLevel);

impl Contrast {
    /// The distance from one independent level to another.
    pub fn between(from: LogLevel, to: LogLevel) -> Self {
        let turned = LogLevel { value: -from.value, below: from.above, above: from.below, ..from };
        Contrast(to.plus(turned))
    }

    /// The distance given by the logarithm of a known quotient, such as the mean of paired ones.
    pub fn of(log_ratio: LogLevel) -> Self {
        Contrast(log_ratio)
    }

    /// The ratio of the two levels.
    pub fn ratio(&self) -> f64 {
        self.0.value.exp()
    }

    /// The 95 % interval of the ratio.
    pub fn interval(&self) -> Interval {
        let reach = student_quantile(f64::midpoint(1.0, LEVEL), self.0.freedom);
        let LogLevel { value, below, above, .. } = self.0;
        Interval { low: (value - reach * below).exp(), high: (value + reach * above).exp() }
    }

    /// The same distance with at least this standard error, which has so many degrees of freedom.
    #[must_use]
    pub fn known_no_better_than(self, error: f64, freedom: f64) -> Self {
        Contrast(self.0.known_no_better_than(error, freedom))
    }

    /// The same distance with a further independent error, which has so many degrees of freedom.
    #[must_use]
    pub fn less_certain_by(self, error: f64, freedom: f64) -> Self {
        Contrast(self.0.plus(LogLevel { value: 0.0, below: error, above: error, freedom }))
    }

    /// The same distance and so much further, on logarithms.
    #[must_use]
    pub fn moved_by(self, log: f64) -> Self {
        Contrast(LogLevel { value: self.0.value + log, ..self.0 })
    }

    /// The larger of its standard errors, on logarithms.
    pub fn error(&self) -> f64 {
        self.0.below.max(self.0.above)
    }

    /// The distance on logarithms at which a test that calls a change real by chance with this probability finds it with the
    /// probability `power`: the sum of the two quantiles times the standard error, which is close to the quantile of the
    /// noncentral distribution (Cohen 1988, "Statistical Power Analysis", chapter 2; simulated in `comparison/families.rs`).
    pub fn visible(&self, by_chance: f64, power: f64) -> f64 {
        let freedom = self.0.freedom;
        (student_quantile(1.0 - by_chance / 2.0, freedom) + student_quantile(power, freedom)) * self.error()
    }

    /// The greatest probability of so large a ratio, up or down, if the true one lay within the margin: between 1/(1 + margin)
    /// and 1 + margin. The test of an interval by Hodges & Lehmann 1954, "Testing the approximate validity of statistical
    /// hypotheses" (J. R. Stat. Soc. B 16); without a margin it is the two-sided test.
    pub fn chance_within(&self, margin: f64) -> f64 {
        let LogLevel { value, below, above, freedom } = self.0;
        // The error on the side of the margin is the relevant one.
        let error = if value > 0.0 { below } else { above };
        let (near, far) = (value.abs() - margin.ln_1p(), value.abs() + margin.ln_1p());
        if error > 0.0 {
            student_below(-near / error, freedom) + student_below(-far / error, freedom)
        } else if near > 0.0 {
            0.0
        } else {
            1.0
        }
    }

    /// Whether the whole interval lies within the margin.
    pub fn is_within(&self, margin: f64) -> bool {
        let Interval { low, high } = self.interval();
        high <= 1.0 + margin && low >= 1.0 / (1.0 + margin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(value: f64, error: f64, freedom: f64) -> LogLevel {
        LogLevel { value: value.ln(), below: error, above: error, freedom }
    }

    #[test]
    fn a_level_gives_back_the_interval_of_its_estimate() {
        let interval = Some(Interval { low: 9.0, high: 12.0 });
        let estimate = Estimate {
            value: 10.0,
            interval,
            level: 0.95,
            min: None,
            max: None,
            trials: 8,
            observations: 80,
        };
        let certain = LogLevel { value: 0.0, below: 0.0, above: 0.0, freedom: 7.0 };
        let contrast = Contrast::between(certain, LogLevel::of(&estimate).expect("positive"));
        assert!((contrast.ratio() - 10.0).abs() < 1e-9);
        assert!(
            (contrast.interval().low - 9.0).abs() < 1e-6 && (contrast.interval().high - 12.0).abs() < 1e-6
        );
        let reaches_zero = Estimate { interval: Some(Interval { low: -1.0, high: 12.0 }), ..estimate };
        assert_eq!(LogLevel::of(&reaches_zero), None);
    }

    #[test]
    fn errors_of_equal_levels_add_as_two_samples_do() {
        let contrast = Contrast::between(level(10.0, 0.03, 5.0), level(11.0, 0.04, 5.0)).0;
        assert!((contrast.value - 1.1_f64.ln()).abs() < 1e-12 && (contrast.below - 0.05).abs() < 1e-12);
        // (9 + 16)² / (81 / 5 + 256 / 5), in squares of hundredths.
        assert!((contrast.freedom - 625.0 / (337.0 / 5.0)).abs() < 1e-9);
        let mean = LogLevel::mean(&[level(10.0, 0.04, 5.0), level(10.0, 0.04, 5.0)]).expect("two");
        assert!((mean.below - 0.04 / 2.0_f64.sqrt()).abs() < 1e-12 && (mean.freedom - 10.0).abs() < 1e-9);
    }

    #[test]
    fn each_side_keeps_its_own_error() {
        let lopsided = LogLevel { value: 0.0, below: 0.01, above: 0.05, freedom: 9.0 };
        let certain = LogLevel { value: 0.0, below: 0.0, above: 0.0, freedom: 9.0 };
        let (up, down) = (Contrast::between(certain, lopsided), Contrast::between(lopsided, certain));
        assert!(up.interval().high.ln() > 4.0 * -up.interval().low.ln());
        assert!((up.interval().high * down.interval().low - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_chance_is_that_of_students_test_and_grows_with_the_margin() {
        // Four standard errors with nine degrees of freedom: 0.00311 on both sides together.
        let contrast = Contrast(LogLevel { value: 0.04, below: 0.01, above: 0.01, freedom: 9.0 });
        assert!((contrast.chance_within(0.0) - 0.003_11).abs() < 1e-5, "{}", contrast.chance_within(0.0));
        assert!(contrast.chance_within(0.02) > 0.01 && contrast.chance_within(0.05) > 0.5);
        assert!(contrast.is_within(0.07) && !contrast.is_within(0.05));
    }
}
