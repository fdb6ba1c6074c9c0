//! What the chapter on memory begins with: its hierarchy in one figure.

use super::places::place_of;
use crate::report::figure;
use crate::report::paper::{Block, Figure, Key, Text};
use crate::results::Results;

/// The figure, in the chapter of the family that it is of; `None` elsewhere, and where no levels were found.
pub(super) fn of(found: &Results, family: &str) -> Option<Block> {
    let (drawn, experiments) = figure::of_hierarchy(found)?;
    let is_of_family = experiments.first()?.split('/').next() == Some(family);
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
