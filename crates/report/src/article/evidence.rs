//! The evidence that an experiment's operations were those named.

use crate::paper::{Block, Column, Key, Row, Sign, Table, Text};
use crate::summary::is_in_table;
use crate::words::{self, plural};
use fathom_core::experiment::Check;
use fathom_engine::results::PointResult;

/// The number of failing claims in the paper; the appendix has all.
const MOST_FAILING: usize = 4;

/// Every judged claim of some points.
fn claims<'run>(
    points: &'run [&PointResult],
) -> impl Iterator<Item = (&'run PointResult, &'run Check)> + Clone {
    points.iter().flat_map(|point| point.evidence.checks().iter().map(move |check| (*point, check)))
}

/// Every claim that could not be checked.
fn unasked<'run>(
    points: &'run [&PointResult],
) -> impl Iterator<Item = (&'run PointResult, &'run Check)> + Clone {
    points.iter().flat_map(|point| point.evidence.unasked().iter().map(move |check| (*point, check)))
}

/// The share of the claims that holds, in a sentence; `None` if nothing is claimed.
pub(super) fn judged(points: &[&PointResult]) -> Option<Text> {
    if let Some(other) = points.iter().find_map(|point| point.evidence.not_judged()) {
        return Some(Text::sign(Sign::NotJudged).and(format!(" The evidence is not judged: {other}.")));
    }
    let (judged, holding) = (claims(points).count(), claims(points).filter(|(_, check)| check.holds).count());
    let not_asked = unasked(points).next().map(|(_, first)| {
        let all = plural(unasked(points).count(), "claim");
        format!(" {all} could not be checked: {}.", first.seen.trim_end_matches('.'))
    });
    let held = (judged > 0).then(|| match (judged, judged - holding) {
        (1, 0) => "The only check passed.".to_owned(),
        (1, _) => "The only check failed.".to_owned(),
        (_, 0) => format!("All {} passed.", plural(judged, "check")),
        (_, failed) => format!("{failed} of {} failed.", plural(judged, "check")),
    });
    let sentences: String = held.into_iter().chain(not_asked).collect();
    (!sentences.is_empty()).then(|| Text::plain(sentences.trim_start()))
}

/// The claims that do not hold, of points with a figure: what has none has none that could be of another operation.
pub(super) fn failing(points: &[&PointResult]) -> Option<Block> {
    let failing = || claims(points).filter(|(point, check)| !check.holds && is_in_table(point));
    let item = |(point, check): (&PointResult, &Check)| {
        let label = words::full_label(point, &point.point);
        Text::sign(Sign::Fails).and(format!(" {label}: {}; observed: {}", check.claim, check.seen))
    };
    let more = failing().count().saturating_sub(MOST_FAILING);
    let more = (more > 0).then(|| Text::plain(format!("and {} that failed.", plural(more, "more check"))));
    let items: Vec<Text> = failing().take(MOST_FAILING).map(item).chain(more).collect();
    (!items.is_empty()).then_some(Block::List(items))
}

/// Every claim, with the observation; empty if nothing is claimed.
pub(super) fn blocks(points: &[&PointResult], key: &Key) -> Vec<Block> {
    let rows: Vec<Row> = claims(points)
        .chain(unasked(points))
        .map(|(point, check)| {
            let without =
                if check.fails() && !is_in_table(point) { " (left out: it has no value)" } else { "" };
            Row::of([
                Text::plain(words::short_label(point, &point.point) + without),
                Text::plain(&*check.claim),
                Text::plain(&*check.seen),
                Text::sign(sign(check)),
            ])
        })
        .collect();
    if rows.is_empty() {
        return vec![];
    }
    let table = key.within("evidence");
    let caption = "Evidence. An observed value is a count or a ratio unless it has a unit.";
    let columns =
        [Column::words("operation"), Column::words("claim"), Column::words("seen"), Column::signs("holds")];
    let all = Table::new(table.clone(), caption).columns(columns).rows(rows);
    vec![Block::Folded {
        summary: Text::plain("What shows that the operation measured was the one named (")
            .and(Text::to(&table))
            .and(")"),
        appendix: true,
        open: false,
        blocks: vec![all.into()],
    }]
}

fn sign(check: &Check) -> Sign {
    match check {
        Check { unasked: true, .. } => Sign::Unasked,
        Check { holds: true, .. } => Sign::Holds,
        _ => Sign::Fails,
    }
}
