//! The predictions with what the whole run gave for their inputs, in place of what was known before a point's first trial.

use super::PointResult;
use super::accuracy::{CLOSE, distance};
use super::cpu_distance::{CpuDistances, LINE_HAND_OVER};
use fathom_core::experiment::{Dimension, Found, Known, Prediction, Source, Term};
use fathom_core::quantity::Unit;

/// Adds to every point what its prediction would be with the figures of the whole run. The judged prediction stays the one that was made
/// before.
pub(super) fn mark(points: &mut [PointResult], known: &Known) {
    for point in points {
        point.by_end = of_whole_run(point, known);
    }
}

/// What a line took at the CPUs' usual distance stands for a hand-over that has no value, of points on both CPUs: a median over trials of
/// several distances is of none of them, and the looks pass a line between the same CPUs.
pub(super) fn teach_usual_line<'point>(
    distances: &CpuDistances,
    on_both: impl Iterator<Item = &'point PointResult>,
    known: &mut Known,
) {
    let Some(usual) = distances.distances.first().filter(|_| distances.are_several()) else { return };
    let line = Found::bare(usual.line_ns, Dimension::Of(Unit::Nanoseconds));
    for point in on_both.filter(|point| point.experiment == LINE_HAND_OVER && point.figure().is_none()) {
        known.learn(&point.experiment, &point.point, line);
    }
}

/// `None` if the prediction takes nothing from the run, or nothing that the predictor of this program takes as well.
fn of_whole_run(point: &PointResult, known: &Known) -> Option<Prediction> {
    let before = point.prediction.as_ref()?;
    let is_of_the_run = |term: &&Term| matches!(term.source, Source::Measured { .. });
    before.terms.iter().find(is_of_the_run)?;
    let again = point.method().ok()?.predict(&point.point, known).ok()?;
    let now = |then: &Term| {
        let mut terms = again.terms.iter().filter(is_of_the_run);
        let term = terms.find(|term| term.what == then.what && term.source == then.source)?;
        (!may_be_the_same(then, term, known)).then_some(term)
    };
    let terms: Vec<Term> = before.terms.iter().map(|then| now(then).unwrap_or(then).clone()).collect();
    (terms != before.terms).then_some(Prediction { terms })
}

/// Whether a term differs by more than [`CLOSE`] from what it was, and the interval of the figure that it was drawn from holds both:
/// then nothing shows that the figure became another.
fn may_be_the_same(then: &Term, now: &Term, known: &Known) -> bool {
    let Source::Measured { experiment, point } = &now.source else { return false };
    let Some(input) = known.found(experiment, point) else { return false };
    let is_within = input.ends().is_some_and(|(low, high)| {
        let [low, high] = [low, high].map(|end| now.each * end / input.value);
        (low.min(high)..=low.max(high)).contains(&then.each)
    });
    is_within && distance(now.each / then.each) > CLOSE
}

impl PointResult {
    /// The median over the prediction with the figures of the whole run, where these make it another by more than [`CLOSE`]: then the
    /// machine was in another state when the prediction was made than for most of the run, and the ratio to it says little of the operation.
    pub fn factor_by_end(&self) -> Option<f64> {
        let (before, by_end) = (self.prediction.as_ref()?.total(), self.by_end.as_ref()?.total());
        let factor = self.factor()?;
        (by_end > 0.0 && distance(by_end / before) > CLOSE).then(|| factor * before / by_end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Outcome;
    use crate::results::planted::{self, Plant as _};
    use fathom_core::experiment::At::Name;
    use fathom_core::experiment::{Point, Selector};
    use fathom_core::statistics::Estimate;

    /// A change of stacks, of which the prediction of a thread at user level consists.
    const STACKS: Selector = Selector::only(
        "cpu/context_switch",
        &[("mechanism", Name("user-level")), ("between", Name("stacks"))],
    );
    const THREAD: Selector = Selector::only("cpu/thread_creation", &[("measure", Name("user-level"))]);

    /// A thread of 10 ns, predicted when a change of stacks took so long, by the end of a run in which it took 4 ns.
    fn thread(then_ns: Option<f64>) -> PointResult {
        thread_within(then_ns, 0.01)
    }

    /// The same where the 4 ns are known so well.
    fn thread_within(then_ns: Option<f64>, width: f64) -> PointResult {
        let machine = planted::machine();
        let known = |stacks: Option<f64>| {
            let mut known = Known::new(&machine, None);
            if let Some(ns) = stacks {
                STACKS.plant(&mut known, ns);
            }
            known
        };
        let point: Point = THREAD.point(&[]);
        let estimate = fathom_core::statistics::estimate(&vec![vec![10.0; 5]; 5]).expect("five trials");
        let result = planted::result(THREAD.experiment, estimate, None);
        let mut result = PointResult { point, ..result };
        result.prediction =
            Some(result.method().expect("the method").predict(&result.point, &known(then_ns)).expect("one"));
        let mut by_end = known(None);
        let stacks = fathom_described::found_within(width, 4.0, Dimension::Of(Unit::Nanoseconds));
        by_end.learn(STACKS.experiment, &STACKS.point(&[]), stacks);
        mark(std::slice::from_mut(&mut result), &by_end);
        result
    }

    #[test]
    fn a_prediction_by_the_end_has_what_its_input_became() {
        let hit = thread(Some(3.9));
        assert!(hit.factor_by_end().is_none() && hit.by_end.is_some(), "nearly the same");
        let moved = thread(Some(1.0));
        let (factor, by_end) = (moved.factor().expect("one"), moved.factor_by_end().expect("another"));
        assert!((factor / by_end - 4.0).abs() < 1e-9, "{factor} {by_end}");
    }

    #[test]
    fn what_an_interval_holds_is_not_shown_to_be_another() {
        assert_eq!(thread_within(Some(2.5), 0.6).by_end, None, "2.5 is within 1.6 and 6.4");
        assert!(thread_within(Some(2.5), 0.1).factor_by_end().is_some());
    }

    #[test]
    fn what_took_nothing_from_the_run_stays() {
        assert_eq!(thread(None).by_end, None, "assumed before, and assumed still");
    }

    #[test]
    fn a_hand_over_of_no_one_distance_is_what_the_looks_found_at_the_usual() {
        let machine = planted::machine();
        let median = |value| Estimate {
            value,
            interval: None,
            level: 0.95,
            min: None,
            max: None,
            trials: 6,
            observations: 6,
        };
        let line = |later_ns, outcome| {
            let looks: Vec<(f64, f64)> =
                (0..50).map(|at| (f64::from(at), if at < 30 { 26.0 } else { later_ns })).collect();
            let distances = CpuDistances::from_looks(&looks).expect("distances");
            let point = PointResult { outcome, ..planted::result(LINE_HAND_OVER, median(203.0), None) };
            let mut known = Known::new(&machine, None);
            known.learn(LINE_HAND_OVER, &point.point, Found::of(&median(203.0), point.unit));
            teach_usual_line(&distances, std::iter::once(&point), &mut known);
            known.found(LINE_HAND_OVER, &point.point).expect("a line").value
        };
        let moved = || Outcome::Disturbed { by: String::new(), unusable: median(203.0) };
        let lines = [line(210.0, moved()), line(210.0, Outcome::Value(median(203.0))), line(26.0, moved())];
        for (ns, is) in lines.into_iter().zip([26.0, 203.0, 203.0]) {
            assert!((ns - is).abs() < 1e-9, "{ns} for {is}");
        }
    }
}
