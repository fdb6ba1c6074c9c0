//! CPUs of one kind are equals, which a run checks: short work runs on whichever of them has its core alone, so the calibrated chains
//! and the costs of the trials must be alike on all of them. Where they are not, the trials on the other CPU are left out.

use super::core_state::states;
use crate::record::{PlannedPoint, Run, Trial};
use fathom_core::experiment::{Placement, Point};
use fathom_core::quantity::Unit;
use fathom_core::sampling::Sample;
use fathom_core::statistics::{self, Interval, Levels, MINIMUM_TRIALS, Measured, Occupancy};
use std::collections::BTreeMap;

/// A CPU of the run's own kind that is unlike the run's own.
#[derive(Debug, Clone, PartialEq)]
pub struct UnlikeCpu {
    /// Its number.
    pub cpu: usize,
    /// What the same work costs there over what it costs on the run's own CPU; `None` with too few pairs of trials.
    pub cost: Option<Measured>,
    /// Its frequency by the trials' chains over that of the run's own CPU; `None` with too few.
    pub frequency: Option<Measured>,
    /// The trials on it, which count for no figure.
    pub trials: usize,
}

/// Ratios of costs up to which two CPUs count as alike: less than most intervals are wide.
const ALIKE: f64 = 1.01;

/// Ratios of frequencies up to which they do. Pairs of trials are of different moments, over which a core's frequency changes by as
/// much for seconds, and times that follow it are moved to one.
const ALIKE_FREQUENCY: f64 = 1.05;

impl UnlikeCpu {
    /// Whether a ratio of two CPUs is surely beyond what counts as alike.
    pub fn is_beyond_alike(ratio: &Measured) -> bool {
        is_beyond(ratio, ALIKE)
    }

    /// The unlike ones among the CPUs of a run's kind.
    pub fn all(run: &Run, levels: Option<&Levels>) -> Vec<Self> {
        let mut by_point: BTreeMap<(&str, &Point), Vec<&Sample>> = BTreeMap::new();
        for (trial, sample) in run.trials.iter().filter_map(|trial| Some((trial, trial.sample()?))) {
            by_point.entry((&trial.experiment, &trial.point)).or_default().push(sample);
        }
        let movable = run.header.plan.iter().filter(|planned| is_movable(planned));
        let samples: Vec<&Vec<&Sample>> =
            movable.filter_map(|planned| by_point.get(&(&*planned.experiment, &planned.point))).collect();
        let of = |cpu: &usize| UnlikeCpu::of(run, *cpu, &samples, levels);
        run.header.settings.alike.iter().filter_map(of).collect()
    }

    fn of(run: &Run, cpu: usize, points: &[&Vec<&Sample>], levels: Option<&Levels>) -> Option<Self> {
        let (mut costs, mut frequencies, mut cycles, mut trials) = (vec![], vec![], vec![], 0);
        for samples in points {
            let on = |cpu| samples.iter().filter(move |sample| sample.home == Some(cpu));
            trials += on(cpu).count();
            for (own, other) in on(run.header.settings.home).zip(on(cpu)) {
                let cost = ratio(median_alone(other, levels), median_alone(own, levels));
                let frequency = ratio(other.conditions.core_hz(), own.conditions.core_hz());
                costs.extend(cost);
                frequencies.extend(frequency);
                cycles.extend(cost.map(|cost| cost + frequency.unwrap_or(0.0)));
            }
        }
        let (cost, frequency, cycles) = (middle(&costs), middle(&frequencies), middle(&cycles));
        // What only its frequency makes longer is as long in cycles.
        let costs_more =
            [&cost, &cycles].into_iter().all(|of| of.as_ref().is_some_and(Self::is_beyond_alike));
        let has_another = frequency.as_ref().is_some_and(|ratio| is_beyond(ratio, ALIKE_FREQUENCY));
        (costs_more || has_another).then_some(UnlikeCpu { cpu, cost, frequency, trials })
    }
}

fn is_beyond(ratio: &Measured, alike: f64) -> bool {
    ratio.interval.is_some_and(|ends| ends.low > alike || ends.high < 1.0 / alike)
}

/// Whether a trial counts for nothing: it was made on a CPU that is unlike the run's own, and could have been made on that.
pub fn is_on_unlike(unlike: &[UnlikeCpu], run: &Run, trial: &Trial) -> bool {
    let home = trial.sample().and_then(|sample| sample.home);
    let is_its =
        |planned: &&PlannedPoint| planned.experiment == trial.experiment && planned.point == trial.point;
    unlike.iter().any(|one| home == Some(one.cpu))
        && run.header.plan.iter().find(is_its).is_some_and(is_movable)
}

/// Whether a point is short work that may run on any CPU of the kind: of a method that this program does not have, as its placement says.
fn is_movable(planned: &PlannedPoint) -> bool {
    let by_placement = |_| planned.point.placement() == Placement::OneCpu;
    planned.method().map_or_else(by_placement, |method| method.runs_on_any_cpu(&planned.point))
}

/// The median of what a trial observed with its core alone: ticks of an operation, or the work's own numbers.
fn median_alone(sample: &Sample, levels: Option<&Levels>) -> Option<f64> {
    let observed = sample.observations.operation(Unit::Nanoseconds, 1e9);
    let known = levels.filter(|levels| levels.shared.is_some()).and_then(|levels| states(sample, levels));
    let Some(states) = known else { return statistics::median(&observed) };
    // With a baseline, every second state is of the operation.
    let each = states.len() / observed.len().max(1);
    let alone = observed.iter().zip(states.into_iter().step_by(each.max(1)));
    let alone = alone.filter(|(_, state)| *state == Occupancy::Alone);
    statistics::median(&alone.map(|(value, _)| *value).collect::<Vec<_>>())
}

/// The logarithm of one over the other.
fn ratio(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    one.zip(other).map(|(one, other)| (one / other).ln()).filter(|ratio| ratio.is_finite())
}

/// The median ratio with its interval, of logarithms; `None` with fewer than an interval takes.
fn middle(logarithms: &[f64]) -> Option<Measured> {
    let each: Vec<[f64; 1]> = logarithms.iter().map(|ratio| [*ratio]).collect();
    let estimate = statistics::estimate(&each).filter(|estimate| estimate.trials >= MINIMUM_TRIALS)?;
    let interval = estimate.interval.map(|ends| Interval { low: ends.low.exp(), high: ends.high.exp() });
    Some(Measured { value: estimate.value.exp(), interval })
}
