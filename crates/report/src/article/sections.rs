//! What sections have in common: their titles and keys, and lists with a lead.

use crate::paper::{Block, Key, Text};
use crate::summary;
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

/// The section of the experiment at this position in the plan: `cpu-context_switch`, so that links to it last. A name in a run
/// file may be any text; one that could be that of another section is replaced by its position.
pub(super) fn section_of(name: &str, place: usize) -> Key {
    let usable = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
    match name.split_once('/') {
        Some((family, question)) if title(family) != family && question.chars().all(usable) => {
            Key::of(&format!("{family}-{question}"))
        }
        _ => Key::numbered("experiment", place + 1),
    }
}

/// The section of the experiment of this name; `None` if it has none, because nothing in it has a value.
fn place_of(results: &Results, name: &str) -> Option<Key> {
    let place = results.experiments().iter().position(|known| *known == name)?;
    has_section(results, name).then(|| section_of(name, place))
}

/// Whether any point of the experiment has a value.
pub(super) fn has_section(results: &Results, name: &str) -> bool {
    results.of_experiment(name).any(summary::is_in_table)
}

/// The name of an experiment, with a link to its section if it has one.
pub(super) fn linked(results: &Results, name: &str) -> Text {
    place_of(results, name).map_or_else(|| Text::code(name), |key| Text::link(&key, name))
}

/// Words with a link to the section of an experiment, if it has one.
pub(super) fn linked_as(results: &Results, name: &str, words: &str) -> Text {
    place_of(results, name).map_or_else(|| Text::plain(words), |key| Text::link(&key, words))
}

/// The number of the section of an experiment, or its name if it has none.
pub(super) fn numbered(results: &Results, name: &str) -> Text {
    place_of(results, name).map_or_else(|| Text::code(name), |key| Text::to(&key))
}

/// A list with its lead sentence; empty if there are no items.
pub(super) fn listed(lead: &str, items: impl IntoIterator<Item = Text>) -> Vec<Block> {
    let items: Vec<Text> = items.into_iter().collect();
    if items.is_empty() { vec![] } else { vec![Block::Paragraph(lead.into()), Block::List(items)] }
}
