//! The headline of a point: its median over trials with its interval, with the baseline subtracted if there is one, and no narrower than
//! the clock allows.

use super::at_frequency::AtFrequency;
use super::core_state::CoreState;
use super::known_states::KnownStates;
use super::valid_trials::ValidTrials;
use super::visit::{CoreTrials, Visit, Visits, baselines, of_visits};
use crate::record::{PlannedPoint, Run, Trial};
use fathom_core::experiment::Found;
use fathom_core::quantity::{Kind, Unit};
use fathom_core::sampling::clock::smallest_step;
use fathom_core::sampling::{Observations, Sample};
use fathom_core::sorting;
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
}

impl InterimEstimate {
    /// For a point's trials so far, with the states of the machine that are known.
    pub fn of(run: &Run, planned: &PlannedPoint, trials: &[&Trial], states: KnownStates) -> Self {
        let mut valid = ValidTrials::of(planned.method(), trials);
        let (lack, all) = (states.lack(run, planned, &valid.trials), valid.holding);
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
            headline,
            valid: valid.holding,
            further,
            core: visits.core_trials,
            is_disturbed: valid.disturbed.is_some(),
            is_elsewhere: lack.is_some(),
        }
    }

    /// What predictions of other points may rest on: the headline, unless it is [disturbed](Self::is_disturbed).
    pub fn basis(&self, unit: Unit) -> Option<Found> {
        self.headline.as_ref().filter(|_| !self.is_disturbed).map(|of| Found::of(&of.estimate, unit))
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

/// The median of some visits with its interval, less that of the baseline if there is one, and the clock's resolution in the
/// point's unit.
pub fn estimate(
    run: &Run,
    unit: Unit,
    samples: &[&Sample],
    (visits, at_frequency): (&[Visit], Option<&AtFrequency>),
) -> Option<(Estimate, f64)> {
    let resolution_ns = resolution_ns(run, samples);
    let estimate = of_visits(visits)?;
    let estimate = at_frequency.map_or(estimate.clone(), |moved| moved.figure(estimate));
    if !baselines(visits).is_empty() {
        // Two medians are subtracted, each of which the clock rounds.
        return Some((within_the_clock(estimate, resolution_ns, run), resolution_ns));
    }
    let resolution = match unit.kind() {
        // A rate is the reciprocal of a time; its resolution follows from that of the time.
        Kind::Rate => estimate.value.powi(2) * resolution_ns / 1e9,
        Kind::Cost | Kind::Size => resolution_ns,
    };
    // A size is not measured by a clock.
    if unit.kind() == Kind::Size {
        return Some((above_its_least(estimate, unit), resolution));
    }
    let (step, recorded) = step_of(run, unit, samples, visits, resolution);
    let operations: Vec<&[f64]> = visits.iter().map(|visit| visit.operation.as_slice()).collect();
    let is_long = unit.kind() == Kind::Cost && step > LONG_STEP * estimate.value.abs();
    let exact = || if recorded { step } else { counter_step_ns(run, samples) };
    let between = is_long.then(exact).and_then(|exact| Some((between_steps(&operations, exact)?, exact)));
    let (estimate, half_step) = match between {
        Some((between, exact)) => {
            (Estimate { min: estimate.min, ..between }, statistics::FARTHEST_FROM_ITS_TIMES * exact)
        }
        None => (estimate, step / 2.0),
    };
    Some((above_its_least(within_the_clock(estimate, half_step, run), unit), resolution))
}

/// The step of the readings in the point's unit, given the clock's resolution in it, and whether they are recorded times.
fn step_of(run: &Run, unit: Unit, samples: &[&Sample], visits: &[Visit], resolution: f64) -> (f64, bool) {
    let is_recorded = |sample: &&Sample| matches!(sample.observations, Observations::Values { .. });
    let recorded = unit == Unit::Nanoseconds && samples.iter().all(is_recorded);
    let operations: Vec<&[f64]> = visits.iter().map(|visit| visit.operation.as_slice()).collect();
    (if recorded { step(run, &operations) } else { resolution }, recorded)
}

/// Whether times are read in steps that hide what moves them by some per mille.
pub(super) fn has_long_steps(run: &Run, unit: Unit, samples: &[&Sample], visits: &[Visit]) -> bool {
    if unit != Unit::Nanoseconds {
        return false;
    }
    let (step, _) = step_of(run, unit, samples, visits, resolution_ns(run, samples));
    step > LONG_STEP * of_visits(visits).map_or(0.0, |estimate| estimate.value.abs())
}

/// The smallest share of a value at which the step of its readings counts: a shorter one hardly moves their median.
const LONG_STEP: f64 = 0.01;

/// The estimate of readings that are multiples of a step, spread over it; `None` if a trial's readings say nothing of where between two
/// steps it lies.
fn between_steps(operations: &[&[f64]], step: f64) -> Option<Estimate> {
    let spread = operations.iter().map(|operation| statistics::between_steps(operation, step));
    let spread: Vec<Vec<f64>> = spread.collect::<Option<_>>().filter(|_| step > 0.0)?;
    statistics::estimate(&spread.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

/// The step of which the readings are multiples, nanoseconds an operation: of some hundred readings of every trial.
fn counter_step_ns(run: &Run, samples: &[&Sample]) -> f64 {
    const READINGS: usize = 100;
    let (mut ticks, mut of_one): (Vec<i64>, u64) = (vec![], 1);
    for sample in samples {
        if let Observations::Ticks { operation, operations, .. } = &sample.observations {
            ticks.extend(operation.iter().take(READINGS));
            of_one = *operations;
        }
    }
    ticks.sort_unstable();
    let differences: Vec<i64> = ticks.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let step = smallest_step(&differences).unwrap_or(0) as f64;
    step / run.header.clock.ticks_per_second * 1e9 / of_one as f64
}

/// The step of recorded times that repeat, as those read in whole ticks do: the least difference of two of them; if all are equal, a tick. 0 if
/// most differ, as quotients of times do.
fn step(run: &Run, operations: &[&[f64]]) -> f64 {
    let mut all: Vec<f64> = operations.concat();
    sorting::numbers(&mut all);
    let steps = all.windows(2).map(|pair| pair[1] - pair[0]);
    let steps: Vec<f64> = steps.filter(|step| *step > OF_CONVERSION * all[all.len() - 1].abs()).collect();
    if 2 * (steps.len() + 1) > all.len() {
        return 0.0;
    }
    steps.into_iter().reduce(f64::min).unwrap_or(1e9 / run.header.clock.ticks_per_second)
}

/// Times that differ by less than this share of them differ by the conversion from ticks.
const OF_CONVERSION: f64 = 1e-9;

/// The estimate with an interval above zero where its quantity is: Student's test may put an end of few trials that vary much below
/// what can be. The median is not below the least observation, unless every trial is above it by chance (once in 2 to the power of
/// their number, which the interval's level allows for).
fn above_its_least(mut estimate: Estimate, unit: Unit) -> Estimate {
    let least = estimate.min.filter(|least| *least >= 0.0);
    if let (Some(interval), Some(least)) = (&mut estimate.interval, least.filter(|_| unit != Unit::Bytes)) {
        if interval.low < 0.0 {
            interval.low = least;
        }
    }
    estimate
}

/// The clock's resolution divided by the operations of an observation (median over trials), nanoseconds.
pub(super) fn resolution_ns(run: &Run, measured: &[&Sample]) -> f64 {
    let operations = measured.iter().filter_map(|sample| match &sample.observations {
        Observations::Ticks { operations, operation, .. } if !operation.is_empty() => {
            Some(*operations as f64)
        }
        _ => None,
    });
    let operations: Vec<f64> = operations.collect();
    statistics::median(&operations).map_or(0.0, |usual| run.header.clock.resolution_ns() / usual)
}

/// The estimate with an interval no narrower than the clock allows: a median of rounded readings may be half a step from the
/// truth however often it is repeated, and the clock's own frequency is known only to its spread.
pub(super) fn within_the_clock(mut estimate: Estimate, half_step: f64, run: &Run) -> Estimate {
    let of_frequency = estimate.value.abs() * run.header.clock.frequency_spread_ppm * 1e-6;
    if let Some(interval) = &mut estimate.interval {
        interval.low -= half_step + of_frequency;
        interval.high += half_step + of_frequency;
    }
    estimate
}
