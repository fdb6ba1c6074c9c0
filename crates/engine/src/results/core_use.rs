//! Like with like: a sentence sets figures of one state of the core beside each other. Where one is of the core alone and another of the
//! core shared, which was too rarely alone, part of their difference is the neighbour's. The sentence is then made of the values with
//! the core shared, which short work has as well; where they are missing it says what it compares.

use super::mechanisms::{self, Mechanism};
use super::point::PointResult;
use super::{CrossCheck, cross_checks};
use fathom_core::experiment::{CoreUse, Experiment, Finding, Found, Known, Piece, Statement};

/// What is said of a sentence whose values are of the core shared, and of one whose values are of no state that could be told.
const OF_SHARED: &str = " With the core shared.";
const OF_MIXTURE: &str = " With the core shared part of the time.";

/// What is said of a sentence whose values are of both states.
const OF_BOTH: &str =
    " Not like with like: part of these values is of the core alone, part of the core shared.";

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
    let mut states = points.iter().filter_map(|point| point.core.as_ref()?.state.of_short_work());
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

/// Whether figures of unlike states of the core stand in one statement.
fn mixes(statement: &Statement) -> bool {
    let has = |state| statement.figures().any(|figure| figure.found.core == Some(state));
    let states = [CoreUse::Alone, CoreUse::Shared, CoreUse::Mixture];
    has(CoreUse::Both) || states.into_iter().filter(|state| has(*state)).count() > 1
}

/// What is said of the state of the core of a statement's figures; `None` if it is alone, or if they have none.
fn mark(statement: &Statement) -> Option<&'static str> {
    let has = |state| statement.figures().any(|figure| figure.found.core == Some(state));
    match () {
        () if mixes(statement) => Some(OF_BOTH),
        () if has(CoreUse::Shared) => Some(OF_SHARED),
        () if has(CoreUse::Mixture) => Some(OF_MIXTURE),
        () => None,
    }
}

/// The findings of an experiment.
pub(super) fn findings(experiment: &dyn Experiment, of: OfEitherState) -> Vec<Finding> {
    like(experiment.findings(of.main), || experiment.findings(of.shared))
}

fn like(own: Vec<Finding>, with_neighbour: impl FnOnce() -> Vec<Finding>) -> Vec<Finding> {
    let some_mix = own.iter().any(|finding| mixes(&finding.statement));
    let others = if some_mix { with_neighbour() } else { vec![] };
    let of_shared = |key: &str| others.iter().find(|other| other.key == key && !mixes(&other.statement));
    let instead = |finding: Finding| match of_shared(&finding.key) {
        Some(other) if mixes(&finding.statement) => {
            marked(Finding { statement: named(&other.statement), ..other.clone() })
        }
        _ => marked(finding),
    };
    own.into_iter().map(instead).collect()
}

/// The statement, whose figures with the core shared have names of their own: another sentence may have the same of the core alone.
fn named(statement: &Statement) -> Statement {
    let mut statement = statement.clone();
    for piece in &mut statement.0 {
        if let Piece::Figure(figure) = piece {
            if figure.found.core == Some(CoreUse::Shared) {
                figure.name.push_str(", core shared");
            }
        }
    }
    statement
}

fn marked(mut finding: Finding) -> Finding {
    if let Some(mark) = mark(&finding.statement) {
        finding.statement.push(mark);
    }
    finding
}

/// The headline behind the mark, which a screen that has no room for all of it must not cut.
fn led_by(mark: &str, headline: Statement) -> Statement {
    let mut led: Statement = format!("{}: ", mark.trim().trim_end_matches('.')).into();
    led.push(headline);
    led
}

/// The mechanisms; of one whose figures are of both states, or decide nothing for that, what those of the core shared show.
pub(super) fn mechanisms(of: OfEitherState, points: &[PointResult]) -> Vec<Mechanism> {
    let whole = |mechanism: &Mechanism| {
        let mut whole = mechanism.headline.clone();
        whole.push(mechanism.because.clone());
        whole
    };
    let mixed = |mechanism: &Mechanism| mixes(&whole(mechanism));
    let own = mechanisms::all(of.main, points);
    let others = if are_unlike(points) { mechanisms::all(of.shared, points) } else { vec![] };
    let instead = |mut mechanism: Mechanism| {
        let other = others.iter().find(|other| other.name == mechanism.name && !mixed(other));
        if let Some(other) = other.filter(|_| mixed(&mechanism)) {
            mechanism = Mechanism {
                headline: named(&other.headline),
                because: named(&other.because),
                ..other.clone()
            };
        }
        if let Some(mark) = mark(&whole(&mechanism)) {
            mechanism.headline = led_by(mark, mechanism.headline);
        }
        mechanism
    };
    let is_missing = |other: &&Mechanism| !mixed(other) && own.iter().all(|one| one.name != other.name);
    let missing: Vec<Mechanism> = others.iter().filter(is_missing).cloned().collect();
    own.into_iter().chain(missing).map(instead).collect()
}

/// The cross-checks: figures of both states decide nothing.
pub(super) fn cross_checks(of: OfEitherState) -> Vec<CrossCheck> {
    let mixed = |check: &CrossCheck| mixes(&check.statement);
    let own = cross_checks::all(of.main);
    let others = if own.iter().any(mixed) { cross_checks::all(of.shared) } else { vec![] };
    let instead = |check: CrossCheck| {
        let other = others.iter().find(|other| other.what == check.what && !mixed(other));
        let mut check = match other {
            Some(other) if mixed(&check) => {
                CrossCheck { statement: named(&other.statement), ..other.clone() }
            }
            None if mixed(&check) => return check.of_both_states(),
            _ => check,
        };
        if let Some(mark) = mark(&check.statement) {
            check.statement.push(mark);
        }
        check
    };
    own.into_iter().map(instead).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::experiment::{Dimension, Question, finding};
    use fathom_core::quantity::Unit;
    use fathom_core::statistics::{Interval, Measured};

    fn found(value: f64, core: CoreUse) -> Found {
        let interval = Some(Interval { low: 0.99 * value, high: 1.01 * value });
        let measured = Measured { value, interval };
        Found { core: Some(core), ..Found::measured(measured, Dimension::Of(Unit::Nanoseconds)) }
    }

    fn costs(read: Found, write: Found) -> Vec<Finding> {
        let more = write.minus(read).named("more");
        vec![finding!(Question::Experiment, "A write costs {more} more than a read.", more)]
    }

    #[test]
    fn a_difference_is_of_one_state_of_the_core() {
        let (alone, shared) = (found(700.0, CoreUse::Alone), found(880.0, CoreUse::Shared));
        let write = found(1500.0, CoreUse::Shared);
        let said = |own, others| like(own, || others)[0].statement.plain();
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
        let mixture = found(800.0, CoreUse::Mixture);
        assert_eq!(core(mixture.over(mixture)), Some(CoreUse::Mixture));
        assert_eq!(core(mixture.over(alone)), Some(CoreUse::Both));
        assert!(mixes(&costs(alone, mixture)[0].statement) && !mixes(&costs(mixture, mixture)[0].statement));
    }
}
