//! The table of main figures.

use super::places::title;
use crate::main_figures::Ranked;
use crate::paper::{Column, Group, Key, Row, Table, Text};
use crate::summary::ABSENT;

/// The table of these figures; `name` formats an experiment's name.
pub(super) fn table(key: Key, caption: &str, figures: &[Ranked], name: &dyn Fn(&str) -> Text) -> Table {
    let mut table = Table::new(key, caption).columns([
        Column::words("experiment"),
        Column::words("figure"),
        Column::mixed("median"),
        Column::mixed("95 % interval"),
        Column::ratio("±"),
        Column::ratio("measured / predicted"),
        Column::signs("evidence"),
    ]);
    for family in figures.chunk_by(|one, other| one.family() == other.family()) {
        let rows = family.iter().map(|figure| row(figure, name));
        table = table.group(Group::named(title(family[0].family())).rows(rows));
    }
    table
}

fn row(figure: &Ranked, name: &dyn Fn(&str) -> Text) -> Row {
    let written = figure.main.written();
    Row::of([
        name(figure.experiment),
        figure.main.words.as_str().into(),
        Text::strong(written.median),
        written.interval.into(),
        written.half_width.into(),
        written.factor.into(),
        written.evidence.map_or(ABSENT.into(), Text::sign),
    ])
}
