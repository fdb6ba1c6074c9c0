//! The sentences about misses.

use super::candidate::{MissCandidate, changed_input, with_inputs};
use super::miss::Missed;
use super::{Figures, Judged, excluded, foreign_terms, seldom_distance};
use crate::results::accuracy::{CLOSE, FAIR, distance};
use crate::results::explanation::{Explanation, MissTally};
use crate::results::furthest;
use fathom_core::experiment::{
    Dimension, Finding, Found, MainFigure, Point, Question, Statement, finding, statement,
};
use fathom_core::sorting;
use std::collections::BTreeSet;

/// How many misses there are, and of how many the cause is known.
pub(super) fn count(judged: &[Judged]) -> Option<Finding> {
    let counted = |count: usize, name: &str| Found::exact(count as f64, Dimension::Count).named(name);
    let tally = MissTally::of(judged.iter().map(|miss| &miss.explanation));
    let in_doubt = (tally.in_doubt > 0).then(|| {
        let verb = if tally.in_doubt == 1 { "rests" } else { "rest" };
        let doubted = counted(tally.in_doubt, "misses in doubt");
        statement!("{doubted} {verb} on evidence that fails, ", doubted)
    });
    let probable = (tally.probable > 0).then(|| {
        let verb = if tally.probable == 1 { "has" } else { "have" };
        let probable = counted(tally.probable, "misses of a probable cause");
        statement!("{probable} {verb} a probable cause, ", probable)
    });
    let assumed = (tally.overstated > 0).then(|| {
        let assumed = counted(tally.overstated, "misses in one assumed term");
        statement!(
            "{assumed} would not be so far too high without one term that was not measured and that the result bounds (why it takes \
             less here is unknown), ",
            assumed
        )
    });
    let in_own_curve = (tally.in_own_curve > 0).then(|| {
        let verb = if tally.in_own_curve == 1 { "hits" } else { "hit" };
        let number = counted(tally.in_own_curve, "misses in their own curve");
        statement!("{number} {verb} another level than predicted, by its end in the curve of loads, ", number)
    });
    let at_distance = (tally.at_distance > 0).then(|| {
        let number = counted(tally.at_distance, "misses at one distance of the CPUs");
        statement!("{number} missed at one distance of the two CPUs and not at another, ", number)
    });
    let uncertain = (tally.uncertain > 0).then(|| {
        let uncertain = counted(tally.uncertain, "misses not certain");
        statement!(
            "{uncertain} may not have missed, because an interval, a state or an input reaches to within that factor, ",
            uncertain
        )
    });
    let in_range = (tally.in_range > 0).then(|| {
        let verb = if tally.in_range == 1 { "lies" } else { "lie" };
        let number = counted(tally.in_range, "results in the range of the prediction");
        statement!("{number} {verb} in the range that published values give for the prediction, ", number)
    });
    (tally.all() > 0).then(|| {
        finding!(
            Question::Miss,
            "{missed} predictions missed by more than a factor of {FAIR}: other measurements of this run explain \
             {explained}, {in_own_curve}{at_distance}{assumed}{probable}{uncertain}{in_range}{in_doubt}{rest} are not explained.",
            missed = counted(tally.all(), "predictions missed"),
            explained = counted(tally.explained, "misses explained"),
            in_own_curve,
            at_distance,
            assumed,
            probable,
            uncertain,
            in_range,
            in_doubt,
            rest = counted(tally.unexplained, "misses not explained")
        )
    })
}

/// The causes of more than one miss, each once; and the other misses.
pub(super) fn shared_causes<'a, 'run>(judged: &'a [Judged<'run>]) -> (Vec<Finding>, Vec<&'a Judged<'run>>) {
    let (mut findings, mut rest, mut named): (Vec<Finding>, Vec<&Judged>, BTreeSet<String>) =
        Default::default();
    for miss in judged {
        let Some(cause) = miss.cause.as_ref().filter(|cause| !cause.is_of_own_curve()) else {
            rest.push(miss);
            continue;
        };
        let same: Vec<&Judged> = judged.iter().filter(|other| is_same_cause(other, cause)).collect();
        if same.len() < 2 {
            rest.push(miss);
        } else if named.insert(cause.mechanism.clone()) {
            findings.extend(shared(&same));
        }
    }
    (findings, rest)
}

fn is_same_cause(miss: &Judged, cause: &MissCandidate) -> bool {
    miss.cause.as_ref().is_some_and(|other| other.mechanism == cause.mechanism)
}

/// A cause of several misses, with the figures of the furthest.
fn shared(same: &[&Judged]) -> Option<Finding> {
    let furthest = furthest(same)?;
    let cause = furthest.cause.as_ref()?;
    let experiments: BTreeSet<&str> = same.iter().map(|miss| miss.missed.place().0).collect();
    let experiments = experiments.into_iter().collect::<Vec<_>>().join(", ");
    let count = Found::exact(same.len() as f64, Dimension::Count);
    Some(finding!(
        Question::Miss,
        "{sizes}. This explains {count} wrong predictions of {experiments}. The furthest is {summary}, and \
         {again} with the measured value.",
        sizes = capitalized(&cause.sizes),
        count = count.named("predictions explained"),
        summary = furthest.missed.summary(),
        again = cause.again.named("predicted with the measured value")
    ))
}

/// The findings about one experiment's misses: one for each main figure, and one for each kind of explanation of the others.
pub(super) fn findings(misses: &[&Judged], figures: Figures) -> Vec<Finding> {
    let mut groups: Vec<(String, Vec<&Judged>)> = vec![];
    for miss in misses {
        let key = key(miss);
        match groups.iter_mut().find(|(of, _)| *of == key) {
            Some((_, group)) => group.push(miss),
            None => groups.push((key, vec![miss])),
        }
    }
    let distance = |group: &[&Judged]| furthest(group).map_or([0.0; 2], |miss| how_far(miss));
    sorting::by_number(&mut groups, |(_, group)| -distance(group)[1]);
    sorting::by_number(&mut groups, |(_, group)| -distance(group)[0]);
    // What may not have missed is of less interest than what has.
    let is_open = |group: &[&Judged]| !group[0].explanation.is_certain();
    sorting::by_key(&mut groups, |(_, group)| is_open(group));
    groups.iter().filter_map(|(_, group)| finding(group, figures)).collect()
}

/// Misses with the same key are reported together.
fn key(miss: &Judged) -> String {
    let point = if is_main(miss) { miss.missed.result.point.to_string() } else { String::new() };
    let mechanisms: Vec<&str> = miss.rejected.iter().map(|candidate| candidate.mechanism.as_str()).collect();
    format!("{point} {:?} {mechanisms:?} {}", miss.explanation, miss.missed.factor > 1.0)
}

/// Whether a main figure of the experiment names this point by its settings.
fn is_main(miss: &Judged) -> bool {
    let Ok(method) = miss.missed.result.method() else { return false };
    let names = |figure: &MainFigure| {
        let mut point: Vec<&Point> = vec![&miss.missed.result.point];
        figure.at.narrow(&mut point, None, &[]);
        figure.leads && !point.is_empty()
    };
    method.about().shown.main_figures.iter().any(names)
}

/// How far a miss is for certain, and by its value.
fn how_far(miss: &Judged) -> [f64; 2] {
    [furthest::certain_distance(miss.missed.result).unwrap_or(1.0), miss.missed.distance()]
}

/// The one that is furthest for certain, as everywhere in a report; of those that may not have missed, by its value.
fn furthest<'a, 'run>(group: &[&'a Judged<'run>]) -> Option<&'a Judged<'run>> {
    group.iter().rev().copied().max_by(|one, other| {
        let ([one, by_value], [other, than]) = (how_far(one), how_far(other));
        one.total_cmp(&other).then(by_value.total_cmp(&than))
    })
}

/// The finding about a group of misses, with the figures of the furthest.
fn finding(group: &[&Judged], figures: Figures) -> Option<Finding> {
    let furthest = furthest(group)?;
    let missed = &furthest.missed;
    let summary = missed.summary();
    let lead = match group.len() {
        1 => summary,
        many => {
            let count = Found::exact(many as f64, Dimension::Count).named("points");
            let verb = if furthest.explanation.is_certain() { "missed" } else { "may have missed" };
            statement!("{count} points {verb}; the furthest is {summary}", count, summary)
        }
    };
    let factor = match missed.measured.states {
        // Of a machine in several states the factor is that of the state with the most.
        Some(_) => Found::bare(missed.factor, Dimension::Ratio),
        None => missed.measured.counted(1.0 / missed.prediction.total(), Dimension::Ratio),
    };
    let factor = factor.named("measured over predicted");
    // A measured value of zero gives no factor.
    let factor = (missed.measured.value > 0.0).then(|| statement!(", a factor of {factor}", factor));
    let because = because(furthest, figures);
    Some(finding!(Question::Miss, "{lead}{factor}. {because}", lead, factor, because))
}

/// What is known about the reason of a miss.
pub(super) fn because(miss: &Judged, figures: Figures) -> Statement {
    match (&miss.explanation, &miss.cause) {
        (Explanation::InDoubt, _) => {
            "The measurement is in doubt, not the prediction: its evidence does not hold.".into()
        }
        (Explanation::NotCertain, _) if miss.missed.is_certain() => alone_or_by_end(&miss.missed, figures),
        (Explanation::NotCertain, _) => statement!(
            "Whether it missed is not certain: the interval reaches to within a factor of {FAIR} of the prediction.{input}",
            input = input_by_now(miss, figures)
        ),
        (_, Some(cause)) => statement!(
            "{sizes}: with the measured value the prediction is {again}.{of_curve}",
            sizes = capitalized(&cause.sizes),
            again = cause.again.named("predicted with the measured value"),
            of_curve = if cause.is_of_own_curve() { OF_ITS_CURVE } else { "" }
        ),
        (Explanation::OwnCurve { end }, None) => statement!(
            "{end}; {shown}.{OF_ITS_CURVE}",
            end = fathom_core::experiment::capitalize(end),
            shown = shown(miss)
        ),
        (Explanation::InRange, None) => in_range(&miss.missed),
        (Explanation::Probable { cause }, None) => statement!(
            "Probably {cause}; {shown}.{parts}",
            cause = cause.as_str(),
            shown = shown(miss),
            parts = parts(miss)
        ),
        (_, None) => match (&miss.elsewhere, &miss.overstated) {
            (Some(elsewhere), _) => elsewhere.because(),
            (None, Some(term)) => term.because(),
            (None, None) => not_explained(miss, figures),
        },
    }
}

/// What is said of a miss whose reason its own curve shows.
const OF_ITS_CURVE: &str = " The result is a point of that curve, so this is no measurement besides it.";

/// What this run measures of the probable cause of a miss.
fn shown(miss: &Judged) -> Statement {
    let shown = miss.excess.as_ref().and_then(|excess| excess.shown.clone());
    shown.unwrap_or_else(|| "how much of it is so, no run can measure".into())
}

/// Why a result whose own interval is far from the prediction may be none: with the core alone, or predicted from what its inputs are by the
/// end of the run, it is near.
fn alone_or_by_end(missed: &Missed, figures: Figures) -> Statement {
    if let Some(alone) = missed.alone_near(&figures.whole.own) {
        return statement!(
            "Not certain: with the core alone, as what it was predicted from, it takes {alone}, within a factor of {FAIR} of the prediction.",
            alone = alone.named("with the core alone")
        );
    }
    let input = missed.by_end(figures.whole).and_then(|again| with_inputs(missed, &again, figures));
    statement!(
        "Not certain: an input of the prediction may have become another figure.{input}",
        input = input.map(|input| statement!(
            " {sizes}; from what its inputs are by the end of the run the prediction is {again}, {reach} a factor of {FAIR} of the result.",
            sizes = capitalized(&input.sizes),
            reach = if input.is_at_each_level(|input| missed.is_near(input.again.value)) { "within" } else { "and with the result's interval it may be within" },
            again = input.exactly(missed).named("predicted by the end of the run")
        ))
    )
}

/// The input of a prediction that has become another figure since, with both values; nothing where it is like what it was.
fn input_by_now(miss: &Judged, figures: Figures) -> Option<Statement> {
    let input = changed_input(&miss.missed, figures)?;
    let missed = &miss.missed;
    let off = |predicted: f64| distance(missed.judged().value / predicted);
    let is_nearer = off(input.again.value) < off(missed.prediction.total());
    let moved = input.changes.is_some_and(|changes| changes > CLOSE) && is_nearer;
    moved.then(|| statement!(" Its input has changed: {sizes}.", sizes = input.sizes.clone()))
}

/// What takes part in a miss without accounting for all of it.
fn parts(miss: &Judged) -> Option<Statement> {
    let parts = Statement::joined(excluded::parts(miss), "; ");
    let parts = parts.map(|parts| statement!(" Takes part, but does not account for all: {parts}.", parts));
    Statement::joined(parts.into_iter().chain(excluded::possible_neighbour(miss)), "")
}

/// The parts of a miss that the run measured, where the rest is not explained; `None` of another, or without one.
pub(super) fn explained_part(miss: &Judged) -> Option<Statement> {
    let is_open = matches!(miss.explanation, Explanation::NotExplained);
    Statement::joined(excluded::parts(miss).into_iter().filter(|_| is_open), "; ")
}

fn not_explained(miss: &Judged, figures: Figures) -> Statement {
    let possible = Statement::joined(excluded::possible(miss), "; ");
    let possible = possible.map(|list| {
        statement!(
            " Leads into the interval of the measured value, but not accepted as the cause: {list}.",
            list
        )
    });
    let near = Statement::joined(excluded::near(miss), "; ");
    let near =
        near.map(|list| statement!(" Near the measured value, but beyond its interval: {list}.", list));
    let open = Statement::joined(excluded::open(miss), "; ");
    let open = open.map(|list| {
        statement!(
            " Neither the cause nor excluded, because it was measured at several levels: {list}.",
            list
        )
    });
    let why = match miss.missed.judged().interval {
        Some(_) if near.is_some() => "Not explained within its interval.",
        Some(_) => "Not explained.",
        None => "Not explained: the result has no interval, so no cause can be confirmed.",
    };
    let apart = seldom_distance::sentence(&miss.missed, figures).map(|apart| statement!(" {apart}.", apart));
    let parts = parts(miss);
    let inputs = Statement::joined(excluded::inputs(miss), "; ");
    let inputs = inputs.map(|list| statement!(" Its input has changed: {list}.", list));
    let entry = excluded::in_the_entry(&miss.missed, figures.supported);
    let excluded = Statement::joined(excluded::all(miss, figures), "; ");
    let excluded = match excluded {
        Some(list) => statement!(" Excluded: {list}.", list),
        None if possible.is_some()
            || near.is_some()
            || open.is_some()
            || parts.is_some()
            || inputs.is_some()
            || apart.is_some()
            || entry.is_some() =>
        {
            Statement::default()
        }
        None if miss.missed.prediction.has_figures_of_the_run() => {
            let again = miss.missed.by_end(figures.whole).map(|again| {
                statement!(
                    " From what its inputs are by the end of the run the prediction is {again}.",
                    again = miss.missed.figure(again.total()).named("predicted by the end of the run")
                )
            });
            again.unwrap_or_default()
        }
        None if miss.rejected.is_empty() => " This run measures none of its terms in another way.".into(),
        None => " The terms that this run measures in another way are as predicted.".into(),
    };
    let foreign = foreign_terms::of(&miss.missed, figures.supported.machine);
    let inseparable = excluded::inseparable(&miss.missed, figures.supported)
        .map(|names| Statement::from(format!(" Not separable in a run: {names}.")));
    statement!(
        "{why}{apart}{entry}{possible}{near}{open}{parts}{inputs}{excluded}{foreign}{inseparable}",
        apart,
        entry,
        possible,
        near,
        open,
        parts,
        inputs,
        excluded,
        foreign,
        inseparable
    )
}

/// That a result lies in the range of the published values behind its prediction, and what that is worth.
fn in_range(missed: &Missed) -> Statement {
    let Some((low, high)) = missed.prediction.range() else { return Statement::default() };
    let wide = if missed.prediction.is_range_of(&missed.measured) {
        ""
    } else {
        ", which is so wide that it holds nearly any result"
    };
    statement!(
        "It is among the published values behind the prediction, from {low} to {high}{wide}.",
        low = missed.figure(low).named("the least that published values give"),
        high = missed.figure(high).named("the most that published values give"),
        wide = wide
    )
}

/// With the first letter of its words in upper case.
fn capitalized(statement: &Statement) -> Statement {
    let mut statement = statement.clone();
    if let Some(fathom_core::experiment::Piece::Text(text)) = statement.0.first_mut() {
        let is_name = |word: &str| word.contains('/');
        if !text.split(' ').next().is_some_and(is_name) {
            *text = fathom_core::experiment::capitalize(text);
        }
    }
    statement
}
