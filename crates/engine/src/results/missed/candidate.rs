//! Candidates for the cause of a miss: measurements of this run that change the prediction, each with the changed prediction.

use super::level_end;
use super::measured_terms;
use super::miss::Missed;
use super::nearer_cpus;
use super::set_loads;
use super::{Figures, Known};
use crate::results::accuracy::{CLOSE, FAIR, distance};
use crate::results::explanation::{BECAME, IN_THE_CURVE};
use fathom_core::experiment::{
    CoreUse, Found, Placement, Point, Prediction, Source, Statement, Term, TermEvent, statement,
};
use fathom_core::quantities;
use fathom_core::statistics::Measured;

/// A measurement that changes a prediction.
#[derive(Debug, Clone)]
pub(super) struct MissCandidate {
    /// The mechanism, in a few words.
    pub(super) mechanism: String,
    /// The mechanism with its measured size and the value that the prediction used.
    pub(super) sizes: Statement,
    /// The prediction with the measurement in it.
    pub(super) again: Found,
    /// The factor by which it changes a term; `None` if it adds one.
    pub(super) changes: Option<f64>,
    /// The measured term, as often as the operation contains it; `None` if the candidate is no term of it.
    pub(super) part: Option<Found>,
    /// Whether it is nearly the whole operation, measured again by the same experiment: that explains nothing.
    pub(super) is_again: bool,
}

impl MissCandidate {
    /// It at each of the levels at which it was measured: a median over them is of none.
    pub(super) fn at_each_level(&self) -> Vec<MissCandidate> {
        let mut parts = self.part.map_or_else(Vec::new, Found::in_each_state).into_iter();
        let at = |again| MissCandidate { again, part: parts.next().or(self.part), ..self.clone() };
        self.again.in_each_state().into_iter().map(at).collect()
    }

    /// Whether this is so of it at each of its levels.
    pub(super) fn is_at_each_level(&self, is_so: impl Fn(&MissCandidate) -> bool) -> bool {
        self.at_each_level().iter().all(is_so)
    }

    /// The prediction with it as an exact value, at each of its levels.
    pub(super) fn exactly(&self, missed: &Missed) -> Found {
        let exact = |again: Measured| Measured::exact(again.value);
        let states = self.again.states.map(|states| states.map(exact));
        Found { states, is_mixture: self.again.is_mixture, ..missed.figure(self.again.value) }
    }

    /// Whether it accounts for the miss within the intervals.
    pub(super) fn accounts_for(&self, missed: &Missed) -> bool {
        let is_hit = if self.is_of_input() {
            self.is_near_by_input(missed) && self.agrees(missed)
        } else if self.is_of_own_curve() {
            // The end of a level changes which time of the prediction counts, and has none with an interval of its own.
            missed.is_near(self.again.value) && self.agrees(missed)
        } else {
            self.lands_on(missed)
        };
        self.is_significant(missed) && is_hit && !self.is_again
    }

    /// Whether it is what an input became, and brings the prediction to within the factor of a miss without agreeing with what was measured:
    /// it accounts for a part.
    pub(super) fn takes_part_as_input(&self, missed: &Missed) -> bool {
        self.is_of_input()
            && self.is_significant(missed)
            && self.is_near_by_input(missed)
            && !self.agrees(missed)
    }

    fn is_near_by_input(&self, missed: &Missed) -> bool {
        missed.is_near(self.again.value) && self.changes.is_some_and(|by| by > CLOSE)
    }

    /// Whether the prediction with it is close to what was measured, or intervals do not show that it is another.
    fn agrees(&self, missed: &Missed) -> bool {
        let measured = missed.judged();
        self.again.differs_from(&measured) != Some(true)
            || distance(measured.value / self.again.value) <= CLOSE
    }

    /// Whether it is the end of a level in the curve of which the result is a point.
    pub(super) fn is_of_own_curve(&self) -> bool {
        self.mechanism.ends_with(IN_THE_CURVE)
    }

    /// Whether the prediction with it is what was measured, within the intervals: they do not differ, and the one holds the other's value.
    /// Two wide intervals that only touch at their ends leave most of a miss open.
    pub(super) fn lands_on(&self, missed: &Missed) -> bool {
        let (again, measured) = (&self.again, &missed.judged());
        again.differs_from(measured) == Some(false)
            && (measured.holds(again.value) || again.holds(measured.value))
            && distance(measured.value / again.value) <= FAIR
    }

    /// Whether it is what an input of the prediction became: no supposition, whatever it accounts for.
    pub(super) fn is_of_input(&self) -> bool {
        self.mechanism.ends_with(BECAME)
    }

    /// Whether the term alone takes longer than all of what was measured, beyond the intervals of both.
    pub(super) fn exceeds(&self, missed: &Missed) -> bool {
        self.part.is_some_and(|part| {
            part.value > missed.judged().value && part.differs_from(&missed.judged()) == Some(true)
        })
    }

    /// Whether the change of the prediction is beyond the interval of the measurement.
    pub(super) fn is_significant(&self, missed: &Missed) -> bool {
        self.again.differs_from(&missed.figure(missed.prediction.total())) == Some(true)
    }
}

/// Every candidate, the most direct first.
pub(super) fn all(missed: &Missed, figures: Figures) -> Vec<MissCandidate> {
    let same = measured_terms::same_reading(missed, figures.supported);
    let changed = changed_input(missed, figures);
    let terms = missed.prediction.terms.iter();
    let terms = terms.filter_map(|term| measured_term(term, missed, figures));
    let woken = woken(missed, figures.supported);
    let level = level_end::of(missed, figures);
    let nearer = nearer_cpus::of(missed, figures);
    same.into_iter().chain(changed).chain(terms).chain(woken).chain(level).chain(nearer).collect()
}

/// A figure of the run that the prediction used, and that is shown to be another at the end of the run. Of several, the one that changes
/// the prediction most.
pub(super) fn changed_input(missed: &Missed, figures: Figures) -> Option<MissCandidate> {
    with_inputs(missed, missed.result.by_end.as_ref()?, figures)
}

/// The prediction with what its inputs are by the end of the run, of which that is named which changes it most.
pub(super) fn with_inputs(missed: &Missed, again: &Prediction, figures: Figures) -> Option<MissCandidate> {
    let (then, now) = most_changed(missed.prediction, again)?;
    let Source::Measured { experiment, point } = &now.source else { return None };
    let by_end = figures.whole.term_by_end(missed.result, then)?;
    let input = by_end.input?;
    // The prediction in its own unit, with the input's relative interval.
    let value = Found { dimension: missed.measured.dimension, ..input.scaled(now.value() / input.value) };
    Some(MissCandidate {
        mechanism: format!("{experiment}, {BECAME}"),
        sizes: input_then_and_now((experiment, point), (input, by_end.core), (then, now), (missed, figures)),
        again: missed.figure(again.total() - now.value()).plus(value),
        changes: Some(distance(now.each / then.each)),
        part: Some(value),
        is_again: false,
    })
}

/// A figure of the run by its end and when a prediction was made; of a term that is neither the figure nor its half (as each way into the
/// kernel and out of it is) what the prediction takes from it.
fn input_then_and_now(
    (experiment, point): (&str, &Point),
    (input, core): (Found, Option<CoreUse>),
    (then, now): (&Term, &Term),
    (missed, figures): (&Missed, Figures),
) -> Statement {
    const SAME: f64 = 1.001;
    let term = then;
    let (what, then, now) = (quantities::reworded(&now.what), then.each, now.each);
    let exact = |value: f64| Found::exact(value, input.dimension);
    let of = Statement::point(experiment, point);
    let share = [1.0, 0.5].into_iter().find(|share| distance(now / (input.value * share)) <= SAME);
    let Some(share) = share else {
        let [(measured, leaves), (used, _)] = [now, then].map(|each| in_prediction(missed, term, each));
        return statement!(
            "{what}, from {experiment}, {of}{leaves} {measured} by the whole run{core}, {used} when the prediction was made",
            what,
            of,
            measured = measured.named("input, whole run"),
            used = used.named("input, as predicted from"),
            core = with_the_core(core),
            leaves
        );
    };
    let then = then / share;
    let used = exact(then).named("input, as predicted from");
    let shared = figures.shared.iter().find(|(other, at, _)| other == experiment && at == point);
    statement!(
        "{experiment}, {of}: {measured} in the whole run{core}, {used} when the prediction was made{state}",
        of,
        measured = input.named("input, whole run"),
        core = with_the_core(core),
        used,
        state = state(then, &input, shared)
    )
}

/// What a term comes to with this value, in the unit of the prediction; of one that takes something off a rate what it leaves of the other
/// terms before it.
fn in_prediction(missed: &Missed, term: &Term, each: f64) -> (Found, &'static str) {
    let of = |value: f64| Found::exact(value, missed.measured.dimension);
    if each >= 0.0 {
        return (of(each), ":");
    }
    let terms = &missed.prediction.terms;
    let place = terms.iter().position(|other| other == term).unwrap_or_default();
    let before: f64 = terms[..place].iter().map(Term::value).sum();
    (of(before + term.times * each), ", which leaves")
}

/// The state of the core of an input by the end of the run, where it is to be named.
fn with_the_core(core: Option<CoreUse>) -> &'static str {
    core.map_or("", CoreUse::in_words)
}

/// The state of the core of the trials that a prediction's input came from, if its value shows it: close to that of the core shared.
fn state(used: f64, alone: &Found, shared: Option<&(String, Point, Found)>) -> Option<Statement> {
    let (_, _, shared) = shared?;
    let is_shared = (shared.holds(used) || distance(used / shared.value) <= CLOSE) && !alone.holds(used);
    is_shared.then(|| {
        statement!(
            " by trials with the core shared ({shared} then)",
            shared = shared.named("input, core shared")
        )
    })
}

/// The term that changes a prediction the most, if one has changed.
fn most_changed<'a>(then: &'a Prediction, now: &'a Prediction) -> Option<(&'a Term, &'a Term)> {
    let moved = |(then, now): &(&Term, &Term)| (now.value() - then.value()).abs();
    let pairs = then.terms.iter().zip(&now.terms).filter(|pair| moved(pair) > 0.0);
    pairs.max_by(|one, other| moved(one).total_cmp(&moved(other)))
}

/// A published or assumed term that the run has measured elsewhere.
fn measured_term(term: &Term, missed: &Missed, figures: Figures) -> Option<MissCandidate> {
    if term.is_measured() || term.value() == 0.0 {
        return None;
    }
    let measured = measured_terms::of(term, missed, figures)?;
    let besides = missed.figure(missed.prediction.total() - term.value());
    Some(MissCandidate {
        mechanism: measured.mechanism.clone(),
        sizes: statement!(
            "{mechanism}: {measured} in this run, {used} in the prediction{assumed}",
            mechanism = measured.mechanism.as_str(),
            measured = measured.each.named(&measured.mechanism),
            used = missed.figure(term.value() / measured.times).named("the same in the prediction"),
            assumed = otherwise(term, &measured.mechanism)
        ),
        again: besides.plus(measured.each.scaled(measured.times)),
        changes: Some(distance(measured.each.leading().value * measured.times / term.value())),
        part: Some(measured.each.scaled(measured.times)),
        is_again: measured.is_same_work && term.value() * CLOSE > missed.prediction.total(),
    })
}

/// What the prediction has in place of a mechanism, where that is something else.
fn otherwise(term: &Term, mechanism: &str) -> String {
    match &term.source {
        Source::Assumed { reason } if !mechanism.starts_with(&term.what) && !set_loads::is_one(term) => {
            format!(" ({}: {reason})", term.what)
        }
        _ => String::new(),
    }
}

/// Operations that wake more than one idle CPU.
const WOKEN_TWICE: [(&str, &str); 1] = [("cpu/thread_creation", "create and join")];

/// A CPU that has to be woken, for an operation across CPUs whose prediction does not contain it.
fn woken(missed: &Missed, known: &Known) -> Option<MissCandidate> {
    let (experiment, point) = missed.place();
    let may_wake = matches!(point.placement(), Placement::AcrossCpus | Placement::Free);
    if !may_wake
        || missed.prediction.contains(TermEvent::WakeUp)
        || missed.factor < 1.0
        || missed.measured.dimension != WAITED
    {
        return None;
    }
    let (how, wake) = measured_terms::wake_up(known, experiment)?;
    let twice = WOKEN_TWICE.iter().any(|(of, name)| *of == experiment && names(point, name));
    let times = if twice { 2.0 } else { 1.0 };
    let counted = if twice { "two wake-ups" } else { "one wake-up" };
    Some(MissCandidate {
        mechanism: format!("{counted} of an idle CPU"),
        sizes: statement!("{counted} ({how}: {wake} each)", wake = wake.named(how)),
        again: missed.figure(missed.prediction.total()).plus(wake.scaled(times)),
        changes: None,
        part: Some(wake.scaled(times)),
        is_again: false,
    })
}

const WAITED: fathom_core::experiment::Dimension =
    fathom_core::experiment::Dimension::Of(fathom_core::quantity::Unit::Nanoseconds);

fn names(point: &Point, name: &str) -> bool {
    point.parameters().any(|(parameter, _)| point.name_of(parameter) == Some(name))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{CALLS, ENTRY, cost, explain_from};
    use crate::results::Explanation;
    use crate::results::planted::{self, Plant as _};
    use fathom_core::experiment::At::Name;
    use fathom_core::experiment::{Found, Known, Selector, Statement};
    use fathom_core::quantity::Unit;
    use fathom_core::statistics::Measured;

    /// What is said of a cost of 190 ns, predicted as 60, in a run that entered the kernel in one of two times, with a median between them.
    fn said(levels: [f64; 2], median: f64) -> (Statement, Option<Explanation>) {
        const ENTERED: Selector = Selector::only(CALLS, &[("call", Name("getppid"))]);
        let machine = planted::machine();
        let mut known = Known::new(&machine, None);
        let within = |value| fathom_described::found(value, Unit::Nanoseconds);
        let states = Some(levels.map(|level| within(level).measured));
        let measured_entry = Measured { value: median, ..within(median).measured };
        let entry = Found { measured: measured_entry, is_mixture: true, states, ..within(median) };
        known.learn(CALLS, &ENTERED.point(&[]), entry);
        let mut points = [cost(190.0)];
        let misses = explain_from(&["a/test"], &mut points, &known);
        let all = misses.others.into_iter().flat_map(|(_, findings)| findings);
        let all = Statement::joined(all.map(|finding| finding.statement), " ").expect("a miss");
        (all, points[0].explanation.clone())
    }

    /// A direct read took 38.9 or 50.0 µs, and "would make the prediction 42.0 µs": the median of both, which is given nowhere.
    #[test]
    fn a_measured_term_of_two_levels_explains_what_both_explain() {
        let (text, why) = said([62.9, 300.0], 180.0);
        assert_eq!(why, Some(Explanation::NotExplained), "no level is the median: {}", text.plain());
        assert!(text.plain().contains("Excluded: entering"), "{}", text.plain());
        let again = text.figures().find(|figure| figure.name.starts_with("predicted with")).expect("one");
        let again = again.found.states.expect("one of each level").map(|again| again.value.round() as u64);
        assert_eq!(again, [73, 310]);
        let (text, why) = said([182.0, 176.0], 179.0);
        let is_cause = matches!(&why, Some(Explanation::Cause { mechanism, .. }) if mechanism == ENTRY);
        assert!(is_cause, "either level leads to it: {}", text.plain());
        let (text, why) = said([182.0, 100.0], 140.0);
        assert_eq!(why, Some(Explanation::NotExplained));
        let open = "Not explained. Neither the cause nor excluded, because it was measured at several levels: entering";
        assert!(text.plain().contains(open), "{}", text.plain());
    }
}
