//! The disturbances of the run, the evidence that does not hold, and the points less precise than their target.

use super::places::place_of;
use crate::paper::{Block, Column, Key, Row, Section, Sign, Table, Text};
use crate::run::{self, Precision};
use crate::words;
use fathom_core::quantities;
use fathom_engine::results::Results;

/// The number of intervals wider than their target that are named.
const MOST_MISSED: usize = 8;

/// The section.
pub(super) fn of(found: &Results) -> Section {
    Section::new(Key::of("conditions"), "Disturbances and limits")
        .with_all(warned(found))
        .with_all(listed(
            "Seen while measuring:",
            run::disturbances(found).iter().map(|said| Text::prose(said)),
        ))
        .with_all(listed(
            "Evidence that fails; these figures may be of another operation than the one named:",
            run::doubts(found).iter().map(|doubt| {
                Text::sign(Sign::Fails)
                    .and(" ")
                    .and(Text::link(&place_of(found, doubt.experiment), doubt.experiment))
                    .and(" ")
                    .and(Text::prose(&doubt.sentence()))
            }),
        ))
        .with_all(listed(
            "Evidence that is not judged, because this program does not have the method that measured it:",
            run::not_judged(found)
                .iter()
                .map(|said| Text::sign(Sign::NotJudged).and(" ").and(Text::prose(said))),
        ))
        .say(Precision::of(found).sentence())
        .with_all(missed(found))
}

fn warned(found: &Results) -> Vec<Block> {
    let warnings = found.run.header.machine.warnings();
    if warnings.is_empty() {
        return vec![Block::Paragraph("No known disturbance was found.".into())];
    }
    let item = |warning: &fathom_core::machine::Warning| {
        Text::strong(&*warning.problem).and(" ").and(Text::prose(&warning.remedy))
    };
    listed("What may disturb results on this machine, and what to do about it:", warnings.iter().map(item))
}

fn listed(lead: &str, items: impl Iterator<Item = Text>) -> Vec<Block> {
    let items: Vec<Text> = items.collect();
    if items.is_empty() { vec![] } else { vec![Block::Paragraph(lead.into()), Block::List(items)] }
}

/// The widest of the intervals that are wider than their target.
fn missed(found: &Results) -> Option<Block> {
    let precision = Precision::of(found);
    let rows: Vec<Row> = precision
        .missed
        .iter()
        .take(MOST_MISSED)
        .map(|(point, width)| {
            Row::of([
                Text::link(&place_of(found, &point.experiment), &*point.experiment)
                    .and(format!(" {}", words::label(*point, &point.point))),
                quantities::plus_minus(*width).into(),
            ])
        })
        .collect();
    let caption = match precision.missed.len() {
        all if all > MOST_MISSED => {
            format!("The {MOST_MISSED} widest of {all} intervals that are wider than the target.")
        }
        _ => "Intervals that are wider than the target.".to_owned(),
    };
    let table = Table::new(Key::of("precision-missed"), caption).columns([
        Column::words("operation"),
        Column::number("half of the 95 % interval", "% of the median"),
    ]);
    (!rows.is_empty()).then(|| Block::Table(table.rows(rows)))
}
