//! Root causes: a wrong input is named once, with the predictions that it explains and their values with the corrected
//! input. If the run measured the input better later, the prediction is repeated; if the input was published or assumed, the
//! results that missed because of it must agree about its correct value.

use super::UNCHANGED;
use super::reason::Missed;
use crate::results::PointResult;
use crate::results::accuracy::{FAIR, distance};
use fathom_core::experiment::{
    Dimension, Finding, Found, Known, Point, Prediction, Question, Source, Statement, Term, finding,
    statement,
};
use fathom_core::statistics;
use std::collections::{BTreeMap, BTreeSet};

/// Points by their experiment and parameters.
pub(super) type PointsByExperiment<'run> = BTreeSet<(&'run str, &'run Point)>;

/// A prediction with the corrected input.
struct Corrected<'run> {
    missed: &'run Missed<'run>,
    again: f64,
}

impl Corrected<'_> {
    fn is_fair(&self) -> bool {
        distance(self.missed.measured.value / self.again) <= FAIR
    }
}

/// Every wrong input, and the points that need no other explanation.
pub(super) fn causes<'run>(
    missed: &'run [Missed<'run>],
    known: &Known,
) -> (Vec<Finding>, PointsByExperiment<'run>) {
    let (mut findings, mut explained) = (vec![], PointsByExperiment::new());
    for (input, corrected) in changed_since(missed, known).into_values() {
        report(&input, corrected, &mut findings, &mut explained);
    }
    let rest: Vec<&Missed> = missed.iter().filter(|missed| !explained.contains(&missed.place())).collect();
    for (input, corrected) in agreed_upon(&rest) {
        report(&input, corrected, &mut findings, &mut explained);
    }
    (findings, explained)
}

/// Reports an input that explains more than one miss and at least half of the missed predictions that use it.
fn report<'run>(
    input: &Statement,
    corrected: Vec<Corrected<'run>>,
    findings: &mut Vec<Finding>,
    explained: &mut PointsByExperiment<'run>,
) {
    let all = corrected.len();
    let mut fair: Vec<Corrected> = corrected.into_iter().filter(Corrected::is_fair).collect();
    fair.retain(|corrected| !explained.contains(&corrected.missed.place()));
    if fair.len() < 2 || 2 * fair.len() < all {
        return;
    }
    let distance = |corrected: &Corrected| corrected.missed.distance();
    let furthest = fair.iter().max_by(|one, other| distance(one).total_cmp(&distance(other)));
    let Some(furthest) = furthest else { return };
    let experiments: BTreeSet<&str> = fair.iter().map(|corrected| corrected.missed.place().0).collect();
    let experiments = experiments.into_iter().collect::<Vec<_>>().join(", ");
    let count = Found::exact(fair.len() as f64, Dimension::Count);
    findings.push(finding!(
        Question::Miss,
        "A wrong input: {input}. This explains {count} wrong predictions of {experiments}, which come within \
         a factor of 2 with the corrected input. The furthest is {summary}, {again} with the corrected \
         input.",
        input = input.clone(),
        count = count.named("predictions explained"),
        summary = furthest.missed.summary(),
        again = furthest.missed.figure(furthest.again).named("predicted with the corrected input")
    ));
    explained.extend(fair.iter().map(|corrected| corrected.missed.place()));
}

type Changed<'run> = BTreeMap<(String, Point), (Statement, Vec<Corrected<'run>>)>;

/// Predictions from figures of the run that had changed by its end, by that figure.
fn changed_since<'run>(missed: &'run [Missed<'run>], known: &Known) -> Changed<'run> {
    let mut all = Changed::new();
    for one in missed {
        let Some(again) = one.predicted_again(known) else { continue };
        let Some((then, now)) = most_changed(one.prediction, &again) else { continue };
        let Source::Measured { experiment, point } = &now.source else { continue };
        let Some(input) = known.found(experiment, point) else { continue };
        let entry = all.entry((experiment.clone(), point.clone())).or_insert_with(|| {
            let input = statement!(
                "{experiment}, {point}, was taken as {taken} and measured as {measured}",
                point = Statement::point(experiment, point),
                taken = input.scaled(then.each / now.each).named("input, as predicted from"),
                measured = input.named("input, as measured")
            );
            (input, vec![])
        });
        entry.1.push(Corrected { missed: one, again: again.total() });
    }
    all
}

/// The term that changes a prediction the most, if one has changed.
fn most_changed<'a>(then: &'a Prediction, now: &'a Prediction) -> Option<(&'a Term, &'a Term)> {
    let same = |term: &'a Term| Some((then.terms.iter().find(|other| other.what == term.what)?, term));
    let changed = |(then, now): &(&Term, &Term)| distance(now.each / then.each) > UNCHANGED;
    let moved = |(then, now): &(&Term, &Term)| (now.value() - then.value()).abs();
    let pairs = now.terms.iter().filter_map(same).filter(changed);
    pairs.max_by(|one, other| moved(one).total_cmp(&moved(other)))
}

/// Published and assumed inputs whose misses agree about another value: the median of the values that each of them requires.
fn agreed_upon<'run>(missed: &[&'run Missed<'run>]) -> Vec<(Statement, Vec<Corrected<'run>>)> {
    let mut by_input: BTreeMap<(&str, &str), Vec<(&'run Missed<'run>, &'run Term)>> = BTreeMap::new();
    for one in missed {
        for term in &one.prediction.terms {
            if let Some(origin) = origin(&term.source).filter(|_| term.value() != 0.0) {
                by_input.entry((&term.what, origin)).or_default().push((one, term));
            }
        }
    }
    let mut all: Vec<_> = by_input.into_iter().filter(|(_, uses)| uses.len() > 1).collect();
    all.sort_by_key(|(_, uses)| std::cmp::Reverse(uses.len()));
    all.into_iter().filter_map(|((what, origin), uses)| agreed(what, origin, &uses)).collect()
}

/// The origin of an input, as printed; `None` for one that the run has measured.
fn origin(source: &Source) -> Option<&'static str> {
    match source {
        Source::Published { .. } => Some("published"),
        Source::Assumed { .. } => Some("assumed"),
        Source::Machine { .. } => Some("from the machine's description"),
        Source::Measured { .. } => None,
    }
}

fn agreed<'run>(
    what: &str,
    origin: &str,
    uses: &[(&'run Missed<'run>, &'run Term)],
) -> Option<(Statement, Vec<Corrected<'run>>)> {
    let required = |(missed, term): &(&Missed, &Term)| {
        let besides = missed.prediction.total() - term.value();
        (missed.measured.value - besides) / term.value()
    };
    let ratio =
        statistics::median(&uses.iter().map(required).collect::<Vec<_>>()).filter(|ratio| *ratio > 0.0)?;
    let corrected = uses.iter().map(|(missed, term)| Corrected {
        missed,
        again: missed.prediction.total() + (ratio - 1.0) * term.value(),
    });
    let times = Found::bare(ratio, Dimension::Ratio).named("input, as results ask for, over the one taken");
    let input = statement!("{what} ({origin}) should be {times} times the value used", times);
    Some((input, corrected.collect()))
}

/// The points that missed and whose measurement is not in doubt.
pub(super) fn valid(points: &[PointResult]) -> Vec<Missed<'_>> {
    points.iter().filter_map(Missed::of).filter(|missed| !missed.result.evidence.fails()).collect()
}
