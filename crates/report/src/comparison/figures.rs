//! Curves of both sides, for experiments with a sweep.

use crate::figure;
use crate::paper::{Block, Figure, Key, Section, Text};
use fathom_engine::comparison::Comparison;

/// The section of one comparison; `None` if nothing was swept.
pub(super) fn section(names: [&str; 2], comparison: &Comparison, place: usize) -> Option<Section> {
    let key = Key::numbered("curves", place + 1);
    let data = Key::numbered("against", place + 1).within("all");
    let drawn = comparison.by_experiment().into_iter().flat_map(|(name, rows)| {
        let figures = figure::of_both_sides(names, &rows);
        figures.into_iter().map(|drawn| (name.to_owned(), drawn)).collect::<Vec<_>>()
    });
    let numbered = |(place, (name, drawn)): (usize, (String, figure::Figure))| Figure {
        key: key.within(&format!("figure-{}", place + 1)),
        caption: Text::code(name).and(": ").and(drawn.explained()),
        data: Some(data.clone()),
        drawing: drawn.svg,
        otherwise: drawn.otherwise,
        spread: drawn.spread,
    };
    let blocks: Vec<Block> = drawn.enumerate().map(numbered).map(Block::from).collect();
    let title = format!("Curves: {} and {}", names[0], names[1]);
    (!blocks.is_empty()).then(|| Section::new(key.clone(), title).with_all(blocks))
}
