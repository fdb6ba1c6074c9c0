//! The result of one point: its outcome, its estimate, its evidence.

use super::core_state::PointCore;
use super::headline::Headline;
use super::left_out;
use super::processor_time::ProcessorTime;
use super::shape;
use super::sound::Sound;
use super::visits::Visits;
use crate::experiment::{Bound, Check, Observed, Point, Prediction};
use crate::experiments;
use crate::quantity::{Kind, Unit};
use crate::record::{PlannedPoint, PredictionLine, Run, Trial, TrialOutcome};
use crate::sampling::{Observations, Sample};
use crate::statistics::{self, Estimate, Levels, Mode, Outliers};
use std::collections::BTreeMap;

/// What became of a point. Nothing is clamped, nothing is silently dropped, no zero stands for "not measured".
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The estimate stands: the median with its interval.
    Value(Estimate),
    /// The cost cannot be told from nothing; at 95 % it is below this, in the point's unit.
    BelowResolution {
        /// The upper end of the interval.
        below: f64,
        /// What came out, which must not be used.
        unusable: Estimate,
    },
    /// It was not attempted.
    Skipped {
        /// What is missing, and what to do about it.
        reason: String,
    },
    /// It was attempted and broke.
    Failed {
        /// How.
        reason: String,
    },
    /// It did not end in time.
    TimedOut {
        /// The limit, seconds.
        after_s: f64,
    },
    /// It was measured, and something else kept its trials from what they measure.
    Disturbed {
        /// By what.
        by: String,
        /// What came out, which must not be used.
        unusable: Estimate,
    },
    /// It was measured and cannot be what its name says.
    Implausible {
        /// The bound that it breaks.
        bound: Bound,
        /// What came out, which must not be used.
        unusable: Estimate,
    },
}

impl Outcome {
    /// The word in JSON and tables.
    pub fn name(&self) -> &'static str {
        match self {
            Outcome::Value(_) => "value",
            Outcome::BelowResolution { .. } => "below_resolution",
            Outcome::Skipped { .. } => "skipped",
            Outcome::Failed { .. } => "failed",
            Outcome::TimedOut { .. } => "timed_out",
            Outcome::Disturbed { .. } => "disturbed",
            Outcome::Implausible { .. } => "implausible",
        }
    }

    /// Why it is not a value, in words; `None` for a value.
    pub fn reason(&self) -> Option<String> {
        match self {
            Outcome::Value(_) => None,
            Outcome::BelowResolution { .. } => Some("cannot be told from zero in this run".to_owned()),
            Outcome::Skipped { reason } | Outcome::Failed { reason } => Some(reason.clone()),
            Outcome::TimedOut { after_s } => Some(format!("did not end within {after_s} s")),
            Outcome::Disturbed { by, .. } => Some(by.clone()),
            Outcome::Implausible { bound, .. } => Some(format!("breaks a bound: {}", bound.because)),
        }
    }

    /// The estimate, if it stands.
    pub fn estimate(&self) -> Option<&Estimate> {
        match self {
            Outcome::Value(estimate) => Some(estimate),
            _ => None,
        }
    }

    /// What came out where it must not be used.
    pub fn unusable(&self) -> Option<&Estimate> {
        match self {
            Outcome::BelowResolution { unusable, .. }
            | Outcome::Disturbed { unusable, .. }
            | Outcome::Implausible { unusable, .. } => Some(unusable),
            Outcome::Value(_)
            | Outcome::Skipped { .. }
            | Outcome::Failed { .. }
            | Outcome::TimedOut { .. } => None,
        }
    }

    /// Whether something went wrong, as against something that was not there.
    pub fn is_failure(&self) -> bool {
        matches!(self, Outcome::Failed { .. } | Outcome::TimedOut { .. } | Outcome::Implausible { .. })
    }
}

/// What disturbed the trials of a point, summed over them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Disturbance {
    /// Trials in which the hypervisor took time; `None` where it was seen in none and not all could read it.
    pub trials_with_steal: Option<usize>,
    /// Trials in which a CPU quota held the process back; `None` where it was seen in none and not all could read it.
    pub trials_throttled: Option<usize>,
    /// Observations that ended on another CPU than the one before.
    pub migrations: u64,
    /// Times the scheduler took the CPU away.
    pub involuntary_switches: u64,
    /// Share of a spinning loop's time that was lost just before the observations.
    pub lost_share: Option<f64>,
    /// The lowest and the highest core frequency seen, hertz.
    pub core_hz: Option<(f64, f64)>,
}

/// The result of one point.
#[derive(Debug, Clone, PartialEq)]
pub struct PointResult {
    /// Name of the experiment.
    pub experiment: String,
    /// Version of its method.
    pub method_version: u32,
    /// The setting of its parameters.
    pub point: Point,
    /// What its numbers count.
    pub unit: Unit,
    /// What became of it, with its estimate.
    pub outcome: Outcome,
    /// The baseline's own median, where one was subtracted.
    pub baseline: Option<Estimate>,
    /// What the core did meanwhile; `None` where that is not known.
    pub core: Option<PointCore>,
    /// The observations that the estimate is of, trial by trial, per operation; with a baseline, before its subtraction.
    pub samples: Vec<Vec<f64>>,
    /// The median of each of these trials with the round it belongs to; with a baseline, less that one's.
    pub by_round: Vec<(u32, f64)>,
    /// Whether every operation was an observation of its own.
    pub each: bool,
    /// Percentiles that the sample can support, as (level, value); only where each operation was observed.
    pub percentiles: Vec<(f64, f64)>,
    /// More than one where the observations gather around several values.
    pub modes: Vec<Mode>,
    /// Observations of a duration that came out below zero, because what is subtracted from a reading was larger at that
    /// moment: counted, never removed.
    pub negative: usize,
    /// Observations outside Tukey's fences: counted, never removed.
    pub outliers: Option<Outliers>,
    /// What was expected, and why.
    pub prediction: Option<Prediction>,
    /// Why nothing was expected.
    pub unpredicted: Option<String>,
    /// What shows that the operation was the one named.
    pub evidence: Vec<Check>,
    /// Trials that the figure rests on, and all trials.
    pub trials: (usize, usize),
    /// Trials that observed something and are left out, because their own evidence does not hold.
    pub left_out: usize,
    /// What disturbed them.
    pub disturbance: Disturbance,
    /// Where the time of an operation went; `None` where the counters cannot tell.
    pub processor_time: Option<ProcessorTime>,
}

impl PointResult {
    /// The median with its interval, if it stands.
    pub fn estimate(&self) -> Option<&Estimate> {
        self.outcome.estimate()
    }

    /// The median over the prediction; `None` unless both stand.
    pub fn factor(&self) -> Option<f64> {
        let predicted = self.prediction.as_ref()?.total();
        let estimate = self.estimate()?;
        (predicted > 0.0).then(|| estimate.value / predicted)
    }

    /// The best observation: the smallest cost, the highest rate; `None` of a difference, where it would reward a fluke of
    /// the baseline, of sizes, of which none is better, and where the smallest time is none: then it is a fluke of what was
    /// subtracted from the reading.
    pub fn best(&self) -> Option<f64> {
        let estimate = self.estimate()?;
        match self.unit.kind() {
            Kind::Cost => estimate.min.filter(|least| *least > 0.0 || self.unit != Unit::Nanoseconds),
            Kind::Rate => estimate.max,
            Kind::Size => None,
        }
    }

    /// How good the result is, more being better: its rate, or its cost below zero; `None` where it is no value that its
    /// evidence supports.
    pub fn merit(&self) -> Option<f64> {
        let value = self.estimate().filter(|_| self.evidence_holds())?.value;
        Some(if self.unit.kind() == Kind::Rate { value } else { -value })
    }

    /// Whether all evidence holds.
    pub fn evidence_holds(&self) -> bool {
        self.evidence.iter().all(|check| check.holds)
    }
}

/// The trials of a point, in the order in which they were visited.
pub fn trials_of<'run>(run: &'run Run, planned: &PlannedPoint) -> Vec<&'run Trial> {
    let mine = |trial: &&Trial| trial.experiment == planned.experiment && trial.point == planned.point;
    run.trials.iter().filter(mine).collect()
}

/// The result of every point of the plan, in its order.
pub fn results(run: &Run, levels: Option<&Levels>) -> Vec<PointResult> {
    let mut trials: BTreeMap<(&str, &Point), Vec<&Trial>> = BTreeMap::new();
    for trial in &run.trials {
        trials.entry((&trial.experiment, &trial.point)).or_default().push(trial);
    }
    // What was said first holds.
    let said = run.predictions.iter().rev().map(|line| ((line.experiment.as_str(), &line.point), line));
    let said: BTreeMap<(&str, &Point), &PredictionLine> = said.collect();
    let result = |planned: &PlannedPoint| {
        let key = (planned.experiment.as_str(), &planned.point);
        let trials = trials.get(&key).map_or(&[][..], Vec::as_slice);
        judge((run, levels), planned, trials, said.get(&key).copied())
    };
    run.header.plan.iter().map(result).collect()
}

/// Judges the trials of one point.
fn judge(
    (run, levels): (&Run, Option<&Levels>),
    planned: &PlannedPoint,
    trials: &[&Trial],
    expected: Option<&PredictionLine>,
) -> PointResult {
    let Sound { trials: sound, left_out, disturbed, remark } = Sound::of(trials);
    let measured: Vec<&Sample> = sound.iter().filter_map(|trial| trial.sample()).collect();
    let visits = Visits::of(run, planned.unit, &sound, levels);
    // Fewer trials than an interval needs are no result, whatever they have seen; they stay in the run file.
    let unaffordable = left_out::reason(run, planned, trials);
    let headline = Headline::from(run, planned.unit, &sound, &visits).filter(|_| unaffordable.is_none());
    let samples: Vec<Vec<f64>> = visits.chosen.iter().map(|visit| visit.operation.clone()).collect();
    let all: Vec<f64> = samples.iter().flatten().copied().collect();
    let each = measured.iter().any(|sample| is_each(&sample.observations));
    let bound = expected.and_then(|expected| expected.bound.clone());
    let baseline = headline.as_ref().and_then(|headline| headline.baseline.clone());
    let outcome = match (headline, unaffordable) {
        (_, Some(reason)) => Outcome::Skipped { reason },
        (Some(headline), None) if let Some(check) = disturbed => {
            Outcome::Disturbed { by: check.seen, unusable: headline.estimate }
        }
        (Some(headline), None) => measured_outcome(headline, bound, planned.unit.kind()),
        (None, None) => unmeasured_outcome(planned, trials),
    };
    PointResult {
        experiment: planned.experiment.clone(),
        method_version: planned.method_version,
        point: planned.point.clone(),
        unit: planned.unit,
        outcome,
        baseline,
        core: levels.and_then(|levels| PointCore::of(run, planned.unit, &visits, &measured, levels)),
        by_round: visits.by_round(),
        each,
        percentiles: if each { statistics::supported_percentiles(&all) } else { vec![] },
        modes: shape::distinct_modes(&all),
        negative: negative(planned.unit, &all),
        outliers: statistics::outliers(&all),
        prediction: expected.and_then(|expected| expected.prediction.clone()),
        unpredicted: expected.and_then(|expected| expected.unpredicted.clone()),
        evidence: evidence(planned, &measured, remark),
        trials: (measured.len(), trials.len()),
        left_out,
        disturbance: disturbance(&measured),
        processor_time: ProcessorTime::of(run, &measured),
        samples,
    }
}

/// Times are never below zero; what else has a sign has it by right.
fn negative(unit: Unit, observations: &[f64]) -> usize {
    match unit {
        Unit::Nanoseconds => observations.iter().filter(|time| **time < 0.0).count(),
        Unit::BytesPerSecond | Unit::Bytes | Unit::PartsPerMillion => 0,
    }
}

fn is_each(observations: &Observations) -> bool {
    match observations {
        Observations::Ticks { each, .. } => *each,
        Observations::Values { .. } => true,
    }
}

fn measured_outcome(headline: Headline, bound: Option<Bound>, kind: Kind) -> Outcome {
    let Headline { estimate, baseline, resolution, .. } = headline;
    let has_baseline = baseline.is_some();
    let high = estimate.interval.map_or(estimate.value, |interval| interval.high);
    let low = estimate.interval.map_or(estimate.value, |interval| interval.low);
    // A few trials on a busy machine may well show a negative difference: only an interval tells that it is none.
    if has_baseline && estimate.interval.is_some() && high < 0.0 {
        let because = "the operation took less time than the same work without it".to_owned();
        return Outcome::Implausible { bound: Bound { limit: 0.0, because }, unusable: estimate };
    }
    if let Some(bound) = bound {
        let broken = match kind {
            Kind::Cost => high < bound.limit,
            Kind::Rate => low > bound.limit,
            Kind::Size => false,
        };
        if broken {
            return Outcome::Implausible { bound, unusable: estimate };
        }
    }
    if (has_baseline && low <= 0.0) || estimate.value.abs() < resolution {
        return Outcome::BelowResolution { below: high.max(resolution), unusable: estimate };
    }
    Outcome::Value(estimate)
}

fn unmeasured_outcome(planned: &PlannedPoint, trials: &[&Trial]) -> Outcome {
    if let Some(reason) = &planned.skip {
        return Outcome::Skipped { reason: reason.clone() };
    }
    match trials.last().map(|trial| &trial.outcome) {
        None => Outcome::Skipped {
            reason: "the run ended before its first visit: allow a larger --budget".to_owned(),
        },
        Some(TrialOutcome::Skipped { reason }) => Outcome::Skipped { reason: reason.clone() },
        Some(TrialOutcome::Failed { reason }) => Outcome::Failed { reason: reason.clone() },
        Some(TrialOutcome::TimedOut { after_s }) => Outcome::TimedOut { after_s: *after_s },
        Some(TrialOutcome::Measured { .. }) => {
            Outcome::Failed { reason: "it ended without a single observation".to_owned() }
        }
    }
}

/// The claims, judged over all of the samples, with what is to be said of those that fail by themselves. One that fails over
/// all of them says enough.
fn evidence(planned: &PlannedPoint, measured: &[&Sample], remark: Option<Check>) -> Vec<Check> {
    if measured.is_empty() {
        return vec![];
    }
    match experiments::find(&planned.experiment) {
        Some(experiment) => {
            let mut checks = experiment.evidence(&planned.point, &observed(measured));
            let said = checks.iter().any(|check| !check.holds);
            checks.extend(remark.filter(|remark| remark.holds || !said));
            checks
        }
        None => {
            vec![Check::missing("this program does not know the experiment and cannot judge its evidence")]
        }
    }
}

/// The sums over trials of what was counted.
pub(super) fn observed(measured: &[&Sample]) -> Observed {
    let mut seen = Observed { trials: measured.len() as u64, ..Observed::default() };
    for sample in measured {
        seen.stated.extend(sample.stated.clone());
        count(&mut seen.operations, sample.operations);
        count(&mut seen.baseline_iterations, sample.baseline_iterations);
        let (sum, counters) = (&mut seen.counters, &sample.counters);
        count(&mut sum.minor_faults, counters.minor_faults);
        count(&mut sum.major_faults, counters.major_faults);
        count(&mut sum.voluntary_switches, counters.voluntary_switches);
        count(&mut sum.involuntary_switches, counters.involuntary_switches);
        count(&mut sum.user_ns, counters.user_ns);
        count(&mut sum.system_ns, counters.system_ns);
        sum.instructions = add(sum.instructions, counters.instructions);
        sum.cycles = add(sum.cycles, counters.cycles);
        for (name, seen_here) in &sample.witnessed {
            *seen.witnessed.entry(name.clone()).or_default() += seen_here;
        }
    }
    seen
}

fn total(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}

/// Sums stop at what they can hold: a run file may have been edited.
fn count(sum: &mut u64, more: u64) {
    *sum = sum.saturating_add(more);
}

fn add(sum: Option<u64>, more: Option<u64>) -> Option<u64> {
    match (sum, more) {
        (Some(sum), Some(more)) => Some(sum.saturating_add(more)),
        (sum, more) => sum.or(more),
    }
}

/// How many of some counts are above zero; `None` where none is, and not all were read.
fn trials_with(counts: impl Iterator<Item = Option<u64>> + Clone) -> Option<usize> {
    let seen = counts.clone().flatten().filter(|count| *count > 0).count();
    (seen > 0 || counts.into_iter().all(|count| count.is_some())).then_some(seen)
}

fn disturbance(measured: &[&Sample]) -> Disturbance {
    let conditions = || measured.iter().map(|sample| &sample.conditions);
    let spun: f64 = conditions().map(|seen| seen.spun_ns).sum();
    let lost: f64 = conditions().map(|seen| seen.lost_ns).sum();
    let frequencies: Vec<f64> =
        conditions().flat_map(|seen| [seen.core_hz_before, seen.core_hz_after]).flatten().collect();
    let lowest = frequencies.iter().copied().reduce(f64::min);
    Disturbance {
        trials_with_steal: trials_with(conditions().map(|seen| seen.steal_ns)),
        trials_throttled: trials_with(conditions().map(|seen| seen.throttled_periods)),
        migrations: total(conditions().map(|seen| seen.migrations)),
        involuntary_switches: total(measured.iter().map(|sample| sample.counters.involuntary_switches)),
        lost_share: (spun > 0.0).then(|| lost / spun),
        core_hz: lowest.zip(frequencies.iter().copied().reduce(f64::max)),
    }
}
