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

    /// Whether a further trial may bring its interval nearer to the precision wished.
    pub(super) fn is_missing(&self, precision: f64) -> bool {
        let wide = self.half_width.is_none_or(|half_width| half_width > precision);
        !self.is_given_up() && !self.exhausted && wide && self.trials < MOST_TRIALS
    }

    /// How much a further trial is expected to bring for its cost in seconds: intervals narrow with the root of the trials.
    pub(super) fn profit(&self, precision: f64, seconds: f64) -> f64 {
        // An interval a hundred times too wide will not get there; it must not take all the time.
        let excess = (self.half_width.unwrap_or(10.0) / precision).min(100.0);
        excess / (self.trials.max(1) as f64).sqrt() / seconds.max(1e-3)
    }
}
