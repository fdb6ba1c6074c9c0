//! Predictions that rest on a value which must not be used: one that the report withholds, because its trials were disturbed, or a doubtful
//! one, which may be of another operation. They are of no operation that is known, and no result is judged by them.

use super::PointResult;
use super::outcome::Outcome;
use fathom_core::experiment::{Point, Source};

/// The values that must not be used, with why a prediction that rests on one is none.
type UnusableValues = Vec<(String, Point, &'static str)>;

/// Takes away every prediction of which a term is of a point that was disturbed or is doubtful, and says so.
pub(super) fn withdraw(points: &mut [PointResult]) {
    let unusable: UnusableValues = points
        .iter()
        .filter_map(|point| Some((point.experiment.clone(), point.point.clone(), why(point)?)))
        .collect();
    for point in points {
        let terms = point.prediction.iter().flat_map(|prediction| &prediction.terms);
        if let Some(why) = terms.into_iter().find_map(|term| why_not(&term.source, &unusable)) {
            point.prediction = None;
            point.unpredicted = Some(why.to_owned());
        }
    }
}

/// Why nothing may rest on a point's value; `None` if something may.
fn why(point: &PointResult) -> Option<&'static str> {
    match point.outcome {
        Outcome::Disturbed { .. } => Some(WITHDRAWN_AS_DISTURBED),
        _ => point.is_doubtful().then_some(WITHDRAWN_AS_DOUBTFUL),
    }
}

fn why_not(source: &Source, unusable: &UnusableValues) -> Option<&'static str> {
    let Source::Measured { experiment, point } = source else { return None };
    let is_it = |(of, other, _): &&(String, Point, &str)| of == experiment && other == point;
    unusable.iter().find(is_it).map(|(.., why)| *why)
}

/// Why there is none.
const WITHDRAWN_AS_DISTURBED: &str =
    "the prediction in the run file rests on a value that is withheld, because its trials were disturbed";
const WITHDRAWN_AS_DOUBTFUL: &str =
    "the prediction in the run file rests on a value that is not to be used, because a check fails";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Evidence, planted};
    use fathom_core::experiment::{Basis, Check, Placement, Prediction};
    use fathom_core::statistics;

    /// A stream of a second was predicted from one trial of 4.74 GB/s, of a point whose four trials were of two distances: it has no value.
    #[test]
    fn no_result_is_judged_by_a_value_that_is_withheld() {
        let short = Point::at(Placement::AcrossCpus);
        let estimate = statistics::estimate(&vec![vec![4.74e9; 3]; 4]).expect("an estimate");
        let rest = |outcome: Outcome, evidence: Evidence| {
            let of_short = planted::result("network/bandwidth", estimate.clone(), None);
            let input = PointResult { point: short.clone(), outcome, evidence, ..of_short };
            let basis = Basis::measured(4.74e9, "network/bandwidth", short.clone());
            let prediction = Prediction::new().hardware("as in short trials", 1.0, basis);
            let long = planted::result("network/sustained", estimate.clone(), Some(prediction));
            let mut points = [input, long];
            withdraw(&mut points);
            (points[1].prediction.is_some(), points[1].unpredicted.is_some())
        };
        let value = Outcome::Value(estimate.clone());
        let judged = |holds| Evidence::judged(vec![Check::judged("a claim", holds, String::new())]);
        assert_eq!(rest(value.clone(), judged(true)), (true, false));
        let by = "its trials are of two distances".to_owned();
        let disturbed = Outcome::Disturbed { by, unusable: estimate.clone() };
        assert_eq!(rest(disturbed, judged(true)), (false, true));
        assert_eq!(rest(value, judged(false)), (false, true), "one that is not to be used");
    }
}
