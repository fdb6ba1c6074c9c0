//! Like with like: a sentence sets figures of one state of the core beside each other. Where one is of the core alone and another of the
//! core shared, which was too rarely alone, part of their difference is the neighbour's. The sentence is then made of the values with
//! the core shared, which short work has as well; where they are missing it says what it compares.

use super::choices::{self, ChoiceResult};
use super::mechanisms::{self, Mechanism};
use super::point::PointResult;
use super::{CrossCheck, cross_checks};
use fathom_core::experiment::{CoreUse, Dimension, Experiment, Finding, Found, Known, Piece, Statement};
use fathom_core::quantities;
use fathom_core::quantity::Unit;

/// What is said of a sentence whose values are of the core shared, and of one whose values are of no state that could be told.
const OF_SHARED: &str = " These values are with the core shared.";
const OF_MIXTURE: &str = " These values are with the core shared part of the time.";

/// What is said of a sentence of which some values are with the core shared, and others of work whose state is not told.
const OF_PART: &str = " These values are with the core shared, or with whatever it did.";

/// What a mark begins with that stands behind its sentence, and what instead where it leads one.
const SUBJECT: (&str, &str) = ("These values are with", "With");

/// What is said of a sentence whose values are of both states.
const OF_BOTH: &str =
    " Not like with like: part of these values is of the core alone, part of the core shared.";

/// What is said of a sentence with a value that is computed of the core alone and of work that is not short, with how much of the time the
/// core was shared for this.
fn beside_whatever(share: f64) -> String {
    format!(
        " Not like with like: what is computed of both is of the core alone and of work that is not short, whose core was shared {} of \
         the time.",
        quantities::percent(share)
    )
}

/// The figures of a finished run: as they are printed, and with the core shared.
#[derive(Clone, Copy)]
pub(super) struct OfEitherState<'run> {
    /// The main figures.
    pub main: &'run Known<'run>,
    /// Those with the core shared, of short work; others as they are.
    pub shared: &'run Known<'run>,
}

/// Whether figures are of unlike states of the core, so that statements may mix them.
pub(super) fn are_unlike(points: &[PointResult]) -> bool {
    let mut states = points.iter().filter_map(PointResult::core_use);
    let first = states.next();
    states.any(|state| Some(state) != first)
}

/// A figure with the core shared; of what is no short work, the figure; `None` of short work that was not observed so.
pub(super) fn with_the_core_shared(point: &PointResult) -> Option<Found> {
    let figure = point.figure()?;
    match (figure.core, point.shared()) {
        (Some(CoreUse::Alone | CoreUse::Mixture), Some(shared)) => {
            Some(Found { core: Some(CoreUse::Shared), ..Found::of(shared, point.unit) })
        }
        (Some(CoreUse::Alone | CoreUse::Mixture), None) => None,
        _ => Some(figure),
    }
}

/// What is made of figures and is the same, by its key, of figures with the core shared.
trait OfFigures: Clone {
    fn key(&self) -> &str;

    fn statements(&self) -> Vec<&Statement>;

    fn statements_mut(&mut self) -> Vec<&mut Statement>;

    /// Says of which state of the core the figures are.
    fn mark(&mut self, mark: &str) {
        self.statements_mut()[0].push(mark);
    }

    /// How many values it compares, where it leaves out those of another state of the core.
    fn compared(&self) -> usize {
        0
    }

    /// What is said if the figures are of both states, and none are with the core shared alone.
    fn of_both_states(self) -> Self {
        marked(self)
    }
}

impl OfFigures for Finding {
    fn key(&self) -> &str {
        &self.key
    }

    fn statements(&self) -> Vec<&Statement> {
        vec![&self.statement]
    }

    fn statements_mut(&mut self) -> Vec<&mut Statement> {
        vec![&mut self.statement]
    }

    fn compared(&self) -> usize {
        self.compared
    }
}

impl OfFigures for ChoiceResult {
    fn key(&self) -> &str {
        self.finding.key()
    }

    fn statements(&self) -> Vec<&Statement> {
        self.finding.statements()
    }

    fn statements_mut(&mut self) -> Vec<&mut Statement> {
        self.finding.statements_mut()
    }
}

impl OfFigures for Mechanism {
    fn key(&self) -> &str {
        self.name
    }

    fn statements(&self) -> Vec<&Statement> {
        vec![&self.headline, &self.because]
    }

    fn statements_mut(&mut self) -> Vec<&mut Statement> {
        vec![&mut self.headline, &mut self.because]
    }

    /// Before the headline: a screen that has no room for all of it must not cut the mark.
    fn mark(&mut self, mark: &str) {
        let lead = mark.trim().trim_end_matches('.').replacen(SUBJECT.0, SUBJECT.1, 1);
        let mut led: Statement = format!("{lead}: ").into();
        led.push(std::mem::take(&mut self.headline));
        self.headline = led;
    }
}

impl OfFigures for CrossCheck {
    fn key(&self) -> &str {
        self.what
    }

    fn statements(&self) -> Vec<&Statement> {
        vec![&self.statement]
    }

    fn statements_mut(&mut self) -> Vec<&mut Statement> {
        vec![&mut self.statement]
    }

    /// They decide nothing.
    fn of_both_states(self) -> Self {
        self.undecided()
    }
}

fn has(of: &impl OfFigures, state: CoreUse) -> bool {
    let figures = of.statements().into_iter().flat_map(Statement::figures);
    figures.into_iter().any(|figure| figure.found.core == Some(state))
}

/// Whether a figure was measured by work of which no state of the core is told. Sizes and numbers of things have none, nor has what is
/// published or declared.
fn has_work_without_state(of: &impl OfFigures) -> bool {
    let is_without_state = |value: &Found| {
        let is_work = !matches!(value.dimension, Dimension::Count | Dimension::Of(Unit::Bytes));
        value.core.is_none() && is_work && value.ends().is_some_and(|(low, high)| low < high)
    };
    let figures = of.statements().into_iter().flat_map(Statement::figures);
    figures.into_iter().any(|figure| is_without_state(&figure.found))
}

/// Whether figures of unlike states of the core stand beside each other.
fn mixes(of: &impl OfFigures) -> bool {
    let states = [CoreUse::Alone, CoreUse::Shared, CoreUse::Mixture];
    has(of, CoreUse::Both) || states.into_iter().filter(|state| has(of, *state)).count() > 1
}

/// Of values computed of the core alone and of other work, whose state is not told, the largest share of the time in which that core was
/// shared; `None` if there are none.
fn beside_alone(statement: &Statement) -> Option<f64> {
    let of_alone = statement.figures().filter(|figure| figure.found.core == Some(CoreUse::Alone));
    of_alone.filter_map(|figure| figure.found.whatever_shared).reduce(f64::max)
}

/// The share of the time from which on the core of other work was in one state for most of it.
const MOSTLY: f64 = 0.5;

/// Whether figures with the core shared are more like each other: these mix states, or set the core alone beside work whose core was mostly shared.
fn is_liker_shared(of: &impl OfFigures) -> bool {
    mixes(of) || of.statements().into_iter().filter_map(beside_alone).any(|share| share > MOSTLY)
}

/// The same, with what is said of the state of the core of its figures; nothing if it is alone, or if it has none.
fn marked<Of: OfFigures>(mut of: Of) -> Of {
    let mark = match () {
        () if mixes(&of) => OF_BOTH,
        () if has(&of, CoreUse::Shared) && has_work_without_state(&of) => OF_PART,
        () if has(&of, CoreUse::Shared) => OF_SHARED,
        () if has(&of, CoreUse::Mixture) => OF_MIXTURE,
        () => {
            for statement in of.statements_mut() {
                if let Some(share) = beside_alone(statement) {
                    statement.push(beside_whatever(share));
                }
            }
            return of;
        }
    };
    of.mark(mark);
    of
}

/// The same, whose figures with the core shared have names of their own: another sentence may have the same of the core alone.
fn named<Of: OfFigures>(of: &Of) -> Of {
    let mut of = of.clone();
    for piece in of.statements_mut().into_iter().flat_map(|statement| &mut statement.0) {
        if let Piece::Figure(figure) = piece {
            if figure.found.core == Some(CoreUse::Shared) {
                figure.name.push_str(", core shared");
            }
        }
    }
    of
}

/// Each, or the one of figures with the core shared where these are more like each other, or are of values that it leaves out.
fn like<Of: OfFigures>(own: Vec<Of>, with_neighbour: impl FnOnce() -> Vec<Of>) -> Vec<Of> {
    let is_open = |one: &Of| is_liker_shared(one) || one.compared() > 0;
    let others = if own.iter().any(is_open) { with_neighbour() } else { vec![] };
    let instead = |one: Of| {
        let is_better = |other: &&Of| {
            let is_like = other.key() == one.key() && !is_liker_shared(*other);
            is_like && (is_liker_shared(&one) || other.compared() > one.compared())
        };
        match others.iter().find(is_better) {
            Some(other) => marked(named(other)),
            None if mixes(&one) => one.of_both_states(),
            None => marked(one),
        }
    };
    own.into_iter().map(instead).collect()
}

pub(super) fn findings(experiment: &dyn Experiment, of: OfEitherState) -> Vec<Finding> {
    with_those_of_the_shared(experiment.findings(of.main), experiment.findings(of.shared))
}

/// Findings, and those that compare values with the core shared of which too few are of one state otherwise.
fn with_those_of_the_shared(mut own: Vec<Finding>, shared: Vec<Finding>) -> Vec<Finding> {
    let is_missing = |one: &&Finding| one.compared > 0 && own.iter().all(|other| other.key != one.key);
    let missing: Vec<Finding> = shared.iter().filter(is_missing).map(named).collect();
    own.extend(missing);
    like(own, || shared)
}

/// The mechanisms; of one whose figures are of both states, or decide nothing for that, what those of the core shared show. A rule is
/// judged by them where the main figures leave it open.
pub(super) fn mechanisms(of: OfEitherState, points: &[PointResult]) -> Vec<Mechanism> {
    let mut own = mechanisms::all(of.main, points, |_| true);
    let is_open = |name: &str| own.iter().all(|one| one.name != name || is_liker_shared(one));
    let others = if are_unlike(points) { mechanisms::all(of.shared, points, is_open) } else { vec![] };
    let (missing, others): (Vec<Mechanism>, Vec<Mechanism>) = others
        .into_iter()
        .filter(|other| !mixes(other))
        .partition(|other| own.iter().all(|one| one.name != other.name));
    own.extend(missing);
    like(own, || others)
}

/// What a program can choose, by values of one state of the core: no advice rests on one that every other comparison leaves out.
pub(super) fn choices(of: OfEitherState) -> Vec<ChoiceResult> {
    let mut all = like(choices::all(of.main), || choices::all(of.shared));
    all.retain(|choice| !mixes(choice) && !has(choice, CoreUse::Mixture));
    all
}

pub(super) fn cross_checks(of: OfEitherState) -> Vec<CrossCheck> {
    like(cross_checks::all(of.main), || cross_checks::all(of.shared))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::experiment::{Question, finding, statement};

    fn found(value: f64, core: CoreUse) -> Found {
        Found { core: Some(core), ..fathom_described::found(value, Dimension::Of(Unit::Nanoseconds)) }
    }

    fn costs(read: Found, write: Found) -> Vec<Finding> {
        let more = write.minus(read).named("more");
        vec![finding!(Question::Experiment, "A write costs {more} more than a read.", more)]
    }

    #[test]
    fn a_difference_is_of_one_state_of_the_core() {
        let (alone, shared) = (found(700.0, CoreUse::Alone), found(880.0, CoreUse::Shared));
        let write = found(1500.0, CoreUse::Shared);
        let said = |own: Vec<Finding>, others| like(own, || others)[0].statement.plain();
        let name = &like(costs(alone, write), || costs(shared, write))[0].statement;
        assert!(name.figures().all(|figure| figure.name == "more, core shared"), "a name of its own");
        let like_with_like = said(costs(alone, write), costs(shared, write));
        assert_eq!(like_with_like, format!("A write costs {{620}} more than a read.{OF_SHARED}"));
        let unlike = said(costs(alone, write), vec![]);
        assert_eq!(unlike, format!("A write costs {{800}} more than a read.{OF_BOTH}"));
        let of_one = said(costs(alone, found(1200.0, CoreUse::Alone)), costs(shared, write));
        assert_eq!(of_one, "A write costs {500} more than a read.");
        let all_shared = said(costs(shared, write), vec![]);
        assert_eq!(all_shared, format!("A write costs {{620}} more than a read.{OF_SHARED}"));
    }

    /// Of six hand-overs one was only known with the core shared, and left out, though all six were.
    #[test]
    fn a_comparison_that_leaves_values_out_is_made_of_the_state_that_has_more() {
        let all = |count: usize, core| {
            let total = found(100.0 * count as f64, core).named("total");
            let template = "{total} in all.";
            vec![
                Finding::of(Question::Experiment, template, statement!("{total} in all.", total))
                    .comparing(count),
            ]
        };
        let said = |own: usize, others: usize| {
            let others = || all(others, CoreUse::Shared);
            like(all(own, CoreUse::Alone), others)[0].statement.plain()
        };
        assert_eq!(said(5, 6), format!("{{600}} in all.{OF_SHARED}"));
        assert_eq!(said(5, 5), "{500} in all.");
        assert_eq!(said(5, 2), "{500} in all.");
        assert_eq!(said(0, 0), "{0} in all.", "it leaves none out");
        let only = with_those_of_the_shared(vec![], all(6, CoreUse::Shared));
        assert_eq!(only[0].statement.plain(), format!("{{600}} in all.{OF_SHARED}"));
    }

    #[test]
    fn the_core_is_shared_of_all_values_or_of_some() {
        let shared = found(1190.0, CoreUse::Shared);
        let without = Found { core: None, ..found(2160.0, CoreUse::Shared) };
        let said = |write: Found| {
            let text = finding!(
                Question::Experiment,
                "A write takes {write}, a read {read}.",
                write = write.named("write"),
                read = shared.named("read")
            );
            like(vec![text], Vec::new)[0].statement.plain()
        };
        assert_eq!(said(shared), format!("A write takes {{1190}}, a read {{1190}}.{OF_SHARED}"));
        assert_eq!(said(without), format!("A write takes {{2160}}, a read {{1190}}.{OF_PART}"));
        let published = Found { core: None, ..Found::bare(2160.0, Dimension::Of(Unit::Nanoseconds)) };
        assert_eq!(said(published), format!("A write takes {{2160}}, a read {{1190}}.{OF_SHARED}"));
        let size = Found { dimension: Dimension::Of(Unit::Bytes), ..without };
        assert_eq!(said(size), format!("A write takes {{2160}}, a read {{1190}}.{OF_SHARED}"));
    }

    /// A connection between two CPUs is of whatever the core did, a round trip of a byte of the core alone.
    #[test]
    fn a_ratio_to_work_of_no_known_state_says_what_it_is_of() {
        let whatever = |share| Found { core: None, whatever_shared: share, ..found(20.9e3, CoreUse::Alone) };
        let trip = found(53e3, CoreUse::Alone);
        let said = |connection: Found| {
            let connections = |trips: Found| {
                let of_trip = connection.over(trips).named("in round trips");
                finding!(Question::Experiment, "A connection takes {of_trip} round trips.", of_trip)
            };
            like(vec![connections(trip)], Vec::new)[0].statement.plain()
        };
        let marked = said(whatever(Some(0.0896)));
        assert!(
            marked.contains("Not like with like") && marked.contains("shared 8.96 % of the time."),
            "{marked}"
        );
        let beside = |share| {
            let takes = |trip: Found| {
                let (connection, trip) = (whatever(Some(share)).named("connection"), trip.named("trip"));
                let of_trip = connection.found.over(trip.found).named("in round trips");
                vec![finding!(
                    Question::Experiment,
                    "It takes {connection}, {of_trip} of {trip}.",
                    connection,
                    of_trip,
                    trip
                )]
            };
            like(takes(trip), || takes(found(60e3, CoreUse::Shared)))[0].statement.plain()
        };
        assert!(beside(0.93).contains(&format!("of {{60000}}.{OF_PART}")), "{}", beside(0.93));
        assert!(beside(0.3).contains("of {53000}. Not like with like"), "{}", beside(0.3));
        assert!(said(whatever(None)).ends_with("round trips."), "of a core that had no neighbour");
        assert!(said(trip).ends_with("round trips."), "both are of the core alone");
    }

    #[test]
    fn each_of_two_findings_of_one_template_is_made_of_its_own_figures() {
        let (alone, shared) = (found(700.0, CoreUse::Alone), found(880.0, CoreUse::Shared));
        let levels = |first: Found| {
            let level = |pages: &str, first: Found| {
                let more = shared.minus(first).named("more");
                finding!(Question::Experiment, "Levels found in the curve on {pages} pages: {more}.", more)
                    .about(pages)
            };
            vec![level("huge", first), level("base", first)]
        };
        let said = |others: Vec<Finding>| -> Vec<String> {
            like(levels(alone), || others).iter().map(|finding| finding.statement.plain()).collect()
        };
        let text =
            |pages, figure, mark| format!("Levels found in the curve on {pages} pages: {{{figure}}}.{mark}");
        assert_eq!(said(levels(shared)), [text("huge", 0, OF_SHARED), text("base", 0, OF_SHARED)]);
        let of_one = levels(shared).into_iter().skip(1).collect();
        assert_eq!(said(of_one), [text("huge", 180, OF_BOTH), text("base", 0, OF_SHARED)]);
        let mixture = costs(found(800.0, CoreUse::Mixture), found(900.0, CoreUse::Mixture));
        assert_eq!(
            like(mixture, Vec::new)[0].statement.plain(),
            format!("A write costs {{100}} more than a read.{OF_MIXTURE}")
        );
    }

    #[test]
    fn what_is_computed_of_both_states_is_of_both() {
        let (alone, shared) = (found(700.0, CoreUse::Alone), found(880.0, CoreUse::Shared));
        let other = Found::bare(3.0, Dimension::Ratio);
        let core = |found: Found| found.core;
        assert_eq!(core(alone.over(shared)), Some(CoreUse::Both));
        assert_eq!(core(alone.plus(alone).minus(shared)), Some(CoreUse::Both));
        assert_eq!(core(other.over(shared)), Some(CoreUse::Shared));
        assert_eq!(core(alone.plus(other)), Some(CoreUse::Alone));
        assert_eq!(core(alone.plus(shared).over(alone)), Some(CoreUse::Both));
        let whatever = Found { core: None, whatever_shared: Some(0.2), ..alone };
        let seldom = Found { whatever_shared: Some(0.1), ..whatever };
        assert_eq!(alone.minus(seldom).over(whatever).whatever_shared, whatever.whatever_shared);
        let mixture = found(800.0, CoreUse::Mixture);
        assert_eq!(core(mixture.over(mixture)), Some(CoreUse::Mixture));
        assert_eq!(core(mixture.over(alone)), Some(CoreUse::Both));
        assert!(mixes(&costs(alone, mixture)[0]) && !mixes(&costs(mixture, mixture)[0]));
    }
}
