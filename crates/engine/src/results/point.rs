//! The result of one point: its outcome with its estimate, its prediction, its evidence.

use super::at_usual::AtUsual;
use super::core_cycles;
use super::core_state::CoreState;
use super::cpu_distance::CpuDistance;
use super::distinct_modes;
use super::disturbance::Disturbance;
use super::evidence::Evidence;
use super::explanation::Explanation;
use super::headline::Headline;
use super::influence_part::{InfluencePart, MissMechanism};
use super::known_states::KnownStates;
use super::mixture::{MachineState, Mixture};
use super::open_levels;
use super::outcome::{self, Outcome};
use super::point_estimate;
use super::point_states::{PointAtDevice, PointCore, PointDistance};
use super::processor_time::ProcessorTime;
use super::published_statistics::PublishedStatistics;
use super::unlike_cpus::{self, UnlikeCpu};
use super::valid_trials::ValidTrials;
use super::visits::Visits;
use crate::parallel;
use crate::record::{Method, MethodParameter, PlannedPoint, PredictionLine, Run, Trial};
use fathom_core::experiment::registry::{self, OtherVersion};
use fathom_core::experiment::{Bound, CoreUse, Experiment, Found, Point, Prediction, Statement};
use fathom_core::quantity::{Kind, Unit};
use fathom_core::sampling::{Observations, Sample};
use fathom_core::sorting;
use fathom_core::statistics::{self, Estimate, Mode, ModeList, Outliers};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The result of one point.
#[derive(Debug, Clone, PartialEq)]
pub struct PointResult {
    /// Name of the experiment.
    pub experiment: String,
    /// Version of its method.
    pub method_version: u32,
    /// The setting of its parameters.
    pub point: Point,
    /// The parameters that its method declares; empty if neither this program nor the run file describes it.
    pub parameters: Vec<MethodParameter>,
    /// The unit of its numbers.
    pub unit: Unit,
    /// Its outcome, with the estimate.
    pub outcome: Outcome,
    /// What its figure cannot be below (above, for rates); `None` if no such limit is known.
    pub bound: Option<Bound>,
    /// The estimate in cycles of the core, where the cost follows its frequency.
    pub core_cycles: Option<Estimate>,
    /// The baseline's own median, if one was subtracted.
    pub baseline: Option<Estimate>,
    /// The state of the core during the trials; `None` if it is not known.
    pub core: Option<PointCore>,
    /// The distance of the two CPUs at which the figure was measured; `None` for other work, and if there was one distance.
    pub cpu_distance: Option<PointDistance>,
    /// The observations on which the estimate is based, trial by trial, per operation; with a baseline, before its
    /// subtraction.
    pub samples: Vec<Vec<f64>>,
    /// The median of each of these trials with its round; with a baseline, less the baseline's median.
    pub by_round: Vec<(u32, f64)>,
    /// How these observations were moved to the usual frequency of the core; `None` if they are as they were observed.
    pub at_frequency: Option<AtUsual>,
    /// The value at the commonest time of the device; `None` of work that does not wait for it, or does not follow it visibly.
    pub at_device: Option<PointAtDevice>,
    /// Whether its trials read the device, because its work waits for it.
    pub waited_for_the_device: bool,
    /// Whether every operation was an observation by itself.
    pub each: bool,
    /// Percentiles that the sample can support, as (level, value); only if each operation was observed.
    pub percentiles: Vec<(f64, f64)>,
    /// The modes; more than one if the observations cluster around several values.
    pub modes: Vec<Mode>,
    /// The values of the machine's states, if the median is one over several; `None` if it is of one.
    pub mixture: Option<Mixture>,
    /// The number of observed durations below zero, because the time subtracted from a reading was larger at that moment;
    /// they are counted, never removed.
    pub negative: usize,
    /// Observations outside Tukey's fences: counted, never removed.
    pub outliers: Option<Outliers>,
    /// The result in the statistics of published reports; `None` if the outcome is not a value.
    pub published: Option<PublishedStatistics>,
    /// The prediction, with its terms.
    pub prediction: Option<Prediction>,
    /// The same with what the whole run gave for the measurements of it that the prediction took; `None` if they are the same.
    pub by_end: Option<Prediction>,
    /// Of each of its terms the state of the core of the figure behind it, where that is to be named: shared, or another than the figure is
    /// printed in.
    pub by_end_cores: Vec<Option<CoreUse>>,
    /// The reason why there is no prediction.
    pub unpredicted: Option<String>,
    /// The evidence that the operation was the one named.
    pub evidence: Evidence,
    /// The number of trials that the figure rests on, and of all trials.
    pub trials: (usize, usize),
    /// Trials that observed something and are left out, because their own evidence does not hold.
    pub left_out: usize,
    /// The disturbances of the trials.
    pub disturbance: Disturbance,
    /// The distribution of an operation's time; `None` if the counters cannot show it.
    pub processor_time: Option<ProcessorTime>,
    /// If the prediction missed by more than a factor of two, what is known about the reason.
    pub explanation: Option<Explanation>,
    /// The same in a sentence, with the cause or with what was excluded.
    pub because: Option<Statement>,
    /// What of a miss is known, where the rest of it is not explained.
    pub explained_part: Option<Statement>,
    /// The part of it that a mechanism of the run accounts for, where that counts and can be computed.
    pub influence: Option<InfluencePart>,
    /// What a mechanism of the run has of its missed prediction.
    pub miss_mechanism: Option<MissMechanism>,
    /// What another measurement of the same operation gave, in this figure's unit, where a cross-check shows that the two are apart; of several
    /// the furthest.
    pub denied_by: Option<Found>,
    /// The share of its switches by preemption, 0 to 1, where another measurement of a cross-check always sleeps, and is another operation for that.
    pub by_preemption: Option<f64>,
}

/// A time of no more than this, nanoseconds, is what is left when one time is subtracted from another that is as long.
pub const REMAINDER: f64 = 1e-4;

impl PointResult {
    /// The estimate from the observations with the core shared, for short work on one CPU; `None` without an
    /// interval, or if the estimate itself is of the core shared.
    pub fn shared(&self) -> Option<&Estimate> {
        let core = self.core.as_ref().filter(|core| core.state != CoreState::Shared)?;
        self.estimate().and(core.shared.as_ref()).filter(|shared| shared.interval.is_some())
    }

    /// The value of work on two CPUs at another distance than that of the figure; without an interval if too few trials were there.
    pub fn at_other_distance(&self) -> Option<(&CpuDistance, &Estimate)> {
        let distance = self.estimate().and(self.cpu_distance.as_ref())?;
        distance.other.as_ref().map(|(at, estimate, _)| (at, estimate))
    }

    /// What is predicted of that value, and the value over it; `None` if it was not predicted.
    pub fn predicted_at_other_distance(&self) -> Option<(&Prediction, f64)> {
        let (_, estimate) = self.at_other_distance()?;
        let prediction = self.cpu_distance.as_ref()?.predicted_there.as_ref()?;
        let total = Some(prediction.total()).filter(|_| !prediction.is_limit_of_the_run())?;
        (total > 0.0).then(|| (prediction, estimate.value / total))
    }

    /// The values of work on two CPUs at two of their distances, that at the shorter one first; `None` of work with one value.
    pub fn near_and_far(&self) -> Option<[(&CpuDistance, &Estimate); 2]> {
        let own = (&self.cpu_distance.as_ref()?.at, self.estimate()?);
        let other = self.at_other_distance()?;
        Some(if own.0.line_ns <= other.0.line_ns { [own, other] } else { [other, own] })
    }

    /// The median of each of its trials as it was observed, whatever the frequency of the core, with its round.
    pub fn as_observed(&self) -> &[(u32, f64)] {
        self.at_frequency.as_ref().map_or(&self.by_round, |moved| &moved.by_round)
    }

    /// Its values with the core alone and shared, both at the usual frequency of the core or both as observed; `None` without both.
    pub fn alone_and_shared(&self) -> Option<[&Estimate; 2]> {
        self.core.as_ref()?.alone_and_shared(self.estimate()?, self.estimate_as_observed())
    }

    /// Whether one of these two is as observed, and stated elsewhere at the usual frequency of the core.
    pub fn is_one_of_both_moved(&self) -> bool {
        self.core.as_ref().is_some_and(|core| core.is_one_moved(self.estimate_as_observed()))
    }

    fn estimate_as_observed(&self) -> Option<&Estimate> {
        self.at_frequency.as_ref()?.as_observed.as_ref()
    }

    /// What a neighbour on the core costs; `None` unless the values with the core alone and shared are both known.
    pub fn neighbour_cost(&self) -> Option<Found> {
        self.core.as_ref()?.neighbour_cost(self.unit, self.alone_and_shared()?)
    }

    /// The median with its interval, if it is valid.
    pub fn estimate(&self) -> Option<&Estimate> {
        self.outcome.estimate()
    }

    /// The state of the core of short work; `None` of other work, where it is not known, and in a run that saw one state: which of the two
    /// that is looks the same from inside, and other work had it too.
    pub(super) fn core_use(&self) -> Option<CoreUse> {
        let core = self.core.as_ref().filter(|core| core.is_told_apart)?;
        core.state.of_short_work()
    }

    /// The median with its interval and dimension, to compute with, if it is valid.
    pub fn figure(&self) -> Option<Found> {
        let figure = Found::of(self.estimate()?, self.unit);
        let states = self.mixture.as_ref().map(Mixture::states).unwrap_or_default();
        let has_more_states = states.len() > 2;
        let states =
            states.first_chunk().map(|states: &[MachineState; 2]| states.map(MachineState::measured));
        let core = self.core_use();
        // What follows the frequency in part is stated at it too, but is no number of its cycles.
        let moved = self.at_frequency.as_ref().filter(|_| self.core_cycles.is_some());
        let at_hz = moved.map(|moved| moved.usual);
        let whatever_shared = self.core.as_ref().and_then(PointCore::whatever_shared);
        // The modes are of what was timed, of which the figure of a difference is a part.
        let modes = self.baseline.as_ref().map_or_else(|| ModeList::of(&self.modes), |_| ModeList::default());
        let is_mixture = self.mixture.is_some();
        Some(Found { is_mixture, states, has_more_states, core, whatever_shared, at_hz, modes, ..figure })
    }

    /// The levels of its observations that the interval of its median reaches, ascending: of several the median is of one, and a further run may
    /// find another. Empty of one, and of a point with a value for each state.
    pub fn open_levels(&self) -> Vec<Mode> {
        let ends = self.estimate().and_then(|estimate| estimate.interval).filter(|_| self.mixture.is_none());
        let Some(ends) = ends.filter(|_| self.baseline.is_none()) else { return vec![] };
        open_levels::reached(ends, &self.modes)
    }

    /// The median over the prediction, of a machine in several states the value of that with the most; `None` unless both exist, and of a
    /// limit that the run set itself, which predicts nothing.
    pub fn factor(&self) -> Option<f64> {
        let prediction = self.prediction.as_ref()?;
        let predicted = Some(prediction.total()).filter(|_| !prediction.is_limit_of_the_run())?;
        let median = self.estimate()?.value;
        let value = self.mixture.as_ref().and_then(Mixture::leading).unwrap_or(median);
        (predicted > 0.0).then(|| value / predicted)
    }

    /// The best observation: the smallest cost, the highest rate. `None` for a difference, for which it would reward an
    /// outlier of the baseline; for sizes, of which none is better; and if the smallest time is not above zero, which is an
    /// outlier of the time subtracted from the reading.
    pub fn best(&self) -> Option<f64> {
        let estimate = self.estimate()?;
        match self.unit.kind() {
            Kind::Cost => estimate.min.filter(|least| *least > REMAINDER || self.unit != Unit::Nanoseconds),
            Kind::Rate => estimate.max,
            Kind::Size => None,
        }
    }

    /// The [merit](Found::merit) of the result; `None` if it is no figure that sentences may rest on. The best of several points is the
    /// one with the highest.
    pub fn merit(&self) -> Option<f64> {
        self.figure().filter(|_| self.is_supported()).map(|figure| figure.merit())
    }

    /// What the result is [worth](Found::worth) at least and at most; `None` if it is no figure that sentences may rest on.
    pub fn worth(&self) -> Option<[f64; 2]> {
        self.figure().filter(|_| self.is_supported()).map(|figure| figure.worth())
    }

    /// Whether sentences may rest on its figure: its evidence holds, and work on two CPUs was at the distance of most of the time; at
    /// another it is of another state of the machine than the rest.
    pub(super) fn is_supported(&self) -> bool {
        self.evidence_holds() && self.cpu_distance.as_ref().is_none_or(PointDistance::is_usual)
    }

    /// Whether its value must not be used, because its evidence fails, so that it may be of another operation. Reports say so, and nothing is
    /// predicted or concluded from it.
    pub fn is_doubtful(&self) -> bool {
        let is_in_table = matches!(self.outcome, Outcome::Value(_) | Outcome::BelowResolution { .. });
        is_in_table && self.evidence.fails()
    }

    /// Whether its evidence was judged and all of it holds.
    pub fn evidence_holds(&self) -> bool {
        self.evidence.holds()
    }

    /// The experiment by which it was measured, if this program has the same version of its method.
    pub fn method(&self) -> Result<&'static dyn Experiment, OtherVersion> {
        registry::recorded(&self.experiment, self.method_version)
    }
}

/// The result of every point of the plan, in its order.
pub fn results(run: &Run, states: KnownStates, unlike: &[UnlikeCpu]) -> Vec<PointResult> {
    let mut trials: BTreeMap<(&str, &Point), Vec<&Trial>> = BTreeMap::new();
    for trial in run.trials.iter().filter(|trial| !unlike_cpus::is_on_unlike(unlike, run, trial)) {
        trials.entry((&trial.experiment, &trial.point)).or_default().push(trial);
    }
    // The first prediction of a point counts.
    let predictions =
        run.predictions.iter().rev().map(|line| ((line.experiment.as_str(), &line.point), line));
    let predictions: BTreeMap<(&str, &Point), &PredictionLine> = predictions.collect();
    let result = |planned: &PlannedPoint| {
        let key = (planned.experiment.as_str(), &planned.point);
        let trials = trials.get(&key).map_or(&[][..], Vec::as_slice);
        judge((run, states), planned, trials, predictions.get(&key).copied())
    };
    parallel::map(&run.header.plan, |_, planned| result(planned))
}

fn judge(
    (run, states): (&Run, KnownStates),
    planned: &PlannedPoint,
    trials: &[&Trial],
    expected: Option<&PredictionLine>,
) -> PointResult {
    let ValidTrials { trials: valid, left_out, disturbed, remark, .. } =
        ValidTrials::of(planned.method(), trials);
    let measured: Vec<&Sample> = valid.iter().filter_map(|trial| trial.sample()).collect();
    let divided = states.divide(run, planned, &valid);
    let (trials_of_figure, distance) = match &divided {
        Some(divided) => (divided.main.1.as_slice(), Some(PointDistance::of(run, planned, divided))),
        None => (valid.as_slice(), None),
    };
    let visits = Visits::of(run, planned, trials_of_figure, states);
    // Fewer trials than an interval needs are not a result; they remain in the run file.
    let unaffordable = outcome::reason(run, planned, trials);
    let headline =
        Headline::from(run, planned.unit, trials_of_figure, &visits).filter(|_| unaffordable.is_none());
    let samples: Vec<Vec<f64>> = visits.chosen.iter().map(|visit| visit.operation.clone()).collect();
    // Ascending: whatever looks at all of them sorts them, which costs nothing where they are.
    let mut all: Vec<f64> = samples.iter().flatten().copied().collect();
    sorting::numbers(&mut all);
    let each = measured.iter().any(|sample| is_each(&sample.observations));
    let bound = expected.and_then(|expected| expected.bound.clone());
    let baseline = headline.as_ref().and_then(|headline| headline.baseline.clone());
    let outcome = match (headline, unaffordable) {
        (_, Some(reason)) => Outcome::Skipped { reason },
        (Some(mut headline), None) => {
            let by = disturbed.map(|check| check.seen).or_else(|| states.mixed(run, planned, &valid));
            if let Some(by) = by {
                Outcome::Disturbed { by, unusable: headline.estimate }
            } else {
                let step = planned.method().map_or(0.0, |method| method.step(&planned.point));
                headline.resolution = headline.resolution.max(step);
                Outcome::measured(headline, bound.clone(), planned.unit)
            }
        }
        (None, None) => Outcome::unmeasured(planned, trials),
    };
    let published =
        PublishedStatistics::of(&visits.chosen, &measured).filter(|_| outcome.estimate().is_some());
    let modes = distinct_modes::distinct_modes(&distinct_modes::of_equal_trials(&samples));
    let outcome_is_value = outcome.estimate().is_some();
    PointResult {
        experiment: planned.experiment.clone(),
        method_version: planned.method_version,
        point: planned.point.clone(),
        parameters: parameters(run, planned),
        unit: planned.unit,
        mixture: outcome.estimate().and_then(|estimate| {
            Mixture::of(estimate.measured(), &visits, &modes, |value| {
                point_estimate::clock_error(run, planned.unit, &measured, &visits.chosen, value)
            })
        }),
        core_cycles: outcome.estimate().and_then(|_| core_cycles::estimate(run, planned, &measured, &visits)),
        outcome,
        bound,
        baseline,
        cpu_distance: distance,
        core: states.core.and_then(|levels| PointCore::of(run, planned, &visits, &measured, levels)),
        by_round: visits.by_round(),
        at_device: PointAtDevice::of(run, planned, &visits, &measured, states).filter(|_| outcome_is_value),
        waited_for_the_device: measured.iter().any(|sample| sample.device.is_some()),
        at_frequency: visits.at_frequency,
        each,
        percentiles: if each { statistics::supported_percentiles(&all) } else { vec![] },
        modes,
        negative: negative(planned.unit, &all),
        outliers: statistics::outliers(&all),
        published,
        prediction: expected
            .and_then(|expected| at_usual_frequency(expected.prediction.as_ref()?, planned, states)),
        by_end: None,
        by_end_cores: vec![],
        unpredicted: expected.and_then(|expected| expected.unpredicted.clone()),
        evidence: Evidence::of(planned.method(), &planned.point, &measured, remark),
        trials: (measured.len(), trials.len()),
        left_out,
        disturbance: Disturbance::of(&run.header, &measured),
        processor_time: ProcessorTime::of(run, &measured),
        explanation: None,
        because: None,
        explained_part: None,
        influence: None,
        miss_mechanism: None,
        denied_by: None,
        by_preemption: None,
        samples,
    }
}

/// The prediction at the frequency at which results are stated: the core's frequency was known from the trials until then, and a ratio that
/// owes something to it would say nothing of the prediction.
fn at_usual_frequency(
    prediction: &Prediction,
    planned: &PlannedPoint,
    states: KnownStates,
) -> Option<Prediction> {
    let prediction = match (states.usual_hz, planned.unit.kind()) {
        (Some(hz), Kind::Rate) => prediction.at_frequency(hz, true),
        (Some(hz), Kind::Cost) if planned.unit == Unit::Nanoseconds => prediction.at_frequency(hz, false),
        _ => prediction.clone(),
    };
    // A damaged file may hold any number.
    Some(prediction).filter(|prediction| prediction.total().is_finite())
}

/// The number of durations below zero; quantities of other units may be negative.
fn negative(unit: Unit, observations: &[f64]) -> usize {
    match unit {
        Unit::Nanoseconds => observations.iter().filter(|time| **time < 0.0).count(),
        Unit::BytesPerSecond | Unit::Bytes | Unit::PartsPerMillion => 0,
    }
}

/// Whether every operation is an observation by itself.
pub(crate) fn is_each(observations: &Observations) -> bool {
    match observations {
        Observations::Ticks { each, .. } => *each,
        Observations::Values { .. } => true,
    }
}

/// The first point of each experiment, in the order of the plan.
pub(super) fn first_of_each(points: &[PointResult]) -> impl Iterator<Item = &PointResult> {
    points.chunk_by(|one, other| one.experiment == other.experiment).filter_map(<[_]>::first)
}

/// The method of this version; `None` where neither this program nor the run file describes it.
pub(super) fn method<'run>(run: &'run Run, name: &str, version: u32) -> Option<Cow<'run, Method>> {
    if let Ok(experiment) = registry::recorded(name, version) {
        return Some(Cow::Owned(Method::of(experiment.about())));
    }
    recorded(run, name, version).map(Cow::Borrowed)
}

/// The parameters that the method of a point declares.
pub(super) fn parameters(run: &Run, planned: &PlannedPoint) -> Vec<MethodParameter> {
    let recorded = || recorded(run, &planned.experiment, planned.method_version);
    match planned.method() {
        Ok(experiment) => MethodParameter::all(experiment.about()),
        Err(_) => recorded().map(|method| method.parameters.clone()).unwrap_or_default(),
    }
}

fn recorded<'run>(run: &'run Run, name: &str, version: u32) -> Option<&'run Method> {
    run.header.methods.iter().find(|method| method.experiment == name && method.version == version)
}
