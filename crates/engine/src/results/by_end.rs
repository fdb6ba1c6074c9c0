//! The predictions with what the whole run gave for their inputs, in place of what was known before a point's first trial.

use super::accuracy::{CLOSE, distance};
use super::cpu_distance::{CpuDistances, LINE_HAND_OVER};
use super::{Outcome, PointCore, PointResult};
use fathom_core::experiment::{CoreUse, Found, Known, Prediction, Source, Term};
use fathom_core::statistics::Measured;

/// The figures of the whole run but the doubtful ones, for predictions made at its end: like beside like, those of short work with the core alone
/// for a result of that state, and with the core shared for one of that.
pub(super) struct WholeRun<'run> {
    /// The figures as they are printed.
    pub(super) own: Known<'run>,
    alone: Known<'run>,
    shared: Known<'run>,
}

impl<'run> WholeRun<'run> {
    /// The figures of these points, added to what is known without them.
    pub(super) fn of(points: &[PointResult], without: &Known<'run>) -> Self {
        WholeRun {
            own: figures(points, None, without.clone()),
            alone: figures(points, Some(CoreUse::Alone), without.clone()),
            shared: figures(points, Some(CoreUse::Shared), without.clone()),
        }
    }

    /// Figures that are the same in either state of the core.
    #[cfg(test)]
    pub(super) fn of_one_state(known: &Known<'run>) -> Self {
        WholeRun { own: known.clone(), alone: known.clone(), shared: known.clone() }
    }

    /// What a line took at the CPUs' usual distance stands for a hand-over that has no value there, of points on both CPUs: a median over trials of
    /// several distances is of none of them, and the looks pass a line between the same CPUs.
    pub(super) fn teach_usual_line<'point>(
        &mut self,
        distances: &CpuDistances,
        on_both: impl Iterator<Item = &'point PointResult>,
    ) {
        let Some(usual) = distances.distances.first().filter(|_| distances.are_several()) else { return };
        let line = usual.line();
        let is_open = |point: &&PointResult| point.figure().is_none() || point.is_elsewhere();
        for point in on_both.filter(|point| point.experiment == LINE_HAND_OVER).filter(is_open) {
            for known in [&mut self.own, &mut self.alone, &mut self.shared] {
                known.learn(&point.experiment, &point.point, line);
            }
        }
    }

    /// The figures in the state of a result; of other work in that which the core had for most of its time: a difference of printed figures
    /// may be of one with the core shared and one with it alone.
    pub(super) fn like(&self, result: &PointResult) -> &Known<'run> {
        match (result.core_use(), result.core.as_ref().and_then(|core| core.shared_share)) {
            (Some(CoreUse::Alone), _) => &self.alone,
            (Some(CoreUse::Shared), _) => &self.shared,
            (_, Some(share)) if share >= MOSTLY => &self.shared,
            (_, Some(_)) => &self.alone,
            (_, None) => &self.own,
        }
    }
}

/// The share of the time in which the core was shared from which on other work is compared with figures of the core shared.
const MOSTLY: f64 = 0.5;

/// The figures of points with the core in this state, as far as that is known of each, added to what is known without them.
pub(super) fn figures<'run>(
    points: &[PointResult],
    state: Option<CoreUse>,
    mut known: Known<'run>,
) -> Known<'run> {
    for point in points {
        learn(&mut known, point, state);
    }
    known
}

/// Adds what was observed at a point, as far as it has a value.
pub(super) fn learn(known: &mut Known, point: &PointResult, state: Option<CoreUse>) {
    if let Some(figure) = observed(point, state) {
        known.learn(&point.experiment, &point.point, figure);
    }
}

/// What was observed at a point: with the core in this state where that is known, otherwise as it is printed; of a machine in several states
/// that with the most, by which results are judged. What was disturbed is no figure of the operation, a doubtful one may be of another, and one
/// at another distance of the CPUs than that of most of the time is no input of what was measured there.
fn observed(point: &PointResult, state: Option<CoreUse>) -> Option<Found> {
    if matches!(point.outcome, Outcome::Disturbed { .. }) || point.is_doubtful() || point.is_elsewhere() {
        return None;
    }
    let observed = Found::of(point.outcome.observed()?, point.unit);
    let own = point.figure().map_or(observed, |figure| Found { at_hz: None, ..figure });
    if own.is_mixture {
        let leading = point.mixture.as_ref()?.leading()?;
        let measured = own.states.map_or(Measured { value: leading, interval: None }, |[most, _]| most);
        return Some(Found { measured, ..own });
    }
    let other = match state {
        Some(CoreUse::Alone) if own.core == Some(CoreUse::Shared) => {
            let alone = point.core.as_ref().and_then(PointCore::alone_of_many);
            alone.map(|alone| Found::bare(alone, own.dimension))
        }
        Some(CoreUse::Shared) => point.shared().map(|shared| Found::of(shared, point.unit)),
        _ => None,
    };
    Some(other.map_or(own, |other| Found { core: state, ..other }))
}

/// Adds to every point what its prediction would be with the figures of the whole run. The judged prediction stays the one that was made
/// before.
pub(super) fn mark(points: &mut [PointResult], whole: &WholeRun) {
    for point in points {
        (point.by_end, point.by_end_cores) =
            shown(point, whole).map_or((None, vec![]), |(by_end, cores)| (Some(by_end), cores));
    }
}

/// A term of a prediction by the end of the run, with the figure that it was drawn from then.
pub(super) struct TermByEnd {
    pub(super) term: Term,
    pub(super) input: Option<Found>,
    /// The state of the core of that figure, where it is to be named: unnamed is the core alone, or what is printed of the point.
    pub(super) core: Option<CoreUse>,
}

impl TermByEnd {
    /// What stays as it was.
    fn unchanged(term: &Term) -> Self {
        TermByEnd { term: term.clone(), input: None, core: None }
    }
}

impl WholeRun<'_> {
    /// A point's predictions from the figures of the whole run: in the state of the result, and as they are printed.
    fn predictions(&self, result: &PointResult) -> Vec<(&Known<'_>, Prediction)> {
        let again = |known| Some((known, result.method().ok()?.predict(&result.point, known).ok()?));
        [self.like(result), &self.own].into_iter().filter_map(again).collect()
    }

    /// A term by the end of the run: by the first of these predictions, and by the next where that state does not give it, as of a difference
    /// of which one part is known with the core alone only. Without this a derived input would never be seen to become another.
    fn term_of(&self, predictions: &[(&Known, Prediction)], then: &Term) -> Option<TermByEnd> {
        if !then.is_measured() {
            return Some(TermByEnd::unchanged(then));
        }
        let is_same = |term: &&Term| term.what == then.what && term.source == then.source;
        let in_state = |(known, again): &(&Known, Prediction)| {
            let term = again.terms.iter().find(is_same)?.clone();
            let input = figure_behind(&term, known);
            let own = figure_behind(&term, &self.own).and_then(|own| own.core);
            let core = input.and_then(|input| input.core);
            let core = core.filter(|core| *core == CoreUse::Shared || own.is_some_and(|own| own != *core));
            Some(TermByEnd { term, input, core })
        };
        predictions.iter().find_map(in_state)
    }

    /// The same of one term of a point's prediction.
    pub(super) fn term_by_end(&self, result: &PointResult, then: &Term) -> Option<TermByEnd> {
        self.term_of(&self.predictions(result), then)
    }
}

/// The figure of a point that a term was drawn from.
fn figure_behind(term: &Term, known: &Known) -> Option<Found> {
    let Source::Measured { experiment, point } = &term.source else { return None };
    known.found(experiment, point)
}

/// The terms of a point's prediction by the end of the run; `None` if it took none of the run, or if one of them is missing.
fn terms(point: &PointResult, whole: &WholeRun) -> Option<Vec<TermByEnd>> {
    let before = point.prediction.as_ref().filter(|prediction| prediction.has_figures_of_the_run())?;
    let predictions = whole.predictions(point);
    before.terms.iter().map(|then| whole.term_of(&predictions, then)).collect()
}

/// The prediction of a point with the figures of the whole run in place of those of the run that it took; `None` if it took none, or if one
/// of them is missing.
pub(super) fn again(point: &PointResult, whole: &WholeRun) -> Option<Prediction> {
    Some(Prediction { terms: terms(point, whole)?.into_iter().map(|by_end| by_end.term).collect() })
}

/// The same with those figures only that are shown to be others, and the states of the core that are to be named of them; `None` without one.
fn shown(point: &PointResult, whole: &WholeRun) -> Option<(Prediction, Vec<Option<CoreUse>>)> {
    if point.is_elsewhere() {
        return None;
    }
    let (before, again) = (point.prediction.as_ref()?, terms(point, whole)?);
    let pairs = before.terms.iter().zip(again);
    let is_other = |(then, now): (&Term, TermByEnd)| {
        if is_shown(then, &now) { (now.term, now.core) } else { (then.clone(), None) }
    };
    let (terms, cores): (Vec<Term>, Vec<_>) = pairs.map(is_other).unzip();
    let (is_other, by_end) = (terms != before.terms, Prediction { terms });
    // What a term takes off was drawn from figures that may have become others in another measure: nothing is known of less than nothing.
    (is_other && by_end.total() > 0.0).then_some((by_end, cores))
}

/// Whether a term is shown to be what it is now: not where it differs by more than [`CLOSE`] from what it was and the interval of the figure
/// that it was drawn from holds both, nor where that figure is of several states.
fn is_shown(then: &Term, TermByEnd { term: now, input, .. }: &TermByEnd) -> bool {
    let Some(input) = input.filter(|input| !input.is_mixture) else { return false };
    let is_within = input.ends().is_some_and(|(low, high)| {
        let [low, high] = [low, high].map(|end| now.each * end / input.value);
        (low.min(high)..=low.max(high)).contains(&then.each)
    });
    !is_within || distance(now.each / then.each) <= CLOSE
}

impl PointResult {
    /// Whether its figure is of another distance of the CPUs than that of most of the time.
    pub(super) fn is_elsewhere(&self) -> bool {
        self.cpu_distance.as_ref().is_some_and(|distance| distance.of_several && !distance.is_usual())
    }

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
    use crate::results::CoreState;
    use crate::results::planted::{self, Plant as _};
    use fathom_core::experiment::At::{Any, Name};
    use fathom_core::experiment::{Basis, Dimension, Point, Selector};
    use fathom_core::quantity::Unit;
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
        mark(std::slice::from_mut(&mut result), &WholeRun::of_one_state(&by_end));
        result
    }

    /// A rate less what waiting takes of it left -590 MB/s by the end of a run.
    #[test]
    fn a_prediction_is_never_of_less_than_nothing_by_the_end() {
        let (machine, mut moved) = (planted::machine(), thread(Some(10.0)));
        let mut known = Known::new(&machine, None);
        STACKS.plant(&mut known, 4.0);
        let by_end = moved.by_end.take().expect("another").total();
        let before = moved.prediction.take().expect("one");
        let taken = Basis::assumed(f64::midpoint(by_end, before.total()), "what waiting takes");
        moved.prediction = Some(before.software("minus what waiting takes", -1.0, taken));
        mark(std::slice::from_mut(&mut moved), &WholeRun::of_one_state(&known));
        assert!(moved.by_end.is_none(), "{:?}", moved.by_end);
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

    /// Like beside like: by a stack's change with the core shared for a thread of that state, and with it alone for one with it alone.
    #[test]
    fn inputs_are_of_the_state_of_the_core_in_which_the_result_is() {
        let machine = planted::machine();
        let of = |ns: f64| fathom_core::statistics::estimate(&vec![vec![ns; 8]; 8]).expect("eight trials");
        let in_state = |state: CoreState, point: PointResult| {
            let (shared, alone) = (Some(of(9.0)), Some(4.0));
            let core = PointCore { alone, shared, ..planted::core(state) };
            PointResult { core: Some(core), ..point }
        };
        let stacks = |state, ns| {
            in_state(
                state,
                PointResult { point: STACKS.point(&[]), ..planted::result(STACKS.experiment, of(ns), None) },
            )
        };
        let total = |state: CoreState, input: PointResult| {
            let whole = WholeRun::of(std::slice::from_ref(&input), &Known::new(&machine, None));
            let mut result = [in_state(state, thread(Some(2.0)))];
            mark(&mut result, &whole);
            let core = result[0].by_end_cores[0];
            (result[0].by_end.as_ref().expect("another").terms[0].each, core)
        };
        let (alone, shared) = (CoreState::Alone, CoreState::Shared);
        let is =
            |(each, core): (f64, Option<CoreUse>), ns: f64, named| (each - ns).abs() < 1e-9 && core == named;
        let beside = Some(CoreUse::Shared);
        assert!(is(total(alone, stacks(alone, 4.0)), 4.0, None), "the core alone is not named");
        assert!(is(total(shared, stacks(alone, 4.0)), 9.0, beside));
        assert!(is(total(shared, stacks(shared, 9.0)), 9.0, beside));
        let of_many = total(alone, stacks(shared, 9.0));
        assert!(
            is(of_many, 4.0, Some(CoreUse::Alone)),
            "the observations with it alone are many, but not what is printed"
        );
        let mixed = total(CoreState::AtEnds, stacks(alone, 4.0));
        assert!(is(mixed, 9.0, beside), "other work had the core shared for half of its time");
    }

    /// An exit is the difference of two readings, of which one is known with the core alone only: noise, of a core mostly shared, was predicted
    /// from 3 µs each where both readings say 2 µs by the end.
    #[test]
    fn a_difference_that_the_state_of_a_result_does_not_give_is_as_it_is_printed() {
        const READING: Selector =
            Selector::only("cpu/timing_overhead", &[("reading", Any), ("measure", Name("cost"))]);
        const LOST: Selector = Selector::only("cpu/noise", &[("cpu", Any), ("figure", Name("lost"))]);
        let mut machine = planted::machine();
        machine.virtualization.hypervisor =
            fathom_core::machine::Fact::known(Some("KVM".to_owned()), "a test");
        let of = |ns: f64| fathom_core::statistics::estimate(&vec![vec![ns; 8]; 8]).expect("eight trials");
        let reading = |name: &str, ns: f64, shared: Option<f64>| {
            let point = READING.point(&[("reading", name.into())]);
            let core = PointCore { shared: shared.map(of), ..planted::core(CoreState::Alone) };
            PointResult { point, core: Some(core), ..planted::result(READING.experiment, of(ns), None) }
        };
        let [two, one] = ["cpuid-rdtsc rdtscp-cpuid", "cpuid-rdtsc rdtscp"];
        let points = [reading(two, 4_000.0, None), reading(one, 2_000.0, Some(3_000.0))];
        let mut then = Known::new(&machine, None);
        for (point, ns) in points.iter().zip([6_000.0, 3_000.0]) {
            then.learn(&point.experiment, &point.point, Found::of(&of(ns), Unit::Nanoseconds));
        }
        let noise = planted::result(LOST.experiment, of(30_000.0), None);
        let mut noise = PointResult {
            point: LOST.point(&[("cpu", 0.into())]),
            core: Some(planted::core(CoreState::AtEnds)),
            ..noise
        };
        let predicted = noise.method().expect("the method").predict(&noise.point, &then).expect("one");
        noise.prediction = Some(predicted);
        mark(std::slice::from_mut(&mut noise), &WholeRun::of(&points, &Known::new(&machine, None)));
        let [before, by_end] = [&noise.prediction, &noise.by_end]
            .map(|prediction| prediction.as_ref().map(|prediction| prediction.terms[1].each));
        let becomes = by_end.expect("exits took longer then") / before.expect("exits");
        assert!((becomes - 2.0 / 3.0).abs() < 1e-9, "{becomes}");
        assert_eq!(noise.by_end_cores, [None, None], "of the core alone, as it is printed");
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
        let line = |later_ns, outcome, cpu_distance| {
            let looks: Vec<(f64, f64)> =
                (0..50).map(|at| (f64::from(at), if at < 30 { 26.0 } else { later_ns })).collect();
            let distances = CpuDistances::from_looks(&looks).expect("distances");
            let point =
                PointResult { outcome, cpu_distance, ..planted::result(LINE_HAND_OVER, median(203.0), None) };
            let mut known = Known::new(&machine, None);
            known.learn(LINE_HAND_OVER, &point.point, Found::of(&median(203.0), point.unit));
            let mut whole = WholeRun::of_one_state(&known);
            whole.teach_usual_line(&distances, std::iter::once(&point));
            whole.own.found(LINE_HAND_OVER, &point.point).expect("a line").value
        };
        let moved = || Outcome::Disturbed { by: String::new(), unusable: median(203.0) };
        let value = || Outcome::Value(median(203.0));
        let elsewhere = planted::at_distances(203.0, None).map(|mut distance| {
            distance.at.is_usual = false;
            distance
        });
        let lines = [
            line(210.0, moved(), None),
            line(210.0, value(), None),
            line(26.0, moved(), None),
            line(210.0, value(), elsewhere),
        ];
        for (ns, is) in lines.into_iter().zip([26.0, 203.0, 203.0, 26.0]) {
            assert!((ns - is).abs() < 1e-9, "{ns} for {is}");
        }
    }
}
