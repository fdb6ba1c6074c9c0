//! CPUs of one kind are equals, which a run checks: short work runs on whichever of them has its core alone, so the calibrated chains
//! and the costs of the trials must be alike on all of them. Where they are not, the trials on the other CPU are left out.
//!
//! Trials of one process are of one moment, and have its neighbours in common: 43 pairs of a default run said "1.10 times as long" of a CPU
//! that had been used for one second beside a busy neighbour. So each moment counts once.

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
        let mut by_point: BTreeMap<(&str, &Point), Vec<&Trial>> = BTreeMap::new();
        for trial in run.trials.iter().filter(|trial| trial.sample().is_some()) {
            by_point.entry((&trial.experiment, &trial.point)).or_default().push(trial);
        }
        let movable = run.header.plan.iter().filter(|planned| is_movable(planned));
        let trials: Vec<&Vec<&Trial>> =
            movable.filter_map(|planned| by_point.get(&(&*planned.experiment, &planned.point))).collect();
        let of = |cpu: &usize| UnlikeCpu::of(run, *cpu, &trials, levels);
        run.header.settings.alike.iter().filter_map(of).collect()
    }

    fn of(run: &Run, cpu: usize, points: &[&Vec<&Trial>], levels: Option<&Levels>) -> Option<Self> {
        let (mut pairs, mut trials) = (vec![], 0);
        for of_point in points {
            let on = |cpu| of_point.iter().filter(move |trial| home(trial) == Some(cpu));
            trials += on(cpu).count();
            let both = on(run.header.settings.home).zip(on(cpu));
            pairs.extend(both.filter_map(|(own, other)| TrialPair::of(own, other, levels)));
        }
        let [cost, frequency, cycles] = [
            |pair: &TrialPair| pair.cost,
            |pair: &TrialPair| pair.frequency,
            |pair: &TrialPair| pair.cost.map(|cost| cost + pair.frequency.unwrap_or(0.0)),
        ]
        .map(|of| middle(&pairs, of));
        // What only its frequency makes longer is as long in cycles.
        let costs_more =
            [&cost, &cycles].into_iter().all(|of| of.as_ref().is_some_and(Self::is_beyond_alike));
        let has_another = frequency.as_ref().is_some_and(|ratio| is_beyond(ratio, ALIKE_FREQUENCY));
        (costs_more || has_another).then_some(UnlikeCpu { cpu, cost, frequency, trials })
    }
}

/// A point's trial on the run's own CPU and one on another of its kind.
struct TrialPair {
    /// The moments of both trials.
    moments: [u32; 2],
    /// The logarithm of the cost on the other over that on the run's own CPU.
    cost: Option<f64>,
    /// The same of the frequency.
    frequency: Option<f64>,
}

impl TrialPair {
    fn of(own: &Trial, other: &Trial, levels: Option<&Levels>) -> Option<Self> {
        let samples = (other.sample()?, own.sample()?);
        // The trials of a process have its moment, and of a run of one process for each trial those of a round.
        let moment = |trial: &Trial| trial.block.as_ref().map_or(trial.round, |block| block.process);
        Some(TrialPair {
            moments: [moment(own), moment(other)],
            cost: ratio(median_alone(samples.0, levels), median_alone(samples.1, levels)),
            frequency: ratio(samples.0.conditions.core_hz(), samples.1.conditions.core_hz()),
        })
    }
}

fn home(trial: &Trial) -> Option<usize> {
    trial.sample()?.home
}

fn is_beyond(ratio: &Measured, alike: f64) -> bool {
    ratio.interval.is_some_and(|ends| ends.low > alike || ends.high < 1.0 / alike)
}

/// Whether a trial counts for nothing: it was made on a CPU that is unlike the run's own, and could have been made on that.
pub fn is_on_unlike(unlike: &[UnlikeCpu], run: &Run, trial: &Trial) -> bool {
    let home = home(trial);
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

/// The median ratio with its interval, of logarithms, over the moments of the CPU that has fewer of them, each with the median of its pairs;
/// `None` with fewer than an interval takes.
fn middle(pairs: &[TrialPair], of: impl Fn(&TrialPair) -> Option<f64>) -> Option<Measured> {
    let by_moment = |cpu: usize| {
        let mut moments: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for pair in pairs {
            moments.entry(pair.moments[cpu]).or_default().extend(of(pair));
        }
        moments.values().filter_map(|ratios| statistics::median(ratios)).map(|ratio| [ratio]).collect()
    };
    let [own, other]: [Vec<[f64; 1]>; 2] = [by_moment(0), by_moment(1)];
    let fewer = if own.len() < other.len() { own } else { other };
    let estimate = statistics::estimate(&fewer).filter(|estimate| estimate.trials >= MINIMUM_TRIALS)?;
    let interval = estimate.interval.map(|ends| Interval { low: ends.low.exp(), high: ends.high.exp() });
    Some(Measured { value: estimate.value.exp(), interval })
}
