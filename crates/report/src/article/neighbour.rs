//! What another hardware thread on the core costs each operation.

use super::sections::linked;
use crate::occupancy;
use crate::paper::{Block, Column, Key, Row, Section, Table, Text};
use crate::words::{self, plural};
use fathom_core::experiment::Found;
use fathom_core::quantities::{self, Measure};
use fathom_core::sorting;
use fathom_core::statistics::Estimate;
use fathom_engine::results::{PointResult, Results};

/// The section: all operations with a value for either state of the core, those that a neighbour costs most first; `None` if
/// there are none.
pub(super) fn of(results: &Results) -> Option<Section> {
    let both = results.points.iter().filter(|point| point.shared().is_some());
    let both = both.filter_map(|point| Some((point, point.neighbour_cost()?)));
    let (mut both, edges): (Vec<(&PointResult, Found)>, Vec<_>) = both.partition(|(_, cost)| is_cost(*cost));
    sorting::by_number(&mut both, |(_, cost)| -cost.value);
    let number = plural(both.len(), "operation");
    let table = Table::new(
        Key::of("neighbour-table"),
        "Operations by what a neighbour on the core costs: with the core shared over alone; for rates, alone over shared.",
    )
    .columns([
        Column::words("operation"),
        Column::mixed("core alone"),
        Column::mixed(occupancy::SHARED),
        Column::ratio("cost of a neighbour"),
        Column::number("core shared", "% of the time"),
    ])
    .rows(both.iter().map(|(point, cost)| row(results, point, *cost)));
    let legend = occupancy::legend(both.iter().map(|(point, _)| *point));
    let lead = Text::plain(legend + &left_out(&edges));
    (!both.is_empty()).then(|| {
        Section::new(Key::of("neighbour"), "What a neighbour costs").lettered().say(lead).with(
            Block::Folded { summary: number.into(), appendix: true, open: false, blocks: vec![table.into()] },
        )
    })
}

/// The widest interval of a cost, as the ratio of its ends.
const WIDEST: f64 = 4.0;

/// Whether a ratio is a neighbour's cost: not of an array at the edge of a cache, which fits at one time and not at another, so
/// that it compares two states of the cache.
fn is_cost(cost: Found) -> bool {
    cost.ends().is_some_and(|(low, high)| low > 0.0 && high >= 1.0 && high / low <= WIDEST)
}

/// The operations that are not in the table, with the reason.
fn left_out(edges: &[(&PointResult, Found)]) -> String {
    if edges.is_empty() {
        return String::new();
    }
    let name = |(point, _): &(&PointResult, Found)| {
        format!("{} {}", point.experiment, words::short_label(*point, &point.point))
    };
    let names: Vec<String> = edges.iter().map(name).collect();
    format!(
        " Not in the table: {} whose two values are no cost of a neighbour: the shared one is the better, or their ratio is \
         uncertain by more than a factor of {WIDEST}, as of arrays at the edge of a cache, which fit at one time and not at \
         another ({}).",
        plural(edges.len(), "operation"),
        names.join("; ")
    )
}

fn row(results: &Results, point: &PointResult, cost: Found) -> Row {
    let measure = Measure::of(point.unit, point.estimate().map_or(0.0, |alone| alone.value));
    let value = |estimate: Option<&Estimate>| {
        estimate.map_or_else(String::new, |estimate| words::with_interval(measure, estimate))
    };
    let share = point.core.as_ref().and_then(|core| core.shared_share).unwrap_or_default();
    Row::of([
        linked(results, &point.experiment).and(" ").and(words::short_label(point, &point.point)),
        value(point.estimate()).into(),
        value(point.shared()).into(),
        Text::strong(quantities::factor_within(cost.value, cost.ends())),
        quantities::number(share * 100.0).into(),
    ])
}
