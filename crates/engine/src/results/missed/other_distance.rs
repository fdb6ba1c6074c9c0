//! Misses of work on two CPUs whose value at another of their distances is near its prediction: it is the distance that the prediction does
//! not know, or makes too little of.

use super::miss::Missed;
use crate::results::CpuDistance;
use crate::results::accuracy::{CLOSE, FAIR, distance};
use fathom_core::experiment::{Dimension, Figure, Found, Placement, Source, Statement, statement};
use fathom_core::quantity::Unit;
use fathom_core::statistics::MINIMUM_TRIALS;

/// A value at another distance that is near its prediction, beside one that missed.
pub(super) struct DistanceHit {
    own: CpuDistance,
    there: CpuDistance,
    value: Found,
    predicted: Found,
    /// Whether the prediction rests on work between CPUs, and so on what a line takes.
    knows_of_distance: bool,
}

impl DistanceHit {
    /// Of a miss; `None` if it has no value at another distance, if that missed as well or as far, or if the two are not known to differ.
    pub(super) fn of(missed: &Missed) -> Option<Self> {
        let own = missed.result.cpu_distance.as_ref().filter(|distance| distance.of_several)?;
        let (there, estimate) = missed.result.at_other_distance()?;
        let (predicted, factor) = missed.result.predicted_at_other_distance()?;
        let value = Found::of(estimate, missed.result.unit);
        let is_hit = distance(factor) <= FAIR && CLOSE * distance(factor) <= missed.distance();
        let is_other =
            !missed.measured.holds(value.value) && value.differs_from(&missed.measured) != Some(false);
        let is_of_one_state = missed.measured.states.is_none();
        // Of fewer nothing is known for certain, and no miss is of that class by it.
        let are_enough = estimate.trials >= MINIMUM_TRIALS;
        (are_enough && is_hit && is_other && is_of_one_state).then(|| DistanceHit {
            own: own.at,
            there: *there,
            value,
            predicted: missed.figure(predicted.total()),
            knows_of_distance: missed.prediction.terms.iter().any(|term| is_between_cpus(&term.source)),
        })
    }

    /// What is known of the miss.
    pub(super) fn because(&self) -> Statement {
        let how = if self.there.line_ns < self.own.line_ns { "nearer" } else { "farther apart" };
        let (knows, is) = if self.knows_of_distance {
            ("for which the prediction does not hold", "it does:")
        } else {
            ("which the prediction does not know", "it is")
        };
        statement!(
            "Measured with the CPUs {own} apart, {knows}; {how}, at {there}, {is} {value}, {ratio} times what is predicted there.",
            own = line(self.own, "a line while it was measured"),
            knows,
            how,
            is,
            there = line(self.there, "a line at another distance"),
            value = self.value.named("measured at another distance"),
            ratio = self.value.over(self.predicted).named("measured over predicted at another distance")
        )
    }
}

/// Whether a figure is of work on several CPUs.
fn is_between_cpus(source: &Source) -> bool {
    let Source::Measured { point, .. } = source else { return false };
    match point.placement() {
        Placement::AcrossCpus => true,
        Placement::Spread => point.number_of("threads") != Some(1),
        Placement::OneCpu | Placement::AcrossPackages | Placement::Free => false,
    }
}

fn line(at: CpuDistance, name: &str) -> Figure {
    Found::bare(at.line_ns, Dimension::Of(Unit::Nanoseconds)).named(name)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{explain_from, result};
    use crate::results::missed::Explanation;
    use crate::results::{MissTally, PointResult, planted};
    use fathom_core::experiment::{Basis, Known, Prediction};
    use fathom_core::quantity::Unit;
    use fathom_core::statistics::{Estimate, MINIMUM_TRIALS};

    fn said(nearer: Option<f64>) -> (Explanation, String) {
        said_of(nearer, MINIMUM_TRIALS)
    }

    /// What is said of a value that takes 165 at 160 ns where 60 is predicted at any distance, and this nearer, in so many trials.
    fn said_of(nearer: Option<f64>, trials: usize) -> (Explanation, String) {
        let predicted = || Prediction::new().hardware("a line", 1.0, Basis::published(60.0, "a paper"));
        let estimate = |value| Estimate {
            value,
            interval: None,
            level: 0.95,
            trials,
            observations: 9,
            min: None,
            max: None,
        };
        let mut point = PointResult {
            cpu_distance: planted::at_distances(160.0, nearer.map(|value| (32.9, estimate(value)))),
            ..result(Unit::Nanoseconds, 165.0, predicted())
        };
        point.cpu_distance.as_mut().expect("two").predicted_there = Some(predicted());
        let machine = planted::machine();
        let mut points = [point];
        let misses = explain_from(&["a/test"], &mut points, &Known::new(&machine, None));
        let all = misses.overall.iter().chain(misses.others.iter().flat_map(|(_, of)| of));
        let text = all.map(|finding| finding.statement.plain()).collect();
        (points[0].explanation.clone().expect("it missed"), text)
    }

    /// 165 ns beside 60.0 predicted was "not explained", and of eight trials at 160 ns; those at 32.9 ns took 30.2.
    #[test]
    fn the_distance_is_the_cause_where_the_value_at_another_is_near_its_prediction() {
        let (explanation, text) = said(Some(30.2));
        assert_eq!(explanation, Explanation::Distance, "{text}");
        assert!(
            text.contains("with the CPUs {160} apart, which the prediction does not know; nearer, at {32.9}, it is {30.2}"),
            "{text}"
        );
        assert!(!text.contains("Not explained"), "{text}");
        let (of_one, text) = said_of(Some(30.2), 1);
        assert_eq!(of_one, Explanation::NotExplained, "one trial has no interval: {text}");
        let tally = MissTally::of([&explanation]);
        assert_eq!((tally.certain(), tally.at_distance, tally.unexplained), (1, 1, 0));
    }

    #[test]
    fn a_value_at_another_distance_that_missed_too_explains_nothing() {
        assert_eq!(said(Some(140.0)).0, Explanation::NotExplained, "as far from the prediction");
        assert_eq!(said(Some(12.0)).0, Explanation::NotExplained, "too little nearer");
        assert_eq!(said(None).0, Explanation::NotExplained, "no value elsewhere");
    }
}
