//! What shows that an experiment's operations were those named.

use crate::experiment::Check;
use crate::report::paper::{Block, Column, Key, Row, Sign, Table, Text};
use crate::report::words;
use crate::results::PointResult;

/// A sentence, what does not hold, and every claim; that it is not judged; nothing where nothing is claimed.
pub(super) fn blocks(points: &[&PointResult], key: &Key) -> Vec<Block> {
    if let Some(other) = points.iter().find_map(|point| point.evidence.not_judged()) {
        let said = Text::sign(Sign::NotJudged).and(format!(" The evidence is not judged: {other}."));
        return vec![Block::Paragraph(said)];
    }
    let claims =
        points.iter().flat_map(|point| point.evidence.checks().iter().map(move |check| (*point, check)));
    let (judged, holding) = (claims.clone().count(), claims.clone().filter(|(_, check)| check.holds).count());
    let unasked =
        points.iter().flat_map(|point| point.evidence.unasked().iter().map(move |check| (*point, check)));
    let reason = unasked.clone().next().map(|(_, check)| check.seen.clone());
    if judged == 0 && reason.is_none() {
        return vec![];
    }
    let table = key.within("evidence");
    let not_asked =
        reason.map(|reason| format!("{} could not be checked: {reason}; ", unasked.clone().count()));
    let said = format!("{holding} of {judged} claims hold; {}", not_asked.unwrap_or_default());
    let failing: Vec<Text> = claims
        .clone()
        .filter(|(_, check)| !check.holds)
        .map(|(point, check)| {
            let label = words::short_label(point, &point.point);
            Text::sign(Sign::Fails).and(format!(" {label}: {}; observed: {}", check.claim, check.seen))
        })
        .collect();
    let rows = claims.chain(unasked).map(|(point, check)| {
        Row::of([
            Text::plain(words::short_label(point, &point.point)),
            Text::plain(&*check.claim),
            Text::plain(&*check.seen),
            Text::sign(sign(check)),
        ])
    });
    let caption = "Evidence. An observed value is a count or a ratio unless it has a unit.";
    let columns =
        [Column::words("operation"), Column::words("claim"), Column::words("seen"), Column::signs("holds")];
    let all = Table::new(table.clone(), caption).columns(columns).rows(rows);
    let mut blocks = vec![Block::Paragraph(Text::plain(said).and(Text::to(&table)).and(" has each."))];
    if !failing.is_empty() {
        blocks.push(Block::List(failing));
    }
    blocks.push(Block::Folded {
        summary: Text::plain("What shows that the operation measured was the one named (")
            .and(Text::to(&table))
            .and(")"),
        long: true,
        open: false,
        blocks: vec![Block::Table(all)],
    });
    blocks
}

fn sign(check: &Check) -> Sign {
    match check {
        Check { unasked: true, .. } => Sign::Unasked,
        Check { holds: true, .. } => Sign::Holds,
        _ => Sign::Fails,
    }
}
