//! The appendix with every point in the statistics of published reports, for comparison with any of them.

use super::places::place_of;
use crate::paper::{Block, Column, Group, Key, Row, Section, Table, Text};
use crate::summary::ABSENT;
use crate::words;
use fathom_core::quantities::{self, Measure};
use fathom_core::statistics::TRIMMED;
use fathom_engine::results::{PointResult, Results, ticks_and_cycles};

/// The section.
pub(super) fn of(found: &Results) -> Section {
    let mut table = Table::new(
        Key::of("published-statistics-table"),
        "Every value, in the statistics that published reports use.",
    )
    .columns([
        Column::words("operation"),
        Column::mixed("mean"),
        Column::mixed("deviation of observations"),
        Column::mixed("deviation of trials"),
        Column::mixed("trimmed mean"),
        Column::mixed("minimum"),
        Column::mixed("maximum"),
        Column::number("median", "clock ticks"),
        Column::number("median", "core cycles"),
        Column::count("operations per reading"),
    ]);
    table.searched = true;
    for experiment in found.experiments() {
        let rows: Vec<Row> = found.of_experiment(experiment).filter_map(|point| row(found, point)).collect();
        if !rows.is_empty() {
            table =
                table.group(Group::named(Text::link(&place_of(found, experiment), experiment)).rows(rows));
        }
    }
    let summary = format!(
        "The statistics of {} values",
        table.groups.iter().map(|group| group.rows.len()).sum::<usize>()
    );
    Section::new(Key::of("published-statistics"), "Other statistics").lettered().with(Block::Folded {
        summary: summary.into(),
        long: true,
        open: false,
        blocks: vec![Block::Paragraph(method().into()), table.into()],
    })
}

/// The meaning of the columns.
fn method() -> String {
    format!(
        "Published reports print different statistics. Those below are of the same observations as the median, each \
         minus the median of its trial’s baseline where there is one. Standard deviations (divisor n − 1) are given \
         of single observations and of the means of trials. The trimmed mean leaves out {:.0} % of the observations \
         at either end. Ticks are clock ticks; cycles are core cycles, at the frequency at which chains of dependent \
         instructions ran. An observation is the time between two clock readings divided by the operations between \
         them; 1 operation means that each was timed separately.",
        100.0 * TRIMMED
    )
}

fn row(found: &Results, point: &PointResult) -> Option<Row> {
    let (published, median) = (point.published.as_ref()?, point.estimate()?.value);
    let (of_observations, unit) = (&published.observations, point.unit);
    let in_clock = ticks_and_cycles(found.run, found.core_hz, unit, median);
    let optional =
        |value: Option<f64>| value.map_or(ABSENT.to_owned(), |value| quantities::value(unit, value));
    let count = |value: Option<f64>| value.map_or(ABSENT.to_owned(), plain);
    Some(Row::of([
        words::label(point, &point.point),
        optional(Some(of_observations.mean)),
        optional(of_observations.deviation),
        optional(published.trials.deviation),
        optional(Some(of_observations.trimmed_mean)),
        optional(Some(of_observations.minimum)),
        optional(Some(of_observations.maximum)),
        count(in_clock.map(|(ticks, _)| ticks)),
        count(in_clock.and_then(|(_, cycles)| cycles)),
        count(published.operations),
    ]))
}

/// A number without an SI prefix, to three digits, for ticks and cycles.
fn plain(value: f64) -> String {
    Measure { size: 1.0, symbol: "" }.number(value, None)
}
