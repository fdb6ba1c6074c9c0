//! How long work takes to become steady.

use super::sections::linked;
use crate::paper::{Block, Column, Key, Row, Section, Table};
use crate::words::plural;
use fathom_core::quantities;
use fathom_core::quantity::Unit;
use fathom_core::statistics::Estimate;
use fathom_engine::results::{Beginnings, Results};

/// The section: a row for each experiment whose work has a beginning; `None` without any.
pub(super) fn of(results: &Results) -> Option<Section> {
    let all = Beginnings::of(results.run);
    let table = Table::new(
        Key::of("beginnings-table"),
        "How long the cost of work was not steady once a process had begun with it, and what an operation cost in the first 2.5 ms, \
         in its steady cost.",
    )
    .columns([
        Column::words("experiment"),
        Column::count("processes"),
        Column::mixed("until steady"),
        Column::ratio("cost at first"),
    ])
    .rows(all.iter().map(|beginnings| row(results, beginnings)));
    let lead = "Work that wakes another CPU of this machine, or sleeps, is repeated until its cost is steady: processors, kernel and \
                host adapt to how it sleeps and wakes. Only what follows is observed.";
    let number = plural(all.len(), "experiment");
    (!all.is_empty()).then(|| {
        Section::new(Key::of("beginnings"), "Until work is steady").lettered().say(lead).with(Block::Folded {
            summary: number.into(),
            appendix: true,
            open: false,
            blocks: vec![table.into()],
        })
    })
}

fn row(results: &Results, beginnings: &Beginnings) -> Row {
    Row::of([
        linked(results, &beginnings.experiment),
        quantities::count(beginnings.lasted_ns.trials).into(),
        quantities::with_interval(Unit::Nanoseconds, &beginnings.lasted_ns).into(),
        beginnings.first_cost.as_ref().map_or_else(String::new, ratio).into(),
    ])
}

fn ratio(cost: &Estimate) -> String {
    quantities::factor_within(cost.value, quantities::ends(cost))
}
