//! The predictions that missed furthest, in the one order that every part of a report has.

use super::accuracy::distance;
use super::explanation::Explanation;
use super::other_work;
use super::point::PointResult;
use fathom_core::sorting;
use fathom_core::statistics::Measured;

/// The predictions that missed for certain and whose inputs stayed what they were.
pub struct FurthestMisses<'run> {
    /// Those of operations, first the one that is furthest for certain: what may be anywhere in a wide interval is no surprise.
    pub of_operations: Vec<&'run PointResult>,
    /// Those of what other work takes of a CPU, which is predicted as if none ran, in the same order.
    pub of_other_work: Vec<&'run PointResult>,
    /// How many are left out for which the distance of the two CPUs accounts.
    pub of_distance: usize,
}

impl<'run> FurthestMisses<'run> {
    /// Of these results. A prediction whose input became another figure tells of the input, and one of a value that
    /// is near its prediction at another distance of the CPUs tells of the distance: they are left out.
    pub fn of(points: impl IntoIterator<Item = &'run PointResult>) -> Self {
        let points: Vec<&PointResult> = points.into_iter().collect();
        let is_of_distance = |point: &&&PointResult| point.explanation == Some(Explanation::Distance);
        let of_distance = points.iter().filter(is_of_distance).count();
        let is_one = |point: &&PointResult| {
            let of = point.explanation.as_ref();
            of.is_some_and(|explanation| {
                explanation.is_certain()
                    && !explanation.is_of_input()
                    && *explanation != Explanation::Distance
            })
        };
        let mut missed: Vec<&PointResult> = points.into_iter().filter(is_one).collect();
        sorting::by_number(&mut missed, |point| -certain_distance(point).unwrap_or(0.0));
        // Other work only ever adds.
        let is_other_work = |point: &&PointResult| {
            point.experiment == other_work::EXPERIMENT && point.factor().is_some_and(|factor| factor > 1.0)
        };
        let (of_other_work, of_operations) = missed.into_iter().partition(is_other_work);
        FurthestMisses { of_operations, of_other_work, of_distance }
    }

    /// The number of all.
    pub fn number(&self) -> usize {
        self.of_operations.len() + self.of_other_work.len()
    }

    /// Whether one of other work is further off for certain than each of an operation.
    pub fn is_other_work_furthest(&self) -> bool {
        let first = |points: &[&PointResult]| points.first().and_then(|point| certain_distance(point));
        first(&self.of_other_work) > first(&self.of_operations)
    }
}

/// How far the result is from its prediction for certain, at least 1: of the ends of its interval, or of its states, the one that is
/// nearest to it. Without an interval nothing is certain.
pub(super) fn certain_distance(point: &PointResult) -> Option<f64> {
    let predicted = point.prediction.as_ref().filter(|_| point.factor().is_some())?.total();
    let figure = point.figure()?;
    let nearest = |of: &Measured| match of.ends() {
        Some((_, high)) if high < predicted => distance(high / predicted),
        Some((low, _)) if low > predicted => distance(low / predicted),
        _ => 1.0,
    };
    let states = figure.states.map_or(vec![figure.measured], Vec::from);
    Some(states.iter().map(nearest).fold(f64::INFINITY, f64::min))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::explanation::BECAME;
    use crate::results::planted;
    use fathom_core::experiment::{Basis, Prediction};
    use fathom_core::statistics::Estimate;

    #[test]
    fn a_wide_interval_that_begins_near_the_prediction_is_not_the_furthest() {
        let point = |value: f64, low: f64| {
            let estimate = fathom_core::statistics::estimate(&vec![vec![value; 5]; 5]).expect("five trials");
            let interval = Some(fathom_core::statistics::Interval { low, high: 2.0 * value });
            let said = Prediction::new().hardware("all of it", 1.0, Basis::published(10.0, "a paper"));
            let missed = planted::result("a/test", Estimate { interval, ..estimate }, Some(said));
            PointResult { explanation: Some(Explanation::NotExplained), ..missed }
        };
        let points = [point(900.0, 29.0), point(140.0, 120.0)];
        let values: Vec<f64> = FurthestMisses::of(&points)
            .of_operations
            .iter()
            .filter_map(|point| Some(point.estimate()?.value))
            .collect();
        assert_eq!(values, [140.0, 900.0]);
    }

    #[test]
    fn the_furthest_misses_are_certain_ones_whose_inputs_stayed() {
        let point = |value: f64, explanation: Option<Explanation>| {
            let estimate = fathom_core::statistics::estimate(&vec![vec![value; 5]; 5]).expect("five trials");
            let said = Prediction::new().hardware("all of it", 1.0, Basis::published(10.0, "a paper"));
            PointResult { explanation, ..planted::result("a/test", estimate, Some(said)) }
        };
        let became = Explanation::Cause { mechanism: format!("cpu/noise, {BECAME}"), changes: Some(3.0) };
        let points = vec![
            point(30.0, Some(Explanation::NotExplained)),
            point(90.0, Some(Explanation::NotCertain)),
            point(95.0, Some(Explanation::Distance)),
            point(80.0, Some(became)),
            point(2.0, Some(Explanation::Overstated { term: "a term".to_owned() })),
            point(15.0, None),
            PointResult {
                experiment: other_work::EXPERIMENT.to_owned(),
                ..point(900.0, Some(Explanation::NotExplained))
            },
        ];
        let values: Vec<f64> = FurthestMisses::of(&points)
            .of_operations
            .iter()
            .filter_map(|point| Some(point.estimate()?.value))
            .collect();
        assert_eq!(values, [2.0, 30.0]);
        assert_eq!(FurthestMisses::of(&points).of_distance, 1);
    }

    /// Of 33 that missed for certain 28 were counted, without a word of the others, which were further off.
    #[test]
    fn what_other_work_takes_is_counted_and_known_to_be_furthest() {
        let point = |experiment: &str, value: f64| {
            let estimate = fathom_core::statistics::estimate(&vec![vec![value; 5]; 5]).expect("five trials");
            let said = Prediction::new().hardware("all of it", 1.0, Basis::published(10.0, "a paper"));
            let missed = planted::result(experiment, estimate, Some(said));
            PointResult { explanation: Some(Explanation::NotExplained), ..missed }
        };
        let of = |lost: f64| {
            let points = [point("a/test", 30.0), point(other_work::EXPERIMENT, lost)];
            let missed = FurthestMisses::of(&points);
            (missed.number(), missed.of_other_work.len(), missed.is_other_work_furthest())
        };
        assert_eq!([of(900.0), of(25.0)], [(2, 1, true), (2, 1, false)]);
        assert_eq!(of(1.0), (2, 0, false), "less than was predicted is not what other work takes");
    }
}
