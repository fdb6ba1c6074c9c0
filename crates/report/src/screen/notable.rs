//! The most important findings of a run: failures, evidence that does not hold, causes of its figures, and the predictions
//! that missed furthest.

use crate::text::Style;
use crate::text::clipped;
use crate::words::{self, plural};
use crate::{finding, run};
use fathom_core::quantities;
use fathom_engine::results::{Agreement, PointResult, Results, distance};

/// The place of the other causes, as the screen names it.
const FULL: &str = "with --full";

/// The most findings named of one kind.
const MOST: usize = 2;

const MOST_CAUSES: usize = 3;

/// The most missed predictions named.
const MOST_MISSES: usize = 1;

/// Only predictions that missed by more than this factor are named.
const FAR: f64 = fathom_engine::results::FAIR;

/// The most important findings, each with its mark: ✗ an error, → a cause, ! a caution. `elsewhere` is the place of the
/// causes that are not named.
pub(crate) fn lines(results: &Results, elsewhere: &str) -> Vec<(&'static str, String)> {
    let bad = failures(results).into_iter().chain(doubts(results)).map(|sentence| ("✗", sentence));
    let careful = contradictions(results).into_iter().chain(widest(results)).chain(misses(results));
    let careful = careful.map(|sentence| ("!", sentence));
    let causes = causes(results, elsewhere).into_iter().map(|sentence| ("→", sentence));
    bad.chain(causes).chain(careful).collect()
}

/// What stands out, under its title, in at most `room` lines: the last are left out first, but never what is wrong. Empty if
/// nothing stands out.
pub(super) fn text(results: &Results, room: usize, style: Style) -> String {
    let clip =
        |(mark, sentence): (&'static str, String)| (mark, clipped(&format!("  {mark} "), &sentence, style));
    let fitting = fitting(lines(results, FULL).into_iter().map(clip), room.saturating_sub(1));
    let text: String =
        fitting.iter().map(|(mark, line)| line.replacen(mark, &painted(mark, style), 1)).collect();
    if text.is_empty() { text } else { style.title(TITLE) + "\n" + &text }
}

/// The first statements that fit into `room` lines together, and all that are marked as wrong, which come first.
fn fitting(
    statements: impl Iterator<Item = (&'static str, String)>,
    mut room: usize,
) -> Vec<(&'static str, String)> {
    let fits = |(mark, text): &(&str, String)| {
        let height = text.lines().count();
        let fits = *mark == "✗" || height <= room;
        room = room.saturating_sub(height);
        fits
    };
    statements.take_while(fits).collect()
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
fn causes(results: &Results, elsewhere: &str) -> Vec<String> {
    let all = &results.mechanisms;
    let mut sentences: Vec<String> =
        all.iter().take(MOST_CAUSES).map(|cause| finding::text(&cause.headline)).collect();
    if all.len() > MOST_CAUSES {
        sentences.push(format!("{} {elsewhere}.", plural(all.len() - MOST_CAUSES, "more mechanism")));
    }
    sentences
}

/// Operations on which experiments contradict each other.
fn contradictions(results: &Results) -> Vec<String> {
    let contradictions =
        results.cross_checks.iter().filter(|check| check.agreement == Agreement::Contradicts);
    contradictions.take(MOST).map(|check| finding::text(&check.statement)).collect()
}

/// The failed points, in a line. A lost peer is part of the line on the run's end.
fn failures(results: &Results) -> Option<String> {
    let first = results.points.iter().find(|point| point.outcome.is_failure())?;
    let others = match results.failures() - 1 {
        0 => String::new(),
        more => format!(" {} more failed.", plural(more, "point")),
    };
    let (name, reason) = (named(first), words::reason(first));
    Some(format!("{name} {}: {}.{others}", words::outcome(&first.outcome), reason.trim_end_matches('.')))
}

/// Evidence that does not hold, so that figures may be of another operation.
fn doubts(results: &Results) -> Vec<String> {
    let all = run::doubts(results);
    let mut sentences: Vec<String> = all
        .iter()
        .take(MOST)
        .map(|doubt| format!("evidence fails: {} {}", doubt.experiment, doubt.sentence()))
        .collect();
    if all.len() > MOST {
        sentences.push(format!("and {}.", plural(all.len() - MOST, "more claim")));
    }
    sentences
}

/// The widest interval, if it misses the target.
fn widest(results: &Results) -> Option<String> {
    let (point, width) = run::Precision::of(results).missed.first().copied()?;
    let width =
        if width > 1.0 { "more than twice the value".to_owned() } else { quantities::plus_minus(width) };
    Some(format!("the widest interval is {width}: {} {}", named(point), value(point)?))
}

/// The predictions that missed furthest, one per experiment; only of figures that are not in doubt.
fn misses(results: &Results) -> Vec<String> {
    let mut worst: Vec<(&PointResult, f64)> = vec![];
    for name in results.experiments() {
        let mine = results.of_experiment(name).filter(|point| is_sure(point));
        let factors = mine.filter_map(|point| Some((point, point.factor()?)));
        worst.extend(factors.max_by(|one, other| distance(one.1).total_cmp(&distance(other.1))));
    }
    worst.retain(|(_, factor)| distance(*factor) > FAR);
    worst.sort_by(|one, other| distance(other.1).total_cmp(&distance(one.1)));
    worst.iter().take(MOST_MISSES).filter_map(|(point, factor)| missed(point, *factor)).collect()
}

/// Whether the point's evidence holds and its interval is narrow enough to show that it missed.
fn is_sure(point: &PointResult) -> bool {
    let narrow = run::half_width(point).is_some_and(|width| width < 1.0 / FAR);
    point.evidence_holds() && narrow
}

fn missed(point: &PointResult, factor: f64) -> Option<String> {
    let predicted = quantities::value(point.unit, point.prediction.as_ref()?.total());
    let factor = quantities::factor(factor);
    Some(format!("{factor} the prediction of {predicted}: {} {}", named(point), value(point)?))
}

fn value(point: &PointResult) -> Option<String> {
    let estimate = point.estimate()?;
    let ends = quantities::interval(point.unit, estimate);
    let ends = ends.map_or(" (no interval: fewer than four trials)".to_owned(), |ends| format!(" ({ends})"));
    Some(quantities::estimate(point.unit, estimate) + &ends)
}

fn named(point: &PointResult) -> String {
    format!("{} {}:", point.experiment, words::short_label(point, &point.point))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_left_out_from_the_end_but_never_what_is_wrong() {
        let statements = [("✗", "one\ntwo\n"), ("✗", "three\n"), ("→", "four\nfive\n"), ("!", "six\n")];
        let kept = |room| {
            let all = statements.iter().map(|(mark, text)| (*mark, (*text).to_owned()));
            fitting(all, room).len()
        };
        assert_eq!([0, 3, 4, 5, 6].map(kept), [2, 2, 2, 3, 4]);
    }
}
