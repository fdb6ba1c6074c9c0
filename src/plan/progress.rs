//! How far a point has come, as the order of trials depends on it.

use crate::statistics::MINIMUM_TRIALS;

/// Trials of one point beyond which more of them teach little, whatever precision was wished.
const MOST_TRIALS: usize = 200;

/// How far a point has come.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Progress {
    /// Trials visited, whatever became of them.
    pub trials: usize,
    /// Trials that observed something: what an interval is made of.
    pub observed: usize,
    /// Trials in a row that did not observe anything.
    pub barren: usize,
    /// Relative half-width of the interval; `None` where there is none yet.
    pub half_width: Option<f64>,
    /// Trials that hold enough of the core alone, of short work whose estimate is still of whatever the core did; `None` of all
    /// other points.
    pub alone: Option<usize>,
    /// Whether more trials cannot sharpen it usefully (a difference that is lost in the noise).
    pub exhausted: bool,
}

impl Progress {
    /// Broken twice at the start, it will not recover: its reason is known. One that breaks more often than not is not
    /// visited for ever either.
    pub(super) fn is_given_up(&self) -> bool {
        let broken = self.trials - self.observed.min(self.trials);
        (self.barren >= 2 && self.barren == self.trials) || broken > self.observed + MINIMUM_TRIALS
    }

    /// Whether a further trial may bring its interval to the precision wished, or its estimate to the core alone.
    pub(super) fn is_missing(&self, precision: f64) -> bool {
        let wide = self.half_width.is_none_or(|half_width| half_width > precision);
        let hopes = self.alone.is_some_and(|alone| alone > 0);
        !self.is_given_up() && !self.exhausted && (wide || hopes) && self.trials < MOST_TRIALS
    }

    /// How many further trials are expected to bring it there. Intervals narrow with the root of the trials; and of a core that
    /// is often alone six trials soon tell what the work takes there, which is as a rule as precise as was wished.
    pub(super) fn lacking(&self, precision: f64) -> f64 {
        let trials = self.trials.max(1) as f64;
        let narrow = |half_width: f64| trials * ((half_width / precision).powi(2) - 1.0);
        let by_width = self.half_width.filter(|half_width| *half_width > precision).map(narrow);
        // Laplace's rule of succession: how likely the next trial has the core alone.
        let alone = |alone: usize| {
            let likely = (alone as f64 + 1.0) / (trials + 2.0);
            MINIMUM_TRIALS.saturating_sub(alone) as f64 / likely
        };
        let least = by_width.into_iter().chain(self.alone.map(alone)).reduce(f64::min);
        least.unwrap_or(MINIMUM_TRIALS as f64).max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(trials: usize, half_width: f64, alone: Option<usize>) -> Progress {
        Progress { trials, observed: trials, half_width: Some(half_width), alone, ..Progress::default() }
    }

    #[test]
    fn an_interval_twice_too_wide_lacks_three_times_its_trials() {
        assert!((after(6, 0.1, None).lacking(0.05) - 18.0).abs() < 1e-9);
        assert!(!after(6, 0.04, None).is_missing(0.05));
    }

    #[test]
    fn what_lacks_one_trial_with_the_core_alone_is_there_soon() {
        let (nearly, hardly) = (after(6, 0.2, Some(5)), after(6, 0.2, Some(0)));
        assert!(nearly.lacking(0.05) < 2.0 && hardly.lacking(0.05) > 40.0);
        assert!(nearly.lacking(0.05) < after(6, 0.2, None).lacking(0.05));
    }

    #[test]
    fn an_estimate_of_whatever_the_core_did_is_not_done_while_it_is_alone_at_times() {
        assert!(after(6, 0.01, Some(3)).is_missing(0.05));
        assert!(!after(6, 0.01, Some(0)).is_missing(0.05), "a core that is never alone has but one state");
    }
}
