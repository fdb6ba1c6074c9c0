//! The section of an experiment in the paper, and the title of its family.

use crate::paper::Key;
use fathom_engine::results::Results;

/// The title of a family of experiments.
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
