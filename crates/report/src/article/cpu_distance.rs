//! Work on two CPUs by their distance, where the host changed it.

use super::sections::linked;
use crate::paper::{Block, Column, Key, Row, Section, Table, Text};
use crate::words::{self, plural};
use crate::{cpu_distance, cpu_positions};
use fathom_core::experiment::Found;
use fathom_core::quantities::{self, Measure};
use fathom_engine::results::{PointResult, Results};

/// The section: all work on both CPUs with a value at two distances; `None` if there is none.
pub(super) fn of(results: &Results) -> Option<Section> {
    let change = cpu_positions::change(results)?;
    let rows: Vec<Row> = results.points.iter().filter_map(|point| row(results, point)).collect();
    if rows.is_empty() {
        return None;
    }
    let number = plural(rows.len(), "operation");
    let table = Table::new(
        Key::of("distance-table"),
        "Work on two CPUs at two distances, each by the time that a cache line takes from one CPU to the other; a value of fewer than four \
         trials has no interval. The ratio is that of the value at the longer distance over the value at the shorter.",
    )
    .columns([
        Column::words("operation"),
        Column::words("a line takes"),
        Column::mixed("nearer"),
        Column::mixed("farther"),
        Column::ratio("farther over nearer"),
    ])
    .rows(rows);
    let table =
        Block::Folded { summary: number.into(), appendix: true, open: false, blocks: vec![table.into()] };
    Some(
        Section::new(Key::of("distance"), "CPUs at two distances")
            .lettered()
            .say(Text::plain(change).and(" (").and(Text::to(&Key::of("method"))).and(")."))
            .with(table),
    )
}

/// A point with its values at two distances; `None` if it has one value.
fn row(results: &Results, point: &PointResult) -> Option<Row> {
    let [(at_near, near), (at_far, far)] = point.near_and_far()?;
    let measure = Measure::of(point.unit, near.value);
    let ratio = Found::of(far, point.unit).over(Found::of(near, point.unit));
    Some(Row::of([
        linked(results, &point.experiment).and(" ").and(words::short_label(point, &point.point)),
        format!("{} or {}", cpu_distance::line(at_near), cpu_distance::line(at_far)).into(),
        words::with_interval(measure, near).into(),
        words::with_interval(measure, far).into(),
        Text::strong(quantities::factor_within(ratio.value, ratio.ends())),
    ]))
}
