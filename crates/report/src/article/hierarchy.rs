//! The memory hierarchy in one figure, at the beginning of the chapter on memory.

use super::places::place_of;
use crate::figure;
use crate::paper::{Block, Figure, Key, Text};
use fathom_core::experiment;
use fathom_engine::results::Results;

/// The figure, in the chapter of its family; `None` in others, and if no levels were found.
pub(super) fn of(found: &Results, family: &str) -> Option<Block> {
    let (drawn, experiments) = figure::of_hierarchy(found)?;
    let is_of_family = experiment::family(experiments.first()?) == family;
    let places = Text::joined(experiments.iter().map(|name| Text::to(&place_of(found, name))), ", ");
    is_of_family.then(|| {
        Block::from(Figure {
            key: Key::of("hierarchy"),
            caption: Text::plain(drawn.caption).and(" Data: ").and(places).and("."),
            drawing: drawn.svg,
            otherwise: None,
            spread: drawn.spread,
            data: None,
        })
    })
}
