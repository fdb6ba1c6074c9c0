//! The most important findings of a run: failures, evidence that does not hold, causes of its figures, and the predictions
//! that missed furthest.

use crate::text::Style;
use crate::text::clipped_with;
use crate::usual::UsualFigures;
use crate::words::{self, plural};
use crate::{cpu_distance, finding};
use fathom_core::experiment::{Experiment, Found, Point, statement};
use fathom_core::quantities;
use fathom_engine::results::{Agreement, FurthestMisses, MechanismKind, PointResult, Results};

/// The place of the other causes, as the screen names it.
const FULL: &str = "with --full";

/// The end of a sentence that is not whole.
const MORE: &str = " … (more with --full)";

/// The most findings named of one kind.
const MOST: usize = 2;

const MOST_CAUSES: usize = 3;

/// The most figures named that are outside of what is usual.
const MOST_UNUSUAL: usize = 3;

/// The most missed predictions named.
const MOST_MISSES: usize = 1;

/// The most important findings, each with its mark: ✗ an error, → a cause, ! a caution. `elsewhere` is the place of the
/// causes that are not named.
pub(crate) fn lines<'run>(
    results: &'run Results<'run>,
    usual: &UsualFigures<'run>,
    elsewhere: &str,
) -> Vec<(&'static str, String)> {
    let mut causes = causes(results);
    let more = causes.split_off(causes.len().min(MOST_CAUSES)).len();
    causes.extend((more > 0).then(|| ("→", format!("{} {elsewhere}.", plural(more, "more mechanism")))));
    in_order(results, usual, causes).into_iter().map(|(_, statement)| statement).collect()
}

/// The figures outside of what is usual.
fn unusual<'run>(results: &'run Results<'run>, usual: &UsualFigures<'run>) -> Vec<(&'static str, String)> {
    let all = usual.unusual(results);
    let more = all.len().saturating_sub(MOST_UNUSUAL);
    let named = all.iter().take(MOST_UNUSUAL).filter_map(|(point, range)| {
        Some(format!("{} {} is {}", named(results, point), value(point)?, usual.sentence(point, range)))
    });
    let rest = (more > 0).then(|| format!("and {} outside of what is usual.", plural(more, "more figure")));
    named.chain(rest).map(|sentence| ("!", sentence)).collect()
}

/// The failed points.
fn failed(results: &Results) -> Option<(&'static str, String)> {
    failures(results).map(|sentence| ("✗", sentence))
}

/// Evidence that does not hold, and contradictions.
fn doubtful(results: &Results) -> Vec<(&'static str, String)> {
    let all = doubts(results).into_iter().chain(contradictions(results));
    all.map(|sentence| ("✗", sentence)).collect()
}

fn cautions(results: &Results) -> impl Iterator<Item = (&'static str, String)> {
    misses(results).into_iter().map(|sentence| ("!", sentence))
}

/// What stands out, under its title, in at most `room` lines: what does not fit is left out and counted, but never what is wrong, of
/// which each doubt is a line. Empty if nothing stands out.
pub(super) fn text<'run>(
    results: &'run Results<'run>,
    usual: &UsualFigures<'run>,
    room: usize,
    style: Style,
) -> String {
    let clip = |lines: usize| {
        move |(mark, sentence): (&'static str, String)| {
            (mark, clipped_with(MORE, lines, &format!("  {mark} "), &sentence, style))
        }
    };
    let all: Vec<(&'static str, String)> =
        statements(results, usual).into_iter().map(|(lines, statement)| clip(lines)(statement)).collect();
    let number = all.len();
    let fitting = fitting(all, room.saturating_sub(1));
    let hidden = match number - fitting.len() {
        0 => String::new(),
        more => format!(" ({} more {FULL})", quantities::count(more)),
    };
    let text: String =
        fitting.iter().map(|(mark, line)| line.replacen(mark, &painted(mark, style), 1)).collect();
    if text.is_empty() { text } else { style.title(&format!("{TITLE}{hidden}")) + "\n" + &text }
}

/// All that the screen chooses from, each statement whole.
pub(crate) fn everything<'run>(
    results: &'run Results<'run>,
    usual: &UsualFigures<'run>,
) -> Vec<(&'static str, String)> {
    statements(results, usual).into_iter().map(|(_, statement)| statement).collect()
}

/// All that stands out, each with its mark and the most lines that it takes of a screen.
fn statements<'run>(
    results: &'run Results<'run>,
    usual: &UsualFigures<'run>,
) -> Vec<(usize, (&'static str, String))> {
    in_order(results, usual, causes(results))
}

/// These causes among all that stands out: after what is wrong and what is far from expected, as they explain figures that may be as expected.
fn in_order<'run>(
    results: &'run Results<'run>,
    usual: &UsualFigures<'run>,
    causes: Vec<(&'static str, String)>,
) -> Vec<(usize, (&'static str, String))> {
    let doubtful = doubtful(results).into_iter().map(|statement| (3, statement));
    let others = unusual(results, usual).into_iter().chain(cautions(results)).chain(causes);
    let of_two = |statement| (2, statement);
    failed(results).map(of_two).into_iter().chain(doubtful).chain(others.map(of_two)).collect()
}

/// The statements that fit into `room` lines together, the first before the others, and all that are marked as wrong, which come
/// first.
fn fitting(statements: Vec<(&'static str, String)>, mut room: usize) -> Vec<(&'static str, String)> {
    let fits = |(mark, text): &(&str, String)| {
        let height = text.lines().count();
        let fits = *mark == "✗" || height <= room;
        if fits {
            room = room.saturating_sub(height);
        }
        fits
    };
    statements.into_iter().filter(fits).collect()
}

fn painted(mark: &str, style: Style) -> String {
    match mark {
        "✗" => style.bad(mark),
        "!" => style.careful(mark),
        _ => style.good(mark),
    }
}

pub(crate) const TITLE: &str = "What stands out";

/// The causes found, the most far-reaching first.
fn causes(results: &Results) -> Vec<(&'static str, String)> {
    let effects = results.mechanisms.iter().filter(|cause| cause.kind == MechanismKind::Effect);
    effects.map(|cause| ("→", finding::text(&cause.headline))).collect()
}

/// Operations on which experiments contradict each other.
fn contradictions(results: &Results) -> Vec<String> {
    let contradictions =
        results.cross_checks.iter().filter(|check| check.agreement == Agreement::Contradicts);
    contradictions
        .take(MOST)
        .map(|check| format!("contradiction: {}.", finding::text(&check.brief)))
        .collect()
}

/// The failed points, in a line. A lost peer is part of the line on the run's end.
fn failures(results: &Results) -> Option<String> {
    let first = results.points.iter().find(|point| point.outcome.is_failure())?;
    let others = match results.failures() - 1 {
        0 => String::new(),
        more => format!(" {} more failed.", plural(more, "point")),
    };
    let (name, reason) = (named(results, first), words::reason(first));
    Some(format!("{name} {}: {}.{others}", words::outcome(&first.outcome), reason.trim_end_matches('.')))
}

/// Evidence that does not hold, so that figures may be of another operation: what not to use. What was observed stands in the section of
/// the experiment.
fn doubts(results: &Results) -> Vec<String> {
    let of = |name| results.of_experiment(name).filter(|point| point.is_doubtful()).collect();
    let mut all: Vec<Vec<&PointResult>> = results.experiments().into_iter().map(of).collect();
    all.retain(|points| !points.is_empty());
    // The number of further ones takes a line as well.
    let others = all.split_off(if all.len() > MOST { MOST - 1 } else { all.len() });
    let sentence = |points: &Vec<&PointResult>| {
        let (experiment, work) = (&points[0].experiment, works(points));
        let which = if work.len() <= MOST {
            format!("{experiment} {}", work.join(" and "))
        } else {
            format!("{} of {experiment}", plural(points.len(), "value"))
        };
        match points.len() {
            1 => format!("Do not use {which}: a check fails, so it may be of another operation."),
            _ => format!("Do not use {which}: checks fail, so they may be of another operation."),
        }
    };
    let values = others.iter().map(Vec::len).sum();
    let rest = (values > 0)
        .then(|| format!("Do not use {} of other experiments: checks fail.", plural(values, "value")));
    all.iter().map(sentence).chain(rest).collect()
}

/// What these values are of, each once: several figures of one trial are of the same work.
fn works(points: &[&PointResult]) -> Vec<String> {
    let figure = points[0].method().ok().and_then(Experiment::figure);
    let work = |point: &PointResult| figure.map_or(point.point.clone(), |of| point.point.without(of.name));
    let mut all: Vec<(Point, Vec<&PointResult>)> = vec![];
    for point in points {
        match all.iter_mut().find(|(known, _)| *known == work(point)) {
            Some((_, figures)) => figures.push(point),
            None => all.push((work(point), vec![point])),
        }
    }
    let named = |(work, figures): &(Point, Vec<&PointResult>)| match figures[..] {
        [one] => words::full_label(one, &one.point),
        _ => format!("{} ({})", words::full_label(figures[0], work), plural(figures.len(), "figure")),
    };
    all.iter().map(named).collect()
}

/// The predictions that missed furthest, as the conclusion has them.
fn misses(results: &Results) -> Vec<String> {
    let misses = FurthestMisses::of(&results.points);
    let is_further = misses.is_other_work_furthest();
    let furthest = misses.of_operations.into_iter().take(MOST_MISSES);
    let sentences = furthest.filter_map(|point| missed(results, point, point.factor()?));
    let with_further = |sentence: String| format!("{}. {FURTHER}", sentence.trim_end_matches('.'));
    let sentences = sentences.enumerate();
    // Of the first only: of the others operations are further off as well.
    sentences.map(|(place, text)| if is_further && place == 0 { with_further(text) } else { text }).collect()
}

/// What is said beside the furthest miss of an operation where other work is further off: a median may be further, and be anywhere in its interval.
const FURTHER: &str = "Only other work on the CPU (cpu/noise) is further off for certain.";

fn missed(results: &Results, point: &PointResult, factor: f64) -> Option<String> {
    let measured = point.figure()?;
    let predicted = Found::exact(point.prediction.as_ref()?.total(), measured.dimension);
    let both = statement!(
        "{factor} the prediction of {predicted}{by_end}: {name} {measured}",
        factor = quantities::factor(factor),
        by_end = words::by_end(point).map(|by_end| format!(" ({by_end})")).unwrap_or_default(),
        predicted = predicted.named("predicted"),
        name = named(results, point),
        measured = measured.named("measured")
    );
    let because = point.because.as_ref().map(|because| format!(". {}", finding::text(because)));
    Some(finding::text(&both) + &because.unwrap_or_default())
}

fn value(point: &PointResult) -> Option<String> {
    let estimate = point.estimate()?;
    let ends = quantities::interval(point.unit, estimate);
    let ends = ends.map_or(" (no interval: fewer than four trials)".to_owned(), |ends| format!(" ({ends})"));
    Some(quantities::estimate(point.unit, estimate) + &ends)
}

fn named(results: &Results, point: &PointResult) -> String {
    let apart = cpu_distance::unless_usual(point).unwrap_or_default();
    format!("{} {}{apart}:", point.experiment, words::certain_label(results, point))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_left_out_from_the_end_but_never_what_is_wrong() {
        let statements = [("✗", "one\ntwo\n"), ("✗", "three\n"), ("→", "four\nfive\n"), ("!", "six\n")];
        let kept = |room| {
            let all = statements.iter().map(|(mark, text)| (*mark, (*text).to_owned()));
            fitting(all.collect(), room).len()
        };
        assert_eq!(
            [0, 3, 4, 5, 6].map(kept),
            [2, 2, 3, 3, 4],
            "a shorter one where a longer one does not fit"
        );
    }
}
