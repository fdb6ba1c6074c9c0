//! The time that a visit may take at most, and the time that is kept for the most important point until some point has its
//! interval: what is not known cannot take it.

use super::{Now, OVERRUN_SHARE_WITHOUT_RESULT, Planner, done};

/// The share of the remaining time that may be lost with a visit of unknown cost. A point of which one trial takes more than a
/// sixth does not get its trials in that time, but a preparation may be much shorter the second time.
const RISKED: f64 = 1.0 / 3.0;

/// The same share once costs were settled and nothing has its interval yet.
const RISKED_FOR_NOTHING: f64 = 0.1;

/// The share of the budget after which no pilot ends: then 65 % are left for five further trials of a point of which six take
/// 80 %.
const PILOT_ENDS: f64 = 0.38;

/// The share of the budget by which a visit that was begun in time may exceed it.
const LATE: f64 = 0.1;

/// How many times as long as expected a visit may take before it is ended.
const UNEXPECTED: f64 = 3.0;

/// How many times the expected time of its trials is kept for the most important point: they may cost more than the first.
const KEPT: f64 = 1.5;

/// The share of the remaining time that is kept for it at least: a neighbour who arrives makes all trials dearer at once.
const KEPT_SHARE: f64 = 0.25;

impl Planner {
    /// The end of a visit of unknown cost, seconds from now.
    pub(super) fn end_of_unknown(&self, parts: &[usize], now: Now) -> f64 {
        let remaining = self.budget() * (1.0 + LATE) - now.elapsed;
        let end = (remaining * RISKED).min(remaining - self.kept_back(parts, now));
        if self.settled { end } else { end.min(self.budget() * PILOT_ENDS - now.elapsed) }
    }

    /// The end of a visit whose cost is expected, seconds from now.
    pub(super) fn end_of_known(&self, parts: &[usize], now: Now) -> f64 {
        let beyond = if self.has_value { LATE } else { OVERRUN_SHARE_WITHOUT_RESULT };
        let remaining = self.budget() * (1.0 + beyond) - now.elapsed;
        if self.first.is_some_and(|first| !self.has_value && *parts == [first]) {
            return remaining;
        }
        // What neighbours cost is no expectation to rely on while nothing has its interval.
        let relied = self.has_value || parts.iter().all(|part| self.costs.knows(*part));
        let block = self.layout.parts[parts[0]].block;
        let expected = if relied { self.prices.visit(block, parts, self.observe) } else { 0.0 };
        let risked = if self.has_value { RISKED } else { RISKED_FOR_NOTHING };
        (remaining * risked).max(UNEXPECTED * expected).min(remaining - self.kept_back(parts, now))
    }

    /// The time in which a file may be made for a visit, seconds: later trials need it no more.
    pub(super) fn making(&self, parts: &[usize], now: Now) -> f64 {
        let remaining = self.budget() - now.elapsed;
        (remaining * RISKED).min(remaining - self.kept_back(parts, now))
    }

    /// The time kept for the most important part before anything has its interval, seconds; 0 for a visit of that part itself,
    /// and if its trials do not fit anyway.
    pub(super) fn kept_back(&self, parts: &[usize], now: Now) -> f64 {
        let Some(first) = self.first.filter(|first| !self.has_value && *parts != [*first]) else {
            return 0.0;
        };
        let Some(done) = done(&self.layout, first, now).filter(|_| self.costs.knows(first)) else {
            return 0.0;
        };
        let dearest = self.dearest * self.promised().saturating_sub(done) as f64;
        let missing_seconds = self.missing_seconds(first, done);
        let remaining = self.budget() * (1.0 + OVERRUN_SHARE_WITHOUT_RESULT) - now.elapsed;
        let reserve = (missing_seconds.max(dearest) * KEPT).max(remaining * KEPT_SHARE);
        if missing_seconds <= remaining { remaining.min(reserve) } else { 0.0 }
    }

    /// The time of the trials that a part lacks for its interval, measured alone, seconds.
    pub(super) fn missing_seconds(&self, part: usize, done: usize) -> f64 {
        let visit = self.prices.visit(self.layout.parts[part].block, &[part], self.observe);
        self.promised().saturating_sub(done) as f64 * visit
    }
}
