//! What sections have in common: their titles and keys, and lists with a lead.

use crate::paper::{Block, Key, Text};
use fathom_engine::results::Results;

pub(super) fn title(family: &str) -> &str {
    match family {
        "cpu" => "Processor and services of the operating system",
        "memory" => "Memory",
        "network" => "Network",
        "filesystem" => "File system",
        other => other,
    }
}

/// The section of the experiment at this position in the plan; not by name, because a name in a run file may be any text.
pub(super) fn section_of(place: usize) -> Key {
    Key::numbered("experiment", place + 1)
}

/// The section of the experiment of this name.
pub(super) fn place_of(found: &Results, name: &str) -> Key {
    section_of(found.experiments().iter().position(|known| *known == name).unwrap_or(0))
}

/// A list with its lead sentence; empty if there are no items.
pub(super) fn listed(lead: &str, items: impl IntoIterator<Item = Text>) -> Vec<Block> {
    let items: Vec<Text> = items.into_iter().collect();
    if items.is_empty() { vec![] } else { vec![Block::Paragraph(lead.into()), Block::List(items)] }
}
