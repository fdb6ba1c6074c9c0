//! The summary table: one row per operation, from the same records as everything else (R-FIX-65).

use super::places::place_of;
use crate::paper::{Block, Column, Group, Key, Row, Section, Table, Text, Tone};
use crate::words::plural;
use crate::{summary, words};
use fathom_engine::results::Results;

/// The section.
pub(super) fn of(found: &Results) -> Section {
    let mut table = Table::new(
        Key::of("summary-table"),
        "Every operation: the predicted cost of the hardware, the predicted overhead of the operating system, their \
         sum, and the measured value. “<” is an upper limit.",
    )
    .columns([
        Column::words("operation"),
        Column::mixed("base hardware").spare(),
        Column::mixed("software overhead").spare(),
        Column::mixed("predicted"),
        Column::mixed("measured, median"),
        Column::mixed("95 % interval").spare(),
        Column::ratio("measured / predicted"),
        Column::signs("evidence"),
    ]);
    table.searched = true;
    for group in summary::groups(found) {
        table = table.group(rows(found, &group));
    }
    let number = table.groups.iter().map(|group| group.rows.len()).sum();
    Section::new(Key::of("summary"), "Every operation")
        .lettered()
        .say(
            Text::to(&table.key)
                .and(" lists every operation; points without a value are in ")
                .and(Text::to(&Key::of("without")))
                .and("."),
        )
        .with(Block::Folded {
            summary: plural(number, "operation").into(),
            long: true,
            open: false,
            blocks: vec![table.into()],
        })
}

fn rows(found: &Results, group: &summary::Group) -> Group {
    let mut head = Text::link(&place_of(found, group.experiment), group.experiment);
    if let Some(placement) = group.placement {
        head = head.and(" ").and(Text::toned(Tone::Faint, placement));
    }
    Group::named(head).rows(group.rows.iter().map(row))
}

fn row(row: &summary::Row) -> Row {
    let sign = words::evidence_sign(row.point);
    Row::of([
        Text::plain(&*row.operation),
        Text::plain(&*row.hardware),
        Text::plain(&*row.software),
        Text::plain(&*row.predicted),
        Text::strong(&*row.measured),
        Text::plain(&*row.interval),
        Text::plain(&*row.factor),
        Text::sign(sign),
    ])
}
