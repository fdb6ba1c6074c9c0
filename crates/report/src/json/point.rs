//! A point as JSON.

use super::at_usual::{AtDeviceReport, AtFrequencyReport, at_device, at_frequency};
use super::with_interval::{WithInterval, high, low};
use crate::csv;
use crate::usual::{UsualFigures, UsualReport};
use fathom_core::experiment::registry::OtherVersion;
use fathom_core::experiment::{Bound, Check, Part, Point, Prediction, Term};
use fathom_core::quantity::{Kind, Unit};
use fathom_core::statistics::{Estimate, Mode, Outliers};
use fathom_engine::results::{
    CoreShared, CpuDistance, CpuDistances, CpuPosition, Disturbance, MachineState, Outcome, PointCore,
    PointDistance, PointResult, Results, StatePart, ticks_and_cycles,
};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct PointReport<'run> {
    experiment: &'run str,
    parameters: &'run Point,
    method: MethodReport<'run>,
    unit: Unit,
    kind: Kind,
    outcome: &'static str,
    reason: Option<String>,
    median: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    level: Option<f64>,
    /// In cycles of the core, where the cost follows its frequency.
    core_cycles: Option<WithInterval>,
    /// How the trials were moved to the usual frequency of the core; absent if they are as they were observed.
    #[serde(skip_serializing_if = "Option::is_none")]
    at_frequency: Option<AtFrequencyReport>,
    /// The value at the commonest time of the device; absent for other work, and where it does not follow it visibly.
    #[serde(skip_serializing_if = "Option::is_none")]
    at_device: Option<AtDeviceReport>,
    best: Option<f64>,
    quantiles: Vec<Quantile>,
    trials: usize,
    trials_attempted: usize,
    trials_left_out: usize,
    observations: usize,
    below: Option<f64>,
    /// The bound that an implausible result breaks, or that the figure keeps.
    bound: Option<&'run Bound>,
    unusable: Option<WithInterval>,
    baseline: Option<WithInterval>,
    core: Option<CoreReport>,
    /// The distance of the two CPUs at which the figure was measured; absent for other work, and if there was one distance.
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu_distance: Option<PointDistanceReport>,
    each: bool,
    modes: &'run [Mode],
    /// The value of each state of the machine; absent if the median is of one state.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    states: Vec<StateReport>,
    outliers: Option<Outliers>,
    negative: usize,
    published_statistics: Option<PublishedStatisticsReport>,
    predicted: Option<Predicted<'run>>,
    unpredicted: Option<&'run str>,
    factor: Option<f64>,
    /// The values of the nearest machines of the atlas, and where this one lies among them.
    usual: Option<UsualReport>,
    evidence: &'run [Check],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unasked: Vec<Unasked<'run>>,
    not_judged: Option<String>,
    disturbance: DisturbanceReport,
}

/// A state of the machine, of some trials or of some observations of each.
#[derive(Serialize)]
struct StateReport {
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    low: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    high: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trials: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    share_of_observations: Option<f64>,
}

fn states(result: &PointResult) -> Vec<StateReport> {
    let report = |state: MachineState| {
        let (trials, share_of_observations) = match state.part {
            StatePart::Trials(part, _) => (Some(part), None),
            StatePart::Observations(share) => (None, Some(share)),
        };
        let (low, high) = (state.interval.map(|ends| ends.low), state.interval.map(|ends| ends.high));
        StateReport { value: state.value, low, high, trials, share_of_observations }
    };
    result.mixture.as_ref().map_or(vec![], |mixture| mixture.states().into_iter().map(report).collect())
}

/// The frequency to which trials were moved, by how much their cost follows it, and the estimate without that.
#[derive(Serialize)]
struct MethodReport<'run> {
    id: &'run str,
    version: u32,
}

#[derive(Serialize)]
struct Quantile {
    level: f64,
    value: f64,
}

#[derive(Serialize)]
struct Predicted<'run> {
    hardware: Option<f64>,
    software: Option<f64>,
    total: f64,
    ground: &'static str,
    derivation: &'run [Term],
}

#[derive(Serialize)]
struct DisturbanceReport {
    trials_with_steal: Option<usize>,
    trials_throttled: Option<usize>,
    migrations: u64,
    voluntary_switches: u64,
    involuntary_switches: u64,
    lost_share: Option<f64>,
    core_hz_low: Option<f64>,
    core_hz_high: Option<f64>,
}

pub(super) fn point<'run>(
    results: &Results,
    usual: &UsualFigures,
    result: &'run PointResult,
) -> PointReport<'run> {
    let (usable, unusable) = (result.estimate(), result.outcome.unusable());
    let (below, bound) = match &result.outcome {
        Outcome::BelowResolution { below, .. } => (Some(*below), result.bound.as_ref()),
        Outcome::Implausible { bound, .. } => (None, Some(bound)),
        _ => (None, result.bound.as_ref()),
    };
    PointReport {
        experiment: &result.experiment,
        parameters: &result.point,
        method: MethodReport { id: &result.experiment, version: result.method_version },
        unit: result.unit,
        kind: result.unit.kind(),
        outcome: result.outcome.name(),
        reason: result.outcome.reason(),
        median: usable.map(|estimate| estimate.value),
        low: usable.and_then(low),
        high: usable.and_then(high),
        level: usable.filter(|estimate| estimate.interval.is_some()).map(|estimate| estimate.level),
        core_cycles: result.core_cycles.as_ref().map(WithInterval::of),
        at_frequency: result.at_frequency.as_ref().map(at_frequency),
        at_device: result.at_device.as_ref().map(at_device),
        best: result.best(),
        quantiles: quantiles(result, usable),
        trials: result.trials.0,
        trials_attempted: result.trials.1,
        trials_left_out: result.left_out,
        observations: result.outcome.observed().map_or(0, |estimate| estimate.observations),
        below,
        bound,
        unusable: unusable.map(WithInterval::of),
        baseline: result.baseline.as_ref().map(WithInterval::of),
        core: result.core.as_ref().map(|state| core(result, state)),
        cpu_distance: result.cpu_distance.as_ref().map(point_distance),
        each: result.each,
        modes: &result.modes,
        states: states(result),
        outliers: result.outliers,
        negative: result.negative,
        published_statistics: PublishedStatisticsReport::of(results, result),
        predicted: result.prediction.as_ref().map(predicted),
        unpredicted: result.unpredicted.as_deref(),
        factor: result.factor(),
        usual: usual.of_point(result).map(|usual| UsualReport::of(&usual)),
        evidence: result.evidence.checks(),
        unasked: result.evidence.unasked().iter().map(Unasked::of).collect(),
        not_judged: result.evidence.not_judged().map(OtherVersion::to_string),
        disturbance: disturbance(&result.disturbance),
    }
}

/// A claim that could not be checked, and why.
#[derive(Serialize)]
struct Unasked<'run> {
    claim: &'run str,
    reason: &'run str,
}

impl<'run> Unasked<'run> {
    fn of(check: &'run Check) -> Self {
        Unasked { claim: &check.claim, reason: &check.seen }
    }
}

fn quantiles(result: &PointResult, usable: Option<&Estimate>) -> Vec<Quantile> {
    let supported = result.percentiles.iter().filter(|_| usable.is_some());
    supported.map(|(level, value)| Quantile { level: *level, value: *value }).collect()
}

fn predicted(prediction: &Prediction) -> Predicted<'_> {
    Predicted {
        hardware: prediction.part(Part::Hardware),
        software: prediction.part(Part::Software),
        total: prediction.total(),
        ground: prediction.ground().name(),
        derivation: &prediction.terms,
    }
}

fn disturbance(disturbance: &Disturbance) -> DisturbanceReport {
    DisturbanceReport {
        trials_with_steal: disturbance.trials_with_steal,
        trials_throttled: disturbance.trials_throttled,
        migrations: disturbance.migrations,
        voluntary_switches: disturbance.voluntary_switches,
        involuntary_switches: disturbance.involuntary_switches,
        lost_share: disturbance.lost_share,
        core_hz_low: disturbance.core_hz.map(|(low, _)| low),
        core_hz_high: disturbance.core_hz.map(|(_, high)| high),
    }
}

/// The state of the core at one point.
#[derive(Serialize)]
struct CoreReport {
    state: &'static str,
    shared_share: Option<f64>,
    shared: Option<WithInterval>,
    /// With the core shared over alone; for rates the reverse.
    neighbour_cost: Option<RatioReport>,
    observed_alone: usize,
    observed_shared: usize,
    observed_unclear: usize,
}

#[derive(Serialize)]
struct RatioReport {
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    low: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    high: Option<f64>,
}

/// The state of the core over the run.
#[derive(Serialize)]
pub(super) struct CoreSharedReport {
    share: f64,
    low: Option<f64>,
    high: Option<f64>,
    looks: usize,
    alone: f64,
    shared: Option<f64>,
}

fn core(point: &PointResult, core: &PointCore) -> CoreReport {
    let cost = point.neighbour_cost();
    let [observed_alone, observed_shared, observed_unclear] = core.observations;
    CoreReport {
        state: core.state.name(),
        shared_share: core.shared_share,
        shared: core.shared.as_ref().map(WithInterval::of),
        neighbour_cost: cost.map(|cost| RatioReport {
            value: cost.value,
            low: cost.interval.map(|interval| interval.low),
            high: cost.interval.map(|interval| interval.high),
        }),
        observed_alone,
        observed_shared,
        observed_unclear,
    }
}

/// The distance of the two CPUs at which a figure was measured, and the value at another.
#[derive(Serialize)]
struct PointDistanceReport {
    line_ns: f64,
    trials: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    other: Option<OtherDistanceReport>,
}

#[derive(Serialize)]
struct OtherDistanceReport {
    line_ns: f64,
    trials: usize,
    value: WithInterval,
    #[serde(skip_serializing_if = "Option::is_none")]
    predicted: Option<f64>,
}

/// A distance of the run's two CPUs.
#[derive(Serialize)]
pub(super) struct CpuDistanceReport {
    line_ns: f64,
    share: f64,
    looks: usize,
}

fn point_distance(distance: &PointDistance) -> PointDistanceReport {
    let other = distance.other.as_ref().map(|(at, estimate, trials)| OtherDistanceReport {
        line_ns: at.line_ns,
        trials: *trials,
        value: WithInterval::of(estimate),
        predicted: distance.predicted_there.as_ref().map(Prediction::total),
    });
    PointDistanceReport { line_ns: distance.at.line_ns, trials: distance.trials, other }
}

pub(super) fn cpu_distances(distances: &CpuDistances) -> Vec<CpuDistanceReport> {
    let of = |distance: &CpuDistance| CpuDistanceReport {
        line_ns: distance.line_ns,
        share: distance.share,
        looks: distance.looks,
    };
    distances.distances.iter().map(of).collect()
}

/// A position of the run's two CPUs, with what lies at it.
#[derive(Serialize)]
pub(super) struct CpuPositionReport {
    line_ns: f64,
    share: f64,
    looks: usize,
    is_seldom: bool,
    trials: usize,
    left_out: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    slowing: Option<StreamSlowingReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    load: Option<LoadSlowingReport>,
}

/// In how many trials the work slows a stream of instructions beside it.
#[derive(Serialize)]
struct StreamSlowingReport {
    slowed: usize,
    read: usize,
    slowed_elsewhere: usize,
    read_elsewhere: usize,
    times: f64,
    is_of_one_core: bool,
}

/// In how much of the time load on one of the two slows the other.
#[derive(Serialize)]
struct LoadSlowingReport {
    share: f64,
    trials: usize,
}

pub(super) fn cpu_position(position: &CpuPosition) -> CpuPositionReport {
    let slowing = position.slowing.map(|slowing| StreamSlowingReport {
        slowed: slowing.trials[0],
        read: slowing.trials[1],
        slowed_elsewhere: slowing.elsewhere[0],
        read_elsewhere: slowing.elsewhere[1],
        times: slowing.times,
        is_of_one_core: slowing.is_of_one_core(),
    });
    CpuPositionReport {
        line_ns: position.at.line_ns,
        share: position.at.share,
        looks: position.at.looks,
        is_seldom: position.is_seldom,
        trials: position.trials,
        left_out: position.left_out,
        slowing,
        load: position.load.map(|load| LoadSlowingReport { share: load.share, trials: load.trials }),
    }
}

pub(super) fn core_shared(core: &CoreShared) -> CoreSharedReport {
    CoreSharedReport {
        share: core.share,
        low: core.interval.map(|interval| interval.low),
        high: core.interval.map(|interval| interval.high),
        looks: core.looks,
        alone: core.levels.alone,
        shared: core.levels.shared,
    }
}

/// The statistics, in the point's unit unless the field's name has another unit.
#[derive(Serialize)]
struct PublishedStatisticsReport {
    mean: f64,
    deviation: Option<f64>,
    trimmed_mean: f64,
    minimum: Option<f64>,
    maximum: f64,
    trials_mean: f64,
    trials_deviation: Option<f64>,
    operations_a_reading: Option<f64>,
    median_ticks: Option<f64>,
    median_core_cycles: Option<f64>,
}

impl PublishedStatisticsReport {
    /// For a point; `None` if it has no value.
    fn of(results: &Results, point: &PointResult) -> Option<Self> {
        let published = point.published.as_ref()?;
        let median = point.estimate()?.value;
        let in_clock = ticks_and_cycles(results.run, results.core_hz, point.unit, median);
        Some(PublishedStatisticsReport {
            mean: published.observations.mean,
            deviation: published.observations.deviation,
            trimmed_mean: published.observations.trimmed_mean,
            minimum: csv::least(point, published.observations.minimum),
            maximum: published.observations.maximum,
            trials_mean: published.trials.value,
            trials_deviation: published.trials.deviation,
            operations_a_reading: published.operations,
            median_ticks: in_clock.map(|(ticks, _)| ticks),
            median_core_cycles: in_clock.and_then(|(_, cycles)| cycles),
        })
    }
}
