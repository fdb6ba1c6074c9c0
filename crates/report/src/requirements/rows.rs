//! The table of requirements.

use super::{CheckReport, tone, words};
use crate::paper::{Column, Key, Row, Table, Text};
use crate::words::ABSENT;
use fathom_core::quantities;
use fathom_engine::requirements::{Assessment, Demand};

/// The requirements, one row each.
pub(super) fn table(report: &CheckReport) -> Table {
    Table::new(
        Key::of("requirements-table"),
        "Requirements with the figures of this machine. The margin is the distance to the limit, negative on its wrong side; beside it \
         the margin that is certain.",
    )
    .columns([
        Column::words("requirement"),
        Column::words("asked"),
        Column::mixed("value"),
        Column::mixed("interval"),
        Column::number("margin", "%"),
        Column::number("certain", "%"),
        Column::words("verdict"),
        Column::words("decided after"),
    ])
    .rows(report.pairs().map(row))
}

fn row((demand, judged): (&Demand, &Assessment)) -> Row {
    let or_absent = |text: Option<String>| Text::plain(text.unwrap_or_else(|| ABSENT.to_owned()));
    let margin = |share: Option<f64>| or_absent(share.map(quantities::deviation));
    Row::of([
        Text::plain(&demand.name),
        Text::plain(words::demand(demand)),
        or_absent(words::value(judged)),
        or_absent(words::interval(judged)),
        margin(judged.margin()),
        margin(judged.shown_margin()),
        Text::toned(tone(judged.judgement), judged.judgement.name()),
        or_absent(words::decided_after(judged)),
    ])
}
