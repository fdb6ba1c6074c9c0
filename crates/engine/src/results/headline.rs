//! The headline of a point: its median over trials with its interval, with the baseline subtracted if there is one.

use super::core_state::CoreState;
use super::distinct_modes::{distinct_modes, of_equal_trials};
use super::evidence::Evidence;
use super::known_states::KnownStates;
use super::mixture::Mixture;
use super::point_estimate::{clock_error, estimate};
use super::valid_trials::ValidTrials;
use super::visit::baselines;
use super::visits::{CoreTrials, Visits};
use crate::record::{PlannedPoint, Run, Trial};
use fathom_core::experiment::Found;
use fathom_core::quantity::Unit;
use fathom_core::sampling::Sample;
use fathom_core::statistics::{self, Estimate, MINIMUM_TRIALS};

/// The headline of a point, and its inputs.
#[derive(Debug, Clone, PartialEq)]
pub struct Headline {
    /// The median with its interval, in the point's unit.
    pub estimate: Estimate,
    /// The baseline's own median, if one was subtracted.
    pub baseline: Option<Estimate>,
    /// The clock's resolution of one operation, in the point's unit; 0 for numbers that no clock measured.
    pub resolution: f64,
    /// The observations on which it is based; `None` if the state of the core is not known.
    pub core: Option<CoreState>,
}

/// The precision that every point must reach before any is measured to a finer target: a value known to 5 % is
/// useful, and a few trials turn 20 % into it, while the last step from 3 % to 2 % takes dozens.
pub(crate) const COARSE: f64 = 0.05;

/// The estimate of a point from its trials so far, while the run goes on.
#[derive(Debug, Clone, PartialEq)]
pub struct InterimEstimate {
    /// The headline of the trials whose own evidence holds; `None` if nothing was observed.
    pub headline: Option<Headline>,
    /// The number of trials that observed something and whose own evidence holds.
    pub valid: usize,
    /// The expected number of further trials that narrow the interval to 5 %, or from there to the run's target; `None` if
    /// no number will.
    pub further: Option<usize>,
    /// The trials of short work by the state of the core; `None` for other work, and while the states are unknown.
    pub core: Option<CoreTrials>,
    /// Whether at least half of the trials were kept off their CPU, so that the headline is of the scheduler
    /// ([`Outcome::Disturbed`](super::Outcome::Disturbed) if they stay so).
    pub is_disturbed: bool,
    /// Whether the two CPUs of its work were too rarely at the distance of most of the time, so that the headline is of another.
    pub is_elsewhere: bool,
    /// Whether its evidence fails so far, so that it may be of another operation.
    is_doubtful: bool,
    /// What predictions of other points may rest on: of work on two CPUs the headline of trials at one of their distances.
    for_predictions: Option<Headline>,
}

impl InterimEstimate {
    /// For a point's trials so far, with the states of the machine that are known.
    pub fn of(run: &Run, planned: &PlannedPoint, trials: &[&Trial], states: KnownStates) -> Self {
        let mut valid = ValidTrials::of(planned.method(), trials);
        let measured: Vec<&Sample> = valid.trials.iter().filter_map(|trial| trial.sample()).collect();
        let evidence = Evidence::of(planned.method(), &planned.point, &measured, valid.remark.take());
        let (lack, all) = (states.lack(run, planned, &valid.trials), valid.holding);
        let for_predictions = states.for_predictions(run, planned, &valid.trials).map(|trials| {
            let visits = Visits::of(run, planned, &trials, states);
            Headline::from(run, planned.unit, &trials, &visits)
        });
        if let Some(divided) = states.divide(run, planned, &valid.trials) {
            // Those at another distance are no trials of this figure, and are replaced.
            valid.holding = divided.main.1.len();
            valid.trials = divided.main.1;
        }
        if let Some(lack) = &lack {
            valid.holding = all.saturating_sub(lack.elsewhere);
        }
        let visits = Visits::of(run, planned, &valid.trials, states);
        let headline = Headline::from(run, planned.unit, &valid.trials, &visits);
        let operations: Vec<&[f64]> = visits.chosen.iter().map(|visit| visit.operation.as_slice()).collect();
        let target = run.header.settings.precision;
        let is_coarse = headline.as_ref().and_then(Headline::reach).is_some_and(|reach| reach <= COARSE);
        let next = if is_coarse { target } else { target.max(COARSE) };
        let further = match &lack {
            Some(lack) => Some(lack.further),
            None => statistics::further_trials(&operations, &baselines(&visits.chosen), next),
        };
        InterimEstimate {
            for_predictions: for_predictions.unwrap_or_else(|| {
                headline.clone().map(|own| of_one_time(own, (run, planned.unit), &measured, &visits))
            }),
            headline,
            valid: valid.holding,
            further,
            core: visits.core_trials,
            is_disturbed: valid.disturbed.is_some(),
            is_elsewhere: lack.is_some(),
            is_doubtful: evidence.fails(),
        }
    }

    /// What predictions of other points may rest on, unless it is [disturbed](Self::is_disturbed) or its evidence fails.
    pub fn basis(&self, unit: Unit) -> Option<Found> {
        let is_usable = !self.is_disturbed && !self.is_doubtful;
        self.for_predictions.as_ref().filter(|_| is_usable).map(|of| Found::of(&of.estimate, unit))
    }
}

/// A headline of work that waits for a device, whose median may lie between two times that hardly any of it takes: predictions of others then
/// rest on the time of the state with the most, by which it is judged as well.
fn of_one_time(own: Headline, (run, unit): (&Run, Unit), measured: &[&Sample], visits: &Visits) -> Headline {
    if measured.iter().all(|sample| sample.device.is_none()) {
        return own;
    }
    let samples: Vec<Vec<f64>> = visits.chosen.iter().map(|visit| visit.operation.clone()).collect();
    let modes = distinct_modes(&of_equal_trials(&samples));
    let error = |value| clock_error(run, unit, measured, &visits.chosen, value);
    let leading = Mixture::of(own.estimate.measured(), visits, &modes, error).and_then(|of| of.leading());
    match leading {
        Some(value) => Headline { estimate: Estimate { value, interval: None, ..own.estimate }, ..own },
        None => own,
    }
}

impl Headline {
    /// The headline of the chosen observations of a point's trials.
    pub fn from(run: &Run, unit: Unit, trials: &[&Trial], visits: &Visits) -> Option<Self> {
        let samples: Vec<&Sample> = trials.iter().filter_map(|trial| trial.sample()).collect();
        let (estimate, resolution) =
            estimate(run, unit, &samples, (&visits.chosen, visits.at_frequency.as_ref()))?;
        let baselines = baselines(&visits.chosen);
        Some(Headline {
            estimate,
            baseline: statistics::estimate(&baselines),
            resolution,
            core: visits.state,
        })
    }

    /// The distance of the farther end of the interval from the value, as a share of it: what a value is known within. `None` without an
    /// interval.
    pub fn reach(&self) -> Option<f64> {
        statistics::relative_reach(&self.estimate)
    }

    /// Whether a difference is so small against its baseline that no affordable number of trials will resolve it: its
    /// interval still contains zero, and is narrower than the target share of the baseline.
    pub fn is_lost(&self, precision: f64) -> bool {
        let (Some(baseline), Some(interval)) = (&self.baseline, self.estimate.interval) else { return false };
        let lost = interval.low <= 0.0 && interval.high - interval.low < precision * baseline.value.abs();
        lost || (interval.low <= 0.0 && self.estimate.trials >= 2 * MINIMUM_TRIALS)
    }
}
