//! The progress of a point, on which the order of trials depends.

use super::step::PROMISED_TRIALS;
use crate::results::CoreTrials;
use fathom_core::statistics::MINIMUM_TRIALS;

/// The number of trials of one point beyond which more of them add little, whatever the target precision.
const MOST_TRIALS: usize = 200;

/// The trials in a row after which an interval must be as narrow as the target: of a run that ends where the interval is so, it is too
/// narrow by chance too often (Anscombe 1952, "Large-sample theory of sequential estimation", Proc. Cambridge Phil. Soc. 48). With a
/// scatter of twice the target 92 in 100 intervals hold the truth after one look, and 93.5 after three in a row.
const LOOKS: usize = 3;

/// The share of the target within which an interval is sure to be narrow enough after one look.
const SURE: f64 = 0.25;

/// The trials of short work that are made with the core shared, for its second value.
const WANTED_SHARED: usize = MINIMUM_TRIALS;

/// The progress of a point.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Progress {
    /// Trials visited, whatever their outcome.
    pub trials: usize,
    /// Trials that observed something: the basis of an interval.
    pub observed: usize,
    /// Trials in a row that did not observe anything.
    pub failed_in_a_row: usize,
    /// The distance of the farther end of the interval from the value, as a share of it; `None` if there is none yet.
    pub reach: Option<f64>,
    /// The trials in a row after which it was as narrow as the target.
    pub precise_looks: usize,
    /// The expected number of further trials that narrow the interval to the target, or to the coarse target of every point;
    /// `None` if no number will.
    pub further: Option<usize>,
    /// The trials of short work by the state of the core; `None` for all other points, and while these states are unknown.
    pub core: Option<CoreTrials>,
    /// Whether more trials cannot narrow the interval usefully (a difference that is lost in the noise).
    pub exhausted: bool,
}

impl Progress {
    /// Trials that count for one estimate: for short work those of one state of the core. Where the states change so often that
    /// trials tell neither, two of them count as one. Trials whose own evidence does not hold are kept where too few others are left, and
    /// do not count.
    pub fn counted(&self) -> usize {
        let of_a_state =
            |core: CoreTrials| core.alone.max(core.shared).max(self.observed / 2).min(self.observed);
        self.core.map_or(self.observed, of_a_state)
    }

    /// Whether a trial with the core alone is wanted where the core is so at times, until there are this many.
    pub(super) fn wants_alone(&self, goal: usize, precision: f64) -> bool {
        self.core.is_none_or(|core| core.alone < goal) || self.is_missing(precision)
    }

    /// Whether a trial with the core shared is wanted as much as one with the core alone: its second value needs fewer.
    pub(super) fn lags_shared(&self) -> bool {
        self.core.is_some_and(|core| core.shared < WANTED_SHARED.min(core.alone / 2))
    }

    /// Whether a trial with the core shared is wanted: always for work that does not mind.
    pub(super) fn wants_shared(&self) -> bool {
        self.core.is_none_or(|core| core.shared < WANTED_SHARED)
    }

    /// Whether the point is given up: it failed twice at the start, so its reason is known, or it fails more often than not.
    pub(crate) fn is_given_up(&self) -> bool {
        let broken = self.trials - self.observed.min(self.trials);
        (self.failed_in_a_row >= 2 && self.failed_in_a_row == self.trials)
            || broken > self.observed + PROMISED_TRIALS
    }

    /// The lesser progress of the same point under two settings: fewer trials, or a wider interval.
    pub fn behind<'a>(&'a self, other: &'a Self) -> &'a Self {
        let far =
            |progress: &Self| (progress.observed, progress.reach.map_or(f64::NEG_INFINITY, |width| -width));
        if far(self) <= far(other) { self } else { other }
    }

    /// Whether its interval is far narrower than the target.
    pub(super) fn is_surely_precise(&self, precision: f64) -> bool {
        self.is_precise(SURE * precision)
    }

    /// Takes in the interval after a trial.
    pub fn look(&mut self, reach: Option<f64>, precision: f64) {
        self.reach = reach;
        self.precise_looks = if self.is_precise(precision) { self.precise_looks + 1 } else { 0 };
    }

    /// Whether its interval is as narrow as the target.
    pub fn is_precise(&self, precision: f64) -> bool {
        self.reach.is_some_and(|reach| reach <= precision)
    }

    /// Whether it lacks trials with the core alone: its estimate is of the core shared, or of whatever it was.
    pub(super) fn lacks_alone(&self) -> bool {
        self.alone().is_some() && !self.is_given_up()
    }

    /// Whether a further trial may bring its interval to the target, or its estimate to the core alone, which may be so at any later
    /// time of the run however long it was shared. An interval that is wide but needs no further trial is as narrow as the clock
    /// allows.
    pub(super) fn is_missing(&self, precision: f64) -> bool {
        // A target of zero is that of work which is to last for the whole budget.
        let may_narrow = self.further != Some(0) || precision <= 0.0;
        let wide = self.reach.is_none_or(|reach| reach > precision) && may_narrow;
        let unsure =
            self.is_precise(precision) && self.precise_looks < LOOKS && !self.is_surely_precise(precision);
        let may_be_better = wide || unsure || self.lacks_alone();
        !self.is_given_up() && !self.exhausted && may_be_better && self.trials < MOST_TRIALS
    }

    /// The expected number of further trials until then; many if its interval is narrow enough but must be so again. If the core is
    /// often alone, four such trials give the result, which is usually as precise as the target.
    pub(super) fn shortfall(&self) -> f64 {
        // Laplace's rule of succession: the probability that the next trial has the core alone.
        let alone = |alone: usize| {
            let likely = (alone as f64 + 1.0) / (self.trials as f64 + 2.0);
            MINIMUM_TRIALS.saturating_sub(alone) as f64 / likely
        };
        let by_width = self.further.map(|trials| trials as f64).filter(|trials| *trials > 0.0);
        let least = by_width.into_iter().chain(self.alone().map(alone)).reduce(f64::min);
        least.unwrap_or(MOST_TRIALS as f64).max(1.0)
    }

    /// The trials with the core alone, of short work that has too few of them for its estimate.
    pub(super) fn alone(&self) -> Option<usize> {
        self.core.map(|core| core.alone).filter(|alone| *alone < MINIMUM_TRIALS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(trials: usize, reach: f64, further: Option<usize>, alone: Option<usize>) -> Progress {
        let (reach, precise_looks) = (Some(reach), LOOKS);
        let core = alone.map(|alone| CoreTrials { alone, shared: 0 });
        Progress { trials, observed: trials, reach, precise_looks, further, core, ..Progress::default() }
    }

    #[test]
    fn what_will_never_be_there_comes_last() {
        let (soon, never) = (after(6, 0.1, Some(18), None), after(6, 0.1, None, None));
        assert!(soon.shortfall() < never.shortfall() && soon.is_missing(0.05) && never.is_missing(0.05));
        assert!(!after(6, 0.04, Some(0), None).is_missing(0.05));
    }

    #[test]
    fn what_is_as_narrow_as_the_clock_allows_is_done() {
        assert!(!after(6, 0.1, Some(0), None).is_missing(0.05));
        assert!(after(6, 0.1, Some(0), None).is_missing(0.0), "whatever the clock allows");
    }

    #[test]
    fn a_trial_whose_own_evidence_fails_does_not_count() {
        let core = Some(CoreTrials { alone: 4, shared: 0 });
        assert_eq!(Progress { trials: 4, observed: 3, core, ..Progress::default() }.counted(), 3);
        assert_eq!(Progress { trials: 4, observed: 4, core, ..Progress::default() }.counted(), 4);
    }

    #[test]
    fn what_lacks_one_trial_with_the_core_alone_is_there_soon() {
        let (nearly, hardly) = (after(6, 0.2, Some(90), Some(3)), after(6, 0.2, Some(90), Some(0)));
        assert!(nearly.shortfall() <= 2.0 && hardly.shortfall() > 30.0);
        assert!(nearly.shortfall() < after(6, 0.2, Some(90), None).shortfall());
    }

    #[test]
    fn an_estimate_of_whatever_the_core_did_is_not_done() {
        assert!(after(6, 0.01, Some(0), Some(3)).is_missing(0.05));
        assert!(after(6, 0.01, Some(0), Some(0)).is_missing(0.05), "it may still be alone");
        assert!(!after(6, 0.01, Some(0), Some(4)).is_missing(0.05));
        assert!(!after(6, 0.01, Some(0), None).is_missing(0.05), "of a core whose states are not told apart");
    }

    #[test]
    fn an_interval_is_narrow_enough_once_it_was_so_three_times_in_a_row() {
        let mut progress = Progress { precise_looks: 0, ..after(6, 0.1, Some(3), None) };
        for (reach, is_missing) in [(0.04, true), (0.06, true), (0.04, true), (0.03, true), (0.04, false)] {
            progress.look(Some(reach), 0.05);
            progress.further = Some(usize::from(reach > 0.05));
            assert_eq!(progress.is_missing(0.05), is_missing, "{progress:?}");
            assert_eq!(
                progress.shortfall() > 100.0,
                reach <= 0.05,
                "what is narrow comes last: {progress:?}"
            );
        }
    }
}
