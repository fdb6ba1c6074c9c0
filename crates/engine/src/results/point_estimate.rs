//! The estimate of a point from the observations of its trials, no narrower than the clock allows.

use super::at_usual::AtUsual;
use super::visit::{Visit, baselines, of_visits};
use crate::record::Run;
use fathom_core::quantity::{Kind, Unit};
use fathom_core::sampling::clock::smallest_step;
use fathom_core::sampling::{Observations, Sample};
use fathom_core::sorting;
use fathom_core::statistics::{self, Estimate};

/// The median of some visits with its interval, less that of the baseline if there is one, and the clock's resolution in the
/// point's unit.
pub fn estimate(
    run: &Run,
    unit: Unit,
    samples: &[&Sample],
    (visits, at_usual): (&[Visit], Option<&AtUsual>),
) -> Option<(Estimate, f64)> {
    let resolution_ns = resolution_ns(run, samples);
    let estimate = of_visits(visits)?;
    let estimate = at_usual.map_or(estimate.clone(), |moved| moved.figure(estimate));
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
    let resolution = match () {
        () if recorded && are_equal(&operations) => resolution.max(half_step),
        () if recorded && is_within_a_step(&estimate, step) => resolution.max(step),
        () => resolution,
    };
    Some((above_its_least(within_the_clock(estimate, half_step, run), unit), resolution))
}

/// Whether all readings of all trials are one number: it is of the clock's steps, and says nothing of where between two the time lies.
fn are_equal(operations: &[&[f64]]) -> bool {
    let all = || operations.iter().copied().flatten();
    let ends = |(least, most): (f64, f64), seen: &f64| (least.min(*seen), most.max(*seen));
    let (least, most) = all().fold((f64::INFINITY, f64::NEG_INFINITY), ends);
    all().count() > 1 && most - least <= OF_CONVERSION * most.abs()
}

/// Whether a time is less than one step of its readings, some of which are zero: the value between is of how many are.
fn is_within_a_step(estimate: &Estimate, step: f64) -> bool {
    estimate.min.is_some_and(|min| min <= 0.0) && estimate.value.abs() < step
}

/// The step of the readings in the point's unit, given the clock's resolution in it, and whether they are recorded times.
fn step_of(run: &Run, unit: Unit, samples: &[&Sample], visits: &[Visit], resolution: f64) -> (f64, bool) {
    let is_recorded = |sample: &&Sample| matches!(sample.observations, Observations::Values { .. });
    let recorded = unit == Unit::Nanoseconds && samples.iter().all(is_recorded);
    let operations: Vec<&[f64]> = visits.iter().map(|visit| visit.operation.as_slice()).collect();
    (if recorded { step(run, &operations) } else { resolution }, recorded)
}

/// How far a value of these visits may be from the truth by what the clock allows, in the point's unit: half a step of its readings, a whole one
/// of a difference, and what is not known of the clock's frequency.
pub(super) fn clock_error(run: &Run, unit: Unit, samples: &[&Sample], visits: &[Visit], value: f64) -> f64 {
    let resolution = resolution_ns(run, samples);
    let of_frequency = value.abs() * run.header.clock.frequency_spread_ppm * 1e-6;
    let of_step = match unit.kind() {
        Kind::Size => return 0.0,
        _ if !baselines(visits).is_empty() => resolution,
        Kind::Rate => step_of(run, unit, samples, visits, value.powi(2) * resolution / 1e9).0 / 2.0,
        Kind::Cost => step_of(run, unit, samples, visits, resolution).0 / 2.0,
    };
    of_step + of_frequency
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
    statistics::estimate_in_proportion(&spread.iter().map(Vec::as_slice).collect::<Vec<_>>())
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
/// The least distance of two readings that differ, nanoseconds; 0 where most differ, as quotients of times do.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_that_are_one_number_say_nothing_of_a_time_within_a_step() {
        let one = [0.0757; 4];
        assert!(are_equal(&[&one, &one[..1]]));
        assert!(!are_equal(&[&one, &[0.0757, 0.0763]]), "it lies between two steps");
        assert!(!are_equal(&[&one[..1]]) && !are_equal(&[]), "a single reading repeats nothing");
    }

    #[test]
    fn a_time_below_a_step_of_which_some_readings_are_zero_is_no_value() {
        let of = |value, min| Estimate {
            value,
            interval: None,
            level: 0.95,
            min: Some(min),
            max: Some(20.0),
            trials: 6,
            observations: 1_200,
        };
        assert!(is_within_a_step(&of(4.85, -9e-10), 10.0));
        assert!(!is_within_a_step(&of(13.2, 0.0), 10.0), "more than a step");
        assert!(!is_within_a_step(&of(9.6, 9.6), 10.0), "no reading was zero");
    }
}
