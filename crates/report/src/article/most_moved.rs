//! The operation on both CPUs that their distance changes the most.

use super::sections::linked;
use crate::paper::Text;
use crate::{cpu_distance, words};
use fathom_core::experiment::Found;
use fathom_core::quantities::{self, Measure};
use fathom_core::quantity::Unit;
use fathom_core::sampling::Observations;
use fathom_core::statistics::{Estimate, Interval};
use fathom_engine::record::Trial;
use fathom_engine::results::{CpuDistance, LINE_HAND_OVER, PointResult, Results};
use std::collections::BTreeSet;

/// The sentence about it, of the operations of which that is certain; `None` if there is none.
pub(super) fn sentence(results: &Results) -> Option<Text> {
    // What the distance is told by differs with it by definition.
    let step = results.run.header.clock.resolution_ns();
    let others = results
        .points
        .iter()
        .filter(|point| point.experiment != LINE_HAND_OVER && is_operation(point.unit))
        .filter(|point| !is_of_few_steps(results, point, step));
    let all = others.filter_map(|point| Some((point, changed(point)?)));
    let (point, least) = all.max_by(|(_, one), (_, other)| one.total_cmp(other))?;
    let at = |(at, estimate): (&CpuDistance, &Estimate)| {
        format!(
            "{} while a line takes {}",
            words::with_interval(Measure::of(point.unit, estimate.value), estimate),
            cpu_distance::line(at)
        )
    };
    let [near, far] = point.near_and_far()?.map(at);
    Some(
        Text::plain("Of the operations with an interval at two distances of the CPUs, but for the hand-over of a line itself, ")
            .and(linked(results, &point.experiment))
            .and(format!(
                ", {}, differs the most for certain: {near}, {far}, at least {} by the nearest ends of both intervals.",
                words::short_label(point, &point.point),
                quantities::factor_at_least(least)
            )),
    )
}

/// Whether a unit is of what an operation takes or of a rate of operations: not of a share, or of a size.
fn is_operation(unit: Unit) -> bool {
    matches!(unit, Unit::Nanoseconds | Unit::BytesPerSecond)
}

/// By what factor a point's values at two distances differ at least; `None` where they may be the same.
fn changed(point: &PointResult) -> Option<f64> {
    let values = point.near_and_far()?.map(|(_, estimate)| Found::of(estimate, point.unit));
    let [near, far] = values;
    (near.differs_from(&far) == Some(true)).then_some(())?;
    let [near, far] = [near, far].map(|value| value.ends().map(|(low, high)| Interval { low, high }));
    apart(near?, far?)
}

/// The factor between the nearest ends of two intervals; `None` where they meet.
fn apart(one: Interval, other: Interval) -> Option<f64> {
    let factor = (other.low / one.high).max(one.low / other.high);
    (factor > 1.0 && factor.is_finite()).then_some(factor)
}

/// How many steps of the clock a single operation must take for its median to be a time: of fewer it is a number of steps.
const MANY_STEPS: f64 = 20.0;

/// Whether single operations were timed that take few steps of the clock, nanoseconds. What a work computes of many of them, as a mean, has values
/// that hardly repeat.
fn is_of_few_steps(results: &Results, point: &PointResult, step: f64) -> bool {
    let is_short = point.each
        && point.estimate().is_some_and(|estimate| has_few_steps(point.unit, estimate.value, step));
    let is_of = |trial: &&Trial| trial.point == point.point && trial.experiment == point.experiment;
    is_short && {
        let samples = results.run.trials.iter().filter(is_of).filter_map(Trial::sample);
        are_steps(samples.map(|sample| &sample.observations))
    }
}

/// Whether observations are numbers of steps of the clock: they are readings of it, or values that repeat.
fn are_steps<'run>(all: impl Iterator<Item = &'run Observations>) -> bool {
    let mut values: Vec<u64> = vec![];
    for observations in all {
        match observations {
            Observations::Ticks { .. } => return true,
            Observations::Values { values: mine } => values.extend(mine.iter().map(|value| value.to_bits())),
        }
    }
    let distinct = values.iter().collect::<BTreeSet<_>>().len();
    (distinct as f64) < MOSTLY * values.len() as f64
}

/// Of values that are no numbers of steps at least this share occurs once.
const MOSTLY: f64 = 0.9;

fn has_few_steps(unit: Unit, value: f64, step: f64) -> bool {
    unit == Unit::Nanoseconds && value < MANY_STEPS * step
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_of_few_steps_of_the_clock_is_no_result_to_begin_with() {
        assert!(has_few_steps(Unit::Nanoseconds, 29.0, 20.0), "a median of one or two steps");
        assert!(!has_few_steps(Unit::Nanoseconds, 5_000.0, 20.0));
        assert!(!has_few_steps(Unit::BytesPerSecond, 29.0, 20.0), "a rate is over many");
    }

    #[test]
    fn values_of_many_operations_are_no_steps_of_the_clock() {
        let of = |values: &[f64]| Observations::Values { values: values.to_vec() };
        assert!(!are_steps([of(&[90.2, 89.4, 85.4]), of(&[90.3, 87.6])].iter()));
        assert!(are_steps([of(&[20.0, 40.0, 20.0]), of(&[20.0, 40.0])].iter()), "one or two steps");
    }

    /// An unfairness of 4.2 % (2.2 to 9.1) and 14.2 % (10.4 to 18.8) was called what changes the most, beside 92 ns (88 to 96) and 238 ns (227 to 256).
    #[test]
    fn what_changes_the_most_is_an_operation_by_the_nearest_ends_of_its_intervals() {
        let ends = |low, high| Interval { low, high };
        let unfair = apart(ends(2.15, 9.09), ends(10.4, 18.8)).expect("apart");
        let queue = apart(ends(87.6, 95.5), ends(227.0, 256.0)).expect("apart");
        assert!((1.14..1.15).contains(&unfair) && (2.37..2.38).contains(&queue), "{unfair} {queue}");
        assert_eq!(apart(ends(227.0, 256.0), ends(87.6, 95.5)), Some(queue), "whichever is nearer");
        assert_eq!(apart(ends(1.0, 2.0), ends(1.5, 9.0)), None);
        assert!(
            is_operation(Unit::BytesPerSecond) && !is_operation(Unit::PartsPerMillion),
            "a share is none"
        );
        assert!(!is_operation(Unit::Bytes));
    }
}
