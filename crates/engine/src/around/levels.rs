//! The level of each dimension in each phase, from the trials and looks of the run.

use super::anchors::PROCESSOR_TIME;
use super::verdict::{ChangeScale, DimensionReading};
use crate::plan::Set;
use crate::record::{PlannedPoint, Run, TrialOutcome};
use crate::results::{CoreLevels, CoreState, InterimEstimate, KnownStates, by_chain};
use crate::run::{PhaseSpan, reading_times};
use fathom_core::quantity::Unit;
use fathom_core::statistics::{self, Contrast, Levels, LogLevel, Occupancy};

/// The frequency of the core, and whether another hardware thread used it: dimensions from the core's own readings.
pub(super) const FREQUENCY: &str = "frequency";
pub(super) const CORE_SHARED: &str = "core shared";
pub(super) const CORE_WIDTH: &str = "width of the core";

/// The parts into which the looks of a phase are divided: as many as an anchor has trials.
const PARTS: usize = 8;

/// A dimension's level in a phase: on logarithms, or linear for a share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PhaseLevel {
    pub level: LogLevel,
    pub reading: DimensionReading,
    /// The state of the core in which it was observed.
    pub core: Option<CoreState>,
}

/// A dimension with its level in each phase, or the reason why it has none there.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Leveled {
    pub name: String,
    pub scale: ChangeScale,
    pub unit: Option<Unit>,
    pub phases: Vec<Result<PhaseLevel, String>>,
}

/// Every dimension that the anchors of a run show.
pub(super) fn of(run: &Run, set: &Set, phases: &[PhaseSpan]) -> Vec<Leveled> {
    let levels = CoreLevels::of(run);
    let places = set.places(&run.header.plan, &run.header.machine);
    let points = |name: &str| -> Vec<&PlannedPoint> {
        places.iter().filter(|(other, _)| *other == name).map(|(_, place)| &run.header.plan[*place]).collect()
    };
    let mut dimensions = vec![frequency(run, phases), core_shared(run, phases, levels.as_ref())];
    if !points(PROCESSOR_TIME).is_empty() {
        dimensions.push(processor_time(run, phases, &points(PROCESSOR_TIME)));
    }
    let operations = places.iter().filter(|(name, _)| *name != PROCESSOR_TIME);
    dimensions.extend(operations.map(|(name, place)| {
        let planned = &run.header.plan[*place];
        let level = |phase| operation(run, planned, phase, levels.as_ref());
        Leveled {
            name: (*name).to_owned(),
            scale: ChangeScale::Ratio,
            unit: Some(planned.unit),
            phases: phases.iter().map(level).collect(),
        }
    }));
    dimensions
}

/// An operation in a phase.
fn operation(
    run: &Run,
    planned: &PlannedPoint,
    phase: &PhaseSpan,
    levels: Option<&Levels>,
) -> Result<PhaseLevel, String> {
    if let Some(reason) = &planned.skip {
        return Err(reason.clone());
    }
    let trials: Vec<_> = run
        .trials
        .iter()
        .filter(|trial| trial.experiment == planned.experiment && trial.point == planned.point)
        .filter(|trial| phase.contains(trial.round))
        .collect();
    let headline =
        InterimEstimate::of(run, planned, &trials, KnownStates { core: levels, ..KnownStates::default() })
            .headline;
    let headline = headline.ok_or_else(|| unmeasured(&trials))?;
    let level = LogLevel::of(&headline.estimate).ok_or("too few trials for an interval")?;
    let interval = headline.estimate.interval;
    let reading = DimensionReading {
        value: headline.estimate.value,
        low: interval.map(|interval| interval.low),
        high: interval.map(|interval| interval.high),
    };
    Ok(PhaseLevel { level, reading, core: headline.core })
}

/// Why trials gave no figure.
fn unmeasured(trials: &[&crate::record::Trial]) -> String {
    let reason = trials.iter().rev().find_map(|trial| match &trial.outcome {
        TrialOutcome::Measured { .. } => None,
        TrialOutcome::TimedOut { .. } => Some("its trials did not end in time".to_owned()),
        TrialOutcome::Failed { reason } | TrialOutcome::Skipped { reason } => Some(reason.clone()),
    });
    reason.unwrap_or_else(|| "its trials take too long for such a phase".to_owned())
}

/// The frequency of the run's CPU, from the dependent chains of the looks: no neighbour affects these.
fn frequency(run: &Run, phases: &[PhaseSpan]) -> Leveled {
    let times = reading_times(&run.header);
    let middle = |part: &[(f64, f64)]| {
        let all: Vec<f64> = part.iter().map(|(_, chain)| by_chain(&run.header, *chain, times)).collect();
        statistics::median(&all).unwrap_or_default().ln()
    };
    let level = |phase: &PhaseSpan| {
        let parts = parts(run, phase, middle);
        over_parts(&parts, f64::exp)
    };
    Leveled {
        name: FREQUENCY.to_owned(),
        scale: ChangeScale::Ratio,
        unit: None,
        phases: phases.iter().map(level).collect(),
    }
}

/// The share of the time in which another hardware thread used the core of the run's CPU. While the readings have one level
/// only, that level itself: how long a stream takes that fills the width of the core, against the chain.
fn core_shared(run: &Run, phases: &[PhaseSpan], levels: Option<&Levels>) -> Leveled {
    let mean = |part: &[(f64, f64)], value: &dyn Fn(f64) -> Option<f64>| {
        let all: Vec<f64> = part.iter().filter_map(|(quotient, _)| value(*quotient)).collect();
        statistics::mean(&all).map_or(0.0, |mean| mean.value)
    };
    let (name, scale) = (CORE_SHARED, ChangeScale::Points);
    let Some(levels) = levels.filter(|levels| levels.shared.is_some()) else {
        let logs = |part: &[(f64, f64)]| mean(part, &|quotient| Some(quotient.ln()));
        let level = |phase: &PhaseSpan| over_parts(&parts(run, phase, logs), f64::exp);
        let phases = phases.iter().map(level).collect();
        return Leveled { name: CORE_WIDTH.to_owned(), scale: ChangeScale::Ratio, unit: None, phases };
    };
    let is_shared = |quotient: f64| match levels.state(quotient) {
        Occupancy::Alone => Some(0.0),
        Occupancy::Shared => Some(1.0),
        Occupancy::Unclear => None,
    };
    let level =
        |phase: &PhaseSpan| over_parts(&parts(run, phase, |part| mean(part, &is_shared)), |share| share);
    Leveled { name: name.to_owned(), scale, unit: None, phases: phases.iter().map(level).collect() }
}

/// Values of the parts of a phase, equally long, from the quotient and the chain of each look.
fn parts(run: &Run, phase: &PhaseSpan, value: impl Fn(&[(f64, f64)]) -> f64) -> Vec<f64> {
    let length = (phase.ended_s - phase.began_s).max(f64::MIN_POSITIVE);
    let mut parts: Vec<Vec<(f64, f64)>> = vec![vec![]; PARTS];
    for look in run.looks.iter().filter(|look| (phase.began_s..phase.ended_s).contains(&look.at_s)) {
        let place = ((look.at_s - phase.began_s) / length * PARTS as f64) as usize;
        let home = look.cores.iter().find(|core| core.cpu == run.header.settings.home);
        parts[place.min(PARTS - 1)].extend(home.map(|core| (core.quotient(), f64::from(core.chain))));
    }
    parts.iter().filter(|part| !part.is_empty()).map(|part| value(part)).collect()
}

/// The share of the time in which a thread that wanted its CPU had it: the mean of all CPUs that were measured, each with its own
/// trials.
fn processor_time(run: &Run, phases: &[PhaseSpan], points: &[&PlannedPoint]) -> Leveled {
    let of_cpu = |planned: &PlannedPoint, phase: &PhaseSpan| {
        let mine = run.trials.iter().filter(|trial| phase.contains(trial.round));
        let mine =
            mine.filter(|trial| planned.experiment == trial.experiment && planned.point == trial.point);
        let share = |trial: &crate::record::Trial| {
            let lost = trial.sample()?.observations.operation(Unit::PartsPerMillion, 1.0);
            Some(1.0 - statistics::mean(&lost)?.value / 1e6)
        };
        over_parts(&mine.filter_map(share).collect::<Vec<_>>(), |share| share)
    };
    let level = |phase: &PhaseSpan| {
        let of_cpus = points.iter().map(|planned| Ok(of_cpu(planned, phase)?.level));
        let level = LogLevel::mean(&of_cpus.collect::<Result<Vec<_>, String>>()?).ok_or(TOO_FEW)?;
        let interval = Contrast::of(level).interval();
        let (low, high) = (Some(interval.low.ln()), Some(interval.high.ln()));
        Ok(PhaseLevel { level, reading: DimensionReading { value: level.value, low, high }, core: None })
    };
    Leveled {
        name: PROCESSOR_TIME.to_owned(),
        scale: ChangeScale::Points,
        unit: None,
        phases: phases.iter().map(level).collect(),
    }
}

const TOO_FEW: &str = "too few readings for an interval";

/// The mean of values with its standard error; `shown` makes a reading of such a value.
fn over_parts(values: &[f64], shown: fn(f64) -> f64) -> Result<PhaseLevel, String> {
    let mean = statistics::mean(values).filter(|_| values.len() >= statistics::MINIMUM_TRIALS);
    let mean = mean.ok_or(TOO_FEW)?;
    let (Some(deviation), Some(interval)) = (mean.deviation, mean.interval) else {
        return Err(TOO_FEW.to_owned());
    };
    let error = deviation / (values.len() as f64).sqrt();
    let freedom = values.len() as f64 - 1.0;
    let level = LogLevel { value: mean.value, below: error, above: error, freedom };
    let reading = DimensionReading {
        value: shown(mean.value),
        low: Some(shown(interval.low)),
        high: Some(shown(interval.high)),
    };
    Ok(PhaseLevel { level, reading, core: None })
}
