//! Root causes: a wrong input is named once, with the predictions that it explains and their values with the corrected
//! input. If the run measured the input better later, the prediction is repeated; if the input was published or assumed, the
//! results that missed because of it must agree about its correct value.

use super::reason::Missed;
use crate::results::PointResult;
use crate::results::accuracy::{FAIR, distance};
use fathom_core::experiment::{
    Dimension, Finding, Found, Known, Point, Prediction, Question, Source, Statement, Term, said,
};
use fathom_core::statistics;
use std::collections::{BTreeMap, BTreeSet};

/// A value that is within this factor of another has not changed in a way that explains a factor of two.
const UNCHANGED: f64 = 1.25;

/// Points by their experiment and parameters.
pub(super) type Points<'run> = BTreeSet<(&'run str, &'run Point)>;

/// A prediction with the corrected input.
struct Mended<'run> {
    missed: &'run Missed<'run>,
    again: f64,
}

impl Mended<'_> {
    fn is_fair(&self) -> bool {
        distance(self.missed.measured.value / self.again) <= FAIR
    }
}

/// Every wrong input, and the points that need no other explanation.
pub(super) fn causes<'run>(missed: &'run [Missed<'run>], known: &Known) -> (Vec<Finding>, Points<'run>) {
    let (mut told, mut explained) = (vec![], Points::new());
    for (input, mended) in learnt_since(missed, known).into_values() {
        tell(&input, mended, &mut told, &mut explained);
    }
    let rest: Vec<&Missed> = missed.iter().filter(|missed| !explained.contains(&missed.place())).collect();
    for (input, mended) in agreed_upon(&rest) {
        tell(&input, mended, &mut told, &mut explained);
    }
    (told, explained)
}

/// Reports an input that explains more than one miss and at least half of the missed predictions that use it.
fn tell<'run>(
    input: &Statement,
    mended: Vec<Mended<'run>>,
    told: &mut Vec<Finding>,
    explained: &mut Points<'run>,
) {
    let all = mended.len();
    let mut fair: Vec<Mended> = mended.into_iter().filter(Mended::is_fair).collect();
    fair.retain(|mended| !explained.contains(&mended.missed.place()));
    if fair.len() < 2 || 2 * fair.len() < all {
        return;
    }
    let furthest = fair
        .iter()
        .max_by(|one, other| distance(one.missed.factor).total_cmp(&distance(other.missed.factor)));
    let Some(furthest) = furthest else { return };
    let experiments: BTreeSet<&str> = fair.iter().map(|mended| mended.missed.place().0).collect();
    let experiments = experiments.into_iter().collect::<Vec<_>>().join(", ");
    let count = Found::exact(fair.len() as f64, Dimension::Count);
    let Missed { result, prediction, measured, .. } = furthest.missed;
    let figure = |value| Found::exact(value, measured.dimension);
    let statement = said![
        "A wrong input: ",
        input.clone(),
        ". This explains ",
        count.named("predictions explained"),
        format!(
            " wrong predictions of {experiments}, which come within a factor of 2 with the corrected input. The \
                 furthest is "
        ),
        Statement::point(&result.experiment, &result.point),
        ": ",
        measured.named("measured"),
        " measured, ",
        figure(prediction.total()).named("predicted"),
        " predicted, ",
        figure(furthest.again).named("predicted with the corrected input"),
        " with the corrected input."
    ];
    told.push(Finding::of(Question::Miss, statement));
    explained.extend(fair.iter().map(|mended| mended.missed.place()));
}

type Since<'run> = BTreeMap<(String, Point), (Statement, Vec<Mended<'run>>)>;

/// Predictions from figures of the run that had changed by its end, by that figure.
fn learnt_since<'run>(missed: &'run [Missed<'run>], known: &Known) -> Since<'run> {
    let mut all = Since::new();
    for one in missed {
        let method = one.result.method().ok();
        let again = method.and_then(|experiment| experiment.predict(&one.result.point, known).ok());
        let Some(again) = again else { continue };
        let Some((then, now)) = most_changed(one.prediction, &again) else { continue };
        let Source::Measured { experiment, point } = &now.source else { continue };
        let Some(input) = known.found(experiment, point) else { continue };
        let entry = all.entry((experiment.clone(), point.clone())).or_insert_with(|| {
            let input = said![
                format!("{experiment}, "),
                Statement::point(experiment, point),
                ", was taken as ",
                input.scaled(then.each / now.each).named("input, as predicted from"),
                " and measured as ",
                input.named("input, as measured")
            ];
            (input, vec![])
        });
        entry.1.push(Mended { missed: one, again: again.total() });
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
fn agreed_upon<'run>(missed: &[&'run Missed<'run>]) -> Vec<(Statement, Vec<Mended<'run>>)> {
    let mut by_input: BTreeMap<(&str, &str), Vec<(&'run Missed<'run>, &'run Term)>> = BTreeMap::new();
    for one in missed {
        for term in &one.prediction.terms {
            if let Some(said) = told_of(&term.source).filter(|_| term.value() != 0.0) {
                by_input.entry((&term.what, said)).or_default().push((one, term));
            }
        }
    }
    let mut all: Vec<_> = by_input.into_iter().filter(|(_, uses)| uses.len() > 1).collect();
    all.sort_by_key(|(_, uses)| std::cmp::Reverse(uses.len()));
    all.into_iter().filter_map(|((what, said), uses)| agreed(what, said, &uses)).collect()
}

/// The origin of an input, as printed; `None` for one that the run has measured.
fn told_of(source: &Source) -> Option<&'static str> {
    match source {
        Source::Published { .. } => Some("published"),
        Source::Assumed { .. } => Some("assumed"),
        Source::Machine { .. } => Some("from the machine's description"),
        Source::Measured { .. } => None,
    }
}

fn agreed<'run>(
    what: &str,
    said: &str,
    uses: &[(&'run Missed<'run>, &'run Term)],
) -> Option<(Statement, Vec<Mended<'run>>)> {
    let asked = |(missed, term): &(&Missed, &Term)| {
        let besides = missed.prediction.total() - term.value();
        (missed.measured.value - besides) / term.value()
    };
    let ratio =
        statistics::median(&uses.iter().map(asked).collect::<Vec<_>>()).filter(|ratio| *ratio > 0.0)?;
    let mended = uses.iter().map(|(missed, term)| Mended {
        missed,
        again: missed.prediction.total() + (ratio - 1.0) * term.value(),
    });
    let times = Found::bare(ratio, Dimension::Ratio).named("input, as results ask for, over the one taken");
    let input = said![format!("{what} ({said}) should be "), times, " times the value used"];
    Some((input, mended.collect()))
}

impl<'run> Missed<'run> {
    fn place(&self) -> (&'run str, &'run Point) {
        (&self.result.experiment, &self.result.point)
    }
}

/// The points that missed and whose measurement is not in doubt.
pub(super) fn of(points: &[PointResult]) -> Vec<Missed<'_>> {
    points.iter().filter_map(Missed::of).filter(|missed| !missed.result.evidence.fails()).collect()
}
