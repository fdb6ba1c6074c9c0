//! How near a result is to its prediction: the one rule by which hits and misses are counted, also of a machine in several states, in one of
//! which a prediction may hit and in another miss.

use super::mixture::Mixture;
use super::point::PointResult;

/// The distance of a result from its prediction, as a factor of at least 1, the same above and below; infinite for a result
/// of zero with a prediction that is not zero.
pub fn distance(factor: f64) -> f64 {
    if factor > 0.0 { factor.max(1.0 / factor) } else { f64::INFINITY }
}

/// How a result stands to its prediction by a factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PredictionNearness {
    /// Within the factor, of a machine in several states in each of them.
    Within,
    /// Within it in one state of the machine and not in another: neither a hit nor a miss.
    InOneState,
    /// Further than the factor, in each state.
    Beyond,
}

impl PredictionNearness {
    /// Of the ratios of each state by a factor of at least 1.
    fn of(ratios: &[f64], limit: f64) -> Self {
        match ratios.iter().filter(|ratio| distance(**ratio) <= limit).count() {
            0 => PredictionNearness::Beyond,
            within if within == ratios.len() => PredictionNearness::Within,
            _ => PredictionNearness::InOneState,
        }
    }
}

impl PointResult {
    /// Measured over predicted, of a machine in several states of each that lasts; `None` where [`PointResult::factor`] is.
    fn ratios(&self) -> Option<Vec<f64>> {
        let factor = self.factor()?;
        let predicted = self.prediction.as_ref()?.total();
        let of_states = |values: Vec<f64>| values.into_iter().map(|value| value / predicted).collect();
        let values = self.mixture.as_ref().map(Mixture::lasting);
        Some(values.filter(|values| !values.is_empty()).map_or(vec![factor], of_states))
    }

    /// How the result stands to its prediction by a factor of at least 1; `None` without a prediction to judge.
    pub fn nearness(&self, limit: f64) -> Option<PredictionNearness> {
        Some(PredictionNearness::of(&self.ratios()?, limit))
    }

    /// The same to the prediction from what its inputs became by the end of the run; `None` where none became another.
    pub fn nearness_by_end(&self, limit: f64) -> Option<PredictionNearness> {
        let became = self.factor_by_end()? / self.factor()?;
        let ratios: Vec<f64> = self.ratios()?.into_iter().map(|ratio| ratio * became).collect();
        Some(PredictionNearness::of(&ratios, limit))
    }

    /// Measured over predicted, of a machine in several states in the one that is nearest to the prediction: by no more than this it was
    /// missed.
    pub fn nearest_factor(&self) -> Option<f64> {
        self.ratios()?.into_iter().min_by(|one, other| distance(*one).total_cmp(&distance(*other)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::TrialState;
    use crate::results::accuracy::{Accuracy, CLOSE, FAIR};
    use crate::results::planted;
    use fathom_core::experiment::{Basis, Prediction};
    use fathom_core::statistics::Mode;

    /// A point of which 10 is predicted, in these states of three trials each.
    fn of_two(name: &str, states: [f64; 2]) -> PointResult {
        let estimate = fathom_core::statistics::estimate(&vec![vec![states[0]; 5]; 5]).expect("five trials");
        let said = Prediction::new().hardware("all of it", 1.0, Basis::published(10.0, "a paper"));
        let state = |value| TrialState { value, trials: 3, interval: None };
        let mixture = Some(Mixture::OfTrials(states.map(state)));
        PointResult { mixture, ..planted::result(name, estimate, Some(said)) }
    }

    #[test]
    fn a_result_in_two_states_hits_in_both_misses_in_both_or_does_neither() {
        let by = |states, limit| of_two("a/test", states).nearness(limit);
        assert_eq!(by([19.2, 106.0], FAIR), Some(PredictionNearness::InOneState), "whichever is named first");
        assert_eq!(by([106.0, 19.2], FAIR), Some(PredictionNearness::InOneState));
        assert_eq!(by([8.0, 19.0], FAIR), Some(PredictionNearness::Within));
        assert_eq!(by([8.0, 19.0], CLOSE), Some(PredictionNearness::InOneState));
        assert_eq!(by([2.0, 30.0], FAIR), Some(PredictionNearness::Beyond));
    }

    #[test]
    fn what_hits_in_one_of_two_states_is_counted_by_itself_and_is_not_the_worst() {
        let points = [
            of_two("a/one", [19.2, 106.0]),
            of_two("a/two", [0.3, 5.1]),
            of_two("a/three", [1.0, 40.0]),
            of_two("a/four", [9.0, 11.0]),
        ];
        let total = Accuracy::of(&points).total.expect("judged");
        assert_eq!((total.judged, total.fair.points, total.fair_in_one_state), (4, 1, 2));
        assert_eq!(total.worst.experiment, "a/three");
        assert!((total.worst.factor - 4.0).abs() < 1e-9, "{:?}", total.worst);
    }

    #[test]
    fn a_state_of_few_observations_decides_nothing() {
        let mode = |centre, share| Mode { centre, share };
        let mut point = of_two("a/test", [1.0, 1.0]);
        point.mixture =
            Some(Mixture::OfObservations(vec![mode(9.0, 0.6), mode(12.0, 0.34), mode(90.0, 0.06)]));
        assert_eq!(point.nearness(FAIR), Some(PredictionNearness::Within));
        point.mixture = Some(Mixture::OfObservations(vec![mode(9.0, 0.6), mode(90.0, 0.4)]));
        assert_eq!(point.nearness(FAIR), Some(PredictionNearness::InOneState));
    }
}
