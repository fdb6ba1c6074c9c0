//! The predictions that missed furthest, in the one order that every part of a report has.

use super::accuracy::distance;
use super::other_work;
use super::point::PointResult;
use fathom_core::sorting;
use fathom_core::statistics::Measured;

/// The predictions that missed for certain, first the one that is furthest for certain: what may be anywhere in a wide interval is no
/// surprise. One whose input became another figure tells of the input: it is left out, and so is what other work takes of a CPU, which is
/// predicted as if none ran.
pub fn furthest_misses<'run>(points: impl IntoIterator<Item = &'run PointResult>) -> Vec<&'run PointResult> {
    let is_one = |point: &&PointResult| {
        let of = point.explanation.as_ref();
        point.experiment != other_work::EXPERIMENT
            && of.is_some_and(|explanation| explanation.is_certain() && !explanation.is_of_input())
    };
    let mut missed: Vec<&PointResult> = points.into_iter().filter(is_one).collect();
    sorting::by_number(&mut missed, |point| -certain_distance(point).unwrap_or(0.0));
    missed
}

/// How far the result is from its prediction for certain, at least 1: of the ends of its interval, or of its states, the one that is
/// nearest to it. Without an interval nothing is certain.
fn certain_distance(point: &PointResult) -> Option<f64> {
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
    use crate::results::explanation::{BECAME, Explanation};
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
        let values: Vec<f64> =
            furthest_misses(&points).iter().filter_map(|point| Some(point.estimate()?.value)).collect();
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
        let points = [
            point(30.0, Some(Explanation::NotExplained)),
            point(90.0, Some(Explanation::NotCertain)),
            point(80.0, Some(became)),
            point(2.0, Some(Explanation::Overstated { term: "a term".to_owned() })),
            point(15.0, None),
            PointResult {
                experiment: other_work::EXPERIMENT.to_owned(),
                ..point(900.0, Some(Explanation::NotExplained))
            },
        ];
        let values: Vec<f64> =
            furthest_misses(&points).iter().filter_map(|point| Some(point.estimate()?.value)).collect();
        assert_eq!(values, [2.0, 30.0]);
    }
}
